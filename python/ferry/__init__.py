# SPDX-License-Identifier: Apache-2.0
"""Ferry's Python package: `PYTORCH_CUDA_ALLOC_CONF=backend:ferry`, or `ferry.torch.enable()`.

Importing it imports no torch and loads no library."""

__version__ = "0.1.0"
