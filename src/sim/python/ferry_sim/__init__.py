# SPDX-License-Identifier: Apache-2.0
"""What `ferry sim run` brings into a Python program, so that its PyTorch runs without a GPU. It stands beside
the stand-ins of the driver and the runtime, which are loaded before Python starts."""
