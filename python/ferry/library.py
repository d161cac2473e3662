# SPDX-License-Identifier: Apache-2.0
"""Where libferry.so is, and the part of its C API that Python uses."""

import ctypes
import os
from pathlib import Path

NAME = "libferry.so"
STATUS_NOT_OWNED = 7


class LibraryError(RuntimeError):
    """libferry.so was not found, or is not usable."""


def candidates(named=None):
    """(path, why it is looked at), in the order in which they count."""
    if named:
        yield Path(named), "named by backend:PATH"
        return
    if os.environ.get("FERRY_LIBRARY"):
        yield Path(os.environ["FERRY_LIBRARY"]), "named by FERRY_LIBRARY"
        return
    package = Path(__file__).resolve().parent
    yield package / "lib" / NAME, "in the package"
    checkout = package.parents[1]
    if (checkout / "include" / "ferry" / "ferry.h").is_file():
        for preset in ("release", "cuda", "dev"):
            yield checkout / "build" / preset / "lib" / NAME, f"in the build tree {preset}"
    yield Path(NAME), "found by the system's loader"


def find(named=None):
    """(path, why). A path without folder is for the loader to find. LibraryError: the named file is missing."""
    for path, why in candidates(named):
        if path.parent == Path(".") or path.is_file():
            return path, why
        if why.startswith("named"):
            raise LibraryError(f"{path} ({why}) does not exist")
    raise LibraryError("no libferry.so")  # not reached: the loader's is always a candidate


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("driver", ctypes.c_char_p)]


class Library:
    """A loaded libferry.so."""

    def __init__(self, named=None):
        path, self.found = find(named)
        try:
            self.handle = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
            self.handle.ferry_version.restype = ctypes.c_char_p
            self.handle.ferry_last_error.restype = ctypes.c_char_p
        except (OSError, AttributeError) as error:
            hint = "; set FERRY_LIBRARY to its path, or build it and install the package again" if path.parent == Path(".") else ""
            raise LibraryError(f"{path} ({self.found}) cannot be used: {error}{hint}") from None
        self.path = loaded_path(self.handle) or str(path)
        self.version = self.handle.ferry_version().decode()

    def has(self, function):
        return hasattr(self.handle, function)

    def last_error(self):
        return self.handle.ferry_last_error().decode(errors="replace")

    def init(self, driver):
        options = _Options(ctypes.sizeof(_Options), driver.encode() if driver else None)
        if self.handle.ferry_init(ctypes.byref(options)) != 0:
            raise LibraryError(self.last_error())


class _DlInfo(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p)]


def loaded_path(handle, function="ferry_version"):
    """The file that a function of the library lies in."""
    info = _DlInfo()
    function = ctypes.cast(getattr(handle, function), ctypes.c_void_p)
    found = ctypes.CDLL(None).dladdr(function, ctypes.byref(info))
    return os.path.abspath(info.file.decode()) if found and info.file else None
