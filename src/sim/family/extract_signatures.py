#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables src/abi/family/LIBRARY.tsv from the headers of NVIDIA's libraries. Run by who updates the
tables, with clang and a toolkit at hand; nothing else needs either.

usage: extract_signatures.py INCLUDE_FOLDER TABLE_FOLDER

One line per function: its name, what it returns, then `name:kind` for each parameter. Kinds:
  i32 i64 f32 f64 bytesN   passed by value
  ptr                      an address that a stand-in leaves alone: an input, or device memory
  object                   a handle, descriptor or plan
  new                      where the address of a new object goes
  id, newid                the same for objects that are numbers (plans of cuFFT)
  outN                     N bytes on the host that the function fills
  resultN                  the same where the handle's pointer mode says host, otherwise device memory
  sized                    as many bytes on the host as the next parameter says
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Library: the headers that declare its functions, and how they begin.
LIBRARIES = {
    "cublas": (["cublas_v2.h"], r"cublas(?!Lt|Xt)"),
    "cublasLt": (["cublasLt.h"], r"cublasLt"),
    "cudnn": (["cudnn.h"], r"cudnn"),
    "cufft": (["cufft.h", "cufftXt.h"], r"cufft"),
    "cusparse": (["cusparse.h"], r"cusparse(?!Lt)"),
    "cusolver": (["cusolverDn.h", "cusolverSp.h", "cusolverRf.h", "cusolverMg.h"], r"cusolver"),
    "nccl": (["nccl.h"], r"p?nccl"),
    "nvrtc": (["nvrtc.h"], r"nvrtc"),
    "cupti": (["cupti.h"], r"cupti"),
}

SCALARS = {
    "int": "i32", "unsigned int": "i32", "long": "i64", "unsigned long": "i64", "long long": "i64",
    "unsigned long long": "i64", "float": "f32", "double": "f64",
}
SIZES = {"i32": 4, "i64": 8, "f32": 4, "f64": 8}

RUNTIMES = re.compile(r"cuda|CU(?!pti)[a-z]")
# Numbers in device memory, for these libraries: all but those named here, and all of functions with Get in their name.
NUMBERS_ON_DEVICE = {"cublas", "cusparse", "cusolver"}
HOST_NUMBERS = re.compile(r"lwork\w*|\w*bufferSize\w*|\w*workspaceInBytes\w*|n_singular|"
                          r"nnzLU|size_internal|size_workspace", re.I)
# Structures that the caller gets filled; all others are inputs or are filled by functions written by hand.
FILLED = {"ncclGetUniqueId", "ncclCommGetUniqueId", "cublasLtMatmulAlgoInit"}
# Addresses that are outputs of cuFFT; its others are the lists of a plan's dimensions.
CUFFT_OUTPUTS = re.compile(r"workSize|version|value|property")
RESULTS = re.compile(r"result|nnzTotalDevHostPtr|position")


# Getrf and the like factor a matrix, GetMatrix copies one.
GETTER = re.compile(r"Get(?!r[fsi]|Matrix|Vector)")


def canonical(kind):
    return kind.get("desugaredQualType", kind["qualType"])


class Headers:
    """What clang says about the headers."""

    def __init__(self, include, headers):
        self.functions, self.records, self.aliases = {}, {}, {}
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
            source.write("".join(f"#include <{header}>\n" for header in ["cuda_runtime.h", *headers]))
            source.flush()
            text = subprocess.run(["clang", "-x", "c++", "-std=c++17", "-Wno-everything", "-I", include, "-fsyntax-only",
                                   "-Xclang", "-ast-dump=json", source.name], check=True, capture_output=True).stdout
        self.include, self.source = include, None
        self.walk(json.loads(text)["inner"])

    def walk(self, nodes):
        for node in nodes:
            kind = node["kind"]
            if kind == "FunctionDecl":
                self.functions.setdefault(node["name"], node)
            elif kind == "TypedefDecl":
                self.aliases[node["name"]] = canonical(node["type"])
            elif kind == "LinkageSpecDecl":
                self.walk(node.get("inner", []))

    def resolve(self, name):
        name = re.sub(r"\b(const|struct|enum|volatile)\b", "", name).strip()
        seen = set()
        while name in self.aliases and name not in seen:
            seen.add(name)
            name = re.sub(r"\b(const|struct|enum|volatile)\b", "", self.aliases[name]).strip()
        return name


def measure(include, headers, types):
    """The sizes of types, asked from the compiler; 0 for those that are declared only."""
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(f'  S<{name}>("{name}");\n' for name in types)
        source = Path(folder, "sizes.cpp")
        source.write_text("#include <cstdio>\n" + "".join(f"#include <{header}>\n" for header in ["cuda_runtime.h", *headers]) + """
template <class T, class = void> struct Size { static constexpr size_t value = 0; };
template <class T> struct Size<T, decltype((void)sizeof(T))> { static constexpr size_t value = sizeof(T); };
template <class T> void S(const char* name) { std::printf("%s\\t%zu\\t%d\\n", name, Size<T>::value, __is_enum(T)); }
int main() {
""" + lines + "}\n")
        program = str(Path(folder, "sizes"))
        subprocess.run(["clang", "-x", "c++", "-std=c++17", "-Wno-everything", "-I", include, str(source), "-o", program,
                        "-lstdc++"], check=True)
        for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
            name, size, is_enum = line.split("\t")
            sizes[name] = (int(size), is_enum == "1")
    return sizes


def words_of(qual):
    """(pointee, stars, const pointee) of a type as spelled; arrays are pointers."""
    qual = re.sub(r"\[[^\]]*\]", "*", qual)
    is_const = bool(re.match(r"const\b", qual)) or " const *" in qual
    stars = qual.count("*")
    base = re.sub(r"\b(const|struct|enum|volatile)\b|\*|&|__restrict|restrict", " ", qual)
    return " ".join(base.split()), stars, is_const


def by_value(headers, sizes, name):
    plain = headers.resolve(name)
    if plain in SCALARS:
        return SCALARS[plain]
    if "*" in plain:
        return "object"
    size, is_enum = sizes.get(name, (0, False))
    return "i32" if is_enum and size == 4 else "i64" if is_enum else f"bytes{size}"


def parameter_kind(library, function, headers, sizes, name, qual, following):
    base, stars, is_const = words_of(qual)
    if "(" in headers.resolve(base) or "(" in qual:
        return "ptr"
    if library == "cufft" and base == "cufftHandle":
        return "newid" if stars else "id"
    if stars == 0:
        kind = by_value(headers, sizes, base)
        if kind == "object" and not re.search(r"(?i)handle|desc|info|plan|params|comm|prog|pref|layout|algo|_t$", base):
            return "ptr"
        # Streams and events are the runtime's, not the library's.
        return "ptr" if kind == "object" and RUNTIMES.match(base) else kind
    if is_const or re.match(r"(p?[a-z]+[A-Z]?[a-z]*)Set[A-Z]", function) or library == "cufft" and not CUFFT_OUTPUTS.fullmatch(name):
        return "ptr"
    if stars > 1:
        return "out8" if base == "char" or GETTER.search(function) and base == "void" and stars == 2 else "ptr"
    if base in ("void", "char"):
        return "sized" if base == "void" and following in ("size_t", "unsigned long") and GETTER.search(function) else "ptr"
    if "*" in headers.resolve(base):
        return "out8" if GETTER.search(function) or RUNTIMES.match(base) else "new"
    kind = by_value(headers, sizes, base)
    size = SIZES.get(kind) or int(kind[5:] if kind.startswith("bytes") else 0)
    if kind.startswith("bytes") and function not in FILLED:
        return "ptr"
    if kind in ("f32", "f64"):
        return f"result{size}" if library == "cublas" and RESULTS.fullmatch(name) else \
            f"out{size}" if library in ("cudnn", "nccl", "nvrtc") and GETTER.search(function) else "ptr"
    if library in NUMBERS_ON_DEVICE and not sizes.get(base, (0, False))[1]:
        if GETTER.search(function) or base == "size_t":
            return f"out{size}"
        if RESULTS.fullmatch(name):
            return f"result{size}"
        return f"out{size}" if HOST_NUMBERS.fullmatch(name) else "ptr"
    return f"out{size}" if size else "ptr"


def return_kind(headers, sizes, qual):
    base, stars, _ = words_of(qual)
    if stars:
        return "text" if base == "char" else "ptr"
    if base == "void":
        return "void"
    if re.search(r"(?i)status|result|error", base):
        return "status"
    return by_value(headers, sizes, base)


def rows(library, include):
    names, pattern = LIBRARIES[library]
    headers = Headers(include, names)
    wanted = {name: node for name, node in headers.functions.items() if re.match(pattern, name)}
    parameters = {name: [child for child in node.get("inner", []) if child["kind"] == "ParmVarDecl"] for name, node in wanted.items()}
    types = {words_of(child["type"]["qualType"])[0] for children in parameters.values() for child in children}
    types |= {words_of(node["type"]["qualType"].split("(")[0])[0] for node in wanted.values()}
    sizes = measure(include, names, sorted(name for name in types if re.fullmatch(r"[\w ]+", name) and name != "void"))
    for name in sorted(wanted):
        if wanted[name].get("inline") or any(child["kind"] == "CompoundStmt" for child in wanted[name].get("inner", [])):
            continue
        words = []
        for index, child in enumerate(parameters[name]):
            following = parameters[name][index + 1]["type"]["qualType"] if index + 1 < len(parameters[name]) else ""
            label = child.get("name", f"p{index}")
            words.append(f"{label}:{parameter_kind(library, name, headers, sizes, label, child['type']['qualType'], following)}")
        yield "\t".join([name, return_kind(headers, sizes, wanted[name]["type"]["qualType"].split("(")[0]), " ".join(words)])


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for library in LIBRARIES:
        lines = list(rows(library, arguments[0]))
        Path(arguments[1], f"{library}.tsv").write_text(
            "# SPDX-License-Identifier: Apache-2.0\n# Made by src/sim/family/extract_signatures.py, which explains it.\n" +
            "\n".join(lines) + "\n")
        print(f"{library}: {len(lines)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
