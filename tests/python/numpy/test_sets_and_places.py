"""Functions with data-dependent sizes, against NumPy's and jax's: outside jit, and inside it with a size."""

import jax.numpy as jnp
import numpy as np
import pytest
from slopes import gradients

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.array([0, 3, 0, 5, 3, 1], np.int32)
Y = np.array([[1, 0], [0, 2]], np.int32)
F = np.array([1, np.nan, 1, np.nan, -2, 0], np.float32)
Z = np.array([5, 3, 9, 3], np.int32)
ROWS = np.array([[1, 2], [0, 1], [1, 2]], np.int32)

# A function of the module's numpy and arrays. With `size` in the keywords, it also runs under jit.
CASES = {
    "nonzero": ("nonzero", (X,), {}),
    "nonzero of a matrix": ("nonzero", (Y,), {}),
    "nonzero with a size": ("nonzero", (Y,), {"size": 3}),
    "nonzero with a fill": ("nonzero", (Y,), {"size": 4, "fill_value": -1}),
    "nonzero with fills": ("nonzero", (Y,), {"size": 4, "fill_value": (7, 8)}),
    "nonzero of no size": ("nonzero", (X,), {"size": 0}),
    "nonzero cut off": ("nonzero", (X,), {"size": 2}),
    "argwhere": ("argwhere", (Y,), {}),
    "argwhere with a size": ("argwhere", (Y,), {"size": 3, "fill_value": 5}),
    "flatnonzero": ("flatnonzero", (Y,), {}),
    "flatnonzero with a size": ("flatnonzero", (Y,), {"size": 3, "fill_value": 9}),
    "where": ("where", (X > 0,), {}),
    "where with a size": ("where", (X > 0,), {"size": 6, "fill_value": -1}),
    "where of two": ("where", (X > 0, F, 2), {}),
    "extract": ("extract", (X > 1, X), {}),
    "extract with a size": ("extract", (X > 1, X), {"size": 5, "fill_value": 7}),
    "compress": ("compress", (np.array([True, False]), Y, 1), {}),
    "compress flat": ("compress", (X > 0, X), {}),
    "compress with a size": ("compress", (np.array([True, False]), Y, 0), {"size": 2, "fill_value": 4}),
    "unique": ("unique", (X,), {}),
    "unique of floats": ("unique", (F,), {}),
    "unique where nans differ": ("unique", (F,), {"equal_nan": False}),
    "unique with all": ("unique", (X, True, True, True), {}),
    "unique with a size": ("unique", (X, True, True, True), {"size": 6}),
    "unique with a fill": ("unique", (X, True, True, True), {"size": 6, "fill_value": -1}),
    "unique cut off": ("unique", (X, False, False, True), {"size": 2}),
    "unique rows": ("unique", (ROWS, True, True, True), {"axis": 0}),
    "unique columns": ("unique", (ROWS,), {"axis": 1, "size": 3}),
    "unique of a matrix": ("unique", (Y,), {"return_inverse": True}),
    "unique of nothing": ("unique", (np.zeros(0, np.float32),), {}),
    "unique_all": ("unique_all", (X,), {"size": 5}),
    "unique_counts": ("unique_counts", (F,), {}),
    "unique_inverse": ("unique_inverse", (Y,), {}),
    "unique_values": ("unique_values", (F,), {"size": 6, "fill_value": 0}),
    "union1d": ("union1d", (X, Y), {}),
    "union1d with a size": ("union1d", (X, Y), {"size": 8, "fill_value": -1}),
    "intersect1d": ("intersect1d", (X, Z), {}),
    "intersect1d with indices": ("intersect1d", (X, Z), {"return_indices": True}),
    "intersect1d with a size": ("intersect1d", (X, Z), {"return_indices": True, "size": 4, "fill_value": -1}),
    "setdiff1d": ("setdiff1d", (X, Z), {}),
    "setdiff1d of a unique one": ("setdiff1d", (np.array([4, 3, 2], np.int32), Z, True), {}),
    "setdiff1d with a size": ("setdiff1d", (X, Z), {"size": 4, "fill_value": -1}),
    "setxor1d": ("setxor1d", (X, Z), {}),
    "setxor1d with a size": ("setxor1d", (X, Z), {"size": 6}),
    "isin": ("isin", (Y, X), {}),
    "isin inverted": ("isin", (X, Z), {"invert": True}),
    "isin by a search": ("isin", (X, Z), {"method": "binary_search"}),
    "isin nothing": ("isin", (X, np.zeros(0, np.int32)), {}),
    "delete": ("delete", (X, 1), {}),
    "delete several": ("delete", (X, np.array([1, 1, -1])), {}),
    "delete a slice": ("delete", (X, slice(0, 4, 2)), {}),
    "delete a mask": ("delete", (X, X > 2), {}),
    "delete of an axis": ("delete", (Y, 0, 1), {}),
    "insert": ("insert", (X, 1, 9), {}),
    "insert before the last": ("insert", (X, -1, 9), {}),
    "insert several": ("insert", (X, np.array([1, 3]), np.array([7, 8], np.int32)), {}),
    "insert out of order": ("insert", (X, np.array([3, 1]), np.array([7, 8], np.int32)), {}),
    "insert several at one": ("insert", (X, 1, np.array([7, 8], np.int32)), {}),
    "insert of an axis": ("insert", (Y, 1, np.array([7, 8], np.int32), 1), {}),
    "insert columns": ("insert", (Y, np.array([1]), np.array([[7], [8]], np.int32), 1), {}),
    "insert a slice": ("insert", (X, slice(0, 2), 9), {}),
    "repeat": ("repeat", (X, np.array([1, 2, 0, 1, 0, 3])), {}),
    "repeat to a length": ("repeat", (X, np.array([1, 2, 0, 1, 0, 3])), {"total_repeat_length": 9}),
    "repeat cut off": ("repeat", (Y, 2, 1), {"total_repeat_length": 3}),
    "take": ("take", (X, np.array([[0, -1], [7, -9]])), {}),
    "take clipped": ("take", (X, np.array([[0, -1], [7, -9]])), {"mode": "clip"}),
    "take wrapped": ("take", (X, np.array([[0, -1], [7, -9]])), {"mode": "wrap"}),
    "take filled": ("take", (F, np.array([9, 1]), None), {"mode": "fill", "fill_value": 4}),
    "take of an axis": ("take", (Y, np.array([1, 5]), 1), {}),
    "take a scalar": ("take", (X, 3), {}),
    "take_along_axis": ("take_along_axis", (Y, np.array([[1], [5]]), 1), {}),
    "take_along_axis flat": ("take_along_axis", (Y, np.array([3, -1]), None), {}),
    "take_along_axis clipped": ("take_along_axis", (Y, np.array([[-1, 5]]), 0), {"mode": "clip"}),
    "take_along_axis filled": ("take_along_axis", (F, np.array([-7, 5]), 0), {"fill_value": 9}),
    "take_along_axis as it is": (
        "take_along_axis",
        (X, np.array([-1, 2]), 0),
        {"mode": "clip", "wrap_negative_indices": False},
    ),
    "put": ("put", (X, np.array([0, -1, 9]), np.array([7, 8], np.int32)), {"inplace": False}),
    "put wrapped": ("put", (Y, np.array([5, -1]), 4), {"mode": "wrap", "inplace": False}),
    "put_along_axis": ("put_along_axis", (Y, np.array([[1], [5]]), 9, 1), {"inplace": False}),
    "put_along_axis clipped": ("put_along_axis", (Y, np.array([[1, 5]]), 9, 0), {"inplace": False, "mode": "clip"}),
    "place": ("place", (X, X > 0, np.array([8, 9], np.int32)), {"inplace": False}),
}


PLACES = [
    (X, 1, 9, None),
    (X, -1, [7, 8], None),
    (X, [3, 1], [7, 8], None),
    (X, [1, 1], [7, 8], None),
    (X, [3, -2, 0], 9, None),
    (X, [], 9, None),
    (X, [1], [5, 6, 7], None),
    (Y, 1, 7, 1),
    (Y, [0, 1], 7, 0),
    (Y, [0], 8, 0),
]


@pytest.mark.parametrize(("a", "places", "values", "axis"), PLACES, ids=str)
def test_places_of_insert_may_be_traced(a, places, values, axis):
    values = np.asarray(values, np.int32)
    expected = np.insert(a, places, values, axis)
    run = pc.jit(lambda x, i, v: pnp.insert(x, i, v, axis))(a, np.asarray(places, np.int32), values)
    np.testing.assert_array_equal(run, expected)
    np.testing.assert_array_equal(
        pnp.insert(a, places if places != [] else np.zeros(0, np.int32), values, axis), expected
    )


def test_a_traced_mask_of_insert_is_refused():
    with pytest.raises(pc.errors.ConcretizationTypeError, match="insert: the value of obj, for the size of the result"):
        pc.jit(lambda m: pnp.insert(X, m, 9))(X > 2)


@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_take_along_axis_by_rows_of_zeros_and_a_one(wrap):
    places = np.array([[0, -1, 9]], np.int32)
    floats = Y.astype(np.float32)
    for a, axis in ((Y, 0), (floats, 1)):
        indices = np.broadcast_to(places if axis else places.T, (a.shape[0], 3) if axis else (3, a.shape[1]))
        # A row of zeros reads what is out of range.
        read = np.take_along_axis(a, np.clip(indices, -2, 1), axis)
        expected = np.where(indices < a.shape[axis], read, 0).astype(a.dtype)
        got = wrap(lambda a, i, axis=axis: pnp.take_along_axis(a, i, axis, mode="one_hot"))(a, indices)
        np.testing.assert_array_equal(got, expected)


def parts(out):
    return [np.asarray(part) for part in (out if isinstance(out, tuple | list) else [out])]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_as_jax(case):
    name, args, keywords = case

    def on(module, arrays):
        moved = [arrays.pop(0) if isinstance(arg, np.ndarray) else arg for arg in args]
        return getattr(module, name)(*moved, **keywords)

    given = [arg for arg in args if isinstance(arg, np.ndarray)]
    expected = parts(on(jnp, list(map(jnp.asarray, given))))
    outs = [on(pnp, list(map(pnp.asarray, given)))]
    if "size" in keywords or "total_repeat_length" in keywords or name in ("take", "take_along_axis", "put", "isin"):
        outs.append(pc.jit(lambda *arrays: on(pnp, list(arrays)))(*given))
    for out in map(parts, outs):
        assert [part.dtype for part in out] == [part.dtype for part in expected]
        for got, want in zip(out, expected, strict=True):
            np.testing.assert_array_equal(got, want)


# Indices out of range, modes and methods that only jax has.
NUMPY_REFUSES = {
    *("take", "take filled", "take of an axis", "take_along_axis", "take_along_axis clipped", "put"),
    *("take_along_axis filled", "take_along_axis as it is", "put_along_axis", "put_along_axis clipped"),
}
OF_JAX = ("size", "fill_value", "total_repeat_length", "inplace", "method")


def of_numpy(name, args, keywords):
    """Without jax's keywords. A copy is changed where NumPy's function changes its argument."""
    kept = {key: value for key, value in keywords.items() if key not in OF_JAX}
    if not name.startswith(("put", "place")):
        return getattr(np, name)(*args, **kept)
    changed = args[0].copy()
    getattr(np, name)(changed, *args[1:], **kept)
    return changed


def test_values_are_numpys():
    """Of results with a size, the elements that NumPy's have, too; then there are those that fill."""
    refused, compared = set(), 0
    for case, (name, args, keywords) in CASES.items():
        try:
            wanted = parts(of_numpy(name, args, keywords))
        except (IndexError, TypeError, ValueError):
            refused.add(case)
            continue
        found = parts(getattr(pnp, name)(*args, **keywords))
        assert len(found) == len(wanted)
        for got, want in zip(found, wanted, strict=True):
            common = tuple(slice(0, min(sizes)) for sizes in zip(got.shape, want.shape, strict=True))
            if "size" not in keywords and "total_repeat_length" not in keywords:
                assert got.shape == want.shape, case
            np.testing.assert_array_equal(got[common], want[common], err_msg=case)
            if isinstance(keywords.get("fill_value"), int) and len(found) == 1 and got.ndim == 1:
                assert (got[len(want) :] == keywords["fill_value"]).all(), case
        compared += 1
    assert refused == NUMPY_REFUSES
    assert compared == len(CASES) - len(NUMPY_REFUSES)


@pytest.mark.parametrize("name", ["nonzero", "argwhere", "flatnonzero", "where", "unique", "unique_all"])
def test_a_traced_array_needs_a_size(name):
    asked = name.removesuffix("_all")
    with pytest.raises(pc.errors.ConcretizationTypeError, match=rf"{asked}: the number of elements(.|\n)*pass size="):
        pc.jit(getattr(pnp, name))(X)


def test_errors():
    with pytest.raises(ValueError, match="nonzero: takes an array with dimensions"):
        pnp.nonzero(pnp.float32(1))
    with pytest.raises(ValueError, match="where: size and fill_value need a call without x and y"):
        pnp.where(X > 0, X, X, size=3)
    with pytest.raises(ValueError, match="compress: the condition holds beyond the 2 elements of axis 0"):
        pnp.compress(np.array([True, False, True]), Y, 0)
    with pytest.raises(TypeError, match=r"take: indices must be integers, got f32\[6\]"):
        pnp.take(X, F)
    with pytest.raises(ValueError, match="take: mode is 'fill', 'clip' or 'wrap', got 'none'"):
        pnp.take(X, Y, mode="none")
    with pytest.raises(IndexError, match=r"take: no index is in range for axis 0 of f32\[0\]"):
        pnp.take(np.zeros(0, np.float32), X)
    with pytest.raises(ValueError, match=r"take_along_axis: i32\[6\] and i32\[2,2\] differ in dimensions"):
        pnp.take_along_axis(Y, X, 1)
    with pytest.raises(IndexError, match="delete: an index is out of bounds for axis 0"):
        pnp.delete(X, 9)
    with pytest.raises(ValueError, match="put: arrays don't change; pass inplace=False"):
        pnp.put(X, 1, 2)
    with pytest.raises(ValueError, match=r"repeat: i32\[2\] repeats for the 6 elements of axis 0"):
        pnp.repeat(X, np.array([1, 2], np.int32))
    with pytest.raises(ValueError, match="repeat: repeats must not be negative, got -1"):
        pnp.repeat(X, np.array([1, 1, 1, 1, 1, -1]))
    with pytest.raises(TypeError, match=r"repeat: repeats must be integers, got f32\[6\]"):
        pnp.repeat(X, F)
    with pytest.raises(pc.errors.ConcretizationTypeError, match=r"repeat: .*; pass total_repeat_length="):
        pc.jit(pnp.repeat)(X, X)
    with pytest.raises(ValueError, match="isin: method is"):
        pnp.isin(X, Y, method="fast")


class OfNumpy:
    take, take_along_axis = staticmethod(np.take), staticmethod(np.take_along_axis)

    @staticmethod
    def put_along_axis(x, indices, values, axis, inplace):
        return of_numpy("put_along_axis", (x, indices, values, axis), {})


def test_derivatives():
    def f(module, x, v):
        grid = x.reshape(3, 2)
        out = module.take_along_axis(grid, np.array([[1], [0], [1]]), 1).sum() + (module.take(x, Z % 6) ** 2).sum()
        return out + (module.put_along_axis(grid, np.array([[1], [0], [1]]), v, 1, inplace=False) ** 2).sum()

    v = np.array([[2.0], [3.0], [4.0]], np.float32)
    x = np.arange(6, dtype=np.float32)
    got = pc.grad(lambda x, v: f(pnp, x, v), (0, 1))(x, v)
    want = gradients(lambda x, v: f(OfNumpy(), x, v), (x, v))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)
