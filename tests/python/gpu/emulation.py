"""Modules for a GPU, run on the CPU: kernels and launches alike are compiled for it.

`Program(text)` takes a module after mapping and outlining: @main launches kernels of `gpu.module`s on its arguments,
which have the roles of `array-prepare-entry` (`{array.role = "argument"}` or `"result"`). `array-emulate-gpu` turns the
kernels into functions, the passes of the CPU lower them with @main, and the library of tests/emulator runs the threads
of each launch. `OnKernels(function, *args)` does this with the output of `array-to-gpu` for a function.
"""

import atexit
import ctypes
import functools
import itertools
import mmap
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import pycompiler as pc
from pycompiler.compile.compile import build_module
from pycompiler.compile.plan import plan_outputs

ROOT = Path(__file__).resolve().parents[3]
VERSION = (ROOT / "llvm-version.txt").read_text().strip()
ARRAY_OPT = ROOT / "build" / "bin" / "array-opt"
RUNTIME = ROOT / "build" / "runtime" / "libPyCompilerRuntime.a"  # has the roundings to narrow floats
C = ctypes.CDLL(None)
ALIGNMENT = 64  # of results and of the arena: PCRT_ALIGNMENT
UNLIMITED = 2**63 - 1

# From kernels and launches to the LLVM dialect, as the end of the CPU's pipeline.
TO_LLVM = (
    "array-emulate-gpu,array-expand-math,array-expand-bfloat16,convert-scf-to-cf,func.func(array-lower-runtime-calls),"
    "array-emit-entry,expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts"
)


class Frame(ctypes.Structure):
    """The call frame of runtime/Abi.h."""

    _fields_ = (
        ("args", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("arena", ctypes.c_void_p),
        ("table", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("budget", ctypes.c_int64),
        ("sizes", ctypes.c_void_p),
    )


class LaunchError(Exception):
    """An error in a kernel."""


def run(*command, text=None):
    """The standard output of a command; AssertionError with the error output if the command fails."""
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{Path(command[0]).name} failed: {done.stderr[:4000]}"
    return done.stdout


def array_opt(text, *passes):
    """The module after these passes."""
    return run(ARRAY_OPT, f"--pass-pipeline=builtin.module({','.join(passes)})", text=text)


@functools.cache
def llvm():
    """The folder of LLVM's programs. Files that import this module also run on machines without LLVM."""
    return Path(run(f"llvm-config-{VERSION}", "--bindir").strip())


@functools.cache
def pipeline_to_kernels():
    """The passes of `array-to-gpu` before the passes for a real GPU."""
    command = [ARRAY_OPT, "--array-to-gpu", "--dump-pass-pipeline"]
    shown = subprocess.run(
        command, input="func.func @main() { return }", capture_output=True, text=True, check=True
    ).stderr
    passes = re.search(r"builtin\.module\((.*?),\s*nvvm-attach-target", shown, re.S)
    assert passes, f"no nvvm-attach-target in the pipeline array-to-gpu:\n{shown}"
    return passes[1] + ",gpu.module(array-define-device-functions)"


def kernels_of(texts, products=None):
    """The modules of the array dialect as kernels and launches of them; `products` are other options of
    array-map-matmuls-to-gpu."""
    passes = pipeline_to_kernels()
    if products is not None:
        passes, count = re.subn(r"(array-map-matmuls-to-gpu)\s*{.*?}", rf"\1{{{products}}}", passes)
        assert count == 1
    pipeline = f"--pass-pipeline=builtin.module({passes})"
    split = "\n// -----\n"
    return run(ARRAY_OPT, "--split-input-file", pipeline, text=split.join(texts)).split(split)


@functools.cache
def folder():
    made = tempfile.mkdtemp(prefix="pycompiler-emulation-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def emulator():
    """The library that runs launches."""
    built = ROOT / "build" / "tests" / "libcuda-emulated.so"
    assert built.exists(), f"{built} is missing: build it (ninja -C build cuda-emulated)"
    return built


def guarded(size, alignment):
    """Memory of `size` bytes that ends at a protected page, as near as the alignment allows. It is not zeroed, so that
    reads before a write show."""
    room = -(-max(size, 1) // alignment) * alignment
    pages = -(-room // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = np.frombuffer(mmap.mmap(-1, pages + mmap.PAGESIZE), np.uint8)
    assert C.mprotect(ctypes.c_void_p(memory.ctypes.data + pages), mmap.PAGESIZE, 0) == 0
    memory[:pages] = 0xFF
    return memory[pages - room : pages - room + size]


def empty(shape, dtype):
    """An array for a result."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    return guarded(count * dtype.itemsize, ALIGNMENT).view(dtype).reshape(shape)


def guarded_copy(array):
    # On a device, allocations have more alignment than their elements need.
    copied = guarded(array.nbytes, 16).view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


def bytes_of(array):
    return ctypes.string_at(array.ctypes.data, array.nbytes)


class Program:
    """A compiled and loaded module. A call with arguments, and with arrays for results (`empty`), runs @main.

    Accesses beyond the end of an array fail, and so does a change of the arguments.
    """

    def __init__(self, text):
        lowered = array_opt(text, TO_LLVM)
        size = re.search(r"array\.arena_bytes = (\d+)", text)
        self.arena_bytes = int(size[1]) if size else 0
        self.entry = load(lowered).pcrt_main
        self.entry.argtypes = (ctypes.POINTER(Frame),)
        self.failure = ctypes.CDLL(str(emulator())).emulated_failure
        self.failure.restype = ctypes.c_char_p

    def __call__(self, args, results):
        arena = guarded(self.arena_bytes, ALIGNMENT)
        given, args = args, [guarded_copy(array) for array in args]
        frame = Frame(pointers(args), pointers(results), arena.ctypes.data, None, None, UNLIMITED, None)
        status = self.entry(ctypes.byref(frame))
        failure = self.failure().decode()
        if failure:
            raise LaunchError(failure)
        assert status == 0, f"@main returned the status {status}"
        for number, (array, before) in enumerate(zip(args, given, strict=True)):
            assert bytes_of(array) == np.asarray(before, order="C").tobytes(), f"argument {number} was changed"
        for number, array in enumerate(results):
            behind = ctypes.string_at(array.ctypes.data + array.nbytes, -array.nbytes % ALIGNMENT)
            assert behind.count(0xFF) == len(behind), f"something was written behind result {number}"
        return results


_numbers = itertools.count()


def load(lowered):
    """The library of a module of the LLVM dialect."""
    place = folder() / f"{next(_numbers)}.o"
    code = run(llvm() / "mlir-translate", "--mlir-to-llvmir", text=lowered)
    # Kernels run once, on few elements: their compilation is the time of a test.
    run(llvm() / "llc", "-O0", "-mcpu=native", "-filetype=obj", "-relocation-model=pic", "-o", place, text=code)
    library = place.with_suffix(".so")
    run(llvm() / "ld.lld", "-shared", "-o", library, place, RUNTIME, emulator(), "-rpath", emulator().parent)
    place.unlink()
    return ctypes.CDLL(str(library))


def pointers(arrays):
    assert all(array.flags.c_contiguous for array in arrays)
    return ctypes.cast((ctypes.c_void_p * (len(arrays) or 1))(*(a.ctypes.data for a in arrays)), ctypes.c_void_p)


class OnKernels:
    """A function compiled to kernels for these arguments. A run returns the leaves of its result."""

    def __init__(self, function, *args):
        self.leaves, _ = pc.tree.flatten(args)
        self.plan = plan_outputs(pc.jit(function).trace(*args).jaxpr)
        self.kernels = ""
        if self.plan.graph:
            (self.kernels,) = kernels_of([str(build_module(self.plan.graph))])

    def run(self):
        computed = []
        if self.plan.graph:
            avals = [var.aval for var in self.plan.graph.inputs]
            used = [self.leaves[i] for i in self.plan.used]
            given = [np.asarray(leaf, aval.dtype) for leaf, aval in zip(used, avals, strict=True)]
            given += [np.asarray(const) for const in self.plan.consts]
            computed = [empty(aval.shape, aval.dtype) for aval in self.plan.result_avals]
            Program(self.kernels)(given, computed)
        sources = {"result": computed, "arg": self.leaves}
        return [np.asarray(sources[kind][i]) if kind in sources else np.asarray(i) for kind, i in self.plan.outputs]
