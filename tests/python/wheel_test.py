# SPDX-License-Identifier: Apache-2.0
"""The wheel holds what the package needs, and its hook changes nothing for others."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("build_wheel", ROOT / "python" / "build_wheel.py")
build_wheel = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_wheel)


class TheWheel(unittest.TestCase):
    def build(self, folder, library):
        with mock.patch.dict(os.environ, {"FERRY_LIBRARY": library}):
            return zipfile.ZipFile(Path(folder) / build_wheel.build_wheel(folder))

    def test_contents(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = self.build(folder, os.environ["FERRY_TEST_LIBRARY"])
            names = set(wheel.namelist())
            for name in ("ferry/__init__.py", "ferry/lib/libferry.so", "ferry/include/ferry/ferry.h",
                         "ferry/include/ferry/pytorch.h", "ferry_hook.pth"):
                self.assertIn(name, names)
            for path in (ROOT / "python" / "ferry").rglob("*.?pp"):
                self.assertIn(path.relative_to(ROOT / "python").as_posix(), names)
            self.assertIn("torch.backends", wheel.read("ferry-0.1.0.dist-info/entry_points.txt").decode())
            record = wheel.read("ferry-0.1.0.dist-info/RECORD").decode().splitlines()
            self.assertEqual({line.split(",")[0] for line in record}, names)
            self.assertNotIn("any", wheel.filename.rsplit("-", 1)[1])

    def test_without_a_library_it_is_for_any_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = self.build(folder, "none")
            self.assertNotIn("ferry/lib/libferry.so", wheel.namelist())
            self.assertTrue(wheel.filename.endswith("py3-none-any.whl"))

    def test_the_start_up_hook_loads_the_package_only_where_it_may_be_asked_for(self):
        line = build_wheel.HOOK
        self.assertTrue(line.startswith("import "))
        code = line + "import sys; print('ferry.hook' in sys.modules, any(type(f).__module__ == 'ferry.hook' for f in sys.meta_path))"
        for variables, expected in (({}, "False False"), ({"PYTORCH_ALLOC_CONF": "x:1"}, "True True"),
                                    ({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, "True True")):
            environment = {"PYTHONPATH": str(ROOT / "python"), "PATH": os.environ["PATH"], **variables}
            done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), expected)


if __name__ == "__main__":
    unittest.main()
