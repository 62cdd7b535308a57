"""gather and scatter under vmap, for all choices of mapped arguments, against their references example by example; and
second derivatives of compositions, against jax's."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import windows
from pycompiler.primitives.gather import gather, scatter, scatter_params

EXAMPLES = 3
HINTS = {"indices_are_sorted": False, "unique_indices": False}


def numbers(*dims):
    names = [
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "operand_batching_dims",
        "start_indices_batching_dims",
    ]
    return {**dict(zip((*names, "slice_sizes"), dims, strict=True)), **HINTS}


# The shapes of x, of an index and of the result, and the dimension numbers.
CASES = {
    "rows": ((4, 3), (5,), (5, 3), numbers((1,), (0,), (0,), (), (), (1, 3))),
    "columns": ((2, 4), (3,), (2, 3), numbers((0,), (1,), (1,), (), (), (2, 1))),
    "elements": ((3, 4), (2, 2), (2, 2), numbers((), (0, 1), (1, 0), (), (), (1, 1))),
    "blocks": ((4, 5), (3,), (2, 3, 3), numbers((0, 2), (), (0, 1), (), (), (2, 3))),
    "one window": ((5, 3), (), (2, 3), numbers((0, 1), (), (0,), (), (), (2, 3))),
    "rows of each": ((2, 4, 3), (2, 5), (2, 5, 3), numbers((2,), (1,), (1,), (0,), (0,), (1, 1, 3))),
    "batching last": ((4, 3), (2, 3), (2, 3), numbers((), (0,), (0,), (1,), (1,), (1, 1))),
    "two batching": ((2, 4, 3), (3, 2), (3, 2), numbers((), (1,), (1,), (0, 2), (1, 0), (1, 1, 1))),
}


def mapped(rng, shape, is_mapped, dim, make):
    """An array with a dimension of examples at `dim` if it is mapped, and the examples."""
    if not is_mapped:
        array = make(rng, shape)
        return array, None, [array] * EXAMPLES
    dim = min(dim, len(shape))
    examples = [make(rng, shape) for _ in range(EXAMPLES)]
    return np.stack(examples, dim), dim, examples


def reals(rng, shape):
    return np.asarray(rng.uniform(0.5, 2, shape), np.float32)


def places(limit):
    return lambda rng, shape: np.asarray(rng.integers(-2, limit + 2, shape), np.int32)


def check(primitive, reference, params, described):
    arrays, dims, examples = zip(*described, strict=True)
    ours = pc.vmap(lambda *args: primitive.bind(*args, **params), in_axes=dims)(*arrays)
    expected = np.stack([reference(*args, **params) for args in zip(*examples, strict=True)])
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


def index_arguments(rng, case, is_mapped):
    x_shape, shape, _, dims = CASES[case]
    return [mapped(rng, shape, is_mapped, n, places(x_shape[d])) for n, d in enumerate(dims["start_index_map"])]


@pytest.mark.parametrize("mode", ["clip", "fill"])
@pytest.mark.parametrize("case", CASES)
def test_vmap_of_gather(case, mode):
    rng = np.random.default_rng(1)
    x_shape, _, _, dims = CASES[case]
    for x, index, fill in itertools.product((True, False), (True, False), (True, False) if mode == "fill" else (None,)):
        if not (x or index or fill):
            continue
        described = [mapped(rng, x_shape, x, 1, reals), *index_arguments(rng, case, index)]
        if fill is not None:
            described.append(mapped(rng, (), fill, 0, reals))
        check(gather, windows.gather_reference, {**dims, "mode": mode}, described)


@pytest.mark.parametrize("kind", windows.KINDS)
@pytest.mark.parametrize("case", CASES)
def test_vmap_of_scatter(case, kind):
    rng = np.random.default_rng(2)
    x_shape, _, out_shape, dims = CASES[case]
    for number, (x, updates, index) in enumerate(itertools.product((True, False), repeat=3)):
        if not (x or updates or index):
            continue
        params = scatter_params({**dims, "mode": ("clip", "fill")[number % 2]}, kind)
        described = [mapped(rng, x_shape, x, 1, reals), mapped(rng, out_shape, updates, 2, reals)]
        check(scatter, windows.scatter_reference, params, [*described, *index_arguments(rng, case, index)])


INDEX = np.array([2, 0, 2], np.int32)
ALONG = np.array([[1, 2, 0], [0, 0, 2], [2, 1, 1]], np.int32)
ROWS = np.arange(3, dtype=np.int32)

FUNCTIONS = {
    "index": lambda np_, lax_, x: x[INDEX],
    "index of columns": lambda np_, lax_, x: x[:, INDEX] * x,
    "diagonal": lambda np_, lax_, x: np_.diagonal(x),
    "take": lambda np_, lax_, x: np_.take(x, INDEX, 1, mode="fill", fill_value=2.0),
    "take_along_axis": lambda np_, lax_, x: np_.take_along_axis(x, ALONG, 1),
    "set": lambda np_, lax_, x: x.at[INDEX, ROWS].set(x[0] * x[1]),
    "add": lambda np_, lax_, x: x.at[INDEX].add(x * x),
    "multiply": lambda np_, lax_, x: x.at[np_.array([2, 0])].multiply(x[:2], unique_indices=True),
    "min": lambda np_, lax_, x: x.at[INDEX].min(x * x),
    "max": lambda np_, lax_, x: x.at[:, INDEX].max(x * x),
    "sort": lambda np_, lax_, x: np_.sort(x, 0) * x,
    "dynamic_slice": lambda np_, lax_, x: lax_.dynamic_slice(x, (1, 0), (2, 2)),
    "dynamic_update_slice": lambda np_, lax_, x: lax_.dynamic_update_slice(x, x[:2, :1] * x[1:, 1:2], (1, 1)),
    "both of one": lambda np_, lax_, x: x.at[INDEX].set(x) * (x + 1).at[ROWS, ROWS].add(x[0]),
}


@pytest.fixture
def wide():
    with enable_x64(), jax.enable_x64(True):
        yield


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessian_is_jaxs(name):
    def loss(*library):
        return lambda x: (FUNCTIONS[name](*library, x) ** 3).sum()

    x = np.random.default_rng(3).standard_normal((3, 3))
    expected = jax.hessian(loss(jnp, jax.lax))(x)
    gradient = pc.grad(loss(pnp, lax))
    seeds = np.eye(9).reshape(9, 3, 3)

    def tangent(v):
        return pc.jvp(gradient, (x,), (v,))[1]

    np.testing.assert_allclose(np.reshape(pc.vmap(tangent)(seeds), expected.shape), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pc.hessian(loss(pnp, lax))(x), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pc.jacrev(gradient)(x), expected, rtol=1e-9, atol=1e-9)


ALIASED = {
    "changed and read": lambda y, a, b: (y.at[ROWS, ROWS].set(a), y),
    "read and changed": lambda y, a, b: (y, y.at[ROWS, ROWS].set(a)),
    "changed and reshaped": lambda y, a, b: (y.at[ROWS, ROWS].set(a), y.reshape(9)),
    "changed twice": lambda y, a, b: (y.at[ROWS, ROWS].add(a), y.at[ROWS, ROWS].add(b)),
    "slices": lambda y, a, b: tuple(lax.dynamic_update_slice(y, v[None], (INDEX[0], INDEX[1])) for v in (a, b)),
    "loops": lambda y, a, b: tuple(lax.fori_loop(0, 3, lambda k, c, v=v: c.at[k].set(v), y) for v in (a, b)),
}


@pytest.mark.parametrize("start", [lambda x: x + 1, pnp.zeros_like], ids=["computed", "filled"])
@pytest.mark.parametrize("name", ALIASED)
def test_values_with_one_start_have_buffers_of_their_own(name, start):
    x, a, b = np.ones((3, 3), np.float32), np.arange(3, dtype=np.float32), np.full(3, 7, np.float32)

    def function(x, a, b):
        return ALIASED[name](start(x), a, b)

    for ours, expected in zip(pc.jit(function)(x, a, b), function(*map(pnp.asarray, (x, a, b))), strict=True):
        np.testing.assert_array_equal(ours, expected)
