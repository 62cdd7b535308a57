"""x[index] and x.at[index] against NumPy's, eager and traced."""

import numpy as np
import plain
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
ROWS = np.array([2, 0, -1, 1])
GRID = np.array([[0, 1], [2, 2]], np.int32)

READ = {
    "int": np.s_[1],
    "negative": np.s_[-1],
    "ints": np.s_[1, -2, 3],
    "slice": np.s_[1:3],
    "step": np.s_[:, ::2, 1::3],
    "backwards": np.s_[::-1, 3:0:-2],
    "empty": np.s_[2:1],
    "ellipsis": np.s_[..., 0],
    "new": np.s_[None, 1, ..., None],
    "mixed": np.s_[1, ::-1, None, 2:],
    "array": np.s_[ROWS],
    "grid": np.s_[:, GRID],
    "list": np.s_[[0, 2],],
    "mask without dimensions": np.s_[True, ..., 0],
    "arrays": np.s_[ROWS[:2], [3, 1]],
    "apart": np.s_[[0, 2], :, [1, 4]],
    "array and int": np.s_[GRID, 1],
    "int and array apart": np.s_[1, :, [1, 4]],
    "array and slice": np.s_[ROWS, 1:3, ::-1],
    "array and new": np.s_[:, None, [3, 0], None],
    "broadcast": np.s_[GRID[:, :1], GRID[0]],
    "everything": np.s_[[0, 1], None, -1, ::2],
    "mask": X[:, 0, 0] > 10,
    "whole mask": X > 30,
    "mask and slice": np.s_[:, [True, False, True, True], 1:],
    "np int": np.s_[np.int64(2), np.int32(-1)],
    "nothing": np.s_[()],
}


@pytest.mark.parametrize("index", READ.values(), ids=READ)
def test_read(index):
    expected = X[index]
    got = pnp.asarray(X)[index]
    assert got.shape == np.shape(expected)
    np.testing.assert_array_equal(np.asarray(got), expected)
    np.testing.assert_array_equal(np.asarray(pc.jit(lambda x: x[index])(X)), expected)


@pytest.mark.parametrize("index", [np.s_[7], np.s_[-9], np.s_[np.array([0, 9, -9])], np.s_[1, np.array([5, 1])]])
def test_reading_out_of_range_is_clamped(index):
    np.testing.assert_array_equal(np.asarray(pnp.asarray(X)[index]), _clamped(index))


def _clamped(index):
    parts = index if isinstance(index, tuple) else (index,)
    clipped = [
        np.clip(np.where(np.asarray(i) < 0, np.asarray(i) + n, i), 0, n - 1)
        for i, n in zip(parts, X.shape[: len(parts)], strict=True)
    ]
    return X[tuple(clipped)]


@pytest.mark.parametrize("i", [0, 2, -1, 5])
def test_traced_index(i):
    f = pc.jit(lambda x, i: (x[i], x[:, i], x[..., i, 1:3], x.at[i].set(7.0), x.at[:, i].add(1.0)))
    expected = [X[min(i, 2)], X[:, min(i, 3)], X[..., min(i, 3), 1:3], X.copy(), X.copy()]
    if i < 3:
        expected[3][i] = 7
    if i < 4:
        expected[4][:, i] += 1
    for got, want in zip(f(X, i), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


UPDATES = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("index", READ.values(), ids=READ)
def test_update(name, index):
    parts = [np.asarray(i) if isinstance(i, list) else i for i in (index if isinstance(index, tuple) else (index,))]
    index = tuple(parts)
    values = np.asarray(np.random.default_rng(0).uniform(0.5, 1.5, X[index].shape), np.float32)
    for value in (2.0, values):
        # Each of equal places counts, and of several writes the last one.
        expected = getattr(plain.array(X).at[index], name)(value)
        np.testing.assert_allclose(np.asarray(getattr(pnp.asarray(X).at[index], name)(value)), expected, rtol=1e-6)
        traced = pc.jit(lambda x, v: getattr(x.at[index], name)(v))(X, value)
        np.testing.assert_allclose(np.asarray(traced), expected, rtol=1e-6)


def test_update_by_a_function():
    x = pnp.asarray(X)
    np.testing.assert_array_equal(np.asarray(x.at[1].apply(pnp.negative)), np.stack([X[0], -X[1], X[2]]))
    np.testing.assert_array_equal(np.asarray(x.at[1, ::2].get()), X[1, ::2])


@pytest.mark.parametrize("index", [np.s_[5], np.s_[-9], np.s_[np.array([0, 7, -8])], np.s_[:, 9], np.s_[1, 9]])
@pytest.mark.parametrize("name", ["set", "add"])
def test_writing_out_of_range_is_dropped(index, name):
    expected = X.copy()
    if isinstance(index, np.ndarray):
        expected[0] = 1 if name == "set" else X[0] + 1
    np.testing.assert_array_equal(np.asarray(getattr(pnp.asarray(X).at[index], name)(1.0)), expected)


def test_repeated_indices():
    x = pnp.zeros(4)
    np.testing.assert_array_equal(np.asarray(x.at[np.array([1, 1, 2])].add(1.0)), [0, 2, 1, 0])
    np.testing.assert_array_equal(np.asarray(x.at[np.array([1, 1, 2])].set(np.array([5.0, 6.0, 7.0]))), [0, 6, 7, 0])


def test_dtype_of_the_array_stays():
    assert pnp.array([0, 0, 0]).at[1].set(2.7).dtype == pnp.int32
    assert pnp.array([0, 0, 0]).at[2].set(1).tolist() == [0, 0, 1]


def test_derivatives():
    def f(x):
        return (x[1:] * x[:-1]).sum() + x[np.array([0, 0, 2])].sum() + x.at[1].set(5.0)[1] + x.at[0].multiply(3.0)[0]

    np.testing.assert_allclose(np.asarray(pc.grad(f)(pnp.array([1.0, 2.0, 3.0]))), [7, 4, 3])


def test_the_slope_of_a_read_that_moved_inside_goes_where_it_was_read():
    """In JAX it is lost (docs/differences.md)."""
    places, weights = np.array([9, 1, -7], np.int32), np.float32([1, 10, 100])
    for read in (lambda x: x[places], lambda x: x.at[places].get(), lambda x: x.at[places].get(mode="clip")):
        slope = pc.grad(lambda x, read=read: (read(x) * weights).sum())(pnp.arange(4.0))
        np.testing.assert_array_equal(slope, [100, 10, 0, 1])
    promised = pc.grad(lambda x: (x.at[places].get(mode="promise_in_bounds") * weights).sum())(pnp.arange(4.0))
    np.testing.assert_array_equal(promised, [0, 10, 0, 0])


def test_errors():
    x = pnp.asarray(X)
    with pytest.raises(IndexError, match=r"too many indices: 4 for f32\[3,4,5\]"):
        x[1, 2, 3, 4]
    with pytest.raises(TypeError, match="'a' of type str is not an index"):
        x["a"]
    with pytest.raises(TypeError, match=r"an index must be made of integers or bools, got f32\[\]"):
        x[pnp.float32(1)]
    with pytest.raises(IndexError, match="a single ellipsis"):
        x[..., ...]
    with pytest.raises(ValueError, match=r"values f32\[3\] do not broadcast to the indexed shape"):
        x.at[0].set(pnp.ones(3))
    with pytest.raises(IndexError, match=r"lax\.dynamic_slice"):
        pc.jit(lambda x, n: x[:n])(X, 2)
    with pytest.raises(IndexError, match=r"number of true elements(.|\n)*nonzero\(mask, size="):
        pc.jit(lambda x: x[x > 0])(X)


def test_iteration_and_length():
    assert len(pnp.asarray(X)) == 3
    assert [row.shape for row in pnp.asarray(X)] == [(4, 5)] * 3


@pytest.mark.parametrize("index", [0, np.s_[0, 1], np.s_[..., 2], np.s_[0, :, 1:-3], np.s_[np.array([0, 0]), 1]])
@pytest.mark.parametrize("method", ["set", "add", "max"])
def test_leading_ones_of_values_do_not_count(index, method):
    """As in an assignment to a part of a NumPy array."""
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    values = np.full((1, 1, *x[index].shape), 7, np.float32)
    want = getattr(pnp.asarray(x).at[index], method)(values.reshape(x[index].shape))
    for got in (
        getattr(pnp.asarray(x).at[index], method)(values),
        pc.jit(lambda x, v: getattr(x.at[index], method)(v))(x, values),
    ):
        np.testing.assert_array_equal(got, want)
    if method == "set":
        x[index] = values
        np.testing.assert_array_equal(want, x)


@pytest.mark.parametrize(
    ("shape", "mask"),
    [((3,), (0,)), ((3, 4), (0,)), ((3, 4), (0, 4)), ((3, 4), (3, 0)), ((3, 4, 5), (3, 0)), ((3, 4), (0, 0))],
)
def test_masks_without_elements_hold_nowhere(shape, mask):
    x, nowhere = np.ones(shape, np.float32), np.zeros(mask, bool)
    assert pnp.asarray(x)[nowhere].shape == x[nowhere].shape
    np.testing.assert_array_equal(pnp.asarray(x).at[nowhere].set(7), x)
    with pytest.raises(IndexError, match="they must be equal"):
        pnp.asarray(np.ones((3, 4)))[np.zeros((2, 0), bool)]


@pytest.mark.parametrize("mode", ["promise_in_bounds", "clip", "fill", "drop"])
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_a_fill_value_is_for_what_is_filled(mode, wrap):
    x, places = np.arange(5, dtype=np.float32), np.array([-1, 0, 4, 9], np.int32)
    places = places if mode != "promise_in_bounds" else places[:3]
    for turns in (True, False):
        get = lambda a, i, turns=turns: a.at[i].get(mode=mode, fill_value=99, wrap_negative_indices=turns)  # noqa: E731
        if mode == "promise_in_bounds" and not turns:
            places = np.abs(places)
        counted = np.where((places < 0) & turns, places + 5, places)
        expected = x[np.clip(counted, 0, 4)]
        if mode in ("fill", "drop"):
            expected[(counted < 0) | (counted > 4)] = 99
        np.testing.assert_array_equal(wrap(lambda a, i, get=get: get(pnp.asarray(a), i))(x, places), expected)


@pytest.mark.parametrize("method", ["set", "add", "max", "min", "multiply", "subtract"])
def test_large_integers_are_written_to_unsigned_ones(method):
    x = np.arange(3, dtype=np.uint32)
    for index in (0, np.array([0, 2]), np.array([True, False, True])):
        for wrap in (lambda f: f, pc.jit):
            got = wrap(lambda a, index=index: getattr(a.at[index], method)(2**32 - 1))(pnp.asarray(x))
            expected = getattr(plain.array(x).at[index], method)(np.uint32(2**32 - 1))
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("index", [7, -9, (0, 99), (1, 2, -50)])
def test_a_place_outside_is_clamped_where_the_program_runs(index):
    """It stays in the graph, where `checkify` finds it."""
    for wrap in (lambda f: f, pc.jit):
        np.testing.assert_array_equal(wrap(lambda a: a[index])(pnp.asarray(X)), _clamped(index))
    names = [equation.primitive.name for equation in pc.make_jaxpr(lambda a: a[index])(X).graph.equations]
    assert "dynamic_slice" in names


def test_an_index_of_traced_numbers_in_sequences():
    expected = X[(1, 2), (3, 0)]
    np.testing.assert_array_equal(pc.jit(lambda i, j: pnp.asarray(X)[(i, 2), (3, j)])(1, 0), expected)
    changed = pc.jit(lambda i: pnp.asarray(X).at[[0, i], :].set(0.0))(2)
    np.testing.assert_array_equal(changed, np.where(np.array([True, False, True])[:, None, None], 0, X))
