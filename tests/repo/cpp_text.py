# SPDX-License-Identifier: Apache-2.0
"""Just enough understanding of C++ text for the layering test: code without comments and strings, the
files it includes, and where its functions begin and end. Positions and line numbers stay as they are."""

import re

_TOKEN = re.compile(
    r"""(?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/)
      | (?P<raw>\bu?8?[RL]*R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d(?:'\w|[eEpP][+-]|[\w.])*)
      | (?P<character>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL | re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


class Unbalanced(Exception):
    """Braces that do not pair: the functions of this file cannot be told apart."""


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    return _TOKEN.sub(lambda m: _blank(m[0]) if m["comment"] else m[0], text)


def code_of(text):
    """The text with comments and the inside of literals blanked."""

    def replace(match):
        if match["comment"]:
            return _blank(match[0])
        if match["number"]:
            return match[0].replace("'", "_")
        return '"' + _blank(match[0][1:-1]) + '"'

    return _TOKEN.sub(replace, text)


def includes(text):
    """(line, name) of each #include."""
    code = without_comments(text)
    return [(line_of(code, match.start(2)), match[2]) for match in _INCLUDE.finditer(code)]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


_CONTAINER = re.compile(r"^(?:(?:inline|typedef|static|constexpr|export)\s+)*(namespace|class|struct|union|enum|extern)\b")
_MEMBER_INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*(?:\([^()]*\))?\s*)?:(?!:)")
_QUALIFIER = re.compile(r"\b(?:const|noexcept|override|final|mutable|try|volatile)$")


def _plain_header(header):
    """The words before a brace, without what only confuses: attributes, template parameters, inner braces."""
    header = " ".join(header.split())
    for noise in (r"\{[^{}]*\}", r"\[\[[^\]]*\]\]", r"\b(?:alignas|decltype|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)"):
        before = None
        while before != header:
            before, header = header, re.sub(noise, "@" if noise.startswith(r"\{") else " ", header)
    header = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", " ", header)
    while match := re.match(r"\s*template\s*<", header):
        depth, end = 1, match.end()
        while depth and end < len(header):
            depth += {"<": 1, ">": -1}.get(header[end], 0)
            end += 1
        header = header[end:]
    return header.strip()


def _kind_of(header):
    """What a brace after `header` opens where declarations stand: 'container', 'data' or 'function'."""
    header = _plain_header(header)
    if _CONTAINER.match(header) and not header.endswith(")") and not _QUALIFIER.search(header):
        return "container"
    if header == "" or header[-1] in "=,(":
        return "data"
    if _MEMBER_INITIALISERS.search(header) and (header[-1].isalnum() or header[-1] in "_>") and not _QUALIFIER.search(header):
        return "data"
    return "function" if "(" in header or header.endswith("]") else "data"


def functions(text):
    """(first line, number of lines, header) of each function body, its braces included. Functions inside
    functions belong to the outer one."""
    code = _DIRECTIVE.sub(lambda m: _blank(m[0]), code_of(text))
    found = []
    scopes = []  # (kind, position of the brace, start of its header)
    start = 0  # of the header now being read
    for match in re.finditer(r"[{};]", code):
        inside_code = bool(scopes) and scopes[-1][0] in ("function", "code")
        if match[0] == "{":
            kind = "code" if inside_code else _kind_of(code[start : match.start()])
            scopes.append((kind, match.start(), start))
            start = match.end()
        elif match[0] == "}":
            if not scopes:
                raise Unbalanced(f"line {line_of(code, match.start())}: '}}' without '{{'")
            kind, opened, header_start = scopes.pop()
            start = header_start if kind == "data" else match.end()
            if kind == "function":
                first = line_of(code, opened)
                header = " ".join(code[header_start:opened].split())
                found.append((first, line_of(code, match.start()) - first + 1, header))
        elif not inside_code:
            start = match.end()
    if scopes:
        raise Unbalanced(f"line {line_of(code, scopes[-1][1])}: '{{' is never closed")
    return found
