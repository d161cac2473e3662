# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the package (PEP 517 and 660). A backend of our own, as the wheel holds two things that
are not Python files of the package: the start-up hook `ferry_hook.pth`, and libferry.so where a build tree of the
checkout has one."""

import base64
import hashlib
import os
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME, VERSION = "ferry", "0.1.0"
DIST_INFO = f"{NAME}-{VERSION}.dist-info"
# The package is imported only where something asks for it: a variable that may name Ferry, or an auto-loading
# that was switched off. Everybody else's Python starts as before.
HOOK = (
    "import os; any(name in os.environ for name in ('PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF', "
    "'TORCH_DEVICE_BACKEND_AUTOLOAD')) and __import__('ferry.hook', fromlist=['install']).install()\n"
)
PACKAGED = {".py", ".cpp", ".hpp", ".h"}


def built_library():
    """The newest libferry.so that the checkout's build trees hold, or None. FERRY_LIBRARY=none: none."""
    named = os.environ.get("FERRY_LIBRARY")
    if named == "none":
        return None
    if named:
        return Path(named)
    found = [HERE.parent / "build" / preset / "lib" / "libferry.so" for preset in ("release", "cuda", "dev")]
    return next((path for path in found if path.is_file()), None)


def _metadata():
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nLicense: Apache-2.0\n"
        "Summary: Ferry's door for PyTorch: PYTORCH_CUDA_ALLOC_CONF=backend:ferry\nRequires-Python: >=3.10\n"
    )


_ENTRY_POINTS = "[torch.backends]\nferry = ferry.torch:autoload\n"


def _tag(with_library):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if with_library else "any"
    return f"py3-none-{platform}"


def _write(folder, contents, with_library):
    tag = _tag(with_library)
    contents[f"{DIST_INFO}/METADATA"] = _metadata().encode()
    contents[f"{DIST_INFO}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: ferry\nRoot-Is-Purelib: {'false' if with_library else 'true'}\nTag: {tag}\n"
    ).encode()
    contents[f"{DIST_INFO}/entry_points.txt"] = _ENTRY_POINTS.encode()
    contents["ferry_hook.pth"] = HOOK.encode()
    record = []
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(contents.items()):
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        record.append(f"{DIST_INFO}/RECORD,,")
        archive.writestr(zipfile.ZipInfo(f"{DIST_INFO}/RECORD", (2020, 1, 1, 0, 0, 0)), "\n".join(record) + "\n")
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    contents = {
        path.relative_to(HERE).as_posix(): path.read_bytes()
        for path in sorted((HERE / NAME).rglob("*"))
        if path.suffix in PACKAGED and "__pycache__" not in path.parts
    }
    for header in ("ferry.h", "pytorch.h"):
        contents[f"{NAME}/include/ferry/{header}"] = (HERE.parent / "include" / "ferry" / header).read_bytes()
    library = built_library()
    if library is not None:
        contents[f"{NAME}/lib/libferry.so"] = library.read_bytes()
    return _write(wheel_directory, contents, library is not None)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {f"{NAME}_checkout.pth": f"{HERE}\n".encode()}, False)
