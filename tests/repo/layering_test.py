#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the layering test: a small tree that keeps all rules, and one broken tree for each way to
break one."""

import tempfile
import unittest
from pathlib import Path

import cpp_text
import layering

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
CMAKE_SPDX = "# SPDX-License-Identifier: Apache-2.0\n"

GOOD = {
    "src/base/CMakeLists.txt": CMAKE_SPDX + "ferry_floor(base SOURCES bytes.cpp)\n",
    "src/base/bytes.hpp": SPDX + "#pragma once\n#include <cstdint>\n",
    "src/base/bytes.cpp": SPDX + '#include "base/bytes.hpp"\n',
    "src/driver/CMakeLists.txt": CMAKE_SPDX + "ferry_floor(driver SOURCES driver.cpp LINK ferry_base)\n",
    "src/driver/driver.cpp": SPDX + '#include <cuda.h>\n#include "base/bytes.hpp"\n#include "abi/names.inc"\n#include "ferry/sim.h"\n'
    'const char* a() { return std::getenv("FERRY_DRIVER"); }\n',
    "src/memory/CMakeLists.txt": CMAKE_SPDX + "ferry_floor(memory SOURCES\n  parts/pool.cpp  # why\n  LINK ferry_driver)\n",
    "src/memory/parts/pool.cpp": SPDX + '#include <memory>\n#include "base/bytes.hpp"\n// getenv(name) is not called here\n',
    "src/front/cli/CMakeLists.txt": CMAKE_SPDX + "add_executable(ferry_cli main.cpp)\n",
    "src/front/cli/main.cpp": SPDX + '#include <ferry/ferry.h>\nint main() {}\n',
    "src/abi/names.inc": SPDX,
    "src/sim/CMakeLists.txt": CMAKE_SPDX + "add_library(ferry_sim SHARED memory.cpp)\n",
    "src/sim/memory.cpp": SPDX + '#include <cuda.h>\n#include "abi/names.inc"\n#include "cuda/fill.hpp"\n#include "ferry/sim.h"\n',
    "tests/CMakeLists.txt": CMAKE_SPDX
    + "ferry_test(all SOURCES base/bytes_test.cpp driver/driver_test.cpp memory/parts/pool_test.cpp sim/memory_test.cpp)\n",
    "tests/base/bytes_test.cpp": SPDX,
    "tests/driver/driver_test.cpp": SPDX,
    "tests/memory/parts/pool_test.cpp": SPDX,
    "tests/sim/memory_test.cpp": SPDX + '#include "sim/memory.hpp"\n#include <cuda.h>\n',
    "scripts/go.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
}


def breaches_with(changes):
    """The rules broken by GOOD with some files replaced (None: removed)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            if text is not None:
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        return layering.check(folder)[1]


def long_function(lines, header="int f()"):
    return header + " {\n" + "  g();\n" * (lines - 2) + "}\n"


class Rules(unittest.TestCase):
    def assert_breaks(self, rule, changes):
        breaches = breaches_with(changes)
        self.assertEqual([breach.rule for breach in breaches], [rule], [str(breach) for breach in breaches])

    def test_a_good_tree_keeps_all_rules(self):
        self.assertEqual(breaches_with({}), [])

    def test_upward_include(self):
        self.assert_breaks("includes", {"src/base/bytes.hpp": SPDX + '#include "driver/driver.hpp"\n'})
        self.assert_breaks("includes", {"src/base/bytes.hpp": SPDX + "#include <driver/driver.hpp>\n"})
        self.assert_breaks("includes", {"src/memory/parts/pool.cpp": SPDX + '#  include "front/a.hpp"\n'})

    def test_upward_include_inside_the_front(self):
        listed = {
            "src/front/CMakeLists.txt": CMAKE_SPDX + "ferry_floor(front SOURCES traces/trace.cpp report/page.cpp)\n",
            "tests/front/CMakeLists.txt": CMAKE_SPDX + "ferry_test(front SOURCES traces/trace_test.cpp report/page_test.cpp)\n",
            "src/front/report/page.cpp": SPDX + '#include "front/traces/trace.hpp"\n',
            "src/front/traces/trace.cpp": SPDX,
            "tests/front/traces/trace_test.cpp": SPDX + '#include "front/report/page.hpp"\n',
            "tests/front/report/page_test.cpp": SPDX,
        }
        self.assertEqual(breaches_with(listed), [])
        self.assert_breaks("rooms", {**listed, "src/front/traces/trace.cpp": SPDX + '#include "front/report/page.hpp"\n'})

    def test_include_that_names_no_floor(self):
        self.assert_breaks("includes", {"src/memory/parts/pool.cpp": SPDX + '#include "pool.hpp"\n'})
        self.assert_breaks("includes", {"src/memory/parts/pool.cpp": SPDX + '#include "../driver/driver.hpp"\n'})

    def test_stand_in_from_the_product(self):
        self.assert_breaks("includes", {"src/driver/driver.cpp": SPDX + '#include "sim/memory.hpp"\n'})
        self.assert_breaks("includes", {"tests/base/bytes_test.cpp": SPDX + '#include "sim/memory.hpp"\n'})

    def test_product_from_the_stand_in(self):
        self.assert_breaks("includes", {"src/sim/memory.cpp": SPDX + '#include "driver/driver.hpp"\n'})

    def test_parts_built_at_set_up(self):
        parts = {"src/sim/family/CMakeLists.txt": CMAKE_SPDX + "install(FILES parts/nccl.c)\n"}
        part = "src/sim/family/parts/nccl.c"
        self.assertEqual(breaches_with({**parts, part: SPDX + '#include "family.h"\n'}), [])
        self.assert_breaks("includes", {**parts, part: SPDX + '#include "base/bytes.hpp"\n'})

    def test_abi_is_data_only(self):
        self.assert_breaks("includes", {"src/abi/names.inc": SPDX + '#include "base/bytes.hpp"\n'})
        self.assert_breaks("includes", {"src/memory/parts/pool.cpp": SPDX + '#include "abi/names.inc"\n'})

    def test_public_headers_are_for_the_front(self):
        self.assert_breaks("includes", {"src/memory/parts/pool.cpp": SPDX + '#include "ferry/ferry.h"\n'})

    def test_comments_are_no_includes(self):
        self.assertEqual(breaches_with({"src/base/bytes.hpp": SPDX + '/*\n#include "driver/driver.hpp"\n*/\n'}), [])

    def test_unknown_folder(self):
        self.assert_breaks("floors", {"src/utils/helper.hpp": SPDX})

    def test_upward_link(self):
        text = CMAKE_SPDX + "ferry_floor(base SOURCES bytes.cpp LINK ferry_front)\n"
        self.assert_breaks("links", {"src/base/CMakeLists.txt": text})
        text = CMAKE_SPDX + "ferry_floor(base SOURCES bytes.cpp LINK ferry_sim)\n"
        self.assert_breaks("links", {"src/base/CMakeLists.txt": text})

    def test_cuda_headers(self):
        for header in ("<cuda.h>", "<cudaTypedefs.h>", "<cuda_runtime_api.h>", '"cuda.h"'):
            breaches = breaches_with({"src/memory/parts/pool.cpp": SPDX + f"#include {header}\n"})
            self.assertIn("cuda headers", [breach.rule for breach in breaches], header)
        self.assert_breaks("cuda headers", {"src/driver/device.hpp": SPDX + "#include <cuda.h>\n"})
        self.assert_breaks("cuda headers", {"tests/driver/driver_test.cpp": SPDX + "#include <cuda.h>\n"})

    def test_unlisted_source(self):
        self.assert_breaks("listed", {"tests/base/more_test.cpp": SPDX})
        self.assert_breaks("listed", {"src/base/CMakeLists.txt": CMAKE_SPDX + "# bytes.cpp\n"})
        self.assert_breaks("listed", {"src/memory/CMakeLists.txt": CMAKE_SPDX + "ferry_floor(memory SOURCES pool.cpp)\n"})

    def test_sources_listed_by_function(self):
        function = CMAKE_SPDX + "function(fuzz name)\n  add_executable(${name} ${name}_fuzz.cpp)\nendfunction()\nfuzz(one)\n"
        self.assertEqual(breaches_with({"tests/a/one_fuzz.cpp": SPDX, "tests/a/CMakeLists.txt": function}), [])
        self.assert_breaks("listed", {"tests/a/two_fuzz.cpp": SPDX, "tests/a/CMakeLists.txt": function})

    def test_sources_listed_by_foreach(self):
        loop = CMAKE_SPDX + "foreach(stem {})\n  ferry_test(${{stem}}_test SOURCES ${{stem}}_test.cpp)\nendforeach()\n"
        self.assertEqual(breaches_with({"tests/base/more_test.cpp": SPDX, "tests/base/CMakeLists.txt": loop.format("less\n more")}), [])
        self.assert_breaks("listed", {"tests/base/more_test.cpp": SPDX, "tests/base/CMakeLists.txt": loop.format("less")})

    def test_sources_by_pattern(self):
        text = GOOD["src/base/CMakeLists.txt"] + "file(GLOB more *.cpp)\n"
        self.assert_breaks("listed", {"src/base/CMakeLists.txt": text})

    def test_missing_mirror(self):
        self.assert_breaks("mirror", {"tests/memory/parts/pool_test.cpp": None})

    def test_exemption_without_a_file(self):
        self.assert_breaks("mirror", {"src/front/cli/main.cpp": None})

    def test_missing_licence(self):
        self.assert_breaks("licence", {"src/base/bytes.hpp": "#pragma once\n" + SPDX})
        self.assert_breaks("licence", {"scripts/go.sh": "#!/bin/sh\necho\n# SPDX-License-Identifier: Apache-2.0\n"})
        self.assert_breaks("licence", {"tests/repo/x.py": ""})

    def test_environment(self):
        for call in ('std::getenv("A")', 'secure_getenv ("A")', "::getenv(name)"):
            self.assert_breaks("environment", {"src/memory/parts/pool.cpp": SPDX + f"auto a = {call};\n"})

    def test_long_file(self):
        self.assertEqual(breaches_with({"src/base/bytes.hpp": SPDX + "\n" * 399}), [])
        self.assert_breaks("length", {"src/base/bytes.hpp": SPDX + "\n" * 400})

    def test_long_function(self):
        self.assertEqual(breaches_with({"src/base/bytes.cpp": SPDX + long_function(70)}), [])
        self.assert_breaks("length", {"src/base/bytes.cpp": SPDX + long_function(71)})

    def test_file_that_cannot_be_measured(self):
        self.assert_breaks("length", {"src/base/bytes.cpp": SPDX + "int f() {\n"})

    def test_documents(self):
        good = "`src/base/bytes.hpp`, `src/base/`, `tests/` and `src/<floor>/x`, see [more](MORE.md) or `Pool.Grows`\n"
        test = {"tests/base/bytes_test.cpp": SPDX + "TEST_F(Pool, Grows) {}\n", "MORE.md": "\n"}
        self.assertEqual(breaches_with({"README.md": good, **test}), [])
        self.assert_breaks("documents", {"README.md": "`src/base/words.hpp`\n"})
        self.assert_breaks("documents", {"src/base/README.md": "[it](NONE.md)\n"})
        self.assert_breaks("documents", {"README.md": "`Pool.Shrinks`\n", **test})


class Functions(unittest.TestCase):
    def lengths(self, text):
        return [length for _, length, _ in cpp_text.functions(text)]

    def test_where_functions_may_stand(self):
        for before, after in [
            ("namespace a::b {\n", "}\n"),
            ("namespace {\n", "}\n"),
            ('extern "C" {\n', "}\n"),
            ("template <typename T>\nclass A final : public B<T> {\n public:\n", "};\n"),
            ("struct [[nodiscard]] alignas(64) A {\n  int a = 0;\n  int b[2] = {1, 2};\n", "};\n"),
            ("enum class E { a, b };\nint table[] = {\n  1,\n};\n", "int last{3};\n"),
        ]:
            self.assertEqual(self.lengths(before + long_function(9) + after), [9], before)

    def test_kinds_of_functions(self):
        for header in [
            "TEST(Suite, name)",
            "A::A(int n) : n_(n)",
            "A::A(int n) : n_{n}, m_{f(n)}",
            "A::A(int n) noexcept : B<int>{n}, m_{}",
            "constexpr auto A::operator()(int n) const& noexcept(true) -> Result<int>",
            "template <typename T, typename = std::enable_if_t<f<T>()>>\nvoid f(T)",
            "template <class T> requires C<T> struct A f(T t)",
            "auto f = [](int n)",
            "auto f = []",
            "static const auto f = [&](int n) mutable",
        ]:
            self.assertEqual(self.lengths(long_function(9, header)), [9], header)

    def test_text_that_looks_like_braces(self):
        text = 'int f() {\n  g("}{", \'}\', 1\'000, R"x(}}\n)")x");\n  // }\n  /* }\n */\n}\n#define OPEN {\n#define TWO \\\n  { {\n'
        self.assertEqual(self.lengths(text), [7])

    def test_inner_functions_belong_to_the_outer_one(self):
        text = "int f() {\n  auto g = [] {\n    return 1;\n  };\n  struct L { int h() { return 2; } };\n  if (g()) {\n  }\n}\nint k() {\n}\n"
        self.assertEqual(self.lengths(text), [8, 2])

    def test_unbalanced(self):
        for text in ("int f() {\n", "}\n"):
            with self.assertRaises(cpp_text.Unbalanced):
                cpp_text.functions(text)


if __name__ == "__main__":
    unittest.main()
