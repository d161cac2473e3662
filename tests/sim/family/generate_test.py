#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stand-ins of NVIDIA's libraries, generated for a small library in torch's place and called through ctypes.

usage: generate_test.py ROOT LIBCUDA"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
LIBCUDA = Path(sys.argv.pop(1)).resolve()
GENERATE = ROOT / "src/sim/family/generate.py"
COMPILER = os.environ.get("CC", "cc")

METADATA = """Name: torch
Requires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == "Linux"
Requires-Dist: nvidia-nccl-cu13==2.30.7; platform_system == "Linux"
Requires-Dist: cuda-toolkit[cublas,cudart]==13.2.2; platform_system == "Linux"
"""
# What the small torch imports: library, version node or None, functions.
IMPORTS = {
    "libcublas.so.13": ("libcublas.so.13", ["cublasCreate_v2", "cublasDestroy_v2", "cublasSetMathMode", "cublasGetMathMode",
                                            "cublasSetPointerMode_v2", "cublasSdot_v2", "cublasGetVersion_v2", "cublasFrobnicate",
                                            "cublasSgemm_v2"]),
    "libcublasLt.so.13": ("libcublasLt.so.13", ["cublasLtGetVersion"]),
    "libcudnn.so.9": ("libcudnn.so.9", ["cudnnCreate", "cudnnGetVersion", "cudnnGetProperty", "cudnnGetCudartVersion",
                                        "cudnnCreateTensorDescriptor", "cudnnCreateRNNDescriptor", "cudnnBackendCreateDescriptor",
                                        "cudnnDropoutGetStatesSize", "cudnnDestroyTensorDescriptor"]),
    "libcufft.so.12": ("libcufft.so.12", ["cufftCreate", "cufftXtMakePlanMany"]),
    "libcusparse.so.12": ("libcusparse.so.12", ["cusparseCreate", "cusparseCreateCsr", "cusparseSpMatGetSize", "cusparseDestroySpMat"]),
    "libcusolver.so.12": ("libcusolver.so.12", ["cusolverDnSgetrf_bufferSize"]),
    "libnccl.so.2": (None, ["ncclGetVersion"]),
    "libnvrtc.so.13": ("libnvrtc.so.13", ["nvrtcVersion"]),
    "libcunewlib.so.1": ("libcunewlib.so.1", ["cunewlibDo"]),
}


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)


def make_torch(folder):
    """A package torch whose one library imports what IMPORTS says, and names a function of NVML."""
    lib = folder / "torch/lib"
    lib.mkdir(parents=True)
    (folder / "torch-9.9.0.dist-info").mkdir()
    (folder / "torch-9.9.0.dist-info/METADATA").write_text(METADATA)
    (folder / "torch/version.py").write_text("__version__ = '9.9.0'\ncuda: Optional[str] = '13.2'\n")
    work = folder / "work"
    work.mkdir()
    calls = []
    for soname, (version, names) in IMPORTS.items():
        (work / "one.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
        (work / "one.map").write_text(f"{version or ''} {{ global: *; }};\n")
        subprocess.run([*COMPILER.split(), "-shared", "-fPIC", work / "one.c", f"-Wl,-soname,{soname}",
                        f"-Wl,--version-script={work / 'one.map'}", "-o", work / soname], check=True)
        calls += names
    declared = "".join(f"void {name}(void);\n" for name in calls)
    called = "".join(f"  {name}();\n" for name in calls)
    (work / "torch.c").write_text(f'{declared}const char names[] = "\\0nvmlInit_v2\\0nvmlDeviceGetFanSpeed";\nvoid torch(void) {{\n{called}}}\n')
    subprocess.run([*COMPILER.split(), "-shared", "-fPIC", work / "torch.c", *[work / soname for soname in IMPORTS],
                    "-o", lib / "libtorch_cuda.so"], check=True)
    return folder / "torch"


class Family(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.torch = make_torch(Path(cls.folder.name))
        cls.output = Path(cls.folder.name, "out")
        cls.done = run([sys.executable, GENERATE, "--torch", cls.torch, "--output", cls.output])
        if cls.done.returncode != 0:
            raise AssertionError(cls.done.stderr)

    def load(self, name):
        return ctypes.CDLL(str(self.output / name))

    def new(self, make, *rest):
        made = ctypes.c_void_p()
        self.assertEqual(make(ctypes.byref(made), *rest), 0)
        self.assertTrue(made.value)
        return made

    def test_the_program_loads_with_them(self):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.output), LD_BIND_NOW="1")
        result = run([sys.executable, "-c", f"import ctypes; ctypes.CDLL('{self.torch}/lib/libtorch_cuda.so')"], env=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_versions_of_symbols(self):
        symbols = run(["readelf", "--dyn-syms", "--wide", self.output / "libcublas.so.13"]).stdout
        self.assertIn("cublasCreate_v2@@libcublas.so.13", symbols)
        symbols = run(["readelf", "--dyn-syms", "--wide", self.output / "libnccl.so.2"]).stdout
        self.assertRegex(symbols, r"\bncclGetVersion\n")
        self.assertNotIn("ferry_", symbols)

    def test_handles_are_distinct(self):
        cublas = self.load("libcublas.so.13")
        handles = [self.new(cublas.cublasCreate_v2) for _ in range(3)]
        self.assertEqual(len({handle.value for handle in handles}), 3)
        for handle in handles:
            self.assertEqual(cublas.cublasDestroy_v2(handle), 0)
        plans = [ctypes.c_int(-1), ctypes.c_int(-1)]
        for plan in plans:
            self.assertEqual(self.load("libcufft.so.12").cufftCreate(ctypes.byref(plan)), 0)
        self.assertNotEqual(plans[0].value, plans[1].value)

    def test_sizes_are_set(self):
        size = ctypes.c_size_t(0xdeadbeefdeadbeef)
        self.assertEqual(self.load("libcudnn.so.9").cudnnDropoutGetStatesSize(None, ctypes.byref(size)), 0)
        self.assertEqual(size.value, 0)
        size = ctypes.c_size_t(0xdeadbeefdeadbeef)
        long = ctypes.c_longlong
        dims = (long * 2)(8, 8)
        self.assertEqual(self.load("libcufft.so.12").cufftXtMakePlanMany(
            1, 2, dims, None, long(1), long(1), 0, None, long(1), long(1), 0, long(1), ctypes.byref(size), 0), 0)
        self.assertEqual((size.value, list(dims)), (0, [8, 8]), "the dimensions are inputs")
        words = (ctypes.c_int * 2)(-1, -1)
        self.assertEqual(self.load("libcusolver.so.12").cusolverDnSgetrf_bufferSize(None, 4, 4, None, 4, words), 0)
        self.assertEqual(list(words), [0, -1], "an int is four bytes")

    def test_what_is_set_is_given_back(self):
        cublas = self.load("libcublas.so.13")
        handle, other, mode = self.new(cublas.cublasCreate_v2), self.new(cublas.cublasCreate_v2), ctypes.c_int(-1)
        self.assertEqual(cublas.cublasGetMathMode(handle, ctypes.byref(mode)), 0)
        self.assertEqual(mode.value, 0)
        cublas.cublasSetMathMode(handle, 3)
        cublas.cublasSetPointerMode_v2(handle, 1)
        cublas.cublasGetMathMode(handle, ctypes.byref(mode))
        self.assertEqual(mode.value, 3)
        cublas.cublasGetMathMode(other, ctypes.byref(mode))
        self.assertEqual(mode.value, 0, "of another handle")

    def test_matrices_know_their_size(self):
        cusparse, long = self.load("libcusparse.so.12"), ctypes.c_int64
        matrix = self.new(cusparse.cusparseCreateCsr, long(5), long(7), long(3), None, None, None, 2, 2, 0, 0)
        sizes = [long(-1), long(-1), long(-1)]
        self.assertEqual(cusparse.cusparseSpMatGetSize(matrix, *map(ctypes.byref, sizes)), 0)
        self.assertEqual([size.value for size in sizes], [5, 7, 3])

    def test_results_follow_the_pointer_mode(self):
        cublas = self.load("libcublas.so.13")
        handle, result = self.new(cublas.cublasCreate_v2), ctypes.c_float(7)
        cublas.cublasSetPointerMode_v2(handle, 1)
        self.assertEqual(cublas.cublasSdot_v2(handle, 1, None, 1, None, 1, ctypes.byref(result)), 0)
        self.assertEqual(result.value, 7, "the address is the device's")
        cublas.cublasSetPointerMode_v2(handle, 0)
        cublas.cublasSdot_v2(handle, 1, None, 1, None, 1, ctypes.byref(result))
        self.assertEqual(result.value, 0)

    def test_versions_are_those_of_torch(self):
        cudnn = self.load("libcudnn.so.9")
        cudnn.cudnnGetVersion.restype = cudnn.cudnnGetCudartVersion.restype = ctypes.c_size_t
        self.assertEqual((cudnn.cudnnGetVersion(), cudnn.cudnnGetCudartVersion()), (92600, 13020))
        parts = []
        for which in range(3):
            part = ctypes.c_int(-1)
            self.assertEqual(cudnn.cudnnGetProperty(which, ctypes.byref(part)), 0)
            parts.append(part.value)
        self.assertEqual(parts, [9, 26, 0])
        version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.assertEqual(self.load("libnccl.so.2").ncclGetVersion(ctypes.byref(version)), 0)
        self.assertEqual(version.value, 23007)
        self.assertEqual(self.load("libnvrtc.so.13").nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), 0)
        self.assertEqual((major.value, minor.value), (13, 2))
        self.assertEqual(self.load("libcublasLt.so.13").cublasLtGetVersion(), 130200, "no older than its toolkit")

    def test_what_is_not_known_is_refused_once(self):
        script = (f"import ctypes; one = ctypes.CDLL('{self.output}/libcublas.so.13'); two = ctypes.CDLL('{self.output}/libcunewlib.so.1');"
                  "version = ctypes.c_int(5);"
                  "print(one.cublasFrobnicate(), one.cublasFrobnicate(), one.cublasGetVersion_v2(None, ctypes.byref(version)),"
                  " version.value, two.cunewlibDo())")
        result = run([sys.executable, "-c", script])
        self.assertEqual(result.stdout.split(), ["15", "15", "15", "5", "1"])
        self.assertEqual(result.stderr.splitlines(), [f"ferry-sim: {name} is not supported by the stand-in"
                                                      for name in ("cublasFrobnicate", "cublasGetVersion_v2", "cunewlibDo")])

    def test_the_manifest_says_what_each_is(self):
        manifest = json.loads((self.output / "manifest.json").read_text())
        rows = {row["file"]: row for row in manifest["libraries"]}
        self.assertEqual(rows["libcudnn.so.9"]["version"], "9.26.0")
        self.assertIsNone(rows["libcublas.so.13"]["version"])
        kinds = rows["libcublas.so.13"]["functions"]
        self.assertEqual([kinds[name] for name in ("cublasSgemm_v2", "cublasCreate_v2", "cublasSetMathMode", "cublasSdot_v2",
                                                   "cublasFrobnicate")], ["plain", "object", "remembers", "outputs", "refused"])
        self.assertEqual(rows["libcudnn.so.9"]["functions"]["cudnnSetTensorNdDescriptor"], "written")
        self.assertEqual(rows["libnvidia-ml.so.1"]["functions"]["nvmlDeviceGetFanSpeed"], "refused")

    def test_repeats_and_does_nothing_where_nothing_has_changed(self):
        again = Path(self.folder.name, "again")
        self.assertEqual(run([sys.executable, GENERATE, "--torch", self.torch, "--output", again]).returncode, 0)
        for path in sorted((again / "sources").iterdir()):
            self.assertEqual(path.read_text(), (self.output / "sources" / path.name).read_text(), path.name)
        before = (again / "libcublas.so.13").stat().st_mtime_ns
        result = run([sys.executable, GENERATE, "--torch", self.torch, "--output", again])
        self.assertIn("up to date", result.stdout)
        self.assertEqual((again / "libcublas.so.13").stat().st_mtime_ns, before)
        (again / "libcublas.so.13").unlink()
        result = run([sys.executable, GENERATE, "--torch", self.torch, "--output", again])
        self.assertNotIn("up to date", result.stdout)
        self.assertTrue((again / "libcublas.so.13").is_file())

    def test_failures_say_what_is_missing(self):
        empty = Path(self.folder.name, "empty")
        empty.mkdir()
        result = run([sys.executable, GENERATE, "--torch", empty, "--output", empty / "out"])
        self.assertEqual((result.returncode, "holds no installed torch" in result.stderr), (1, True), result.stderr)
        result = run([sys.executable, GENERATE, "--torch", self.torch, "--output", empty / "out", "--compiler", "no-such-cc"])
        self.assertEqual((result.returncode, "the C compiler no-such-cc is missing" in result.stderr), (1, True), result.stderr)


class Cudnn(Family):
    def test_tensor_descriptors(self):
        cudnn = self.load("libcudnn.so.9")
        tensor = self.new(cudnn.cudnnCreateTensorDescriptor)
        dims, strides = (ctypes.c_int * 3)(2, 3, 4), (ctypes.c_int * 3)(12, 4, 1)
        self.assertEqual(cudnn.cudnnSetTensorNdDescriptor(tensor, 2, 3, dims, strides), 0)
        kind, count, out, out_strides = ctypes.c_int(), ctypes.c_int(), (ctypes.c_int * 5)(*[-1] * 5), (ctypes.c_int * 5)()
        self.assertEqual(cudnn.cudnnGetTensorNdDescriptor(tensor, 5, ctypes.byref(kind), ctypes.byref(count), out, out_strides), 0)
        self.assertEqual((kind.value, count.value, list(out), list(out_strides)[:3]), (2, 3, [2, 3, 4, -1, -1], [12, 4, 1]))
        size = ctypes.c_size_t()
        cudnn.cudnnGetTensorSizeInBytes(tensor, ctypes.byref(size))
        self.assertEqual(size.value, 2 * 3 * 4 * 2)

    def rnn_parameters(self, cell, numbers, input_size, hidden, layers, directions, projection):
        """(bytes of the weight space, the pieces [(offset, elements)] of all parameters)"""
        cudnn, size = self.load("libcudnn.so.9"), ctypes.c_size_t()
        rnn = self.new(cudnn.cudnnCreateRNNDescriptor)
        self.assertEqual(cudnn.cudnnSetRNNDescriptor_v8(rnn, 0, cell, 2, directions - 1, 0, 0, 0, 0, input_size, hidden,
                                                        projection, layers, None, 0), 0)
        self.assertEqual(cudnn.cudnnGetRNNWeightSpaceSize(None, rnn, ctypes.byref(size)), 0)
        descriptors = [self.new(cudnn.cudnnCreateTensorDescriptor) for _ in range(2)]
        pieces, base = [], 1 << 20
        for layer in range(layers * directions):
            for number in range(numbers):
                places = [ctypes.c_void_p(), ctypes.c_void_p()]
                self.assertEqual(cudnn.cudnnGetRNNWeightParams(
                    None, rnn, layer, size, ctypes.c_void_p(base), number, descriptors[0], ctypes.byref(places[0]),
                    descriptors[1], ctypes.byref(places[1])), 0)
                for descriptor, place in zip(descriptors, places):
                    if place.value:
                        dims = (ctypes.c_int * 3)()
                        cudnn.cudnnGetTensorNdDescriptor(descriptor, 3, ctypes.byref(ctypes.c_int()), ctypes.byref(ctypes.c_int()), dims, None)
                        pieces.append((place.value - base, dims[0] * dims[1] * dims[2]))
        return size.value, pieces

    def test_parameters_of_recurrent_networks_tile_the_weight_space(self):
        for arguments in [(2, 8, 5, 7, 3, 2, 7), (2, 9, 5, 7, 2, 2, 3), (3, 6, 5, 7, 2, 1, 7), (0, 2, 5, 7, 1, 1, 7)]:
            size, pieces = self.rnn_parameters(*arguments)
            end = 0
            for offset, elements in sorted(pieces):
                self.assertEqual(offset, end, arguments)
                end += elements * 4
            self.assertEqual(end, size, arguments)
        size, _ = self.rnn_parameters(2, 8, 16, 32, 1, 1, 32)
        self.assertEqual(size, 4 * (4 * 32 * 16 + 4 * 32 * 32 + 8 * 32))

    def test_graphs_find_one_engine(self):
        cudnn, count = self.load("libcudnn.so.9"), ctypes.c_int64(-1)
        graph = self.new(lambda made: cudnn.cudnnBackendCreateDescriptor(4, made))
        self.assertEqual(cudnn.cudnnBackendGetAttribute(graph, 202, 15, ctypes.c_int64(0), ctypes.byref(count), None), 0)
        self.assertEqual(count.value, 1)
        values, out = (ctypes.c_int64 * 3)(4, 5, 6), (ctypes.c_int64 * 3)()
        cudnn.cudnnBackendSetAttribute(graph, 900, 3, ctypes.c_int64(3), values)
        cudnn.cudnnBackendGetAttribute(graph, 900, 3, ctypes.c_int64(2), ctypes.byref(count), out)
        self.assertEqual((count.value, list(out)), (3, [4, 5, 0]))
        note = ctypes.c_int(9)
        cudnn.cudnnBackendGetAttribute(graph, 1303, 11, ctypes.c_int64(1), ctypes.byref(count), ctypes.byref(note))
        self.assertEqual((count.value, note.value), (0, 9))


class Nvml(Family):
    def ask(self, text, **environment):
        script = f"import ctypes; nvml = ctypes.CDLL('{self.output}/libnvidia-ml.so.1'); out = ctypes.c_uint(77)\n{text}"
        result = run([sys.executable, "-c", script], env=dict(os.environ, LD_LIBRARY_PATH=str(LIBCUDA.parent), **environment))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_devices_are_the_drivers(self):
        lines = """
print(nvml.nvmlDeviceGetCount_v2(ctypes.byref(out)), nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2(ctypes.byref(out)), out.value)
device, text = ctypes.c_void_p(), ctypes.create_string_buffer(96)
print(nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device)), nvml.nvmlDeviceGetUUID(device, text, 96), text.value.decode()[:4])
same, memory = ctypes.c_void_p(), (ctypes.c_uint64 * 3)()
print(nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(same)), same.value == device.value, nvml.nvmlDeviceGetHandleByIndex_v2(3, ctypes.byref(same)))
print(nvml.nvmlDeviceGetMemoryInfo(device, memory), memory[0], memory[1], memory[2])
"""
        words = self.ask(lines, FERRY_SIM="devices=3;capacity=24GiB", CUDA_VISIBLE_DEVICES="1")
        total = str(24 << 30)
        self.assertEqual(words, ["1", "0", "0", "3", "0", "0", "GPU-", "0", "True", "2", "0", total, total, "0"])

    def test_the_driver_is_not_started(self):
        self.assertEqual(self.ask("nvml.nvmlInit_v2(); print(ctypes.CDLL('libcuda.so.1').cuDeviceGetCount(ctypes.byref(out)))"), ["3"])

    def test_memory_in_use_is_told(self):
        lines = """
cuda, context, address, memory, device = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 3)(), ctypes.c_void_p()
cuda.cuInit(0); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(64 << 20))
nvml.nvmlInit_v2(); nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
nvml.nvmlDeviceGetMemoryInfo(device, memory)
out.value, list = 4, (ctypes.c_uint64 * 8)()
import os
print(memory[2] >> 20, nvml.nvmlDeviceGetComputeRunningProcesses(device, ctypes.byref(out), list), out.value, list[0] == os.getpid(), list[1] >> 20)
"""
        self.assertEqual(self.ask(lines, FERRY_SIM="devices=1"), ["64", "0", "1", "True", "64"])


class Nvrtc(Family):
    SOURCE = b'extern "C" __launch_bounds__(128, 4)\n__global__ void twice_kernel(float* x) {}\n__global__  void  last(int n) {}'

    def compile(self, name):
        nvrtc, size = self.load("libnvrtc.so.13"), ctypes.c_size_t()
        program = self.new(nvrtc.nvrtcCreateProgram, self.SOURCE, name, 0, None, None)
        status = nvrtc.nvrtcCompileProgram(program, 0, None)
        get_size, get = (nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog) if status else (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        self.assertEqual(get_size(program, ctypes.byref(size)), 0)
        text = ctypes.create_string_buffer(b"?" * size.value, size.value + 1)
        self.assertEqual(get(program, text), 0)
        self.assertEqual(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)), 0)
        return status, text.value.decode()

    def test_kernels_that_pytorch_generates_can_be_loaded(self):
        status, text = self.compile(None)
        self.assertEqual(status, 0)
        self.assertEqual(text.count(".entry"), 2)
        script = f"""
import ctypes
cuda, context, module, function = ctypes.CDLL({str(LIBCUDA)!r}), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
print(cuda.cuModuleLoadData(ctypes.byref(module), {text.encode()!r}))
print([cuda.cuModuleGetFunction(ctypes.byref(function), module, name) for name in (b"twice_kernel", b"last", b"other")])
"""
        result = run([sys.executable, "-c", script])
        self.assertEqual(result.stdout, "0\n[0, 0, 500]\n", result.stderr)

    def test_kernels_of_others_are_refused_by_name(self):
        status, text = self.compile(b"twice.cu")
        self.assertEqual(status, 6)
        self.assertRegex(text, r"^ferry-sim: twice\.cu is compiled at run time .* use PyTorch's own operators instead$")


def load_tests(loader, _tests, _pattern):
    """Each test once: those of the base class run in it alone."""
    suite, seen = unittest.TestSuite(), set()
    for case in (Family, Cudnn, Nvml, Nvrtc):
        for name in loader.getTestCaseNames(case):
            if name not in seen:
                seen.add(name)
                suite.addTest(case(name))
    return suite


if __name__ == "__main__":
    unittest.main()
