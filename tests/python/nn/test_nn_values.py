"""nn: values and slopes against formulas in NumPy and SciPy, dtypes and the initializers' numbers against jax's."""

import typing

import jax
import ml_dtypes
import mpmath
import numpy as np
import plain_nn
import pytest
import scipy.special
from jax import nn as theirs
from slopes import gradient

import pycompiler as pc
from pycompiler import nn as ours
from pycompiler import random

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 6)).astype(np.float32)
CORNERS = np.float32([-100, -1, -1e-3, 0.5, 3, 100])
MASK = F > -0.5

ACTIVATIONS = ["relu", "relu6", "sigmoid", "silu", "swish", "softplus", "log_sigmoid", "soft_sign", "tanh", "identity"]
ACTIVATIONS += ["gelu", "leaky_relu", "elu", "celu", "selu", "hard_tanh", "hard_sigmoid", "hard_silu", "hard_swish"]
ACTIVATIONS += ["mish", "softmax", "log_softmax", "logsumexp", "standardize"]
CASES = {name: [lambda m, f=name: getattr(m, f)(F)] for name in ACTIVATIONS}
CASES["gelu"].append(lambda m: m.gelu(F, approximate=False))
CASES["leaky_relu"].append(lambda m: m.leaky_relu(F, 0.2))
CASES["elu"].append(lambda m: m.elu(F, 0.5))
CASES["celu"].append(lambda m: m.celu(F, 0.5))
CASES["softmax"] += [lambda m: m.softmax(F, axis=0), lambda m: m.softmax(F, axis=(0, 1)), lambda m: m.softmax(F * 1e3)]
CASES["log_softmax"] += [lambda m: m.log_softmax(F, axis=0), lambda m: m.log_softmax(F * 1e3)]
CASES["logsumexp"] += [
    lambda m: m.logsumexp(F, axis=1, keepdims=True),
    lambda m: m.logsumexp(F, b=np.float32(2)),
    lambda m: m.logsumexp(np.float32([-np.inf, -np.inf])),
    lambda m: m.logsumexp(F, axis=1, where=MASK),
    lambda m: m.logsumexp(F, axis=0, b=F, return_sign=True),
]
CASES["log1mexp"] = [lambda m: m.log1mexp(np.float32([1e-8, 0.1, 0.7, 3, 50]))]
CASES["logmeanexp"] = [
    lambda m: m.logmeanexp(F),
    lambda m: m.logmeanexp(F, axis=1, keepdims=True),
    lambda m: m.logmeanexp(F, axis=0, where=MASK),
]
for name in ("sparse_plus", "sparse_sigmoid", "squareplus"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(F * 2), lambda m, f=name: getattr(m, f)(CORNERS)]
CASES["squareplus"].append(lambda m: m.squareplus(F, 1.5))
CASES["glu"] = [lambda m: m.glu(F), lambda m: m.glu(F.T, axis=0)]
CASES["one_hot"] = [
    lambda m: m.one_hot(np.array([0, 2, 5, -1]), 4),
    lambda m: m.one_hot(np.array([[0, 2]]), 3, axis=0, dtype=np.int32),
]


def exact_gelu(x, approximate):
    """The value and the derivative, from the definition: x times a share of 1."""
    if not approximate:
        share = mpmath.ncdf(x)
        return x * share, share + x * mpmath.npdf(x)
    scale = 2 * mpmath.sqrt(2 / mpmath.pi)
    cubic = mpmath.mpf("0.044715")
    share = 1 / (1 + mpmath.exp(-scale * (x + cubic * x**3)))
    return x * share, share + x * share * (1 - share) * scale * (1 + 3 * cubic * x**2)


# The exponent is up to 90 before float32 has no share left, and its rounding is multiplied by it.
@pytest.mark.parametrize(("dtype", "digits"), [("float32", 90), ("float64", 90), ("bfloat16", 1), ("float16", 1)])
@pytest.mark.parametrize("approximate", [True, False])
def test_gelu_keeps_its_digits_on_the_left(dtype, digits, approximate):
    with pc.enable_x64(), mpmath.workdps(40):
        x = np.array([*np.linspace(-9, 9, 61), -0.7, -1e-3, 1e-3, -60, 60]).astype(dtype)
        kind = ml_dtypes.finfo(dtype)
        value, slope = pc.vmap(pc.value_and_grad(lambda x: ours.gelu(x, approximate)))(x)
        for at, *found in zip(x, value, slope, strict=True):
            for got, want in zip(found, exact_gelu(mpmath.mpf(float(at)), approximate), strict=True):
                bound = float(kind.eps) * max(abs(want), float(kind.tiny)) * digits
                assert abs(float(got) - want) <= bound, (at, got, float(want))


@pytest.mark.parametrize(("name", "number"), [(n, i) for n, cases in sorted(CASES.items()) for i in range(len(cases))])
def test_function(name, number):
    case = CASES[name][number]
    everywhere = (case(ours), jax.eval_shape(lambda: case(theirs)), case(plain_nn.nn))
    for a, kind, b in zip(*(x if isinstance(x, tuple) else (x,) for x in everywhere), strict=True):
        assert (a.shape, a.dtype) == (kind.shape, kind.dtype) == (np.shape(b), a.dtype)
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=2e-6)


def test_every_case_is_a_function():
    # tools/count_names.py finds the names that no file compares.
    assert set(CASES) <= set(ours.__all__)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivative(name):
    slope = pc.grad(lambda x: (getattr(ours, name)(x) * CORNERS).sum())(CORNERS)
    if name.startswith("hard_"):  # at their corners: jax's convention
        want = jax.grad(lambda x: (getattr(theirs, name)(x) * CORNERS).sum())(CORNERS)
    else:
        want = gradient(lambda x: (getattr(plain_nn.nn, name)(x) * CORNERS).sum(), CORNERS, step=1e-4)
    np.testing.assert_allclose(np.asarray(slope), np.asarray(want), rtol=2e-4, atol=2e-4)


def test_relu_keeps_nan():
    x = np.array([np.nan, -0.0, -1, 2], np.float32)
    np.testing.assert_array_equal(np.asarray(ours.relu(x)), [np.nan, 0, 0, 2])


def test_relu_has_no_slope_at_zero():
    assert float(pc.grad(ours.relu)(0.0)) == 0


INITIALIZERS = [
    *("glorot_uniform", "glorot_normal", "xavier_uniform", "xavier_normal", "he_uniform", "he_normal"),
    *("kaiming_uniform", "kaiming_normal", "lecun_uniform", "lecun_normal"),
]


@pytest.mark.parametrize("name", INITIALIZERS)
@pytest.mark.parametrize("shape", [(7, 5), (3, 3, 4, 8)], ids=str)
def test_initializer(name, shape):
    with jax.threefry_partitionable(False):
        want = getattr(theirs.initializers, name)()(jax.random.PRNGKey(1), shape)
    got = getattr(ours.initializers, name)()(random.key(1), shape)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "shape", "options"), [
    ("orthogonal", (7, 5), {}), ("orthogonal", (5, 7), {"scale": 2.0}), ("orthogonal", (2, 5, 3), {"column_axis": 1}),
    ("delta_orthogonal", (3, 4, 5), {}), ("delta_orthogonal", (3, 2, 4, 4), {"scale": 0.5}),
])  # fmt: skip
def test_orthogonal_initializer(name, shape, options):
    with jax.threefry_partitionable(False):
        want = getattr(theirs.initializers, name)(**options)(jax.random.PRNGKey(1), shape)
    got = getattr(ours.initializers, name)(**options)(random.key(1), shape)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", [
    lambda m: m.zeros, lambda m: m.ones, lambda m: m.constant(3.0), lambda m: m.uniform(0.5), lambda m: m.normal(0.5),
    lambda m: m.truncated_normal(0.5),
])  # fmt: skip
def test_plain_initializer(make):
    assert isinstance(make(ours.initializers), typing.get_origin(ours.initializers.Initializer))
    with jax.threefry_partitionable(False):
        want = make(theirs.initializers)(jax.random.PRNGKey(1), (4, 3))
    got = make(ours.initializers)(random.key(1), (4, 3))
    assert got.dtype == want.dtype
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((3,), {"in_axis": [0], "out_axis": []}),
        ((3,), {"in_axis": [], "out_axis": [0]}),
        ((2, 3), {"in_axis": [], "out_axis": []}),
        ((), {"in_axis": [], "out_axis": []}),
    ],
)
@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
def test_initializers_of_chosen_axes(shape, axes, mode):
    want = jax.nn.initializers.variance_scaling(1.0, mode, "normal", **axes)(jax.random.key(1), shape)
    with pc.threefry_partitionable(True):
        got = ours.initializers.variance_scaling(1.0, mode, "normal", **axes)(random.key(1), shape)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match="glu: axis 0 has 3 elements, which is not even"):
        ours.glu(F, axis=0)
    with pytest.raises(
        ValueError, match=r"variance_scaling: the shape \(3,\) has no axis -2; name the axes by in_axis"
    ):
        ours.initializers.he_normal()(random.key(0), (3,))
    with pytest.raises(AttributeError, match="has no attribute rellu; the nearest name is"):
        ours.rellu  # noqa: B018


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_elements_that_do_not_count(name):
    x = np.linspace(-2, 3, 12, dtype=np.float32).reshape(3, 4)
    # In the second row no element counts, as for fully masked attention.
    where = np.array([[True, False, True, True], [False] * 4, [True] * 4])
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)

    def total(module, numpy, x):
        out = getattr(module, name)(x, where=where)
        return (numpy.where(where, out, 0) * weights).sum(), out

    (_, got), slope = pc.value_and_grad(lambda x: total(ours, pc.numpy, x), has_aux=True)(x)
    want, expected = total(plain_nn.nn, np, x)[1], gradient(lambda x: total(plain_nn.nn, np, x)[0], x)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.asarray(slope), np.asarray(expected), rtol=1e-4, atol=1e-5)
    assert np.isfinite(np.asarray(slope)).all()
    column = getattr(ours, name)(x, axis=0, where=np.array([True, True, False, True]))
    wanted = getattr(plain_nn.nn, name)(x, axis=0, where=np.array([True, True, False, True]))
    np.testing.assert_allclose(np.asarray(column), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match=rf"{name}: where bool\[2\] does not broadcast to f32\[3,4\]"):
        getattr(ours, name)(x, where=np.ones(2, bool))


def test_infinities():
    # scipy.special.log_softmax counts them element by element, as both of our functions do (docs/differences.md).
    x = np.float32([[np.inf, 1, -np.inf], [1, 2, -np.inf], [-np.inf, 0, np.inf], [-np.inf, -np.inf, -np.inf]])
    with np.errstate(all="ignore"):
        logarithms = scipy.special.log_softmax(x, axis=-1)
        np.testing.assert_allclose(ours.log_softmax(x), logarithms, rtol=1e-6)
        np.testing.assert_allclose(ours.softmax(x), np.exp(logarithms), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_hard_sigmoids_end_in_0_and_1(dtype):
    with pc.enable_x64(True):
        x = np.array([-9, -3, 3, 9], dtype)
        np.testing.assert_array_equal(ours.hard_sigmoid(x), np.array([0, 0, 1, 1], dtype))
        np.testing.assert_array_equal(ours.hard_silu(x), np.array([0, 0, 3, 9], dtype))
        slopes = pc.vmap(pc.grad(ours.hard_silu))(np.array([-9, -1, 1, 9], dtype))
        np.testing.assert_allclose(np.float64(slopes), [0, 1 / 6, 5 / 6, 1], rtol=2 * float(ml_dtypes.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_derivatives_of_log1mexp(dtype: str) -> None:
    """1 / (exp(x) - 1) and its derivatives, near 0 and where exp(x) is infinite."""
    x = np.array([1e-6, 0.1, 0.69, 0.7, 3, 30, 90, 800], dtype)
    wide = x.astype(np.longdouble)
    first = np.exp(-wide) / -np.expm1(-wide)
    second = -first * (1 + first)
    third = -second * (1 + 2 * first)
    bound = 1e-6 if dtype == "float32" else 1e-15
    with pc.enable_x64(True):
        function = pc.nn.log1mexp
        for expected in (first, second, third):
            function = pc.grad(function)
            got = np.asarray(pc.jit(pc.vmap(function))(x))
            assert got.dtype == dtype
            np.testing.assert_allclose(got, expected.astype(dtype), rtol=4 * bound, atol=np.finfo(dtype).tiny)


def test_log1mexp_has_no_infinities_of_its_own() -> None:
    """exp(-x) is 1 for a small x, whose result is finite: debug_infs finds nothing."""
    x = np.float32([1e-9, 1e-3, 0.5, 3, 200])
    with pc.debug_infs(True):
        got = pc.nn.log1mexp(x)
    np.testing.assert_allclose(got, np.log(-np.expm1(-x.astype(np.float64))), rtol=1e-6, atol=1e-37)
