"""The runtime's binding is tested without the compiler: the executables come from a C file."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from gates import Gate

from pycompiler import _runtime as rt

HERE = pathlib.Path(__file__).parent
INCLUDE = HERE.parents[2] / "runtime" / "include"
VECTOR = rt.ShapedArray((4,), np.float32)
LEAF = rt.tree_flatten(0)[1]


@pytest.fixture(scope="session")
def kernels(tmp_path_factory) -> bytes:
    """The object code of kernels.c."""
    compiler = next(path for name in ("cc", "gcc", "clang") if (path := shutil.which(name)))
    target = tmp_path_factory.mktemp("kernels") / "kernels.o"
    flags = ["-O2", "-fPIC", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-c"]
    subprocess.run([compiler, *flags, f"-I{INCLUDE}", HERE / "kernels.c", "-o", target], check=True)
    return target.read_bytes()


@pytest.fixture
def load(kernels):
    """load(entry, cost_ns=0.0, arena_bytes=64) -> Executable. With a cost of 1e9, it is enqueued, not run in place."""

    def load(entry, cost_ns=0.0, arena_bytes=64):
        return rt.Executable.load(kernels, entry, arena_bytes, entry, cost_ns)

    return load


@pytest.fixture
def gate(load):
    """gate(x) -> x + 1, which is computed when `gate.open()` is called."""
    with Gate(load) as gate:
        yield gate


@pytest.fixture
def vector():
    """vector(values...) -> Array of f32[4]."""

    def vector(*values):
        return rt.array_from_numpy(np.array(values or (0, 1, 2, 3), np.float32), VECTOR)

    return vector


def copying_converter(leaf):
    """A small form of jit's registration: ints and floats are weak, 64-bit types are narrowed."""
    if type(leaf) in (bool, int, float):
        dtype = {bool: np.bool_, int: np.int32, float: np.float32}[type(leaf)]
        return rt.array_from_numpy(np.asarray(leaf, dtype), rt.ShapedArray((), dtype, type(leaf) is not bool))
    if not isinstance(leaf, np.ndarray | np.generic):
        raise TypeError(f"{type(leaf).__name__} is not an array")
    narrow = {np.dtype("float64"): np.dtype("float32"), np.dtype("int64"): np.dtype("int32")}
    array = np.ascontiguousarray(leaf, narrow.get(leaf.dtype, leaf.dtype)).reshape(leaf.shape)
    return rt.array_from_numpy(array, rt.ShapedArray(array.shape, array.dtype))


@pytest.fixture
def converter():
    """Registers `copying_converter` with a record of its calls."""
    calls = []

    def convert(leaf):
        calls.append(leaf)
        return copying_converter(leaf)

    before = rt.set_leaf_converter(convert)
    yield calls
    rt.set_leaf_converter(before)
