# SPDX-License-Identifier: Apache-2.0
"""Portable mode: torch's pluggable allocator. Not there yet: enable() says so."""


class PortableModeUnavailable(RuntimeError):
    """Portable mode cannot be had here; the text says why."""


def enable(torch, library, options):
    raise PortableModeUnavailable("not there yet")
