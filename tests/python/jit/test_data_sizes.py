"""Results with data-dependent sizes, under jit(f, dynamic=...): NumPy's numbers, and bounds that never wait."""

import asyncio
import copy
import os
import pickle
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.errors import ConcretizationTypeError

X = np.array([3.0, -1.0, 0.0, 2.0, -5.0, 3.0], np.float32)
M = np.arange(12, dtype=np.float32).reshape(4, 3) - 5


def auto(function, **options):
    return pc.jit(function, dynamic="auto", **options)


def same(got, want):
    want = np.asarray(want)
    assert isinstance(got, pc.Array)
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


CASES = {
    "nonzero": (lambda np_, x: np_.nonzero(x)[0], [X]),
    "nonzero of a matrix": (lambda np_, x: np_.nonzero(x > 0)[1], [M]),
    "flatnonzero": (lambda np_, x: np_.flatnonzero(x), [M]),
    "argwhere": (lambda np_, x: np_.argwhere(x > 0), [M]),
    "where": (lambda np_, x: np_.where(x > 1)[0], [X]),
    "a mask": (lambda np_, x: x[x > 0], [X]),
    "a mask of rows": (lambda np_, x: x[x[:, 0] > 0], [M]),
    "a mask of all": (lambda np_, x: x[x > 0], [M]),
    "a mask and an ellipsis": (lambda np_, x: x[x[:, 0] > 0, ...], [M]),
    "a mask in the second place": (lambda np_, x: x[:, x[0] > -4], [M]),
    "a mask and an integer": (lambda np_, x: x[x[:, 0] > 0, 1], [M]),
    "compress": (lambda np_, x: np_.compress(x[:, 0] > -3, x, axis=0), [M]),
    "compress of columns": (lambda np_, x: np_.compress(x[0] > -5, x, axis=1), [M]),
    "compress by few": (lambda np_, x: np_.compress(x[:2] > 0, x), [X]),
    "extract": (lambda np_, x: np_.extract(x > 0, x), [M]),
    "unique": (lambda np_, x: np_.unique(x), [X]),
    "index of unique": (lambda np_, x: np_.unique(x, return_index=True)[1], [X]),
    "inverse of unique": (lambda np_, x: np_.unique(x, return_inverse=True)[1], [X]),
    "counts of unique": (lambda np_, x: np_.unique(x, return_counts=True)[1], [X]),
    "unique rows": (lambda np_, x: np_.unique(x // 8, axis=0), [M]),
    "unique of a part": (lambda np_, x: np_.unique(x[x > 0]), [X]),
    "index of a part": (lambda np_, x: np_.unique(x[x > 0], return_index=True)[1], [X]),
    "inverse of a part": (lambda np_, x: np_.unique(x[x > 0], return_inverse=True)[1], [X]),
    "counts of a part": (lambda np_, x: np_.unique(x[x > 0], return_counts=True)[1], [X]),
    "unique of none": (lambda np_, x: np_.unique(x[x > 100]), [X]),
    "nonzero of a part": (lambda np_, x: np_.nonzero(x[x[:, 0] > -4] > 0)[1], [M]),
    "what follows": (lambda np_, x: x[x > 0] * 2 + 1, [X]),
    "a sum": (lambda np_, x: x[x > 0].sum(), [X]),
    "a size as a value": (lambda np_, x: x * x[x > 0].shape[0], [X]),
    "a mask of a mask": (lambda np_, x: (lambda y: y[y > 2])(x[x > 0]), [X]),
    "one mask, two arrays": (lambda np_, x: (lambda m: x[m] + (x * 2)[m])(x > 0), [X]),
    "two masks, joined": (lambda np_, x: np_.concatenate([x[x > 0], x[x < 0]]), [X]),
    "with what does not depend": (lambda np_, x: np_.outer(x[x > 0], x), [X]),
    "sorted": (lambda np_, x: np_.sort(x[x != 0]), [X]),
    "none": (lambda np_, x: x[x > 100], [X]),
    "everything": (lambda np_, x: x[x > -100], [X]),
    "none, summed": (lambda np_, x: x[x > 100].sum(), [X]),
    "of nothing": (lambda np_, x: x[x > 0], [X[:0]]),
    "of one": (lambda np_, x: x[x > 0] + 1, [X[:1]]),
}

# Bounds for programs with named sizes.
LEAST = {"of nothing": 0, "compress by few": 2}


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("how", ["auto", "named"])
def test_numpys_numbers(name, how):
    function, args = CASES[name]
    dynamic = "auto" if how == "auto" else {0: tuple(f"n{i}" for i in range(args[0].ndim))}
    if how == "named" and name == "unique rows":
        # The columns are keys of separate sorts.
        dynamic = {0: ("n0", None)}
    if how == "named" and name in LEAST:
        dynamic = {0: (pc.Dim("n0", min=LEAST[name]), *dynamic[0][1:])}
    jitted = pc.jit(lambda *xs: function(pnp, *xs), dynamic=dynamic)
    same(jitted(*args), function(np, *args))


def test_one_program_for_every_size(counts):
    function = pc.jit(lambda x: (x[x > 0], x[x > 0] * 2, pnp.unique(x)), dynamic={"x": ("n",)})
    for size in (1, 2, 5, 9, 30):
        x = np.random.default_rng(size).integers(-3, 4, size).astype(np.float32)
        for got, want in zip(function(x), (x[x > 0], x[x > 0] * 2, np.unique(x)), strict=True):
            same(got, want)
    assert (counts.traced, counts.compiled) == (1, 1)


def test_automatic_sizes_compile_at_most_twice(counts):
    function = auto(lambda x: (x[x > 0] * 2, pnp.nonzero(x)[0]))
    for size in (4, 7, 1, 12, 4, 30):
        x = np.random.default_rng(size).integers(-3, 4, size).astype(np.float32)
        doubled, places = function(x)
        same(doubled, x[x > 0] * 2)
        same(places, np.nonzero(x)[0])
    assert counts.compiled == 2


def test_under_debug_nans():
    with pc.debug_nans(True):
        same(auto(lambda x: x[x > 0] * 2)(X), X[X > 0] * 2)


def test_several_results_share_their_sizes():
    rows, columns = auto(lambda x: pnp.nonzero(x > 0))(M)
    same(rows, np.nonzero(M > 0)[0])
    same(columns, np.nonzero(M > 0)[1])
    for got, want in zip(
        auto(lambda x: pnp.unique(x, True, True, True))(X), np.unique(X, True, True, True), strict=True
    ):
        same(got, want)


class Slow:
    """A function whose value arrives when the test releases it."""

    def __init__(self, fails=False):
        self.go = threading.Event()
        self.fails = fails

    def __call__(self, x):
        assert self.go.wait(60)
        if self.fails:
            raise ValueError("the host said no")
        return np.asarray(x)

    def of(self, x):
        return pc.pure_callback(self, pc.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_a_call_and_the_bound_do_not_wait():
    slow = Slow()

    def function(x):
        y = slow.of(x)
        return y[y > 0], y[y > 0] * 2, y[y > 0].sum(), pnp.argwhere(y > 0)

    jitted = auto(function)
    slow.go.set()
    pc.block_until_ready(jitted(X))
    slow.go.clear()
    positive, doubled, total, places = jitted(X)
    # It has no elements.
    assert positive.max_shape == doubled.max_shape == (6,)
    assert places.max_shape == (6, 1)
    assert (positive.dtype, positive.ndim, total.shape, total.max_shape) == (np.float32, 1, (), ())
    assert not positive.is_ready()
    assert not doubled.is_ready()
    assert not total.is_ready()
    # Reading its shape waits.
    shapes = []
    reader = threading.Thread(target=lambda: shapes.append((positive.shape, doubled.shape)))
    reader.start()
    assert not shapes
    slow.go.set()
    reader.join(60)
    assert shapes == [((3,), (3,))]
    same(doubled, X[X > 0] * 2)
    same(total, X[X > 0].sum())
    same(places, np.argwhere(X > 0))
    # Its maximum shape stays.
    assert positive.max_shape == (6,)
    assert positive.is_ready()


def test_many_readers():
    slow = Slow()
    chosen = auto(lambda x: (lambda y: y[y > 0] * 2)(slow.of(x)))(X)
    found = []
    readers = [threading.Thread(target=lambda: found.append(np.asarray(chosen))) for _ in range(4)]
    for reader in readers:
        reader.start()
    slow.go.set()
    for reader in readers:
        reader.join(60)
    assert [x.tolist() for x in found] == [[6.0, 4.0, 6.0]] * 4


def test_await():
    async def read():
        return await auto(lambda x: x[x > 0])(X)

    same(asyncio.run(read()), X[X > 0])


def test_a_fork():
    chosen, doubled = auto(lambda x: (x[x > 0], x[x > 0] * 2))(X)
    child = os.fork()
    if not child:
        os._exit(int(chosen.shape != (3,) or doubled.tolist() != [6.0, 4.0, 6.0]))
    assert os.waitpid(child, 0)[1] == 0


def test_the_bound_of_a_size_that_is_a_symbol():
    function = pc.jit(lambda x: (x[x > 0], pnp.concatenate([x[x > 0], x])), dynamic={"x": ("n",)})
    positive, joined = function(X)
    assert (positive.max_shape, joined.max_shape) == ((6,), (12,))
    positive, joined = function(X[:4])
    assert (positive.max_shape, joined.max_shape) == ((4,), (8,))
    assert (positive.shape, joined.shape) == ((2,), (6,))
    assert pnp.ones((2, 3)).max_shape == (2, 3)


def test_errors_surface_where_the_shape_is_asked_for():
    slow = Slow(fails=True)

    def function(x):
        y = slow.of(x)
        return y[y > 0], y[y > 0] + 1

    positive, more = auto(function)(X)
    slow.go.set()
    for read in (lambda: positive.shape, lambda: more.shape, lambda: np.asarray(more), positive.block_until_ready):
        with pytest.raises(Exception, match="the host said no"):
            read()
    assert positive.max_shape == (6,)
    # The next call works.
    slow.fails = False
    assert auto(function)(X)[0].shape == (3,)


def test_they_are_arrays_as_others_are():
    positive = auto(lambda x: x[x > 0])(X)
    assert repr(auto(lambda x: x[x > 0])(X)) == "Array([3., 2., 3.], dtype=float32)"
    want = X[X > 0]
    fresh = auto(lambda x: x[x > 0])
    assert len(fresh(X)) == 3
    assert (fresh(X).size, fresh(X).nbytes, fresh(X).aval.shape) == (3, 12, (3,))
    same(fresh(X) + fresh(X), want + want)
    same(fresh(X)[1], want[1])
    same(fresh(X)[1:], want[1:])
    same(fresh(X)[-1], want[-1])
    assert [float(x) for x in fresh(X)] == list(want)
    assert fresh(X).tolist() == want.tolist()
    assert np.from_dlpack(fresh(X)).tolist() == want.tolist()
    assert memoryview(fresh(X)).shape == (3,)
    assert pickle.loads(pickle.dumps(fresh(X))).shape == (3,)
    same(copy.deepcopy(fresh(X)), want)
    same(pnp.sum(fresh(X)), want.sum())
    same(pc.jit(lambda x: x * 2)(fresh(X)), want * 2)
    same(auto(lambda x: x.sum())(auto(lambda x: x[x > 0].sum())(X)), want.sum())
    same(pc.device_put(fresh(X), pc.devices()[0]), want)
    same(fresh(X).at[0].set(7.0), [7.0, 2.0, 3.0])
    same(fresh(X).block_until_ready(), want)
    pc.block_until_ready([fresh(X)])
    assert auto(lambda x: x[x < -4])(X).item() == -5.0
    same(positive, want)


def test_deletion_and_donation():
    deleted = auto(lambda x: x[x > 0])(X)
    deleted.delete()
    assert deleted.is_deleted()
    with pytest.raises(Exception, match="deleted"):
        deleted.shape  # noqa: B018
    given = pnp.array(X)
    # A result of unknown size takes no argument's memory.
    same(auto(lambda x: x[x > 0] * 2, donate_argnums=0)(given), X[X > 0] * 2)
    assert not given.is_deleted()
    kept = auto(lambda x: x[x > 0])(X)
    pc.jit(lambda x: x + 1, donate_argnums=0)(kept)
    assert kept.is_deleted()


def test_two_masks_have_two_sizes():
    with pytest.raises(ValueError, match=r"index_count0 and index_count1 are sizes that depend on data.*\n.*mask once"):
        auto(lambda x: x[x > 0] + x[x > 0])(X)
    with pytest.raises(pc.errors.InconclusiveDimensionError, match=r"depends on data, and may be 0.*\n.*size="):
        auto(lambda x: x[x > 0][0])(X)


def test_the_greatest_of_nothing():
    for how in ("auto", {"x": ("n",)}):
        greatest = pc.jit(lambda x: x[x > 0].max(), dynamic=how)
        assert greatest(X) == X.max()
        assert greatest(-abs(X)) == -np.inf
    assert auto(lambda x: pnp.min(x[x > 100], axis=0))(X) == np.inf


def test_what_is_not_a_symbol_says_so():
    with pytest.raises(pc.errors.ConcretizationTypeError, match=r"inside of scan, while_loop, cond.* sizes are fixed"):
        auto(lambda x: pc.lax.cond(x.sum() > 0, lambda: x[x > 0].sum(), lambda: 0.0))(X)
    with pytest.raises(TypeError, match="depends on data: the program is cut"):
        pc.export.export(auto(lambda x: x[x > 0]))(pc.ShapeDtypeStruct((pc.Dim("n"),), "float32"))


def test_derivatives():
    weights = np.linspace(1, 2, 6, dtype=np.float32)

    def loss(x):
        chosen = x[x > 0]
        return (chosen * chosen).sum()

    same(auto(pc.grad(loss))(X), np.where(X > 0, 2 * X, 0))
    same(pc.grad(auto(loss))(pnp.array(X)), np.where(X > 0, 2 * X, 0))
    out, tangent = auto(lambda x, t: pc.jvp(lambda x: x[x > 0] * 3, (x,), (t,)))(X, weights)
    same(out, X[X > 0] * 3)
    same(tangent, weights[X > 0] * 3)
    named = pc.jit(pc.grad(loss), dynamic={0: ("n",)})
    for size in (2, 4, 6):
        same(named(X[:size]), np.where(X > 0, 2 * X, 0)[:size])


def test_vmap():
    # The same mask for every member has one size.
    same(auto(lambda x, m: pc.vmap(lambda row: row[m])(x))(M, np.array([True, False, True])), M[:, [0, 2]])
    with pytest.raises(ConcretizationTypeError, match="size="):
        auto(pc.vmap(lambda row: row[row > 0]))(M)


def test_bodies_of_loops_and_branches():
    def scanned(x):
        return lax.scan(lambda c, row: (c, row[row > 0].sum()), 0.0, x)[1]

    with pytest.raises(ConcretizationTypeError, match="size="):
        auto(scanned)(M)
    with pytest.raises(ConcretizationTypeError, match="size="):
        auto(lambda x: lax.cond(x[0] > 0, lambda x: pnp.nonzero(x)[0].sum(), lambda x: 0, x))(X)
    # Around them the size may depend on data.
    same(auto(lambda x: lax.fori_loop(0, 3, lambda i, c: c + 1, x[x > 0]))(X), X[X > 0] + 3)


def test_jitted_functions_inside():
    inner = pc.jit(lambda x: x[x > 0])
    same(auto(lambda x: inner(x) + 1)(X), X[X > 0] + 1)
    twice = auto(lambda x: (inner(x), inner(-x)))(X)
    same(twice[0], X[X > 0])
    same(twice[1], -X[X < 0])
    with pytest.raises(ConcretizationTypeError, match='dynamic="auto"'):
        inner(X)
    with pytest.raises(ConcretizationTypeError, match='dynamic="auto"'):
        pc.jit(lambda x: pnp.nonzero(x))(X)
    same(pc.jit(lambda x: pnp.nonzero(x, size=4, fill_value=-1)[0])(X[:3]), [0, 1, -1, -1])
    same(auto(lambda x: pnp.nonzero(x, size=4, fill_value=-1)[0])(X[:3]), [0, 1, -1, -1])


def test_effects_of_later_stages_keep_their_order():
    seen = []

    def function(x):
        chosen = x[x > 0]
        pc.debug.callback(lambda total: seen.append(float(total)), chosen.sum(), ordered=True)
        return chosen

    jitted = auto(function)
    for x in (X, X * 2, X * 3):
        jitted(x)
    pc.effects_barrier()
    assert seen == [8.0, 16.0, 24.0]


def test_closures_and_arguments_that_are_returned():
    table = pnp.arange(6.0)
    given, chosen, constant = auto(lambda x: (x, table[x > 0], table))(X)
    same(given, X)
    same(chosen, np.arange(6)[X > 0])
    same(constant, np.arange(6))


def test_there_is_no_one_module():
    with pytest.raises(TypeError, match="depends on data"):
        auto(lambda x: x[x > 0]).lower(X).as_text()
