"""In a program of symbolic sizes, a row's result does not depend on the number of rows: loops over vectors of rows and
their remainders round alike."""

import ctypes
import platform

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export, lax

FUNCTIONS = {
    "variance": lambda x: pnp.var(x, axis=-1),
    "sum of squares": lambda x: (x * x).sum(-1),
    "products of neighbours": lambda x: (x[..., 1:] * x[..., :-1]).sum(-1),
    "two products": lambda x: x[..., 0] * 0.7 + x[..., 1] * x[..., 2] - 0.3 * x[..., 3],
    "norm": lambda x: pnp.sqrt(((x - 0.3) ** 2).sum(-1)),
}


# Masked accesses of 8 and 16 bits are branches on many machines, those of 32 bits on some.
@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_number_of_rows_does_not_matter(name, dtype):
    function = pc.jit(lambda x: FUNCTIONS[name](x.astype("float32")), dynamic={0: ("rows", None)})
    rng = np.random.default_rng(0)
    for width in (5, 9):
        x = (rng.random((67, width)) * 9 - 4).astype(dtype)
        whole = np.asarray(function(x))
        for rows in (1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 48, 66):
            np.testing.assert_array_equal(np.asarray(function(x[:rows])), whole[:rows], err_msg=f"{rows} rows")


def for_machines_without_masks(function, x, folder):
    """A function of any number of rows of `x` to float32, compiled for a processor with AVX2 and no more."""
    (rows,) = export.symbolic_shape("rows")
    spec = pc.ShapeDtypeStruct((rows, *x.shape[1:]), x.dtype)
    export.to_shared_object(function, folder / "function.so", spec, name="function", cpu="x86-64-v3")
    compiled = ctypes.CDLL(str(folder / "function.so")).function

    def call(part):
        out = np.empty(len(part), np.float32)
        status = compiled(
            ctypes.c_int64(len(part)), ctypes.c_void_p(part.ctypes.data), ctypes.c_void_p(out.ctypes.data)
        )
        assert status == 0
        return out

    return call


only_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for a processor without masked accesses")


@only_x86
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_the_number_of_rows_does_not_matter_without_masks(dtype, tmp_path):
    x = (np.random.default_rng(0).random((67, 5)) * 9 - 4).astype(dtype)
    call = for_machines_without_masks(lambda x: FUNCTIONS["variance"](x.astype("float32")), x, tmp_path)
    whole = call(x)
    np.testing.assert_allclose(whole, x.astype(np.float64).var(-1), rtol=1e-4, atol=1e-5)
    for count in (1, 3, 7, 8, 17, 66):
        np.testing.assert_array_equal(call(x[:count]), whole[:count], err_msg=f"{count} rows")


@only_x86
def test_the_sign_of_a_nan_is_that_of_the_argument(tmp_path):
    """erf_inv of nan is its argument, in loops over vectors and in their remainders."""
    x = np.array([np.nan, -np.nan, 2.0, -0.0] * 10, np.float32)
    call = for_machines_without_masks(lax.erf_inv, x, tmp_path)
    whole = call(x)
    np.testing.assert_array_equal(np.signbit(whole[:2]), [False, True])
    for count in (1, 2, 3, 7, 8, 9, 16, 17, 39):
        np.testing.assert_array_equal(call(x[:count]).view(np.int32), whole[:count].view(np.int32), err_msg=f"{count}")


def test_constant_columns_beside_windows():
    """What is the same for all rows is filled, and read as a number."""

    def function(x):
        line = pnp.broadcast_to(pnp.sum(x, axis=1).astype(pnp.float32)[:1, None, None], (4, 2, 2))
        windows = lax.reduce_window(line, 0.0, lax.add, (2, 1, 1), (1, 2, 1), "VALID")
        return windows + pnp.all(pnp.isfinite(x), axis=1, keepdims=True) + pnp.arange(2)

    mapped = pc.jit(pc.vmap(function), dynamic={0: ("members", None, None)})
    for columns in (0, 3):
        for members in (4, 1, 3):
            x = np.full((members, 4, columns), 2, np.int8)
            want = np.broadcast_to(2 * 2 * columns + 1 + np.arange(2.0), (members, 3, 4, 2))
            np.testing.assert_array_equal(mapped(x), want)
