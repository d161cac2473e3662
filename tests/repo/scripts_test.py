#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/: what they install, when they configure, and the last sentence of each failure. They
run in a copy of the scripts, with the programs that they call replaced by ones that keep a record.

usage: scripts_test.py ROOT"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else Path(__file__).parents[2]
SCRIPTS = ["setup.sh", "test.sh", "demo.sh", "check.sh", "torch-env.sh"]

# Writes its command line to $RECORD and fails when it starts with $FAILING.
RECORDER = """#!/bin/bash
call="$(basename "$0") $*"
echo "$call" >>"$RECORD"
if [[ -n $FAILING && $call == *$FAILING* ]]; then echo "error: $FAILING went wrong"; exit 7; fi
"""
# Knows every package but those in $MISSING.
DPKG_QUERY = """#!/bin/bash
for name in "${@:3}"; do [[ " $MISSING " == *" $name "* ]] || echo "installed $name"; done
"""
# Configuring leaves the files that the scripts look for.
CMAKE = RECORDER + """
if [[ $1 == --preset ]]; then
  mkdir -p "build/$2" && touch "build/$2/build.ninja"
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt"
  echo "-- ferry: CUDA headers from /somewhere"
fi
[[ $1 == --build ]] && printf '[1/2] one\\n[2/2] two\\n'
exit 0
"""
# Makes environments whose Python is itself.
PYTHON = RECORDER + """
[[ $1 == --version ]] && echo "Python 3.11.7"
[[ $1 == -m && $2 == venv ]] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
[[ $1 == -c && $2 == *platlib* ]] && echo /packages
exit 0
"""
DF = "#!/bin/sh\necho Avail\necho \"${FREE:-9999}\"\n"
TOOLS = {"python3": PYTHON, "df": DF, "dpkg-query": DPKG_QUERY, "cmake": CMAKE, "apt-get": RECORDER, "ctest": RECORDER, "sudo": "#!/bin/sh\nexit 1\n"}


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name, "a tree")
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        (self.root / "CMakePresets.json").write_text("{}")
        self.tools = Path(self.folder.name, "tools")
        self.tools.mkdir()
        for name, text in TOOLS.items():
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        self.record = Path(self.folder.name, "record")
        self.record.touch()

    def run_script(self, script, *arguments, missing="", failing="", without_root=False):
        environment = dict(os.environ, PATH=f"{self.tools}:{os.environ['PATH']}", RECORD=str(self.record),
                           MISSING=missing, FAILING=failing)
        command = [str(self.root / "scripts" / script), *arguments]
        if without_root and os.geteuid() == 0:
            subprocess.run(["chmod", "-R", "a+rwX", self.folder.name], check=True)
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def calls(self):
        return self.record.read_text().splitlines()

    def calls_beside_python(self):
        return [call for call in self.calls() if not call.startswith("python")]

    def assert_fails(self, result, *parts):
        self.assertNotEqual(result.returncode, 0, result.stdout)
        last = result.stderr.strip().splitlines()[-1]
        for part in parts:
            self.assertIn(part, last)

    def test_help(self):
        for script in SCRIPTS:
            result = self.run_script(script, "--help")
            self.assertEqual(result.returncode, 0, script)
            self.assertIn(f"usage: scripts/{script}", result.stdout)
        self.assertEqual(self.calls(), [])

    def test_unknown_argument(self):
        for script in SCRIPTS:
            self.assert_fails(self.run_script(script, "--frobnicate"), "--frobnicate")
        self.assertEqual(self.calls(), [])

    def test_nothing_is_installed_where_nothing_is_missing(self):
        result = self.run_script("setup.sh")
        self.assertEqual((result.returncode, result.stdout, self.calls()), (0, "", []), result.stderr)

    @unittest.skipIf(os.geteuid() != 0, "installs as root")
    def test_only_missing_packages_are_installed(self):
        result = self.run_script("setup.sh", missing="libfmt-dev cmake")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Installing system packages: cmake libfmt-dev", result.stdout)
        update, install = self.calls()
        self.assertTrue(update.endswith("update"), update)
        self.assertTrue(install.endswith("--no-install-recommends cmake libfmt-dev"), install)

    @unittest.skipIf(os.geteuid() != 0, "installs as root")
    def test_unreachable_package_servers(self):
        result = self.run_script("test.sh", missing="cmake", failing="update")
        self.assert_fails(result, "Failed: Reading the package lists.", "reachable", "build/logs/apt-update.log")
        self.assertIn("update went wrong", result.stderr)
        self.assertEqual(result.stderr.count("Failed:"), 1)

    def test_missing_packages_without_root(self):
        result = self.run_script("setup.sh", missing="libfmt-dev cmake", without_root=True)
        self.assert_fails(result, "cmake libfmt-dev", "as root")
        self.assertEqual(self.calls(), [])

    def test_a_run_with_all_steps(self):
        result = self.run_script("test.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.calls_beside_python(), ["cmake --preset dev", "cmake --build --preset dev", "ctest --preset dev"])
        for part in ("CUDA headers from /somewhere", "Building (dev): 100 %", "All tests passed (dev)"):
            self.assertIn(part, result.stdout)

    def test_pytorch_is_installed_before_the_build_unless_it_is_not_wanted(self):
        self.assertEqual(self.run_script("test.sh", "--without-torch").returncode, 0)
        self.assertEqual(self.calls(), self.calls_beside_python())
        self.assert_fails(self.run_script("test.sh", failing="python -m pip"), "Failed: Installing PyTorch", "--without-torch")
        self.record.write_text("")
        self.assertEqual(self.run_script("test.sh").returncode, 0)
        calls = self.calls()
        installs = [number for number, call in enumerate(calls) if "pip install" in call and "torch==" in call]
        self.assertEqual(len(installs), 1)
        self.assertLess(installs[0], calls.index("cmake --build --preset dev"))

    def test_says_which_tests_were_skipped(self):
        (self.tools / "ctest").write_text(RECORDER + "echo ' 1/2 Test  #1: base_test .....   Passed   0.01 sec'\n"
                                          "echo '2/2 Test #12: recorded_test ....***Skipped   0.01 sec'\n")
        result = self.run_script("test.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Skipped, as what they need is not here: recorded_test (dev).", result.stdout)

    def test_a_long_build_shows_that_it_goes_on(self):
        (self.tools / "cmake").write_text(CMAKE.replace("exit 0", """
[[ $1 == --build ]] || exit 0
for step in {1..40}; do echo "[$step/40] step $step"; done
sleep 2.5
printf '[41/'
sleep 1.5
echo '41] the last'
"""))
        os.environ["FERRY_PROGRESS_SECONDS"] = "1"
        self.addCleanup(os.environ.pop, "FERRY_PROGRESS_SECONDS")
        result = self.run_script("test.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        for share in range(5, 100, 5):
            self.assertIn(f"Building (dev): {share} %", result.stdout)
        self.assertIn("Building (dev): still at 100 % after", result.stdout)
        log = (self.root / "build/logs/build-dev.log").read_text().splitlines()
        self.assertIn("[41/41] the last", log, "a line that came in pieces")

    def test_configures_again_only_when_needed(self):
        self.run_script("test.sh", "tsan")
        self.record.write_text("")
        self.run_script("test.sh", "tsan")
        self.assertNotIn("cmake --preset tsan", self.calls())

        later = (self.root / "build/tsan/configured-by-script").stat().st_mtime + 5
        os.utime(self.root / "CMakePresets.json", (later, later))
        self.run_script("test.sh", "tsan")
        self.assertIn("cmake --preset tsan", self.calls())

    def test_a_moved_tree_is_configured_afresh(self):
        self.run_script("test.sh")
        self.root = self.root.rename(Path(self.folder.name, "moved"))
        self.run_script("test.sh")
        self.assertIn("cmake --preset dev --fresh", self.calls())

    def test_failed_configuration(self):
        result = self.run_script("test.sh", failing="--preset dev")
        self.assert_fails(result, "Failed: Configuring (dev).", "build/logs/configure-dev.log")
        self.assertIn("error: --preset dev went wrong", result.stderr)
        self.assertEqual(self.calls_beside_python(), ["cmake --preset dev"])

    def test_failed_build(self):
        result = self.run_script("test.sh", failing="--build")
        self.assert_fails(result, "Failed: Building (dev).", "build/logs/build-dev.log")

    def test_failed_tests(self):
        result = self.run_script("test.sh", failing="ctest --preset dev")
        self.assert_fails(result, "Failed: Testing (dev).", "ctest --preset dev -R NAME", "build/logs/test-dev.log")
        self.assertNotIn("All tests passed", result.stdout)

    def test_demo_replays_and_names_the_picture(self):
        program = self.root / "build/release/bin/ferry"
        program.parent.mkdir(parents=True)
        program.write_text(RECORDER)
        program.chmod(0o755)
        traces = self.root / "examples/traces"
        traces.mkdir(parents=True)
        (traces / "run.json.gz").touch()
        result = self.run_script("demo.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        replay = self.calls()[-1]
        self.assertTrue(replay.startswith("ferry replay examples/traces/run.json.gz"), replay)
        self.assertIn("--html build/demo.html", replay)
        self.assertIn(f"{self.root}/build/demo.html", result.stdout)
        self.assert_fails(self.run_script("demo.sh", failing="ferry replay"), "Failed: Replaying the recorded runs.")

    def test_torch_env_installs_once(self):
        result = self.run_script("torch-env.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        installs = [call for call in self.calls() if call.startswith("python -m pip install")]
        self.assertEqual(len(installs), 2)
        self.assertTrue(installs[1].endswith(" ./python"), installs)
        self.assertRegex(installs[0], r"--no-deps .* torch==2\.15\.0 .*numpy==")
        family = [call for call in self.calls() if "generate.py" in call]
        self.assertEqual(family, ["python src/sim/family/generate.py --torch /packages/torch "
                                  f"--output {self.root}/build/torch-env/sim-family"])
        self.record.write_text("")
        self.assertEqual(self.run_script("torch-env.sh").returncode, 0)
        self.assertFalse([call for call in self.calls() if "torch==" in call or "-m venv" in call])
        self.assertTrue([call for call in self.calls() if call.endswith(" ./python")], "Ferry's package may have changed")
        self.assertTrue([call for call in self.calls() if "generate.py" in call], "torch may have been replaced")

    def test_torch_env_begins_anew_after_a_failure(self):
        self.assert_fails(self.run_script("torch-env.sh", failing="python -m pip"), "Failed: Installing PyTorch (torch==2.15.0).",
                          "reachable", "build/logs/torch-install.log")
        self.assertEqual(self.run_script("torch-env.sh").returncode, 0)
        self.assertEqual(len([call for call in self.calls() if "torch==" in call]), 2)
        self.assert_fails(self.run_script("torch-env.sh", failing="python src"), "C compiler", "build/logs/torch-family.log")

    def test_torch_env_says_what_is_missing(self):
        self.assert_fails(self.run_script("torch-env.sh", failing="python3 -c import ensurepip"), "virtual environments", "python3-venv")
        self.assert_fails(self.run_script("torch-env.sh", "python9.9"), "no Python named python9.9")
        os.environ["FREE"] = "100"
        self.addCleanup(os.environ.pop, "FREE")
        self.assert_fails(self.run_script("torch-env.sh"), "3000 MB", "100 MB left")
        self.assertFalse([call for call in self.calls() if "pip" in call.split()])


if __name__ == "__main__":
    unittest.main()
