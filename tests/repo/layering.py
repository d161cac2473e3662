#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of ARCHITECTURE.md that a program can check. `layering.py ROOT` prints one line for each
breach and exits with 1 where there is any.

Each rule is a function from a Tree to the breaches it finds; RULES lists them."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import cpp_text

FLOORS = ["base", "driver", "memory", "transfer", "tiers", "offload", "front"]
RANK = {name: rank for rank, name in enumerate(FLOORS)}
# The rooms of a folder that look only down, too.
ROOMS = {
    "front": ["traces", "replay", "traffic", "report", "cli"],
    "sim": ["words", "memory", "time", "order", "hazards", "traffic", "machine", "exports"],
}
TOP_FOLDERS = ["include", "src", "cuda", "bench", "tests", "examples", "python", "scripts", "cmake", "third_party"]

COMPILED = {".cpp", ".cc", ".c"}
CPP = COMPILED | {".hpp", ".h", ".inc", ".cu", ".cuh"}
SCRIPTS = {".py", ".sh"}
CMAKE = {".cmake"}

LONGEST_FILE = 400
LONGEST_FUNCTION = 70

# Floors that may read the tables of src/abi: those at an edge of the product, and base, where a Status tells its
# error's name.
ABI_READERS = {"base", "driver", "front"}
# Headers written by the build, and the floor that may include them.
GENERATED = {"commit.hpp": "front"}
# Where the environment is read. Everything else gets options as values.
ENVIRONMENT_READERS = [
    r"src/front/.*",
    r"src/driver/driver(_choice)?\.cpp",  # FERRY_DRIVER, FERRY_SIM_DIR: also for users of the driver floor alone
    r"src/sim/machine/library\.cpp",  # the stand-in stands where libcuda stands: nobody passes it options
]
CUDA_HEADER_USERS = [
    r"src/driver/[^/]*\.cpp",
    r"src/driver/cuda_table\.hpp",
    r"src/sim/.*",
    r"tests/sim/.*",
    r"tests/conformance/.*",
    r"tests/programs/.*",
    r"examples/driver_api/.*",
    r"bench/stand_in_bench\.cpp",
]
# Sources without a test of their own, each with its reason.
WITHOUT_MIRROR = {
    "src/front/cli/main.cpp": "only calls cli::run, which cli_test.cpp runs",
}
# Built at set-up by generate.py, apart from the rest, whose headers are not there then: they include only each
# other, and tests/sim/family/generate_test.py calls them.
FAMILY_PARTS = "src/sim/family/parts/"


@dataclass(frozen=True)
class Breach:
    rule: str
    place: str
    message: str

    def __str__(self):
        return f"{self.place}: {self.message} [{self.rule}]"


class Tree:
    """The files of a checkout, by path from its root."""

    def __init__(self, root):
        self.root = Path(root)
        self.texts = {}
        for top in TOP_FOLDERS:
            for folder, folders, names in os.walk(self.root / top):
                folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
                for name in names:
                    self._add(Path(folder) / name)
        for name in ("CMakeLists.txt", ".ci/run"):
            if (self.root / name).is_file():
                self._add(self.root / name)
        self.documents = {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8")
                          for pattern in ("*.md", "src/*/README.md") for path in self.root.glob(pattern)}

    def _add(self, path):
        name = path.relative_to(self.root).as_posix()
        if path.suffix in CPP | SCRIPTS | CMAKE or path.name == "CMakeLists.txt" or name == ".ci/run":
            self.texts[name] = path.read_text(encoding="utf-8")

    def files(self, suffixes, *tops):
        for name in sorted(self.texts):
            path = PurePosixPath(name)
            if path.suffix in suffixes and (not tops or path.parts[0] in tops):
                yield name


def floor_of(path):
    """'memory' for src/memory/heap.cpp; None outside src/ and tests/, and for files directly in them."""
    parts = PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 and parts[0] in ("src", "tests") else None


def allowed(path, patterns):
    return any(re.fullmatch(pattern, path) for pattern in patterns)


# --- What may include what -------------------------------------------------------------------------


def objection_to_include(path, include):
    """Why the file may not include this, or None."""
    floor, (top, *rest) = floor_of(path), PurePosixPath(include).parts
    if path.startswith("tests/"):
        return "only tests/sim may include src/sim" if top == "sim" and floor != "sim" else None
    if not path.startswith("src/"):
        return None
    if top == "ferry":
        readers = {"front"} if rest != ["sim.h"] else {"front", "driver", "sim"}
        return None if floor in readers else f"{include} is for {' and '.join(sorted(readers))} only"
    if path.startswith(FAMILY_PARTS):
        return "built apart from the rest, includes only what lies beside it" if rest else None
    if floor == "sim":
        functor = top == "cuda" and include.endswith((".hpp", ".h", ".inc"))
        return None if top in ("sim", "base", "abi") or functor else "sim includes only sim, base, abi and functor headers of cuda/"
    if floor == "abi":
        return "abi is data only and includes no other folder" if top != "abi" else None
    if top == "sim":
        return "the product reaches the stand-in only through the driver's interface"
    if top == "abi":
        return None if floor in ABI_READERS else f"abi is for {' and '.join(sorted(ABI_READERS))} only"
    if top in RANK:
        return f"{floor} is below {top}" if RANK[top] > RANK[floor] else None
    if GENERATED.get(include) == floor:
        return None
    return "not a path that starts with a floor's folder"


def check_includes(tree):
    for path in tree.files(CPP, "src", "tests", "include"):
        floor = floor_of(path)
        if path.startswith("src/") and floor not in RANK and floor not in ("sim", "abi"):
            yield Breach("floors", path, "src/ holds the floors, abi and sim, nothing else")
            continue
        quoted = set(re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', tree.texts[path], re.MULTILINE))
        for line, include in cpp_text.includes(tree.texts[path]):
            top, *rest = PurePosixPath(include).parts
            if include in quoted or (rest and (top in RANK or top in ("abi", "sim", "ferry"))):
                objection = objection_to_include(path, include)
                if objection:
                    yield Breach("includes", f"{path}:{line}", f"includes {include}: {objection}")


def check_rooms(tree):
    def room_of(name):
        parts = PurePosixPath(name).parts
        return parts[:2] if len(parts) > 2 and parts[1] in ROOMS.get(parts[0], []) else (None, None)

    for path in tree.files(CPP, "src"):
        folder, room = room_of(path.removeprefix("src/"))
        for line, include in cpp_text.includes(tree.texts[path]):
            other_folder, other = room_of(include)
            if folder is not None and folder == other_folder and ROOMS[folder].index(other) > ROOMS[folder].index(room):
                yield Breach("rooms", f"{path}:{line}", f"includes {include}: {room} is below {other}")


def check_links(tree):
    """A static library that links upward goes unnoticed by the linker."""
    for floor in FLOORS:
        for path, text in tree.texts.items():
            if path.startswith(f"src/{floor}/") and path.endswith("CMakeLists.txt"):
                for number, line in enumerate(text.splitlines(), 1):
                    for other in re.findall(r"\bferry_(\w+)", line.split("#")[0]):
                        if RANK.get(other, 0) > RANK[floor] or other.startswith("sim"):
                            yield Breach("links", f"{path}:{number}", f"{floor} may not know ferry_{other}")


def check_cuda_headers(tree):
    for path in tree.files(CPP, "src", "tests", "include", "bench", "examples"):
        for line, include in cpp_text.includes(tree.texts[path]):
            name = PurePosixPath(include).name
            if name.startswith("cuda") and "/" not in include and not allowed(path, CUDA_HEADER_USERS):
                yield Breach("cuda headers", f"{path}:{line}", f"includes {include}; only src/driver's .cpp files, cuda_table.hpp and the stand-in may")


# --- What must be beside what ----------------------------------------------------------------------


def words_of_cmake(text):
    """All words of a CMake file; those with the variable of a foreach once for each of its items, those with
    the first parameter of a function once for each call."""
    text = re.sub(r"#[^\n]*", " ", text)
    words = set(text.replace("(", " ").replace(")", " ").split())
    loops = re.findall(r"\bforeach\s*\(\s*(\w+)\s([^)]*)\)", text)
    for function, parameter in re.findall(r"\bfunction\s*\(\s*(\w+)\s+(\w+)", text):
        loops.append((parameter, " ".join(re.findall(rf"\b{function}\s*\(\s*([^\s)]+)", text))))
    for variable, items in loops:
        reference = "${" + variable + "}"
        words |= {word.replace(reference, item) for word in words if reference in word for item in items.split()}
    return words


def listed_in_cmake(tree, path):
    source = PurePosixPath(path)
    for folder in source.parents:
        text = tree.texts.get((folder / "CMakeLists.txt").as_posix(), "")
        if source.relative_to(folder).as_posix() in words_of_cmake(text):
            return True
    return False


def check_listed(tree):
    for path in tree.files(COMPILED, "src", "tests", "bench", "examples"):
        if not listed_in_cmake(tree, path):
            yield Breach("listed", path, "in no CMakeLists.txt of its folder or above")
    for path in sorted(tree.texts):
        if path.endswith("CMakeLists.txt") and re.search(r"\bfile\s*\(\s*GLOB", tree.texts[path]):
            yield Breach("listed", path, "collects files by pattern; name each source")


def check_mirrors(tree):
    for path in tree.files(COMPILED, "src"):
        test = re.sub(r"^src/(.*)\.\w+$", r"tests/\1_test.cpp", path)
        if path not in WITHOUT_MIRROR and not path.startswith(FAMILY_PARTS) and test not in tree.texts:
            yield Breach("mirror", path, f"has no test {test}")
    for path in sorted(WITHOUT_MIRROR):
        if path not in tree.texts and (tree.root / "src").is_dir():
            yield Breach("mirror", path, "is exempt from having a test, but does not exist")


# --- How files are written -------------------------------------------------------------------------


def check_spdx(tree):
    licence = "SPDX-License-Identifier: Apache-2.0"
    for path in sorted(tree.texts):
        lines = tree.texts[path].splitlines()
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not first or not re.match(rf"(//|/\*|#) {re.escape(licence)}", first[0]):
            yield Breach("licence", path, f"does not begin with '{licence}'")


def check_environment(tree):
    for path in tree.files(CPP, "src", "include"):
        if not allowed(path, ENVIRONMENT_READERS):
            code = cpp_text.code_of(tree.texts[path])
            for match in re.finditer(r"\b(?:secure_)?getenv\s*\(", code):
                yield Breach("environment", f"{path}:{cpp_text.line_of(code, match.start())}", "reads the environment; options come as values")


def check_file_lengths(tree):
    for path in sorted(tree.texts):
        lines = len(tree.texts[path].splitlines())
        if lines > LONGEST_FILE:
            yield Breach("length", path, f"has {lines} lines, at most {LONGEST_FILE}")


def check_function_lengths(tree):
    for path in tree.files(CPP - {".inc"}):
        try:
            functions = cpp_text.functions(tree.texts[path])
        except cpp_text.Unbalanced as trouble:
            yield Breach("length", path, f"cannot be measured: {trouble}")
            continue
        for line, length, header in functions:
            if length > LONGEST_FUNCTION:
                yield Breach("length", f"{path}:{line}", f"has a function of {length} lines, at most {LONGEST_FUNCTION}: {header[-80:]}")


def check_documents(tree):
    """Documents name files and folders that exist, and tests (`Suite.Name`) that are written."""
    tests = {f"{suite}.{name}" for path in tree.files(COMPILED, "tests")
             for suite, name in re.findall(r"\bT(?:YPED_T)?EST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", tree.texts[path])}
    paths = re.compile(rf"(?:{'|'.join(TOP_FOLDERS)}|\.ci)/[\w./-]*")
    for document, text in sorted(tree.documents.items()):
        for name in re.findall(r"`([^`\n]+)`", text) + re.findall(r"\]\(([^)#:]+)\)", text):
            if (paths.fullmatch(name) or name.endswith(".md")) and not (tree.root / name).exists():
                yield Breach("documents", document, f"names {name}, which does not exist")
            if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", name) and name not in tests and not (tree.root / name).exists():
                yield Breach("documents", document, f"names the test {name}, which does not exist")


RULES = [
    check_includes,
    check_rooms,
    check_links,
    check_cuda_headers,
    check_listed,
    check_mirrors,
    check_spdx,
    check_environment,
    check_file_lengths,
    check_function_lengths,
    check_documents,
]


def check(root):
    tree = Tree(root)
    return tree, [breach for rule in RULES for breach in rule(tree)]


def main(arguments):
    if len(arguments) != 1 or not (Path(arguments[0]) / "src").is_dir():
        print("usage: layering.py ROOT, the folder that holds src/", file=sys.stderr)
        return 2
    tree, breaches = check(arguments[0])
    for breach in breaches:
        print(breach)
    print(f"{len(tree.texts)} files, {len(RULES)} rules, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
