# SPDX-License-Identifier: Apache-2.0
"""What the allocator variables mean to Ferry, and what is left of them."""

import unittest

from ferry import config


class Parsing(unittest.TestCase):
    def test_other_backends_are_none_of_ours(self):
        for text in ("", "backend:native", "backend:cudaMallocAsync", "expandable_segments:True,max_split_size_mb:64"):
            request = config.parse(text)
            self.assertFalse(request.ferry, text)
            self.assertEqual(request.rest, text)

    def test_ferry_is_taken_out_and_the_rest_is_as_it_was(self):
        request = config.parse("max_split_size_mb: 64,backend:ferry,roundup_power2_divisions:[64:8,>:1],nonsense:1")
        self.assertTrue(request.ferry)
        self.assertEqual(request.rest, "max_split_size_mb: 64,roundup_power2_divisions:[64:8,>:1],nonsense:1")

    def test_a_path_names_the_library(self):
        self.assertEqual(config.parse("backend:/opt/x/libferry.so").options.library, "/opt/x/libferry.so")
        self.assertEqual(config.parse("backend:libferry.so.0").options.library, "libferry.so.0")
        self.assertIsNone(config.parse("backend:ferry").options.library)
        self.assertFalse(config.parse("backend:ferryboat").ferry)

    def test_keys_of_ferry(self):
        options = config.parse("backend:ferry,ferry_mode:portable,ferry_limit:1.5GiB,ferry_pinned:False,ferry_driver:sim").options
        self.assertEqual((options.mode, options.limit, options.pinned, options.driver), ("portable", 3 << 29, False, "sim"))

    def test_a_wrong_key_names_itself_and_the_nearest(self):
        with self.assertRaisesRegex(config.ConfigError, "'ferry_limt'.*did you mean 'ferry_limit'"):
            config.parse("backend:ferry,ferry_limt:1")
        with self.assertRaisesRegex(config.ConfigError, "'ferry_mode'.*'potable'.*did you mean 'portable'"):
            config.parse("backend:ferry,ferry_mode:potable")

    def test_wrong_values(self):
        for text in ("ferry_limit:much", "ferry_limit:-1", "ferry_pinned:yes", "ferry_mode", "ferry_driver:"):
            with self.assertRaisesRegex(config.ConfigError, text.partition(":")[0]):
                config.parse(f"backend:ferry,{text}")

    def test_keys_without_the_backend_and_two_backends(self):
        with self.assertRaisesRegex(config.ConfigError, "does nothing without backend:ferry"):
            config.parse("ferry_limit:1GiB")
        with self.assertRaisesRegex(config.ConfigError, "two backends"):
            config.parse("backend:ferry,backend:native")

    def test_options_from_the_program(self):
        self.assertEqual(config.make_options(limit="2MiB", mode="full").limit, 2 << 20)
        self.assertEqual(config.make_options(limit=5).limit, 5)
        with self.assertRaisesRegex(config.ConfigError, "'limits'.*did you mean 'limit'"):
            config.make_options(limits=5)
        for wrong in ({"limit": -1}, {"limit": True}, {"pinned": 1}):
            with self.assertRaises(config.ConfigError):
                config.make_options(**wrong)


class Variables(unittest.TestCase):
    def test_the_older_name_wins(self):
        both = {"PYTORCH_CUDA_ALLOC_CONF": "backend:native", "PYTORCH_ALLOC_CONF": "backend:ferry"}
        self.assertFalse(config.request_of(both)[0].ferry)
        both = {"PYTORCH_CUDA_ALLOC_CONF": "backend:ferry", "PYTORCH_ALLOC_CONF": "backend:native"}
        self.assertTrue(config.request_of(both)[0].ferry)
        self.assertTrue(config.request_of({"PYTORCH_ALLOC_CONF": "backend:ferry"})[0].ferry)
        self.assertEqual(config.request_of({}), (None, None))

    def test_ferry_is_hidden_from_torch_for_a_while(self):
        environment = {"PYTORCH_CUDA_ALLOC_CONF": "backend:ferry,ferry_limit:1MiB,max_split_size_mb:64",
                       "PYTORCH_ALLOC_CONF": "backend:ferry", "OTHER": "backend:ferry"}
        before = dict(environment)
        with self.assertRaises(KeyError):
            with config.hidden(environment):
                self.assertEqual(environment, {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64", "OTHER": "backend:ferry"})
                raise KeyError
        self.assertEqual(environment, before)


if __name__ == "__main__":
    unittest.main()
