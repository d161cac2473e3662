# SPDX-License-Identifier: Apache-2.0
"""When the allocator is swapped, and what happens where it cannot be.

The rule: a program that asked for Ferry gets Ferry, or an error at CUDA's first use; never another allocator
without a word. `import torch` itself never fails. The variables are read when torch is imported and again right
before CUDA starts, as a program may set them in between."""

import ctypes
import os
import sys
from dataclasses import asdict, dataclass

from ferry import config
from ferry.library import Library, LibraryError, loaded_path
from ferry.log import say


class DoorError(RuntimeError):
    """Ferry was asked for and cannot serve."""


@dataclass
class Status:
    enabled: bool = False
    mode: str | None = None  # full, portable
    why: str = "not asked for"
    asked_by: str | None = None
    library: str | None = None
    library_found: str | None = None
    version: str | None = None
    torch: str | None = None

    def as_dict(self):
        return asdict(self)

    def __str__(self):
        if not self.enabled:
            return f"off: {self.why}"
        return (f"{self.mode} mode ({self.why}), asked for by {self.asked_by}; "
                f"libferry {self.version} at {self.library} ({self.library_found}); torch {self.torch}")


def _torch():
    return sys.modules.get("torch")


def missing_cuda(torch, options):
    """Why there is no CUDA here, without starting it: a started driver would not survive a fork. None: there
    may be."""
    if getattr(torch.version, "cuda", None) is None or not hasattr(torch._C, "_cuda_init"):
        return "this torch was built without CUDA"
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver (libcuda.so.1) is installed"
    return None


def torchs_driver():
    """The file of the CUDA driver that torch's runtime uses: memory of any other would be none to torch."""
    try:
        return loaded_path(ctypes.CDLL("libcuda.so.1"), "cuInit")
    except (OSError, AttributeError):
        return None


class Door:
    def __init__(self):
        self._status = Status()
        self._warned = False
        self._guarded = None
        self._at_start = []  # what must run before CUDA starts, once
        self._keep = []  # what must live as long as the process

    def status(self):
        torch = _torch()
        if torch is not None:
            self._status.torch = str(getattr(torch, "__version__", None))
        return self._status

    # --- asked for by a variable -----------------------------------------------------------------

    def autoload(self, via):
        try:
            self._guard()
            self._follow_variables(via)
        except (config.ConfigError, DoorError) as error:
            self._status.why = str(error)
            say("error", f"{error}. CUDA's first use will raise this.")
        except Exception as error:  # a fault of ours must not break the import
            self._status.why = f"{type(error).__name__}: {error}"
            say("error", f"{self._status.why}. CUDA's first use will raise this.")

    def _follow_variables(self, via):
        request, name = config.request_of(os.environ)
        if request is None or not request.ferry or self._status.enabled:
            return
        torch = _torch()
        why_not = missing_cuda(torch, request.options)
        if why_not is not None:
            self._status.why = why_not
            if not self._warned:
                self._warned = True
                say("warning", f"{name} asks for backend:ferry, but {why_not}; torch goes on without a GPU.")
            return
        self._swap(request.options, f"{name}, by {via}")

    def _guard(self):
        """Looks at the variables once more right before CUDA starts. All of torch's ways of starting it from
        Python end in torch._C._cuda_init."""
        torch = _torch()
        start = getattr(torch._C, "_cuda_init", None)
        if start is None or start is self._guarded:
            return

        def _cuda_init():
            self._before_cuda()
            return start()

        self._guarded = torch._C._cuda_init = _cuda_init

    def _before_cuda(self):
        self._ask_once_more()
        while self._at_start:
            self._at_start[0]()
            self._at_start.pop(0)

    def _ask_once_more(self):
        if self._status.enabled:
            return
        try:
            self._follow_variables("the first use of CUDA")
        except (config.ConfigError, DoorError) as error:
            self._status.why = str(error)
            raise RuntimeError(f"ferry: {error}") from error

    # --- asked for by the program ----------------------------------------------------------------

    def enable(self, given):
        import torch

        options = config.make_options(**given)
        if self._status.enabled:
            return self.status()
        if hasattr(torch, "cuda") and torch.cuda.is_initialized():
            raise DoorError("CUDA was used already; call ferry.torch.enable() before its first use")
        self._guard()
        why_not = missing_cuda(torch, options)
        if why_not is not None:
            self._status.why = why_not
            raise DoorError(why_not)
        self._swap(options, "ferry.torch.enable()")
        return self.status()

    # --- the swap --------------------------------------------------------------------------------

    def _swap(self, options, asked_by):
        torch = _torch()
        if hasattr(torch, "cuda") and torch.cuda.is_initialized():
            raise DoorError("CUDA was used already")
        try:
            library = Library(options.library)
        except LibraryError as error:
            raise DoorError(str(error)) from error
        if options.driver is None:
            options.driver = torchs_driver()
        with config.hidden(os.environ):
            self._let_torch_parse(torch)
            mode, why = self._swap_to(torch, library, options)
        self._status = Status(True, mode, why, asked_by, library.path, library.found, library.version, str(torch.__version__))
        self._keep.append(library)
        say("info", f"torch's CUDA allocator is Ferry: {self._status}")

    @staticmethod
    def _let_torch_parse(torch):
        """torch parses the variables once, at its first need. Here, as Ferry's part is hidden now and no longer."""
        text = config.winner(os.environ)[1]
        parse = getattr(torch._C, "_accelerator_setAllocatorSettings", None)
        parse = parse or getattr(torch._C, "_cuda_cudaCachingAllocator_set_allocator_settings", None)
        if parse is None:
            raise DoorError(f"torch {torch.__version__} has no call that makes it read its allocator variables")
        try:
            parse(text or "")
        except (ValueError, RuntimeError) as error:
            raise DoorError(f"torch does not understand the rest of the variable: {error}") from error

    def _swap_to(self, torch, library, options):
        """(mode, why)."""
        from ferry.torch import full, portable

        why = "asked for"
        if options.mode != "portable":
            try:
                self._keep.append(full.enable(torch, library, options))
                return "full", "asked for" if options.mode == "full" else "the default"
            except full.FullModeUnavailable as error:
                if options.mode == "full":
                    raise DoorError(f"full mode was asked for: {error}") from error
                why = f"full mode is not available: {error}"
                say("warning", f"portable mode, as {why}")
        try:
            self._keep.append(portable.enable(torch, library, options, self._at_start.append))
        except portable.PortableModeUnavailable as error:
            raise DoorError(f"portable mode: {error}") from error
        return "portable", why


door = Door()
