// SPDX-License-Identifier: Apache-2.0
// All bodies, for the two places that expand kernels.inc.
#pragma once

#include "cuda/kernels/compare.hpp"
#include "cuda/kernels/fill.hpp"
#include "cuda/kernels/gather.hpp"
#include "cuda/kernels/spin.hpp"
