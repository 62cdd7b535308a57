"""Complex numbers in functions that order them: by real parts, then by imaginary parts, nans last. Against NumPy."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(3)
PLAIN = np.array([1 + 2j, 1 - 2j, 0, 1 + 2j, -1 + 5j, 2, 1j, -1 - 5j])
OTHER = np.array([1 + 1j, 1 - 1j, 0, 2 + 2j, -1 + 6j, 2, -1j, -1 - 5j])
BROKEN = np.array([1 + 2j, complex(np.nan, 1), 0, complex(np.nan, -1), -1 + 5j, complex(np.inf, 1), 2])
GRID = rng.integers(-2, 3, (4, 6)) + 1j * rng.integers(-2, 3, (4, 6))

ELEMENTWISE = ("maximum", "minimum", "fmax", "fmin", "less", "less_equal", "greater", "greater_equal")
REDUCTIONS = ("max", "min", "ptp", "argmax", "argmin", "sort", "argsort", "median", "nanmax", "nanmin", "nansum")
REDUCTIONS += ("nanprod", "nanmean", "nanargmax", "nanargmin", "nancumsum", "nancumprod", "cumsum", "cumprod")
CASES = {
    **{
        name: [lambda m, n=name, p=p: getattr(m, n)(*p) for p in ((PLAIN, OTHER), (BROKEN, BROKEN[::-1].copy()))]
        for name in ELEMENTWISE
    },
    **{
        name: [
            lambda m, n=name, a=a, k=k: getattr(m, n)(a, **k)
            for a, k in ((PLAIN, {}), (BROKEN, {}), (GRID, {"axis": 0}), (GRID, {"axis": 1}))
        ]
        for name in REDUCTIONS
    },
    "clip": [
        lambda m: m.clip(PLAIN, 0, 1 + 1j),
        lambda m: m.clip(PLAIN, 1j, None),
        lambda m: m.clip(PLAIN, None, 1 + 1j),
    ],
    "searchsorted": [
        lambda m, side=side, a=a, v=v: m.searchsorted(np.sort(a), v, side=side)
        for side in ("left", "right")
        for a, v in ((PLAIN, OTHER), (BROKEN, BROKEN))
    ],
    "lexsort": [lambda m: m.lexsort((PLAIN, PLAIN.real.copy())), lambda m: m.lexsort((PLAIN.imag.copy(), PLAIN))],
    "unique": [
        lambda m: m.unique(PLAIN),
        lambda m: m.unique(PLAIN, return_index=True, return_inverse=True, return_counts=True),
        lambda m: m.unique(np.array([[1j, 2], [1j, 2], [0, 1]]), axis=0),
    ],
    "sets": [
        lambda m, n=n: getattr(m, n)(PLAIN, OTHER) for n in ("intersect1d", "union1d", "setdiff1d", "setxor1d", "isin")
    ],
    "rounded": [lambda m, d=d: m.round(GRID * 12.345, d) for d in (-1, 0, 2)],
    "numbers for nans": [lambda m: m.nan_to_num(BROKEN), lambda m: m.nan_to_num(BROKEN, nan=2.0, posinf=9.0)],
    "closeness": [
        lambda m: m.isclose(PLAIN, PLAIN + 1e-9j),
        lambda m: m.isclose(BROKEN, BROKEN),
        lambda m: m.isclose(BROKEN, BROKEN, equal_nan=True),
        lambda m: m.array_equal(BROKEN, BROKEN, equal_nan=True),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_is_numpy(name):
    with enable_x64(), np.errstate(all="ignore"):
        for case in CASES[name]:
            got, want = case(pnp), case(np)
            pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
            for ours, theirs in pairs:
                assert np.asarray(ours).dtype.kind == np.asarray(theirs).dtype.kind
                np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_partitions():
    for k in range(len(PLAIN)):
        with enable_x64():
            parts = np.asarray(pnp.partition(PLAIN, k))
            places = np.asarray(pnp.argpartition(PLAIN, k))
        ordered = np.sort(PLAIN)
        assert parts[k] == ordered[k] == PLAIN[places][k]
        np.testing.assert_array_equal(np.sort(parts[:k]), ordered[:k])
        np.testing.assert_array_equal(np.sort(PLAIN[places]), ordered)


def test_running_extrema_and_clamps():
    with enable_x64():
        for name, reference in (("cummax", np.maximum), ("cummin", np.minimum)):
            for axis in (0, 1):
                got = getattr(lax, name)(GRID, axis=axis)
                np.testing.assert_array_equal(got, reference.accumulate(GRID, axis))
            back = getattr(lax, name)(GRID, axis=1, reverse=True)
            np.testing.assert_array_equal(back, reference.accumulate(GRID[:, ::-1], 1)[:, ::-1])
        np.testing.assert_array_equal(lax.clamp(0j, PLAIN, 1 + 1j), np.clip(PLAIN, 0, 1 + 1j))


def test_running_logarithms_of_sums():
    z = rng.normal(size=(3, 9)) + 1j * rng.normal(size=(3, 9))
    with enable_x64():
        for axis in (0, 1):
            got = np.asarray(lax.cumlogsumexp(z, axis=axis))
            np.testing.assert_allclose(got, np.log(np.cumsum(np.exp(z), axis)), rtol=1e-12)
        tangent = pc.jvp(lambda z: lax.cumlogsumexp(z, axis=1), (z,), (np.ones_like(z),))[1]
        np.testing.assert_allclose(tangent, 1, rtol=1e-12)
        nothing = lax.cumlogsumexp(np.full(3, -np.inf + 0j))
        assert np.asarray(nothing).real.tolist() == [-np.inf] * 3
        np.testing.assert_allclose(pnp.logaddexp(np.complex128(1j * np.pi), -np.inf), 1j * np.pi, rtol=1e-15)


def test_what_has_no_order_is_refused():
    for name in ("floor", "ceil", "trunc", "signbit", "isposinf", "isneginf"):
        with pytest.raises(TypeError, match=f"{name}: takes real arrays, got c64"):
            getattr(pnp, name)(PLAIN.astype(np.complex64))


# x.at[...]: several updates of one element, windows, slices, masks.

PLACES = np.array([0, 2, 0, 0, 4])
VALUES = np.array([1j, 2 + 1j, 3 - 1j, 1 + 1j, -1j])
AT = {"multiply": np.multiply, "divide": np.divide, "min": np.minimum, "max": np.maximum, "add": np.add}


@pytest.mark.parametrize("name", AT)
@pytest.mark.parametrize("compiled", [False, True])
def test_updates_at_indices(name, compiled):
    def run(x, places, values):
        return getattr(x.at[places], name)(values)

    update = pc.jit(run) if compiled else run
    for dtype in (np.complex64, np.complex128):
        with enable_x64():
            want = PLAIN.astype(dtype)
            AT[name].at(want, PLACES, VALUES.astype(dtype))
            got = update(pnp.asarray(PLAIN.astype(dtype)), PLACES, VALUES.astype(dtype))
            np.testing.assert_allclose(got, want, rtol=3 * np.finfo(dtype).eps)
            rows = GRID.astype(dtype)
            AT[name].at(rows, np.array([1, 3, 1]), GRID[:3].astype(dtype) + 0.5)
            got = update(pnp.asarray(GRID.astype(dtype)), np.array([1, 3, 1]), GRID[:3].astype(dtype) + 0.5)
            np.testing.assert_allclose(got, rows, rtol=5 * np.finfo(dtype).eps)


def test_updates_of_slices_masks_and_powers():
    with enable_x64():
        x = pnp.asarray(GRID)
        for name, function in {**AT, "power": np.power}.items():
            want = GRID.copy()
            want[1:, ::2] = function(want[1:, ::2], 2 + 1j)
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(getattr(x.at[1:, ::2], name)(2 + 1j), want, rtol=1e-13, atol=1e-14)
        want = np.where(GRID.real > 0, GRID * 2j, GRID)
        np.testing.assert_allclose(x.at[GRID.real > 0].multiply(2j), want)


def test_derivatives_of_updates():
    places = np.array([3, 1])
    with enable_x64():

        def product(x, values):
            return pnp.sum(x.at[places].multiply(values, unique_indices=True) * (1 + 2j))

        x, values = PLAIN + 0.25, VALUES[:2]
        by_x, by_values = pc.grad(product, argnums=(0, 1), holomorphic=True)(x, values)
        want = np.full(len(x), 1 + 2j)
        want[places] *= values
        np.testing.assert_allclose(by_x, want)
        np.testing.assert_allclose(by_values, (1 + 2j) * x[places])
        many = pc.vmap(lambda v: pnp.asarray(x).at[places].multiply(v))(np.stack([values, 2 * values]))
        np.testing.assert_allclose(many[1], pnp.asarray(x).at[places].multiply(2 * values))
