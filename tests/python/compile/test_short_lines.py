"""Running results along short dimensions, and components of transposed arrays: elementwise operations on slices."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.lax as lax
import pycompiler.numpy as pnp

OPERATIONS = {
    "cumsum": np.add.accumulate,
    "cumprod": np.multiply.accumulate,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


def values(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(len(dtype))
    x = rng.standard_normal(shape) * 3
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "complex64"])
def test_the_bits_are_those_of_long_lines(name: str, dtype: str) -> None:
    if name in ("cummax", "cummin") and dtype.startswith("complex"):
        return
    with pc.enable_x64(True):
        for length in range(1, 7):
            for reverse in (False, True):
                x = values(dtype, 33, length)
                got = pc.jit(lambda x, r=reverse: getattr(lax, name)(x, axis=1, reverse=r))(x)
                wide = {"float16": "float32", "float32": "float64", "complex64": "complex128"}.get(dtype, dtype)
                line = x[:, ::-1] if reverse else x
                want = OPERATIONS[name](line.astype(wide), axis=1, dtype=wide).astype(dtype)
                np.testing.assert_array_equal(got, want[:, ::-1] if reverse else want)
                across = pc.jit(lambda x, r=reverse: getattr(lax, name)(x, axis=0, reverse=r))(x.T.copy())
                np.testing.assert_array_equal(np.asarray(across).T, got)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_a_nan_stays_from_its_place_on(name: str) -> None:
    x = np.array([[1, np.nan, 2], [np.nan, 1, 2], [1, 2, np.nan], [3, 2, 1]], np.float32)
    got = pc.jit(lambda x: getattr(lax, name)(x, axis=1))(x)
    np.testing.assert_array_equal(got, OPERATIONS[name](x, axis=1))


def test_gradients_of_short_lines() -> None:
    x = values("float32", 20, 3)
    weights = values("float32", 20, 3) + 1
    gradient = pc.jit(pc.grad(lambda x: (pnp.cumsum(x, axis=1) * weights).sum()))(x)
    np.testing.assert_allclose(gradient, np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], rtol=1e-5)
    gradient = pc.jit(pc.grad(lambda x: pnp.cumprod(x, axis=1)[:, 2].sum()))(x)
    np.testing.assert_allclose(gradient, x[:, [1, 0, 0]] * x[:, [2, 2, 1]], rtol=1e-4)


def test_components_along_any_axis_need_no_transpose() -> None:
    a, b = values("float32", 3, 50), values("float32", 3, 50)[::-1].copy()
    compiled = pc.jit(lambda a, b: pnp.cross(a, b, axis=0))
    np.testing.assert_allclose(compiled(a, b), np.cross(a, b, axis=0), rtol=1e-5, atol=1e-5)
    assert "(d1, d0)" not in compiled.lower(a, b).as_text("bufferized")

    def rotated(x):
        first, second = (pnp.moveaxis(x, 1, -1)[..., i] for i in range(2))
        return pnp.moveaxis(pnp.stack([second, -first], axis=-1), -1, 1)

    x = values("float32", 4, 2, 6)
    np.testing.assert_array_equal(pc.jit(rotated)(x), np.stack([x[:, 1], -x[:, 0]], axis=1))


def transformed(xp, a, b):
    return (a @ b * 0.5 + b) @ a - b @ xp.swapaxes(a, 1, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_small_products_and_what_follows(dtype: str, size: int) -> None:
    wide = np.result_type(dtype, np.float64)
    tolerance = 1e-12 if dtype == "float64" else 2e-4
    compiled = pc.jit(lambda a, b: transformed(pnp, a, b))
    with pc.enable_x64(True):
        for count in (1, 7, 60, 1009):
            a, b = values(dtype, count, size, size), values(dtype, count, size, size)[::-1].copy()
            want = transformed(np, a.astype(wide), b.astype(wide))
            np.testing.assert_allclose(compiled(a, b), want, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize("sizes", [(50, 4, 3), (3, 3, 3), (4, 2, 30), (20, 16, 16)])
def test_one_matrix_times_many(sizes: tuple[int, int, int]) -> None:
    rows, terms, columns = sizes
    w, x = values("float32", rows, terms), values("float32", 40, terms, columns)
    wide = w.astype(np.float64)
    got = pc.jit(lambda w, x: pc.vmap(lambda x: w @ x)(x))(w, x)
    np.testing.assert_allclose(got, wide @ x, rtol=1e-4, atol=1e-4)
    got = pc.jit(lambda w, x: pnp.einsum("tk,nkd->dnt", w, x) + 1)(w, x)
    np.testing.assert_allclose(got, np.einsum("tk,nkd->dnt", wide, x) + 1, rtol=1e-4, atol=1e-4)
