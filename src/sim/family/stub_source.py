# SPDX-License-Identifier: Apache-2.0
"""Writes the C source of one library's stand-in: a function for each name that is imported."""

import re

from tables import number_of

TYPES = {"i32": "int32_t", "i64": "int64_t", "f32": "float", "f64": "double", "id": "int32_t", "bytes1": "int8_t",
         "bytes8": "double", "bytes128": "struct ferry_bytes128"}
RETURNS = {"status": "int32_t", "i32": "int32_t", "i64": "int64_t", "text": "const char*", "ptr": "void*", "void": "void"}


class StubWriter:
    """One library: its table of functions, its versions, and what is remembered for whom."""

    def __init__(self, library, functions, versions):
        self.library, self.functions, self.toolkit = library, functions, versions.toolkit
        self.version, self.at_least = (versions.of(library), versions.at_least(library)) if library else (None, None)
        # What a getter can be asked for, so that only this is remembered.
        self.asked = {parameter for function in functions.values() if "Get" in function.name
                      for parameter, kind in function.parameters if kind.startswith("out")}
        self.mode = next((self.pair_key(name, "Set", "mode") for name in functions if re.search(r"SetPointerMode", name)), None)

    def head(self, soname):
        version = self.version or (-1, -1, -1)
        return "\n".join([
            "/* SPDX-License-Identifier: Apache-2.0 */",
            f"/* The stand-in of {soname}, generated. */",
            '#include "family.h"',
            "",
            "struct ferry_bytes128 { char bytes[128]; };",
            f"const int ferry_not_supported = {self.library.not_supported if self.library else 1};",
            f"const int ferry_version[3] = {{{', '.join(map(str, version))}}};",
            f"const int ferry_version_number = {number_of(self.library, self.version) if self.library else -1};",
            f"const int ferry_toolkit_version[2] = {{{', '.join(map(str, self.toolkit))}}};",
            ""])

    def function(self, name):
        """(source, kind): kind is plain, outputs, object, remembers, refused."""
        function = self.functions.get(name)
        if function is None:
            return self.refused(name, "int32_t", "return ferry_refuse(__func__, &said);"), "refused"
        if function.returns.startswith("refused"):
            returned = RETURNS[function.returns.partition("-")[2] or "status"]
            tail = {"void*": "return NULL;", "void": ""}.get(returned)
            call = "ferry_refuse(__func__, &said);"
            return self.refused(name, returned, f"return {call}" if tail is None else f"{call} {tail}".strip()), "refused"
        version = self.version_answer(function)
        if version is not None:
            return version
        lines, kind = self.body(function)
        if function.returns == "text":
            first = next((f"p{index}" for index, (_, kind_) in enumerate(function.parameters) if kind_ == "i32"), "0")
            lines.append(f'return {first} == 0 ? "success" : "an error of the stand-in";')
        elif function.returns != "void":
            lines.append("return NULL;" if function.returns == "ptr" else "return 0;")
        return self.define(function, lines), kind

    def refused(self, name, returned, statement):
        return f"EXPORTED {returned} {name}(void) {{\n  static int said;\n  {statement}\n}}\n"

    def define(self, function, lines):
        parameters = ", ".join(f"{self.type_of(kind)} p{index}" for index, (_, kind) in enumerate(function.parameters)) or "void"
        used = "".join(f"  (void)p{index};\n" for index in range(len(function.parameters)))
        return (f"EXPORTED {RETURNS[function.returns]} {function.name}({parameters}) {{\n{used}" +
                "".join(f"  {line}\n" for line in lines) + "}\n")

    def type_of(self, kind):
        if kind.startswith("bytes") and kind not in TYPES:
            # Two doubles go in registers that nothing else uses; a stub never looks at them.
            return "double _Complex"
        return TYPES.get(kind, "void*")

    def version_answer(self, function):
        """Versions are those that torch was built with; one that torch does not name is refused."""
        if not re.search(r"GetVersion|GetProperty|Version$|get_version", function.name):
            return None
        toolkit = re.search(r"CudartVersion", function.name)
        by_value = function.returns in ("i32", "i64")
        number = self.toolkit[0] * 1000 + self.toolkit[1] * 10 if toolkit else \
            number_of(self.library, self.at_least if by_value else self.version)
        if number < 0:
            return self.refused(function.name, "int32_t", "return ferry_refuse(__func__, &said);"), "refused"
        outputs = [index for index, (_, kind) in enumerate(function.parameters) if re.match(r"out4|version", kind)]
        if not outputs:
            return self.define(function, [f"return {number};"]), "outputs"
        if "Property" in function.name:
            asked = next(index for index, (_, kind) in enumerate(function.parameters) if kind == "i32")
            lines = [f"if (p{asked} < 0 || p{asked} > 2) return ferry_not_supported;",
                     f"*(int32_t*)p{outputs[0]} = ferry_version[p{asked}];"]
        elif len(outputs) > 1:
            lines = [f"*(int32_t*)p{index} = {part};" for index, part in zip(outputs, self.version)]
        else:
            lines = [f"*(int32_t*)p{outputs[0]} = {number};"]
        return self.define(function, lines + ([] if function.returns == "void" else ["return 0;"])), "outputs"

    def pair_key(self, name, word, parameter):
        """What SetThing is given is what GetThing answers."""
        return f"{name.replace(word, '', 1)}.{parameter}"

    def subject(self, function):
        kinds = [kind for _, kind in function.parameters]
        for wanted in ("new", "object"):
            if wanted in kinds:
                return kinds.index(wanted), wanted
        return None, None

    def body(self, function):
        lines, kind = [], "plain"
        subject, how = self.subject(function)
        for index, (_, parameter) in enumerate(function.parameters):
            if parameter == "new":
                lines += [f"if (p{index} == NULL) return ferry_not_supported;", f"*(void**)p{index} = ferry_new_object();"]
                kind = "object"
            elif parameter == "newid":
                lines += [f"if (p{index} == NULL) return ferry_not_supported;", f"*(int32_t*)p{index} = ferry_new_id();"]
                kind = "object"
        if how == "new":
            lines += self.remember(function, f"*(void**)p{subject}", lambda name: name if name in self.asked else None)
        setter = re.search(r"Set[A-Z]", function.name)
        if setter and how == "object" and function.name.replace("Set", "Get", 1) in self.functions:
            lines += self.remember(function, f"p{subject}", lambda name: self.pair_key(function.name, "Set", name))
            kind = "remembers"
        for index, (name, parameter) in enumerate(function.parameters):
            outputs = self.output(function, index, name, parameter, f"p{subject}" if how == "object" else None)
            if outputs:
                lines += outputs
                kind = "outputs" if kind == "plain" else kind
        objects = [index for index, (_, parameter) in enumerate(function.parameters) if parameter == "object"]
        if re.search(r"Destroy|Free|Unsubscribe", function.name) and len(objects) == 1:
            lines.append(f"ferry_free_object(p{objects[0]});")
            kind = "object"
        return lines, kind

    def remember(self, function, target, key_of):
        for index, (name, kind) in enumerate(function.parameters):
            key = key_of(name)
            if key and kind in ("i32", "i64", "f32", "f64", "ptr"):
                yield f'ferry_remember({target}, "{key}", &p{index}, sizeof p{index});'

    def output(self, function, index, name, kind, subject):
        match = re.fullmatch(r"(out|result)(\d+)", kind)
        if match:
            size = match.group(2)
            lines = [f"memset(p{index}, 0, {size});"]
            if match.group(1) == "result" and self.mode and subject:
                # In the other pointer mode the address is the device's.
                return [f'if (p{index} != NULL) {{ int32_t mode = 0; ferry_recall({subject}, "{self.mode}", &mode, sizeof mode); '
                        f"if (mode == 0) {lines[0]} }}"]
            if "Get" in function.name and subject:
                lines.append(f'if (ferry_recall({subject}, "{self.pair_key(function.name, "Get", name)}", p{index}, {size}) == 0) '
                             f'ferry_recall({subject}, "{name}", p{index}, {size});')
            return [f"if (p{index} != NULL) {{ {' '.join(lines)} }}"]
        if kind == "sized":
            return [f"if (p{index} != NULL) memset(p{index}, 0, (size_t)p{index + 1});"]
        return []
