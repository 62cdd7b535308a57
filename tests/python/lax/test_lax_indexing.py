"""lax.gather, scatter and related functions against loops over slices: numbers, modes, derivatives, batches."""

import numpy as np
import plain
import pytest
from slopes import gradients

import pycompiler as pc
from pycompiler import lax

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
RNG = np.random.default_rng(0)

# The operand, the index vectors, the dimension numbers (offset, collapsed, map, batching of both), the slice's sizes.
GATHERS = {
    "rows": (X, np.array([[2], [0], [7]]), ((1, 2), (0,), (0,)), (1, 4, 5)),
    "elements": (X, RNG.integers(-1, 5, (2, 3, 3)), ((), (0, 1, 2), (2, 0, 1)), (1, 1, 1)),
    "blocks": (X, RNG.integers(-1, 4, (6, 2)), ((1, 2), (0,), (1, 2)), (1, 2, 3)),
    "offsets first": (X, np.array([[1], [3]]), ((0, 2), (1,), (1,)), (3, 1, 5)),
    "batching": (X, RNG.integers(0, 5, (3, 2, 1)), ((2,), (1,), (1,), (0,), (0,)), (1, 1, 5)),
    "one": (X, np.array([1, 2]), ((0,), (0, 1), (0, 1)), (1, 1, 5)),
    "no index": (X, np.zeros((2, 0), np.int32), ((1, 2, 3), (), ()), (2, 4, 5)),
}
MODES = [None, "clip", "fill"]


def case_of(name):
    x, indices, dims, sizes = GATHERS[name]
    return x, indices.astype(np.int32), dims, sizes


def gather(module, x, indices, dims, sizes, **keywords):
    return module.gather(x, indices, lax.GatherDimensionNumbers(*dims) if module is lax else dims, sizes, **keywords)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", GATHERS)
def test_gather(name, mode):
    x, indices, dims, sizes = case_of(name)
    keywords = {"mode": mode} if mode != "fill" else {"mode": mode, "fill_value": -3}
    want = gather(plain.lax, x, indices, dims, sizes, **keywords)
    got = pc.jit(lambda x, i: gather(lax, x, i, dims, sizes, **keywords))(x, indices)
    np.testing.assert_array_equal(np.asarray(got), want)


def updates_of(name):
    x, indices, dims, sizes = case_of(name)
    out = gather(plain.lax, x, indices, dims, sizes, mode="clip")
    return np.random.default_rng(1).uniform(0.5, 2, out.shape).astype(np.float32)


def scatter(module, kind, x, indices, updates, dims, **keywords):
    numbers = lax.ScatterDimensionNumbers(*dims) if module is lax else dims
    return getattr(module, kind)(x, indices, updates, numbers, **keywords)


@pytest.mark.parametrize("kind", ["scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"])
@pytest.mark.parametrize("name", GATHERS)
def test_scatter(name, kind):
    x, indices, dims, _ = case_of(name)
    updates = updates_of(name)
    for mode in (None, "clip") if kind == "scatter_add" else (None,):
        want = scatter(plain.lax, kind, x, indices, updates, dims, mode=mode)
        got = pc.jit(lambda *args, m=mode: scatter(lax, kind, *args, dims, mode=m))(x, indices, updates)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def members(function, axes, args):
    return [function(*(x[i] if axis == 0 else x for x, axis in zip(args, axes, strict=True))) for i in range(3)]


@pytest.mark.parametrize("name", ["rows", "blocks", "batching"])
def test_batches(name):
    x, indices, dims, sizes = case_of(name)
    updates = updates_of(name)
    xs, lists, many = (np.stack([a, np.flip(a, -1), np.roll(a, 1, 0)]) for a in (x, indices, updates))
    for axes in [(0, None), (None, 0), (0, 0)]:
        args = [wide if axis == 0 else one for wide, one, axis in zip((xs, lists), (x, indices), axes, strict=True)]
        got = pc.vmap(lambda x, i: gather(lax, x, i, dims, sizes, mode="clip"), axes)(*args)
        want = members(lambda x, i: gather(plain.lax, x, i, dims, sizes, mode="clip"), axes, args)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
        args = [*args, many]
        got = pc.vmap(lambda x, i, u: scatter(lax, "scatter_add", x, i, u, dims), (*axes, 0))(*args)
        want = members(lambda x, i, u: scatter(plain.lax, "scatter_add", x, i, u, dims), (*axes, 0), args)
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


@pytest.mark.parametrize("kind", ["scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"])
def test_derivatives(kind):
    x, _, dims, sizes = case_of("rows")
    x, updates = x.astype(np.float64), updates_of("rows").astype(np.float64) * 30
    indices = np.array([[2], [0], [9]], np.int32)

    def loss(module, tanh):
        def run(x, u):
            out = scatter(module, kind, x, indices, u, dims, unique_indices=True)
            # Within bounds: a read that moved has a slope by differences, and as in JAX none by `grad`.
            return (tanh(out / 40) * gather(module, out, np.minimum(indices[::-1], 2), dims, sizes)).sum()

        return run

    # In f64, without cancellation, and without nan on either side.
    with pc.enable_x64(True):
        got = pc.grad(loss(lax, pc.numpy.tanh), (0, 1))(x, updates)
    want = gradients(loss(plain.lax, np.tanh), (x, updates))
    for a, b in zip(got, want, strict=True):
        assert np.isfinite(b).all()
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-7, atol=1e-7)


def test_repeated_indices():
    x, indices = np.zeros(4, np.float32), np.array([[1], [1], [3]], np.int32)
    dims = lax.ScatterDimensionNumbers((), (0,), (0,))
    updates = np.array([5.0, 6.0, 7.0], np.float32)
    assert lax.scatter(x, indices, updates, dims).tolist() == [0, 6, 0, 7]
    # The overwritten update does not affect the result.
    grads = pc.grad(lambda u: (lax.scatter(x, indices, u, dims) * np.arange(4, dtype=np.float32)).sum())(updates)
    assert grads.tolist() == [0, 1, 3]
    with pytest.raises(NotImplementedError, match="requires unique_indices=True"):
        pc.grad(lambda u: lax.scatter_mul(x, indices, u, dims).sum())(updates)


def test_scatter_apply_and_index_take():
    x, indices = np.arange(1, 5, dtype=np.float32), np.array([[1], [1], [3]], np.int32)
    dims = ((), (0,), (0,))
    numbers = lax.ScatterDimensionNumbers(*dims)
    got = pc.jit(lambda x, i: lax.scatter_apply(x, i, lax.square, numbers, update_shape=(3,)))(x, indices)
    assert np.asarray(got).tolist() == [1, 16, 3, 16]
    places = (np.array([0, -1, 4], np.int32), np.array([1, 5, -3], np.int32))
    # Places outside are counted around.
    np.testing.assert_array_equal(lax.index_take(X, places, (0, 2)), X[[0, 2, 1], :, [1, 0, 2]])


def test_modes():
    assert lax.GatherScatterMode.from_any("drop") is lax.GatherScatterMode.FILL_OR_DROP
    assert lax.GatherScatterMode.from_any(None) is lax.GatherScatterMode.FILL_OR_DROP
    with pytest.raises(ValueError, match="mode is 'clip', 'fill', 'drop' or 'promise_in_bounds', got 'wrap'"):
        lax.GatherScatterMode.from_any("wrap")


def test_errors():
    x, indices, dims, sizes = case_of("rows")
    with pytest.raises(ValueError, match=r"gather: slice_sizes \(1, 9, 5\) must have a size for each"):
        gather(lax, x, indices, dims, (1, 9, 5))
    with pytest.raises(
        ValueError, match=r"gather: the last dimension of the indices i32\[3,1\] must hold vectors of 2"
    ):
        gather(lax, x, indices, ((1, 2), (0,), (0, 1)), sizes)
    with pytest.raises(TypeError, match=r"gather: indices must be integers, got f32\[3,1\]"):
        gather(lax, x, indices.astype(np.float32), dims, sizes)
    with pytest.raises(TypeError, match=r"scatter_add: dtypes differ: f32\[3,4,5\] and i32\[3,4,5\]"):
        scatter(lax, "scatter_add", x, indices, np.ones((3, 4, 5), np.int32), dims)
    with pytest.raises(TypeError, match=r"scatter_add: takes numbers, got bool\[3,4,5\]"):
        scatter(lax, "scatter_add", x > 0, indices, x > 0, dims)
    with pytest.raises(ValueError, match=r"scatter: the updates f32\[2,4,5\] with windows in \(1, 2\) do not fit"):
        scatter(lax, "scatter", x, indices, x[:2], dims)
