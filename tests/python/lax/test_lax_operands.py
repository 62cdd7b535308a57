"""Operands of another dtype or shape that lax accepts: predicates, broadcasts, initial values, ints."""

import numpy as np
import plain
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

X = np.arange(6, dtype=np.float32).reshape(2, 3)
INTS = np.arange(6, dtype=np.int32).reshape(2, 3)


# Predicates


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32"])
def test_select_takes_integers_of_which_1_and_more_hold(dtype):
    pred = np.array([0, 1, 3]).astype(dtype)
    got = lax.select(pnp.asarray(pred), pnp.asarray([1.0, 2.0, 3.0]), pnp.asarray([-1.0, -2.0, -3.0]))
    assert got.tolist() == [-1, 2, 3]
    assert pc.jit(lambda p: lax.select(p, X, -X))(pnp.asarray(1, dtype)).tolist() == X.tolist()
    assert lax.select(np.asarray(0, dtype), X, -X).tolist() == (-X).tolist()
    mapped = pc.vmap(lambda p: lax.select(p, 1.0, 2.0))(pnp.asarray(pred))
    assert mapped.tolist() == [2, 1, 1]
    with pytest.raises(TypeError, match="pred must be a bool"):
        lax.select(pnp.ones(3), pnp.ones(3), pnp.ones(3))


def test_other_predicates_take_numbers_too():
    for pred in (2, -1, 0.5, np.float32(2), pnp.asarray(3), pnp.asarray(float("nan")), np.int8(1)):
        assert lax.cond(pred, lambda: 1, lambda: 2) == 1
        assert pc.jit(lambda p: lax.cond(p, lambda: 1, lambda: 2))(pred) == 1
    assert lax.cond(0, lambda: 1, lambda: 2) == 2
    assert pnp.where(pnp.asarray([1, 0, -2]), 1, 2).tolist() == [1, 2, 1]
    assert pnp.where(pnp.asarray([0.5, 0.0]), 1, 2).tolist() == [1, 2]
    assert lax.select_n(pnp.uint8(1), X, -X).tolist() == (-X).tolist()


# Dimensions of size 1

BINARY = {
    **{name: getattr(lax, name) for name in ("add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2")},
    **{name: getattr(lax, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "nextafter", "complex")},
    **{name: getattr(lax, name) for name in ("igamma", "igammac", "zeta")},
}
OF_INTEGERS = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
)


@pytest.mark.parametrize("name", [*BINARY, *OF_INTEGERS])
def test_dimensions_of_size_1_are_repeated(name):
    function = getattr(lax, name)
    whole = (INTS if name in OF_INTEGERS else X) + 1
    column, row = whole[:, :1] + 1, whole[:1] + 1
    for a, b in ((column, whole), (whole, row), (column, row)):
        want = function(*np.broadcast_arrays(a, b))
        np.testing.assert_array_equal(function(pnp.asarray(a), pnp.asarray(b)), want)
        np.testing.assert_array_equal(pc.jit(function)(a, b), want)
    with pytest.raises(ValueError, match="shapes differ"):
        function(pnp.asarray(whole), pnp.asarray(whole[0]))
    with pytest.raises(ValueError, match="each dimension must be equal or 1"):
        function(pnp.asarray(whole), pnp.asarray(whole[:, :2]))


def test_derivatives_of_what_was_repeated_are_sums():
    gradient = pc.grad(lambda a: lax.mul(a, X).sum())(pnp.ones((2, 1)))
    assert gradient.tolist() == X.sum(1, keepdims=True).tolist()


def test_select_and_clamp_want_one_shape():
    for call in (
        lambda: lax.select(pnp.ones((2, 1), bool), X, X),
        lambda: lax.select(True, pnp.ones((2, 1)), X),
        lambda: lax.clamp(pnp.ones((2, 1)), X, X),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()


# Products and indices


def test_products_of_bools_say_whether_any_holds():
    a, b = np.array([[1, 0], [0, 0]], bool), np.array([[1, 0], [1, 1]], bool)
    numbers = (((1,), (0,)), ((), ()))
    for got in (lax.dot(a, b), pc.jit(lax.dot)(a, b), lax.dot_general(pnp.asarray(a), b, numbers), pnp.matmul(a, b)):
        assert got.dtype == bool
        assert got.tolist() == (a @ b).tolist()
    many = np.ones((1, 300), bool)
    assert lax.dot(many, many.T).tolist() == [[True]]
    mapped = pc.vmap(lax.dot)(np.stack([a, a]), np.stack([b, a]))
    assert mapped.tolist() == [(a @ b).tolist(), (a @ a).tolist()]


@pytest.mark.parametrize("function", [lax.argmax, lax.argmin])
def test_an_index_is_an_integer(function):
    assert function(pnp.asarray([3, 1, 4]), 0, np.uint8).dtype == np.uint8
    with pytest.raises(OverflowError, match="int8 does not hold the 129 positions"):
        function(pnp.zeros(129), 0, np.int8)
    for bad in (np.float32, pnp.bfloat16, bool, complex):
        with pytest.raises(TypeError, match="index_dtype"):
            function(pnp.asarray([3, 1, 4]), 0, bad)


# Initial values


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32", "bfloat16", "float32"])
def test_initial_values_of_another_dtype(dtype):
    x = pnp.arange(5).astype(dtype)

    def window(init, function):
        return lax.reduce_window(x, init, function, (2,), (1,), "VALID")

    for init in (-np.inf, np.float32(-np.inf), pnp.asarray(-np.inf)):
        assert window(init, lax.max).dtype == dtype
        assert window(init, lax.max).tolist() == [1, 2, 3, 4]
        assert lax.reduce(x, init, lax.max, (0,)).tolist() == 4
    assert window(np.inf, lax.min).tolist() == [0, 1, 2, 3]
    for init in (0, 0.0, np.int32(0), np.float32(0), pnp.int8(0)):
        assert window(init, lax.add).tolist() == [1, 3, 5, 7]
        assert lax.reduce(x, init, lax.add, (0,)).tolist() == 10
        assert window(init, lax.add).dtype == dtype


def test_an_initial_value_that_is_none_of_the_dtype_is_refused():
    for init in (0.5, np.float32(0.5), float("nan"), np.int32(300)):
        with pytest.raises(TypeError, match="initial value"):
            lax.reduce_window(pnp.arange(5).astype("int8"), init, lax.add, (2,), (1,), "VALID")


# Ints of Python


WRAPPING = {
    "add": lambda np_, x, n: x + n,
    "radd": lambda np_, x, n: n + x,
    "multiply": lambda np_, x, n: np_.multiply(x, n),
    "subtract": lambda np_, x, n: n - x,
    "maximum": lambda np_, x, n: np_.maximum(x, n),
    "less": lambda np_, x, n: x < n,
    "and": lambda np_, x, n: x & n,
    "where": lambda np_, x, n: np_.where(x > 1, x, n),
    "set": lambda np_, x, n: x.at[0].set(n),
    "at add": lambda np_, x, n: x.at[0].add(n),
    "clip": lambda np_, x, n: np_.clip(x, n, n),
    "full_like": lambda np_, x, n: np_.full_like(x, n),
    "full": lambda np_, x, n: np_.full((2,), n, x.dtype),
}


@pytest.mark.parametrize("name", WRAPPING)
def test_an_int_of_int32_wraps_in_a_narrower_or_unsigned_dtype(name):
    for dtype, number in (("uint32", -1), ("uint8", -1), ("uint8", 300), ("int8", 200), ("uint16", 70000)):
        want = WRAPPING[name](plain.numpy, np.arange(3).astype(dtype).view(plain.Array), np.int64(number).astype(dtype))
        x = pnp.arange(3).astype(dtype)
        for got in (WRAPPING[name](pnp, x, number), pc.jit(lambda x, n=number: WRAPPING[name](pnp, x, n))(x)):
            assert got.dtype == want.dtype
            assert got.tolist() == want.tolist(), (dtype, number)


def test_an_int_that_int32_does_not_hold_is_refused():
    for call in (lambda: pnp.arange(3) + 2**40, lambda: pnp.uint8(1) * 2**40, lambda: pnp.array(-1, "uint8")):
        with pytest.raises(OverflowError, match="does not fit"):
            call()


# Further arguments of jax's functions


def test_mul_in_another_dtype():
    a, b = np.array([100, 3], np.int8), np.array([100, -2], np.int8)
    for dtype in ("int32", "float32", "float16", "complex64"):
        got = lax.mul(a, b, out_dtype=dtype)
        assert got.dtype == dtype
        assert got.tolist() == [10000, -6]
    assert lax.mul(pnp.float32(1.5), pnp.int8(2), out_dtype="float32").tolist() == 3
    gradient = pc.grad(lambda x: lax.mul(x, pnp.float32(3), out_dtype="float32"))(pnp.bfloat16(2))
    assert gradient.dtype == pnp.bfloat16
    assert gradient == 3
    with pytest.raises(TypeError, match="dtypes differ"):
        lax.mul(pnp.float32(1.5), pnp.int8(2))


@pytest.mark.parametrize(
    "name", ["cbrt", "cos", "exp", "exp2", "expm1", "log", "log1p", "logistic", "rsqrt", "sin", "sqrt", "tan", "tanh"]
)
def test_accuracy(name):
    function = getattr(lax, name)
    x = pnp.asarray([0.25, 0.5])
    want = function(x)
    for accuracy in (
        None,
        *lax.AccuracyMode,
        lax.Tolerance(ulps=8),
        lax.Tolerance(rtol=1e-5),
        lax.Tolerance(atol=1e-3),
    ):
        np.testing.assert_array_equal(function(x, accuracy=accuracy), want)
        np.testing.assert_array_equal(pc.jit(lambda x, a=accuracy: function(x, accuracy=a))(x), want)
    with pytest.raises(ValueError, match=f"{name}: its errors"):
        function(x, accuracy=lax.Tolerance(rtol=1e-9))
    with pytest.raises(TypeError, match="accuracy is a Tolerance"):
        function(x, accuracy="highest")


def test_einsum_with_a_product_of_ones_own():
    calls = []

    def product(a, b, numbers, precision=None, preferred_element_type=None):
        calls.append(numbers)
        return 2 * lax.dot_general(a, b, numbers, precision, preferred_element_type)

    a, b = pnp.asarray(X), pnp.asarray(X.T)
    np.testing.assert_array_equal(pnp.einsum("ij,jk->ik", a, b, _dot_general=product), 2 * (X @ X.T))
    np.testing.assert_array_equal(pnp.einsum("ij,jk->ik", a, b), X @ X.T)
    assert calls == [(((1,), (0,)), ((), ()))]


# Floats that fill arrays of integers


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e20, -3e9, 2.7])
def test_a_float_among_integers_becomes_the_nearest_as_in_an_array(value, dtype):
    """Equal to the conversion of an array: nan is 0, and what is out of range is the limit."""
    y = pnp.asarray([1, 2, 3], dtype)
    limits = np.iinfo(dtype)
    expected = 0 if np.isnan(value) else int(np.clip(np.trunc(value), limits.min, limits.max))
    assert int(pnp.asarray(np.float32(value)).astype(dtype)) == expected
    for call in (lambda f, y: f(y), lambda f, y: pc.jit(f)(y), lambda f, y: pc.vmap(f)(y[None])[0]):
        assert call(lambda y: pnp.pad(y, 1, constant_values=value), y).tolist() == [expected, 1, 2, 3, expected]
        assert call(lambda y: pnp.full_like(y, value), y).tolist() == [expected] * 3
        assert int(call(lambda y: y.at[7].get(mode="fill", fill_value=value), y)) == expected
        assert int(call(lambda y: pnp.max(y, initial=value), y)) == max(expected, 3)
    assert pnp.full(2, value, dtype).tolist() == lax.full((2,), value, dtype).tolist() == [expected] * 2
    assert pnp.unique(y, size=4, fill_value=value).tolist() == [1, 2, 3, expected]


@pytest.mark.parametrize(
    ("fill", "dtype"),
    [
        (np.nan, "float32"),
        (-np.inf, "float32"),
        (2.7, "float32"),
        (1j, "complex64"),
        (np.float32(0.5), "float32"),
        (-1, "int32"),
        (True, "int32"),
    ],
)
def test_the_fill_of_nonzero_promotes_the_indices(fill, dtype):
    for got in (
        pnp.nonzero(pnp.arange(3), size=4, fill_value=fill)[0],
        pnp.flatnonzero(np.arange(3), size=4, fill_value=fill),
    ):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, np.array([1, 2, fill, fill]).astype(dtype))


@pytest.mark.parametrize("op", ["add", "mul", "div", "rem", "lt", "ge", "eq", "max", "atan2", "bitwise_or"])
def test_scalars_alone_have_one_type(op):
    for scalars in ((0, 0.0), (1.0, 2), (True, 1), (1j, 1.0)):
        with pytest.raises(TypeError, match=f"{op}: scalars of different types, {scalars[0]!r} and {scalars[1]!r}"):
            getattr(lax, op)(*scalars)
    assert float(lax.mul(2, X)[1, 2]) == 10


def test_64_bits_from_inside_of_enable_x64_stay_outside():
    with pc.enable_x64():
        x = pnp.asarray([0.5, 1.5], dtype="float64")
    assert lax.mul(x, x).dtype == np.float64
    assert lax.lt(x, x).tolist() == [False, False]
    assert lax.clamp(x, x, x).dtype == np.float64
    assert pc.jit(lax.add)(x, x).dtype == np.float64


def test_broadcast_in_dim_takes_dimensions_in_any_order():
    wanted = np.broadcast_to(X.T[:, None, :], (3, 4, 2))
    for call in (lax.broadcast_in_dim, pc.jit(lax.broadcast_in_dim, static_argnums=(1, 2))):
        np.testing.assert_array_equal(call(X, (3, 4, 2), (2, 0)), wanted)
    found = pc.grad(lambda x: (lax.broadcast_in_dim(x, (3, 4, 2), (2, 0)) * wanted).sum())(X)
    np.testing.assert_array_equal(found, 4 * X)


def test_a_float_to_the_power_of_integers_does_not_promote():
    with pc.numpy_dtype_promotion("strict"):
        found = lax.pow(pnp.array([2.0, 3.0, 4.0], "float16"), pnp.array([3, 0, -1]))
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.array([8, 1, 0.25], np.float16))
