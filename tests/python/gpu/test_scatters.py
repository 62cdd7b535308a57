"""Scatters as kernels: their launches and their results, against NumPy and the CPU."""

import re

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of
from test_ptx import CHIPS, check
from test_strategies import compiled, data

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.compile.compile import build_module
from pycompiler.compile.plan import plan_outputs
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

COMBINE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
BF16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, BF16, np.float32, np.float64]


def rules_of(text):
    """The launches of scatters."""
    return {name.split("_")[1] for name in re.findall(r"gpu.launch_func\s+@kernels::@scatter(_\w+)", text)}


def by_one(kind, x, places, updates):
    """The rows of x changed by one update after the other; those outside are dropped."""
    out = x.astype(np.float64) if x.dtype.kind not in "iub" else x.copy()
    for place, update in zip(places, updates, strict=True):
        if 0 <= place < len(x):
            with np.errstate(all="ignore"):
                out[place] = update if kind == "set" else COMBINE[kind](out[place], update.astype(out.dtype))
    return out.astype(x.dtype)


def place_of(x, places, kind, updates, **hints):
    target = pnp.asarray(x).at[places]
    change = {"set": target.set, "add": target.add, "mul": target.mul, "min": target.min, "max": target.max}[kind]
    return change(updates, mode="drop", wrap_negative_indices=False, **hints)


def close(got, want):
    tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-12}[want.dtype.itemsize]
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * (1 + np.abs(want[np.isfinite(want)]).max()))


def ordinary(rng, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-100, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("kind", ["set", "add", "mul", "min", "max"])
def test_updates_that_meet(kind, dtype):
    rng = np.random.default_rng(5)
    x, updates = ordinary(rng, (23, 5), dtype), ordinary(rng, (150, 5), dtype)
    if kind == "mul" and np.dtype(dtype).kind not in "iu":
        updates = (1 + updates.astype(np.float64) / 64).astype(dtype)
    places = rng.integers(-2, 26, 150).astype(np.int32)
    text, (got,) = compiled(lambda x, i, u: place_of(x, i, kind, u), x, places, updates)
    want = by_one(kind, x, places, updates)
    is_float = np.dtype(dtype).kind not in "iu"
    if is_float and kind in ("add", "mul"):
        assert rules_of(text) == {"first", "next"}
        close(got, want)
    else:
        assert rules_of(text) == ({"forget", "claim", "store"} if kind == "set" else {"atomic"})
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["set", "add", "mul", "min", "max"])
def test_updates_that_do_not_meet(kind):
    rng = np.random.default_rng(6)
    x, updates = ordinary(rng, (40, 3), np.float32), ordinary(rng, (30, 3), np.float32)
    places = rng.permutation(44)[:30].astype(np.int64) - 2
    text, (got,) = compiled(lambda x, i, u: place_of(x, i, kind, u, unique_indices=True), x, places, updates)
    assert rules_of(text) == {"unique"}
    close(got, by_one(kind, x, places, updates))


def test_bools():
    rng = np.random.default_rng(7)
    x, updates, places = rng.random(9) < 0.5, rng.random(40) < 0.3, rng.integers(0, 9, 40)
    for kind in ("set", "min", "max"):
        _, (got,) = compiled(lambda x, i, u, kind=kind: place_of(x, i, kind, u), x, places, updates)
        want = x.copy()
        for place, update in zip(places, updates, strict=True):
            want[place] = update if kind == "set" else COMBINE[kind](want[place], update)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["set", "add"])
def test_complex_numbers(kind):
    rng = np.random.default_rng(8)
    x, updates = (ordinary(rng, (n, 2), np.float32).astype(np.complex64) for n in (9, 40))
    updates = updates * np.complex64(1j) + 1
    places = rng.integers(0, 9, 40)
    _, (got,) = compiled(lambda x, i, u: place_of(x, i, kind, u), x, places, updates)
    want = x.astype(np.complex128)
    for place, update in zip(places, updates, strict=True):
        want[place] = update if kind == "set" else want[place] + update
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_nans_and_zeros_of_extrema():
    special = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1.5, -1.5], np.float32)
    pairs = np.array([(a, b) for a in special for b in special])
    x, updates = pairs[:, 0].copy(), pairs[:, 1].copy()
    places = np.arange(len(x))
    for dtype in (np.float32, np.float64, np.float16, BF16):
        for kind, numpy in (("min", np.minimum), ("max", np.maximum)):
            given = x.astype(dtype), places, updates.astype(dtype)
            text, (got,) = compiled(lambda x, i, u, kind=kind: place_of(x, i, kind, u), *given)
            assert rules_of(text) == {"atomic"}
            np.testing.assert_array_equal(np.asarray(got, np.float32), numpy(x, updates))
            both_zero = (x == 0) & (updates == 0)
            negative = np.signbit(x) | np.signbit(updates) if kind == "min" else np.signbit(x) & np.signbit(updates)
            np.testing.assert_array_equal(np.signbit(np.asarray(got, np.float32))[both_zero], negative[both_zero])


@pytest.mark.parametrize("rows", [1, 10, 1000])
def test_many_updates_of_few_rows(rows):
    rng = np.random.default_rng(9)
    places = rng.integers(0, rows, 20_000).astype(np.int32)
    weights = rng.standard_normal(20_000).astype(np.float32)
    text, (counts, sums) = compiled(
        lambda i, w: (pnp.bincount(i, length=rows), pnp.bincount(i, w, length=rows)), places, weights
    )
    assert rules_of(text) == {"count", "first", "next"}
    np.testing.assert_array_equal(counts, np.bincount(places, minlength=rows))
    np.testing.assert_allclose(sums, np.bincount(places, weights, rows), rtol=1e-5, atol=2e-4)


def test_counts_in_many_rows_are_atomic():
    places = np.random.default_rng(10).integers(-5, 20_000, 3000)
    text, (counts,) = compiled(lambda i: pnp.bincount(i, length=20_000), places)
    assert rules_of(text) == {"atomic"}
    np.testing.assert_array_equal(counts, np.bincount(np.maximum(places, 0), minlength=20_000))


@pytest.mark.parametrize("count", [1, 2, 8, 9, 31, 32, 33, 64, 65, 1023, 1025, 4099])
def test_pieces_of_sums(count):
    # Runs that end and begin at all places of a piece; the last element takes most updates.
    rng = np.random.default_rng(count)
    places = np.minimum(rng.integers(0, 3 * count, count), count // 2 + 1)
    updates = rng.standard_normal((count, 19)).astype(np.float32)
    x = rng.standard_normal((count // 2 + 2, 19)).astype(np.float32)
    text, (got,) = compiled(lambda x, i, u: x.at[i].add(u), x, places, updates)
    assert rules_of(text) == (
        {"unique"} if count == 1 else {"in"} if count <= 8 else {"first", "next"} - ({"next"} if count <= 32 else set())
    )
    want = x.astype(np.float64)
    np.add.at(want, places, updates)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("is_sorted", [False, True])
def test_sorted_updates_are_not_sorted_again(is_sorted):
    rng = np.random.default_rng(11)
    places = np.sort(rng.integers(0, 50, 3000))
    updates = rng.standard_normal((3000, 4)).astype(np.float32)

    def sums(i, u):
        return pnp.zeros((50, 4), np.float32).at[i].add(u, indices_are_sorted=is_sorted)

    text, (got,) = compiled(sums, places, updates)
    assert ("sort_chunks" in text) != is_sorted
    want = np.zeros((50, 4))
    np.add.at(want, places, updates)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_the_gradient_of_an_embedding():
    rng = np.random.default_rng(12)
    table = rng.standard_normal((100, 64)).astype(np.float32)
    tokens, weights = rng.integers(0, 100, (8, 40)), rng.standard_normal((8, 40, 64)).astype(np.float32)
    text, (got,) = compiled(lambda t, i, w: pc.grad(lambda t: (t[i] * w).sum())(t), table, tokens, weights)
    assert rules_of(text) == {"first", "next"}
    want = np.zeros(table.shape)
    np.add.at(want, tokens, weights)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_columns_and_taken_elements():
    rng = np.random.default_rng(13)
    x = rng.standard_normal((12, 30)).astype(np.float32)
    columns, updates = rng.integers(0, 30, 50), rng.standard_normal((12, 50)).astype(np.float32)
    _, (got,) = compiled(lambda x, i, u: x.at[:, i].add(u), x, columns, updates)
    want = x.astype(np.float64)
    np.add.at(want, (slice(None), columns), updates)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    picked = rng.integers(0, 30, (12, 9))
    _, (got,) = compiled(lambda x, i: pc.grad(lambda x: (pnp.take_along_axis(x, i, 1) ** 2).sum())(x), x, picked)
    want = np.zeros(x.shape)
    rows = np.arange(12)[:, None]
    np.add.at(want, (rows, picked), 2 * x[rows, picked])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# Shape of x, of the updates, of the indices, and XLA's dimension numbers: windows at the front, at both sides of
# the indexed one, part of a dimension; blocks that overlap, their dimensions before those of the indices; batches.
WINDOWS = [
    ((9, 4), (9, 30), (30,), ((0,), (1,), (1,), (), ())),
    ((3, 6, 5), (3, 40, 5), (40,), ((0, 2), (1,), (1,), (), ())),
    ((7, 6, 5), (20, 4, 5), (20,), ((1, 2), (0,), (0,), (), ())),
    ((7, 8), (20, 2, 3), (20,), ((1, 2), (), (0, 1), (), ())),
    ((7, 8), (2, 20, 3), (20,), ((0, 2), (), (0, 1), (), ())),
    ((7, 8, 2), (3, 20, 2), (20,), ((0, 2), (1,), (0, 1), (), ())),
    ((4, 6, 3), (4, 15, 3), (4, 15), ((2,), (1,), (1,), (0,), (0,))),
    ((6, 3, 4), (15, 4, 3), (15, 4), ((2,), (0,), (0,), (2,), (1,))),
    ((6, 5), (4, 9), (4, 9), ((), (0, 1), (1, 0), (), ())),
    ((1, 5), (30, 5), (30,), ((1,), (0,), (0,), (), ())),
]
NAMES = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "operand_batching_dims",
    "scatter_indices_batching_dims",
)


@pytest.mark.parametrize("mode", ["fill", "clip", "promise_in_bounds"])
@pytest.mark.parametrize("kind", ["set", "add", "max"])
@pytest.mark.parametrize("case", range(len(WINDOWS)))
def test_dimension_numbers(case, kind, mode):
    shape, of_updates, of_indices, dims = WINDOWS[case]
    rng = np.random.default_rng(case)
    x, updates = (rng.standard_normal(s).astype(np.float32) for s in (shape, of_updates))
    outside = 0 if mode == "promise_in_bounds" else 3
    windows = [1] * len(shape)
    kept = [d for d in range(len(shape)) if d not in (*dims[1], *dims[3])]
    for dim, place in zip(kept, dims[0], strict=True):
        windows[dim] = of_updates[place]
    indices = [rng.integers(-outside, shape[d] - windows[d] + 1 + outside, of_indices) for d in dims[2]]
    params = dict(zip(NAMES, dims, strict=True), kind=kind, mode=mode, indices_are_sorted=False, unique_indices=False)
    primitive = PRIMITIVES["scatter"]
    text, (got,) = compiled(lambda *args: primitive.bind(*args, **params), x, updates, *indices)
    assert rules_of(text)
    want = primitive.reference(x, updates, *indices, **params)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_loop_scatters_into_what_it_carries():
    rng = np.random.default_rng(14)
    places, updates = rng.integers(0, 30, (5, 40)), rng.standard_normal((5, 40)).astype(np.float32)

    def looped(i, u):
        return lax.fori_loop(0, 5, lambda t, x: x.at[i[t]].add(u[t]), pnp.zeros(30, np.float32))

    _, (got,) = compiled(looped, places, updates)
    want = np.zeros(30)
    np.add.at(want, places, updates)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_few_updates_are_a_loop_of_one_thread():
    x, places = np.zeros(10, np.float32), np.array([3, 3, 11, 0])
    text, (got,) = compiled(lambda x, i: x.at[i].add(1), x, places)
    assert not rules_of(text)
    np.testing.assert_array_equal(got, [1, 0, 0, 2, 0, 0, 0, 0, 0, 0])


def test_every_run_has_the_same_bits():
    rng = np.random.default_rng(15)
    places, updates = rng.integers(0, 7, 5000), rng.standard_normal((5000, 3)).astype(np.float32)
    with enable_x64(True):
        plan = plan_outputs(
            pc.jit(lambda i, u: pnp.zeros((7, 3), np.float32).at[i].add(u)).trace(places, updates).jaxpr
        )
        (text,) = kernels_of([str(build_module(plan.graph))])
    program = Program(text)
    runs = [program([places, updates], [empty((7, 3), np.float32)])[0].tobytes() for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_view_is_scattered_into():
    rng = np.random.default_rng(16)
    x, updates = data(3, 8, 4), data(40, 4, seed=1)
    places = rng.integers(0, 8, 40)
    _, (got,) = compiled(lambda x, i, u: x.at[1].set(x[1].at[i].add(u[:, :])), x, places, updates)
    want = x.astype(np.float64)
    np.add.at(want[1], places, updates)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("chip", CHIPS)
def test_the_kernels_of_every_rule_are_assembled(chip, tmp_path):
    places = np.zeros(150, np.int32)

    def module(dtype, kind, rows):
        x, updates = np.zeros((rows, 3), dtype), np.zeros((150, 3), dtype)
        return pc.jit(lambda x, i, u: place_of(x, i, kind, u)).lower(x, places, updates).as_text()

    with enable_x64(True):
        texts = [module(dtype, kind, 20) for dtype in FLOATS for kind in ("set", "add", "mul", "max")]
        texts += [module(dtype, kind, 20) for dtype in INTEGERS for kind in ("add", "mul", "min")]
        texts += [pc.jit(lambda i: pnp.bincount(i, length=9)).lower(places).as_text()]
        assert check(texts, chip, tmp_path) == len(texts)
