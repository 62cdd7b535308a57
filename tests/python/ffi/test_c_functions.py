"""`ffi.c_function`: plain C functions of pointers and numbers, called from compiled programs."""

import ctypes
import math
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import ffi, lax
from pycompiler.errors import ExecutionError, NotDifferentiableError

X = np.array([0.5, 1.5, 2.0, 9.0], np.float32)


@pytest.fixture
def row_sums(library):
    return ffi.c_function((library, "row_sums"), "m, n, x: f32[m, n], out s: f32[m] -> status")


def test_arrays_and_sizes(row_sums):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for call in (row_sums, pc.jit(row_sums)):
        assert call(x).tolist() == x.sum(1).tolist()
    assert pc.jit(lambda x: row_sums(x.T * 2).sum())(x) == 2 * x.sum()
    f = pc.jit(row_sums, dynamic="auto")
    assert [f(np.ones((m, 2), np.float32)).tolist() for m in (1, 3, 5)] == [[2.0] * m for m in (1, 3, 5)]


def test_numbers_by_value_and_inout(library):
    axpy = ffi.c_function((library, "axpy"), "n, a: f64, x: f64[n], inout y: f64[n]")
    with pc.enable_x64(True):
        x, y = np.arange(3.0), np.ones(3)
        assert axpy(2, x, y).tolist() == (2 * x + y).tolist()
        assert axpy(a=2.5, y=y, x=x).tolist() == (2.5 * x + y).tolist()
        assert y.tolist() == [1, 1, 1]
        steps = pc.jit(lambda y: lax.fori_loop(0, 4, lambda i, y: axpy(i * 1.0, x, y), y))
        assert steps(y).tolist() == (6 * x + y).tolist()
    with pytest.raises(ValueError, match=r"a is f32\[\], expected f64. What to do: turn on enable_x64"):
        axpy(2, np.zeros(3, np.float32), np.zeros(3, np.float32))


def test_results_of_64_bits_need_64_bit_types(library):
    """Without them, every use would narrow what the function wrote: 2**40 to 0."""
    wide = ffi.c_function((library, "wide"), "x: i32[n], n, out y: i64[n]")
    ratio = ffi.c_function((library, "ratio"), "x: i32, y: i32 -> f64")
    x = np.array([0, 1, -7], np.int32)
    with pc.enable_x64(True):
        for f in (wide, pc.jit(wide)):
            assert (f(x) + 1).tolist() == [2**40 + 1, 2**40 + 2, 2**40 - 6]
        assert float(pc.jit(ratio)(1, 3)) == 1 / 3
        z = pc.numpy.ones(3, "float64")
    for f in (wide, pc.jit(wide), lambda x: lax.fori_loop(0, 2, lambda i, y: y + wide(x), x)):
        with pytest.raises(ValueError, match=r"wide: y is i64, expected i32 or narrower. What to do: turn on"):
            f(x)
    with pytest.raises(ValueError, match="ratio: the returned number is f64, expected f32 or narrower"):
        ratio(1, 3)
    with pytest.raises(ValueError, match="axpy: y is f64, expected f32 or narrower"):
        ffi.c_function((library, "axpy"), "n, a: f32, x: f64[n], inout y: f64[n]")(1, z, z)


def test_many_parameters_of_all_kinds(library):
    """More integers than registers, between floats of both widths."""
    many = ffi.c_function(
        (library, "many"),
        "a: i8, b: f32, c: i64, d: f64, e: f32[1], f: u16, g: i64, h: f32, "
        "i: i64, j: i64, k: f64, l: i64, m: i32, n: i64 -> f64",
    )
    values = [-3, 1.5, -(2**40), 2.25, [7.0], 65000, -5, 0.5, 11, 12, -2.5, 13, -14, 2**50]
    kinds = ["i1", "f4", "i8", "f8", "f4", "u2", "i8", "f4", "i8", "i8", "f8", "i8", "i4", "i8"]
    with pc.enable_x64(True):
        given = [np.array(v, k) for v, k in zip(values, kinds, strict=True)]
        expected = sum((i + 1) * float(np.ravel(v)[0]) for i, v in enumerate(values))
        assert float(many(*given)) == expected
        assert float(pc.jit(many)(*given)) == expected


def test_returned_numbers(library):
    half = ffi.c_function((library, "half"), "x: f32 -> f32")
    assert float(half(3)) == 1.5
    assert pc.vmap(half)(X).tolist() == (X / 2).tolist()
    assert pc.jit(pc.vmap(pc.vmap(half)))(np.stack([X, -X])).tolist() == [(X / 2).tolist(), (-X / 2).tolist()]
    narrow = ffi.c_function((library, "narrow"), "x: i32 -> i8")
    assert narrow(300).dtype == np.int8
    assert int(narrow(300)) == 44
    is_even = ffi.c_function((library, "is_even"), "x: i32 -> bool")
    assert [bool(is_even(i)) for i in range(3)] == [True, False, True]


def test_status(library):
    root = ffi.c_function((library, "checked_root"), "x: f32[n], out y: f32[n], n -> status")
    assert root(X).tolist() == np.sqrt(X).tolist()
    failed = pc.jit(lambda x: root(x) + 1)(-X)
    with pytest.raises(ExecutionError, match="c_function: checked_root: returned the status 7"):
        failed.block_until_ready()


def test_functions_from_everywhere(library):
    lib = ctypes.CDLL(library)
    holder = SimpleNamespace(address=ctypes.cast(lib.half, ctypes.c_void_p).value, __name__="held")
    double = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(lambda x: 2 * x)
    for function, expected in (
        ((str(library), "half"), 1.5),
        ((lib, "half"), 1.5),
        (lib.half, 1.5),
        (holder, 1.5),
        (holder.address, 1.5),
        (ffi.pycapsule(lib.half), 1.5),
        (double, 6.0),
    ):
        assert float(ffi.c_function(function, "x: f32 -> f32")(3)) == expected
    assert ffi.c_function(lib.half, "x: f32 -> f32").__name__ == "half"
    with pc.enable_x64(True):
        assert float(ffi.c_function((None, "cbrt"), "x: f64 -> f64")(27.0)) == math.cbrt(27)
    with pytest.raises(OSError, match="no_such"):
        ffi.c_function(("/no_such.so", "f"), "x: f32 -> f32")
    with pytest.raises(AttributeError, match="has no function 'third'"):
        ffi.c_function((library, "third"), "x: f32 -> f32")
    with pytest.raises(TypeError, match="must be a C function, got 'half'"):
        ffi.c_function("half", "x: f32 -> f32")
    with pytest.raises(ValueError, match="null pointer"):
        ffi.c_function(0, "x: f32 -> f32")


def test_numba(library):
    numba = pytest.importorskip("numba")

    @numba.cfunc("void(int64, CPointer(float32), CPointer(float32))")
    def squares(n, x, y):
        for i in range(n):
            y[i] = x[i] ** 2

    f = ffi.c_function(squares, "n, x: f32[n], out y: f32[n]")
    assert pc.jit(f)(X).tolist() == (X**2).tolist()


def test_constants_and_computed_sizes(library):
    """memcpy-like functions: a constant, and an output with a size that is a formula."""
    fill = ffi.c_function((None, "memset"), "out y: u8[2 * n + 1], 7, 3, x: u8[n]")
    assert fill(np.zeros(2, np.uint8)).tolist()[:3] == [7, 7, 7]
    assert fill(np.zeros(3, np.uint8)).shape == (7,)


def test_effects(library):
    lib = ctypes.CDLL(library)
    before = lib.callCount()
    touch = ffi.c_function((library, "touch"), "x: f32[n]", has_side_effect=True)
    assert pc.jit(touch)(X) is None
    pc.effects_barrier()
    assert lib.callCount() == before + 1
    with pytest.raises(ValueError, match="has_side_effect=True"):
        ffi.c_function((library, "touch"), "x: f32[n]")


def test_derivatives_come_from_custom_rules(library):
    half = ffi.c_function((library, "half"), "x: f32 -> f32")
    with pytest.raises(NotDifferentiableError, match="half has no derivative"):
        pc.grad(half)(1.0)
    ruled = pc.custom_jvp(half)
    ruled.defjvps(lambda t, out, x: t / 2)
    assert float(pc.jit(pc.grad(lambda x: ruled(x) ** 2))(3.0)) == 1.5


def test_wrong_calls(row_sums):
    with pytest.raises(ValueError, match=r"x has the shape \(3,\), expected f32\[m, n\]"):
        row_sums(np.ones(3, np.float32))
    with pytest.raises(ValueError, match=r"x is i32\[2,2\], expected f32. What to do: convert it, with .astype"):
        row_sums(np.ones((2, 2), np.int32))
    with pytest.raises(TypeError, match=r"row_sums: missing a required argument: 'x'; it is called with \(x\)"):
        row_sums()
    with pytest.raises(TypeError, match="x is 'a' of type str"):
        row_sums("a")
    axpy = ffi.c_function((None, "abs"), "n, a: f32, x: f32[n], y: f32[n, 2], out z: f32[n]")
    with pytest.raises(ValueError, match=r"y has the shape \(4, 2\), expected f32\[n, 2\] with n = 3"):
        axpy(1, np.ones(3, np.float32), np.ones((4, 2), np.float32))
    part = ffi.c_function((None, "abs"), "x: f32[n], y: f32[m], out z: f32[n - 4], out w: f32[n // m]")
    with pytest.raises(ValueError, match=r"the size n - 4 of z is -1, with n = 3, m = 2. What to do"):
        part(np.ones(3, np.float32), np.ones(2, np.float32))
    with pytest.raises(ValueError, match=r"the size n // m of w is a division by 0, with n = 4, m = 0"):
        part(np.ones(4, np.float32), np.ones(0, np.float32))


@pytest.mark.parametrize(
    ("signature", "why"),
    [
        ("x: f99[n], out y: f32[n]", "'f99' is no element type"),
        ("m, x: f32[n], out y: f32[n]", "the size m is no dimension of an array that is given"),
        ("x: f32[n], out y: f32[m]", "the size m is no dimension"),
        ("x: f32[n], x: f32[n] -> f32", "x is there twice"),
        ("out x: f32", "x is written, and has no brackets"),
        ("x: f32[n + 1] -> f32", "must be a name or a number"),
        ("x y -> f32", "'x y' is no parameter"),
        ("x: f32 -> c64", "it returns c64"),
        ("x: bf16 -> f32", "x is a bf16 by value"),
        ("x: f32[n], out y: f32[n.m]", "'n.m' is no size"),
    ],
)
def test_wrong_signatures(signature, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        ffi.c_function((None, "abs"), signature)


def test_too_many_parameters():
    with pytest.raises(
        ValueError, match="9 floating-point numbers by value and 0 other parameters, expected at most 8"
    ):
        ffi.c_function((None, "abs"), ", ".join(f"x{i}: f32" for i in range(9)) + " -> f32")


PROGRAM = """
import ctypes, sys
import numpy as np
import pycompiler as pc
from pycompiler import ffi
lib = ctypes.CDLL(sys.argv[1])
ffi.register_ffi_target("Shifted", ffi.pycapsule(getattr(lib, sys.argv[2])))
handler = ffi.ffi_call("Shifted", pc.ShapeDtypeStruct((3,), np.float32), input_output_aliases={0: 0})
plain = ffi.c_function((lib, sys.argv[3]), "x: f32 -> f32")
f = pc.jit(lambda x: handler(x) + plain(x[0]))
print(f(np.ones(3, np.float32)).tolist())
"""


def test_code_from_the_disk_cache_calls_the_functions_of_its_process(library, tmp_path):
    """The cached code has no pointer: in each process, and with each library, it calls what has the name."""
    environment = {**os.environ, "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    for handler, plain, expected in (("Increment", "half", 2.5), ("InMemory", "half", 1.5), ("Increment", "half", 2.5)):
        command = [sys.executable, "-c", PROGRAM, str(library), handler, plain]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert told.startswith(str([expected] * 3))
