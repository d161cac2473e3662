#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the stand-ins of NVIDIA's libraries for an installed PyTorch: one shared library for each that it imports.

usage: generate.py --torch FOLDER --output FOLDER [--compiler CC] [--json]

FOLDER of torch is the package itself (site-packages/torch). Each stand-in exports what torch imports, at the
versions at which it imports it, and what is written by hand in parts/. Functions answer success and set what they
give out; work is not done. What cannot be answered honestly answers "not supported" and says so once.
Needs a C compiler with binutils; neither CUDA's headers nor its libraries. Does nothing where torch and this
program are those of the last run. manifest.json in the output says what each function is:
  plain      success
  outputs    success, and outputs that are 0, or the library's version
  object     makes or ends a handle, a descriptor or a plan
  remembers  keeps what it is given for the function that asks for it
  written    by hand
  refused    not supported
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stub_source import StubWriter
from tables import Failure, Versions, read_functions, read_libraries
from torch_imports import imports_of, shared_libraries

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-Wl,-z,defs"]
# The program that NVML's stand-in asks for the devices.
DEVICES = "ferry-sim-devices"


def table_folder():
    """Beside this program where it is installed; in the source tree with the other tables."""
    beside = HERE / "tables"
    return beside if beside.is_dir() else HERE.parents[1] / "abi" / "family"


def parts_of(library):
    """The files written by hand: nccl.c, cudnn_rnn.c."""
    return sorted(path for path in (HERE / "parts").glob("*.c") if re.fullmatch(rf"{re.escape(library)}(_[a-z]\w*)?", path.stem))


def written_names(paths):
    """Those defined plainly, and those defined by a macro: FERRY_FIND(name)."""
    return {name for path in paths for name in re.findall(r"^(?:EXPORTED [^;{(]*?\b|FERRY_\w+\()(\w+)\b[(),]", path.read_text(), re.MULTILINE)}


def fingerprint(torch, compiler, own_files):
    """Changes with torch and with this program."""
    digest = hashlib.sha256(compiler.encode())
    for path in shared_libraries(torch):
        state = path.stat()
        digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    for path in [*sorted(torch.parent.glob("torch-*.dist-info/METADATA")), *own_files]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def version_script(functions):
    nodes = {}
    for name, version in functions.items():
        nodes.setdefault(version, []).append(name)
    plain = nodes.pop(None, [])
    if nodes:
        # A reference without a version takes the library's only one.
        nodes[sorted(nodes)[0]] += plain
    else:
        nodes[""] = plain
    text = ""
    for position, version in enumerate(sorted(nodes)):
        names = "".join(f"    {name};\n" for name in sorted(nodes[version]))
        # A library may be needed with nothing imported from it; the linker takes no empty list.
        shown = f"  global:\n{names}" if names else ""
        text += f"{version + ' ' if version else ''}{{\n{shown}{'  local: *;' if position == 0 else ''}\n}};\n"
    return text


def write_sources(imports, writer, written, folder):
    """The generated source and version script of one library; what became of each function."""
    kinds, texts = {name: "written" for name in written}, []
    for name in sorted(imports.functions):
        # C++ names are what the library happens to bring along of its compiler's; the program has them elsewhere.
        if name not in kinds and not name.startswith("_Z"):
            text, kinds[name] = writer.function(name)
            texts.append(text)
    stem = folder / f"lib{imports.library}"
    stem.with_suffix(".c").write_text(writer.head(imports.soname) + "\n" + "\n".join(texts))
    stem.with_suffix(".map").write_text(version_script({name: imports.functions.get(name) for name in kinds}))
    return dict(sorted(kinds.items()))


def library_job(imports, parts, sources):
    stem = sources / f"lib{imports.library}"
    return imports.soname, ["-shared", f"{stem}.c", *map(str, parts), str(HERE / "parts/objects.c"),
                            f"-Wl,-soname,{imports.soname}", f"-Wl,--version-script={stem}.map"]


def compile_file(compiler, output, name, arguments):
    # Put in place at once, so that no process sees half a library.
    with tempfile.TemporaryDirectory(dir=output) as folder:
        made = Path(folder, name)
        command = [*shlex.split(compiler), *FLAGS, "-I", str(HERE / "parts"), *arguments, "-o", str(made), "-ldl", "-lpthread"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise Failure(f"the C compiler {compiler} is missing; install one (the package gcc), or name it with --compiler") from None
        if done.returncode != 0:
            raise Failure(f"{compiler} cannot build {name}:\n{done.stderr.strip()}")
        os.replace(made, output / name)


def generate(torch, output, compiler):
    """The manifest, and whether anything had to be made."""
    tables = table_folder()
    own_files = sorted([*HERE.glob("*.py"), *(HERE / "parts").glob("*.[ch]"), *tables.glob("*.tsv")])
    state = fingerprint(torch, compiler, own_files)
    manifest_path = output / "manifest.json"
    if manifest_path.is_file():
        manifest = json.loads(manifest_path.read_text())
        if manifest["made_from"] == state and all((output / one["file"]).is_file() for one in manifest["libraries"]):
            return manifest, False
        manifest_path.unlink()
    sources = output / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    libraries, versions = read_libraries(tables), Versions(torch)
    rows, jobs = [], [(DEVICES, [str(HERE / "parts/devices_program.c")])]
    for imports in imports_of(torch, libraries):
        library = libraries.get(imports.library)
        parts = parts_of(imports.library)
        writer = StubWriter(library, read_functions(tables, imports.library), versions)
        kinds = write_sources(imports, writer, written_names(parts), sources)
        rows.append({"file": imports.soname, "version": ".".join(map(str, writer.version)) if writer.version else None,
                     "functions": kinds})
        jobs.append(library_job(imports, parts, sources))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: compile_file(compiler, output, *job), jobs))
    manifest = {"made_from": state, "libraries": rows}
    manifest_path.write_text(json.dumps(manifest, indent=1) + "\n")
    return manifest, True


def print_table(manifest, made):
    kinds = ["plain", "outputs", "object", "remembers", "written", "refused"]
    print(f"{'library':24} {'version':10} " + " ".join(f"{kind:>9}" for kind in kinds))
    for row in manifest["libraries"]:
        counts = [sum(1 for one in row["functions"].values() if one == kind) for kind in kinds]
        print(f"{row['file']:24} {row['version'] or '-':10} " + " ".join(f"{count:9}" for count in counts))
    print("made" if made else "up to date")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", type=Path, required=True, help="the installed package, site-packages/torch")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--compiler", default=os.environ.get("CC", "cc"), help="the C compiler, with options if it needs any (CC, or cc)")
    parser.add_argument("--json", action="store_true", help="print the manifest")
    options = parser.parse_args(arguments)
    try:
        manifest, made = generate(options.torch, options.output, options.compiler)
    except (Failure, OSError) as trouble:
        print(f"generate.py: {trouble}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(manifest, indent=1))
    else:
        print_table(manifest, made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
