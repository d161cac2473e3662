# SPDX-License-Identifier: Apache-2.0
"""When the allocator is swapped, in processes of their own with a fake torch."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "python"

# Records the swap in the place of the real one.
PREPARE = """
import os, sys
from ferry import hook
hook.install()
from ferry.torch import door as module
def swap_to(self, torch, library, options):
    print("SWAP", options.mode, options.limit)
    return "full", "a test"
module.Door._swap_to = swap_to
module.missing_cuda = MISSING
"""


def run(code, missing="lambda torch, options: None", **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "FERRY_", "TORCH_", "FAKE_"))}
    kept |= {"PYTHONPATH": f"{PACKAGE}:{HERE / 'fake'}", "FERRY_LIBRARY": os.environ["FERRY_TEST_LIBRARY"], "FAKE_ENTRY_POINT": "1"}
    code = PREPARE.replace("MISSING", missing) + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", code], env=kept | environment, capture_output=True, text=True, timeout=60)


START = "import torch; torch.cuda._lazy_init(); print('STARTED WITH', torch.started_with)"


class TheDoor(unittest.TestCase):
    def expect(self, done, *lines, code=0):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for line in lines:
            self.assertIn(line, done.stdout + done.stderr)

    def test_nobody_asked(self):
        done = run(START + "; import ferry.torch; print(ferry.torch.status())")
        self.expect(done, "STARTED WITH [None]", "off: not asked for")
        self.assertEqual(done.stderr, "")

    def test_the_entry_point_swaps_at_import(self):
        done = run("import torch; print('IMPORTED'); " + START, PYTORCH_CUDA_ALLOC_CONF="backend:ferry,ferry_limit:1MiB,x:1")
        self.expect(done, "SWAP auto 1048576\nIMPORTED\nSTARTED WITH ['x:1']")

    def test_what_torch_refuses_breaks_no_import_but_the_first_use(self):
        done = run("import torch; print('IMPORTED'); " + START, PYTORCH_CUDA_ALLOC_CONF="backend:ferry,wrong:1")
        self.expect(done, "IMPORTED", "RuntimeError: ferry: torch does not understand the rest of the variable: fake torch: wrong:1", code=1)
        self.assertNotIn("SWAP", done.stdout)

    def test_the_hook_does_where_auto_loading_is_off(self):
        done = run(START, PYTORCH_ALLOC_CONF="backend:ferry", TORCH_DEVICE_BACKEND_AUTOLOAD="0", FERRY_LOG="info")
        self.expect(done, "SWAP auto 0", "by the import hook")

    def test_without_either_the_variable_is_left_for_torch_to_refuse(self):
        done = run("hook.uninstall(); " + START, PYTORCH_CUDA_ALLOC_CONF="backend:ferry", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.expect(done, "ValueError: fake torch: backend:ferry", code=1)

    def test_a_variable_set_inside_the_program(self):
        for when in ("before", "after"):
            setting = "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'backend:ferry'"
            first, second = (setting, "import torch") if when == "before" else ("import torch", setting)
            self.expect(run(f"{first}; {second}; {START}"), "SWAP auto 0", "STARTED WITH [None]")

    def test_a_wrong_key_breaks_no_import_but_the_first_use(self):
        done = run("import torch; print('IMPORTED'); " + START, PYTORCH_CUDA_ALLOC_CONF="backend:ferry,ferry_mod:full")
        self.expect(done, "IMPORTED", "RuntimeError: ferry: Ferry has no key 'ferry_mod'; did you mean 'ferry_mode'?", code=1)
        self.assertNotIn("STARTED", done.stdout)

    def test_a_missing_library_breaks_no_import_but_the_first_use(self):
        done = run("import torch; print('IMPORTED'); " + START, PYTORCH_CUDA_ALLOC_CONF="backend:/nowhere/libferry.so")
        self.expect(done, "IMPORTED", "/nowhere/libferry.so (named by backend:PATH) does not exist", code=1)
        self.assertNotIn("STARTED", done.stdout)

    def test_without_cuda_one_warning_and_only_to_those_who_asked(self):
        missing = "lambda torch, options: 'no CUDA driver'"
        done = run("import torch; print('IMPORTED', os.environ['PYTORCH_CUDA_ALLOC_CONF'])", missing, PYTORCH_CUDA_ALLOC_CONF="backend:ferry")
        self.expect(done, "IMPORTED backend:ferry")
        self.assertEqual(done.stderr.count("ferry: warning:"), 1, done.stderr)
        self.assertEqual(run("import torch", missing).stderr, "")

    def test_the_check_for_cuda(self):
        done = run("import torch; print('WHY', saved(torch, None))", "saved = module.missing_cuda", FAKE_CUDA="")
        self.expect(done, "WHY this torch was built without CUDA")

    def test_children_get_it_too(self):
        child = f"{PREPARE.replace('MISSING', 'lambda torch, options: None')}import torch"
        done = run(f"import torch, subprocess; print('CHILD', flush=True); subprocess.run([sys.executable, '-c', {child!r}])",
                   PYTORCH_CUDA_ALLOC_CONF="backend:ferry,ferry_limit:7")
        self.expect(done, "CHILD\nSWAP auto 7")

    def test_enable(self):
        done = run("import ferry.torch; print(ferry.torch.enable(limit='1KiB', mode='full')); " + START)
        self.expect(done, "SWAP full 1024", "full mode (a test), asked for by ferry.torch.enable()")
        done = run(START + "; import ferry.torch; ferry.torch.enable()")
        self.expect(done, "CUDA was used already", code=1)

    def test_run_gives_the_script_its_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text("import sys, torch, beside; print('ARGUMENTS', sys.argv[1:], __name__)")
            (Path(folder) / "beside.py").write_text("")
            done = run(f"from ferry.__main__ import main; main(['run', 'ferry_limit:9', {str(script)!r}, '--x', '1'])")
            self.expect(done, "SWAP auto 9", "ARGUMENTS ['--x', '1'] __main__")
        self.expect(run("from ferry.__main__ import main; sys.exit(main(['run', 'ferry_limits:9', 'x.py']))"), "did you mean 'ferry_limit'", code=2)


if __name__ == "__main__":
    unittest.main()
