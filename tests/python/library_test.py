# SPDX-License-Identifier: Apache-2.0
"""Where libferry.so is looked for."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ferry import library

BUILT = os.environ["FERRY_TEST_LIBRARY"]


class Places(unittest.TestCase):
    def test_the_order(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "python" / "ferry"
            tree = Path(folder) / "build" / "dev" / "lib"
            header = Path(folder) / "include" / "ferry"
            for path in (package / "lib", tree, header):
                path.mkdir(parents=True)
            (header / "ferry.h").touch()
            with mock.patch.object(library, "__file__", str(package / "library.py")), mock.patch.dict(os.environ):
                os.environ.pop("FERRY_LIBRARY", None)
                self.assertEqual(library.find()[1], "found by the system's loader")
                (tree / "libferry.so").touch()
                self.assertEqual(library.find(), (tree / "libferry.so", "in the build tree dev"))
                (package / "lib" / "libferry.so").touch()
                self.assertEqual(library.find(), (package / "lib" / "libferry.so", "in the package"))
                os.environ["FERRY_LIBRARY"] = BUILT
                self.assertEqual(library.find(), (Path(BUILT), "named by FERRY_LIBRARY"))
                named = shutil.copy(BUILT, Path(folder) / "other.so")
                self.assertEqual(library.find(str(named)), (Path(named), "named by backend:PATH"))
                os.environ["FERRY_LIBRARY"] = str(Path(folder) / "missing.so")
                with self.assertRaisesRegex(library.LibraryError, "missing.so .*does not exist"):
                    library.find()

    def test_what_is_no_libferry_is_refused_by_name(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            with self.assertRaisesRegex(library.LibraryError, file.name):
                library.Library(file.name)

    def test_the_library_says_where_and_what_it_is(self):
        loaded = library.Library(BUILT)
        self.assertEqual(os.path.realpath(loaded.path), os.path.realpath(BUILT))
        self.assertRegex(loaded.version, r"^\d+\.\d+\.\d+")
        with self.assertRaisesRegex(library.LibraryError, "nonsense"):
            loaded.init("nonsense")


if __name__ == "__main__":
    unittest.main()
