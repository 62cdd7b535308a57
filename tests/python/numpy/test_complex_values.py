"""Complex numbers in numpy and lax: NumPy's values and jax's types, branch cuts and corners, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from plain import Array
from slopes import along, gradient, jacobian

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

rng = np.random.default_rng(0)


def numbers(*shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


Z, W = numbers(3, 5), numbers(3, 5)
F = rng.normal(size=(3, 5)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
SQUARE = numbers(4, 4)
TIES = np.array([1 + 2j, 1 - 2j, 0, 1 + 2j, -1 + 5j], np.complex64)
BROKEN = np.array([1 + 1j, complex(np.nan, 1), complex(1, np.inf), complex(-np.inf, np.nan)], np.complex64)

UNARY = [
    *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square", "reciprocal", "negative", "positive"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"),
    *("abs", "sign", "conj", "conjugate", "real", "imag", "angle", "iscomplex", "isreal", "isfinite", "isnan", "isinf"),
    *("rint", "round", "nan_to_num", "sinc", "logical_not", "sort_complex", "isreal"),
]
CASES = {
    **{name: [lambda m, name=name: getattr(m, name)(Z)] for name in UNARY},
    "tests": [lambda m, name=name: getattr(m, name)(BROKEN) for name in ("isfinite", "isnan", "isinf", "nan_to_num")],
    "reals": [lambda m, name=name: getattr(m, name)(F) for name in ("real", "imag", "angle", "iscomplex", "isreal")],
    "integers": [lambda m, name=name: getattr(m, name)(INT) for name in ("real", "imag", "angle", "sort_complex")],
    "degrees": [lambda m: m.angle(Z, deg=True), lambda m: m.round(Z, 2)],
    "arithmetic": [
        lambda m, op=op, a=a, b=b: getattr(m, op)(a, b)
        for op in ("add", "subtract", "multiply", "divide", "power", "equal", "not_equal")
        for a, b in ((Z, W), (Z, F), (INT * 2 + 1, W), (Z, 2), (1.5, W), (Z, 2j))
    ],
    "order": [
        lambda m, op=op: getattr(m, op)(TIES, TIES[::-1].copy())
        for op in ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum")
    ],
    "powers": [lambda m: m.power(Z, 3), lambda m: m.power(Z, -2), lambda m: m.power(Z, 0), lambda m: m.power(F, 1j)],
    "sums": [lambda m, op=op: getattr(m, op)(Z, axis=1) for op in ("sum", "prod", "mean", "var", "std", "max", "min")],
    "variance": [lambda m: m.var(Z, ddof=1), lambda m: m.nanmean(BROKEN), lambda m: m.cov(Z)],
    "whole": [lambda m: m.allclose(Z, Z), lambda m: m.isclose(Z, Z + 1e-9), lambda m: m.any(Z), lambda m: m.all(Z)],
    "products": [
        lambda m: m.dot(Z, W.T),
        lambda m: m.matmul(SQUARE, SQUARE),
        lambda m: m.vdot(Z, W),
        lambda m: m.vecdot(Z, W),
        lambda m: m.inner(Z, W),
        lambda m: m.einsum("ij,kj->ik", Z, W),
        lambda m: m.tensordot(Z, W.T, 1),
        lambda m: m.trace(SQUARE),
    ],
    "movement": [
        lambda m: m.where(F > 0, Z, 1),
        lambda m: m.concatenate([Z, W]),
        lambda m: m.transpose(Z)[1:, ::2],
        lambda m: m.reshape(Z, (5, 3)),
        lambda m: m.pad(Z, 1),
        lambda m: m.sort(TIES),
        lambda m: m.take(Z, np.array([2, 0]), axis=0),
        lambda m: m.full((2,), 1j),
        lambda m: m.ones(3, complex) * 2j,
        lambda m: m.array([1j, 2.0, 3]),
        lambda m: m.asarray(Z).astype("float32"),
        lambda m: m.asarray(Z).astype(bool),
        lambda m: m.asarray(F).astype(m.complex64),
        lambda m: m.asarray(Z).at[1].set(2j).at[0, 1].add(1j),
        lambda m: m.asarray(Z).real + m.asarray(Z).imag,
        lambda m: m.asarray(Z).conj(),
        lambda m: m.asarray(Z).view("float32"),
        lambda m: m.asarray(Z).view("uint8"),
        lambda m: m.asarray(np.arange(4, dtype=np.float32)).view("complex64"),
        lambda m: m.asarray(np.arange(16, dtype=np.uint8)).view("complex64"),
        lambda m: m.arange(3, dtype=complex),
        lambda m: m.linspace(0, 1j, 5),
        lambda m: m.correlate(Z[0], W[0], "full"),
        lambda m: m.logaddexp(Z, W),
    ],
}


class OfNumpy:
    """NumPy's functions; its arrays have `at` (plain.py). Its own logaddexp takes no complex numbers."""

    asarray = staticmethod(lambda x: np.array(x).view(Array))
    logaddexp = staticmethod(lambda x, y: np.log(np.exp(x) + np.exp(y)))

    def __getattr__(self, name):
        return getattr(np, name)


OF_NUMPY = OfNumpy()


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name):
    for number, case in enumerate(CASES[name]):
        ours, kind = case(pnp), jax.eval_shape(lambda case=case: case(jnp))
        assert np.asarray(ours).dtype == kind.dtype, number
        with np.errstate(all="ignore"):
            want = np.asarray(case(OF_NUMPY))
        assert want.shape == kind.shape
        np.testing.assert_allclose(ours, want.astype(ours.dtype), rtol=3e-5, atol=3e-6, err_msg=str(number))


FUNCTIONS = ("exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
INVERSES = ("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh")


@pytest.mark.parametrize("name", FUNCTIONS + INVERSES)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_functions_over_many_magnitudes(name, dtype):
    wide = np.exp(rng.uniform(-12, 4, (2, 200))) * rng.choice([-1, 1], (2, 200))
    z = (wide[0] + 1j * wide[1]).astype(dtype)
    with enable_x64(), np.errstate(all="ignore"):
        got, want = np.asarray(getattr(pnp, name)(z)), getattr(np, name)(z.astype(np.complex128))
        if name == "log1p":  # NumPy's own loses digits near 0
            x, y = z.real.astype(np.float64), z.imag.astype(np.float64)
            want.real = np.where(np.abs(z) < 0.5, np.log1p(x * (2 + x) + y * y) / 2, want.real)
    ordinary = np.isfinite(want) & (np.abs(want) < 1e37)
    scale = np.abs(want[ordinary]) + 1e-30
    assert np.max(np.abs(got[ordinary] - want[ordinary]) / scale) < 400 * np.finfo(dtype).eps
    assert ordinary.sum() > 150


@pytest.mark.parametrize("name", ["log", "sqrt", *INVERSES])
def test_the_sign_of_zero_chooses_the_side_of_a_cut(name):
    points = [complex(x, y) for x in (-2.0, -0.5, 0.5, 2.0) for y in (0.0, -0.0)]
    points += [complex(x, y) for y in (-2.0, 2.0) for x in (0.0, -0.0)]
    z = np.array(points)
    with enable_x64(), np.errstate(all="ignore"):
        got, want = np.asarray(getattr(pnp, name)(z)), getattr(np, name)(z)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


CORNERS = {
    "exp": [(complex(-np.inf, 1), 0), (complex(np.inf, 0), complex(np.inf, 0)), (complex(-np.inf, np.inf), 0)],
    "log": [(0, complex(-np.inf, 0)), (complex(-np.inf, 0), complex(np.inf, np.pi)), (complex(np.inf, 1), np.inf)],
    "sqrt": [(complex(np.nan, np.inf), complex(np.inf, np.inf)), (complex(-np.inf, 1), complex(0, np.inf)), (0, 0)],
    "tanh": [(complex(np.inf, 1), 1), (complex(-np.inf, 1), -1)],
    "abs": [(complex(np.inf, np.nan), np.inf), (complex(3e38, 3e38), np.hypot(3e38, 3e38)), (complex(0, -0.0), 0)],
    "reciprocal": [(complex(np.inf, 1), 0)],
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners_are_those_of_c99(name):
    for z, want in CORNERS[name]:
        for dtype in (np.complex64, np.complex128):
            with enable_x64(), np.errstate(all="ignore"):
                got = np.asarray(getattr(pnp, name)(np.array(z, dtype)))
                np.testing.assert_allclose(got, np.asarray(want).astype(got.dtype), rtol=1e-6)


def test_a_quotient_neither_overflows_nor_underflows_on_the_way():
    large, small = np.complex64(1e30 + 1e30j), np.complex64(1e-30 - 1e-30j)
    np.testing.assert_allclose(pnp.divide(large, large), 1, rtol=1e-6)
    np.testing.assert_allclose(pnp.divide(small, small), 1, rtol=1e-6)


def test_python_scalars_are_weak():
    assert (pnp.ones(2) * 1j).dtype == np.complex64
    assert pnp.array(1j).weak_type
    assert not (pnp.complex64(1) * 2).weak_type
    assert (pnp.float16(1) * 1j).dtype == np.complex64
    with enable_x64():
        assert (pnp.ones(2, "float32") * 1j).dtype == np.complex64
        assert pnp.array(1j).dtype == np.complex128
    assert complex(pnp.complex64(1 + 2j)) == 1 + 2j
    assert pnp.array([1 + 2j]).tolist() == [1 + 2j]
    assert repr(pnp.array([1 + 2j])) == "Array([1.+2.j], dtype=complex64)"


def test_lax_takes_parts_and_refuses_others():
    np.testing.assert_array_equal(lax.complex(F, F), F + 1j * F)
    np.testing.assert_array_equal(lax.real(Z), Z.real)
    np.testing.assert_array_equal(lax.imag(Z), Z.imag)
    assert lax.conj(F).dtype == np.complex64
    for call in (lambda: lax.real(F), lambda: lax.complex(INT, INT), lambda: lax.conj(INT), lambda: lax.floor(Z)):
        with pytest.raises(TypeError, match="takes"):
            call()
    with pytest.raises(TypeError, match="signbit: takes real arrays, got c64"):
        pnp.signbit(Z)


def test_complex_numbers_are_sorted_and_carried_along():
    with enable_x64():
        keys, wide = np.array([3, 1, 2], np.int32), np.array([1 + 2j, 3 - 4j, 5j])
        ordered, carried = lax.sort((keys, wide), num_keys=1)
        assert ordered.tolist() == [1, 2, 3]
        np.testing.assert_array_equal(carried, wide[[1, 2, 0]])
        by_number, places = lax.sort((wide, keys), num_keys=1)
        np.testing.assert_array_equal(by_number, np.sort(wide))
        assert places.tolist() == [2, 3, 1]


# Derivatives: JAX's conventions.


def real_function(m, z):
    return m.sum(m.abs(z) ** 2 + m.real(z * z) + m.imag(m.exp(z)))


def test_gradients_of_real_functions_are_those_of_jax():
    """df/dx - i df/dy, and the cotangent times the holomorphic slope."""
    ours = pc.grad(lambda z: real_function(pnp, z))(Z)
    np.testing.assert_allclose(ours, gradient(lambda z: real_function(np, z), Z), rtol=1e-5, atol=1e-5)
    value, pull = pc.vjp(pnp.sin, Z)
    np.testing.assert_allclose(value, np.sin(Z), rtol=1e-5)
    np.testing.assert_allclose(pull(pnp.asarray(W))[0], W * np.cos(Z), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["conj", "real", "imag", "abs", "angle"])
def test_derivatives_of_what_is_not_holomorphic(name):
    ours, numpys = getattr(pnp, name), getattr(np, name)
    np.testing.assert_allclose(pc.jvp(ours, (Z,), (W,))[1], along(numpys, [Z], [W]), rtol=1e-4, atol=1e-5)
    out, pull = pc.vjp(ours, Z)
    ct = W if np.iscomplexobj(out) else F
    # The pullback is the transpose: the gradient of the real part of the sum with the cotangent.
    want = gradient(lambda z: (numpys(z) * ct).sum().real, Z)
    np.testing.assert_allclose(pull(ct)[0], want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*FUNCTIONS, *INVERSES])
def test_holomorphic_derivatives(name):
    z = np.complex64(0.3 - 0.4j)
    ours = pc.grad(getattr(pnp, name), holomorphic=True)(z)
    np.testing.assert_allclose(ours, along(getattr(np, name), [z], [1.0]), rtol=1e-4)


def test_jacobians_of_complex_functions():
    v = Z[0]
    for transform in ("jacfwd", "jacrev"):
        ours = getattr(pc, transform)(lambda x: x * x[0], holomorphic=True)(v)
        np.testing.assert_allclose(ours, jacobian(lambda x: x * x[0], v), rtol=1e-5, atol=1e-6)
    want = np.diag(1j * np.exp(1j * F[0]))
    np.testing.assert_allclose(pc.jacfwd(lambda x: pnp.exp(1j * x))(F[0]), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pc.grad(pnp.sin)(1j), "requires real-valued outputs .* holomorphic=True"),
        (lambda: pc.grad(pnp.sin, holomorphic=True)(1.0), "holomorphic=True requires complex inputs, got float32"),
        (lambda: pc.grad(pnp.abs, holomorphic=True)(1j), "holomorphic=True requires complex outputs"),
        (lambda: pc.jacfwd(pnp.sin)(1j), "jacfwd requires real-valued inputs .* got complex64"),
        (lambda: pc.jacrev(pnp.sin)(1j), "jacrev requires real-valued outputs"),
    ],
)
def test_what_is_not_holomorphic_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_transformations_compose():
    def f(z):
        return pnp.sum(pnp.exp(z) * pnp.conj(z)).real

    expected = [gradient(lambda z: np.sum(np.exp(z) * np.conj(z)).real, z) for z in Z]
    np.testing.assert_allclose(pc.jit(pc.vmap(pc.grad(f)))(Z), expected, rtol=1e-5, atol=1e-5)
