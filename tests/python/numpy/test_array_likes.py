"""Objects that stand for an array: with `__jax_array__`, IntEnum, buffers; and the protocols of arrays."""

import array
import bisect
import copy
import enum
import math
import pickle
import random as python_random

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn
from pycompiler.scipy import special

X = np.array([0.5, 2.0, -1.0], np.float32)


class Wrapped:
    """An array of another library."""

    def __init__(self, x):
        self.x = x

    def __jax_array__(self):
        return pnp.asarray(self.x)


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "matmul": lambda a, b: a @ b,
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "divmod": divmod,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_take_what_stands_for_an_array_on_both_sides(name):
    x, apply = pnp.asarray(X), OPERATORS[name]
    want = apply(x, x)
    np.testing.assert_array_equal(apply(x, Wrapped(X)), want)
    np.testing.assert_array_equal(apply(Wrapped(X), x), want)
    np.testing.assert_allclose(pc.jit(lambda x: apply(x, Wrapped(X)))(x), want, rtol=1e-6)


FUNCTIONS = {
    "asarray": pnp.asarray,
    "array of several": lambda w: pnp.array([w, w]),
    "sin": pnp.sin,
    "where": lambda w: pnp.where(Wrapped(X > 0), w, 0),
    "add": lambda w: pnp.add(w, w),
    "einsum": lambda w: pnp.einsum("i,i", w, w),
    "concatenate": lambda w: pnp.concatenate([w, w]),
    "stack": lambda w: pnp.stack((w, w)),
    "reshape": lambda w: pnp.reshape(w, (3, 1)),
    "sum": pnp.sum,
    "shape": pnp.shape,
    "ndim": pnp.ndim,
    "size": pnp.size,
    "dot": lambda w: pnp.dot(w, w),
    "index": lambda w: pnp.arange(3)[Wrapped(np.array([2, 0], np.int32))],
    "scalar index": lambda w: pnp.arange(3)[Wrapped(np.array(1))],
    "bound of a slice": lambda w: pnp.arange(3)[: Wrapped(np.array(2))],
    "at": lambda w: pnp.zeros(3).at[1].set(Wrapped(np.float32(5))),
    "at with an index": lambda w: pnp.zeros(3).at[Wrapped(np.array([1]))].add(1),
    "norm": pnp.linalg.norm,
    "fft": pnp.fft.fft,
    "lax.sin": lax.sin,
    "lax.add": lambda w: lax.add(w, w),
    "relu": nn.relu,
    "gammaln": special.gammaln,
    "ufunc.reduce": lambda w: pnp.add.reduce(w),
    "max": lambda w: pnp.maximum(w, 0.0),
    "contains": lambda w: Wrapped(np.float32(2)) in pnp.asarray(X),
    "axis": lambda w: pnp.sum(pnp.ones((2, 3)), axis=np.int64(1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_stands_for_an_array(name):
    want = FUNCTIONS[name](pnp.asarray(X))
    got = FUNCTIONS[name](Wrapped(X))
    assert type(got) is type(want)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_the_arguments_of_transformations_are_arrays():
    """As in jax, such an object is converted first."""
    for transform in (pc.jit, pc.grad, pc.vmap):
        with pytest.raises(TypeError, match="Wrapped"):
            transform(lambda x: x)(Wrapped(X))


@pytest.mark.parametrize("transform", [pc.grad, pc.vmap, pc.checkpoint, pc.make_jaxpr])
def test_the_error_says_how_to_convert_it(transform):
    with pytest.raises(TypeError, match=r"convert it by numpy\.asarray, or register its class as a container"):
        transform(lambda x: x)(Wrapped(X))


def test_members_of_an_enum_are_integers():
    assert pnp.where(True, Color.RED, Color.BLUE).tolist() == 1
    got = pnp.where(np.array([True, False]), Color.RED, Color.BLUE)
    assert got.tolist() == [1, 2]
    assert got.dtype == np.int32
    assert got.weak_type
    assert (pnp.asarray(X) + Color.BLUE).tolist() == (X + 2).tolist()
    assert (Color.BLUE * pnp.arange(3)).dtype == np.int32
    assert pnp.add(Color.RED, Color.BLUE).tolist() == 3
    assert pnp.array([Color.RED, Color.BLUE]).tolist() == [1, 2]
    assert pnp.asarray(Color.BLUE).weak_type
    assert pnp.int32(Color.BLUE).tolist() == 2
    assert pnp.float16(Color.BLUE).dtype == np.float16
    assert pnp.result_type(Color.RED, np.int8) == np.int8
    assert lax.add(pnp.int8(1), Color.BLUE).dtype == np.int8


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (bytearray(b"ab"), np.array([97, 98], np.uint8)),
        (memoryview(b"ab"), np.array([97, 98], np.uint8)),
        (memoryview(np.arange(6.0, dtype=np.float32).reshape(2, 3)), np.arange(6.0, dtype=np.float32).reshape(2, 3)),
        (array.array("f", [1, 2]), np.array([1, 2], np.float32)),
        (array.array("i", [1, 2]), np.array([1, 2], np.int32)),
        (range(2, 8, 3), np.array([2, 5], np.int32)),
    ],
)
def test_buffers_and_ranges_become_arrays(given, want):
    got = pnp.asarray(given)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    with pytest.raises(TypeError):
        pnp.asarray(b"ab")


def test_lists_have_a_shape():
    assert pnp.shape([[1, 2, 3]]) == (1, 3)
    assert pnp.ndim([[1, 2, 3]]) == 2
    assert pnp.ndim([]) == 1
    assert pnp.size([[1, 2, 3], [4, 5, 6]]) == 6
    assert pnp.size([[1, 2, 3]], 1) == 3
    assert pnp.size(np.ones((2, 3, 4)), (0, 2)) == 8
    assert pc.jit(lambda x: x * pnp.size([x, x, x]))(2) == 6


def test_what_declares_a_shape_has_it():
    """Also what is no array: a struct of shape and dtype, a sparse matrix."""
    struct = pc.ShapeDtypeStruct((2, 3), np.float32)
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(np.eye(4))
    assert (pnp.shape(struct), pnp.ndim(struct), pnp.size(struct), pnp.size(struct, 1)) == ((2, 3), 2, 6, 3)
    assert (pnp.shape(sparse), pnp.ndim(sparse)) == ((4, 4), 2)
    assert pnp.shape(np.array(["a", "b"])) == (2,)
    with pytest.warns(DeprecationWarning, match="shape: takes arrays and scalars; None of type NoneType counts as one"):
        assert (pnp.shape(None), pnp.ndim(None), pnp.size(None)) == ((), 0, 1)


class Declared:
    """An object with a shape and a dtype, and no elements."""

    shape = (2,)
    dtype = np.dtype(np.float16)


LIKES = {
    "reference": (lambda: pc.new_ref(pnp.ones((2, 3), pnp.int8)), (2, 3), np.int8),
    "view": (lambda: pc.new_ref(pnp.ones((2, 3), pnp.int8)).at[0], (3,), np.int8),
    "type": (lambda: pc.typeof(pnp.ones((2, 3), bool)), (2, 3), np.bool_),
    "struct": (lambda: pc.ShapeDtypeStruct((4,), np.uint8), (4,), np.uint8),
    "other": (Declared, (2,), np.float16),
}


@pytest.mark.parametrize("name", LIKES)
def test_what_declares_shape_and_dtype_has_arrays_like_it(name):
    make, shape, dtype = LIKES[name]
    for function, value in (
        (pnp.zeros_like, 0),
        (pnp.ones_like, 1),
        (pnp.empty_like, 0),
        (lambda x: pnp.full_like(x, 1), 1),
        (lambda x: lax.full_like(x, 1), 1),
    ):
        made = function(make())
        np.testing.assert_array_equal(made, np.full(shape, value, dtype))
        assert made.dtype == dtype
        assert not made.aval.weak_type
    assert pnp.full_like(make(), 2.5, dtype=float, shape=3).tolist() == [2.5] * 3


@pytest.mark.parametrize("given", ["a", [1, 2], None])
def test_what_has_no_shape_has_no_arrays_like_it(given):
    with pytest.raises(TypeError, match=r"zeros_like: takes an array, .* shape and a dtype, got"):
        pnp.zeros_like(given)


def test_the_values_that_are_set_may_be_lists_of_traced_ones():
    assert pnp.arange(4).at[:2].set([7, 8]).tolist() == [7, 8, 2, 3]
    assert pc.jit(lambda a: pnp.arange(4).at[:2].set([a, a + 1]))(5).tolist() == [5, 6, 2, 3]


def test_arrays_are_sequences():
    x = pnp.arange(0, 10, 2)
    assert [bisect.bisect(x, n) for n in (-1, 0, 5, 8, 9)] == [0, 1, 3, 5, 5]
    assert bisect.bisect_left(x, 4) == 2
    assert [int(row) for row in reversed(x)] == [8, 6, 4, 2, 0]
    assert [row.tolist() for row in reversed(pnp.arange(4).reshape(2, 2))] == [[2, 3], [0, 1]]
    assert pc.jit(lambda x: next(reversed(x)))(x) == 8
    assert [int(row) for row in iter(x)] == [0, 2, 4, 6, 8]
    assert len(x) == 5
    assert 4 in x
    assert 5 not in x
    first, *_, last = x
    assert (first, last) == (0, 8)
    assert sum(x) == 20
    assert max(x) == 8
    assert python_random.Random(1).choice(x) in x
    for protocol in (reversed, iter, len):
        with pytest.raises(TypeError):
            protocol(pnp.asarray(1))


def test_arrays_are_numbers():
    x = pnp.arange(0, 10, 2)
    assert [10, 11, 12][x[1]] == 12
    assert list(range(x[1])) == [0, 1]
    assert hex(x[4]) == "0x8"
    for bad in (pnp.float32(1), pnp.asarray(True), x):
        with pytest.raises(TypeError):
            [1, 2, 3][bad]
    assert f"{x[1]:03d} {pnp.float32(2.5):.2f}" == "002 2.50"
    assert math.floor(pnp.float32(2.5)) == 2
    assert math.ceil(pnp.float32(2.5)) == 3
    assert math.isnan(pnp.float32(math.nan))
    assert complex(x[1]) == 2
    assert float(x[1]) == 2.0
    quotient, rest = divmod(x, 3)
    assert quotient.tolist() == [0, 0, 1, 2, 2]
    assert rest.tolist() == [0, 2, 1, 0, 2]
    assert [part.tolist() for part in divmod(7, x[1:])] == [[3, 1, 1, 0], [1, 3, 1, 7]]
    assert round(pnp.asarray([0.5, 1.5, 2.6])).tolist() == [0, 2, 3]
    np.testing.assert_allclose(round(pnp.asarray([1.26, 2.55]), 1), np.round(np.float32([1.26, 2.55]), 1), rtol=1e-6)
    for make in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert make(x).tolist() == x.tolist()
        assert make(x).dtype == x.dtype
        assert make(pnp.asarray(2.0)).weak_type
    assert bytes(memoryview(x.astype(np.uint8))) == b"\x00\x02\x04\x06\x08"


def test_poly_of_a_matrix_is_its_characteristic_polynomial():
    for matrix in ([[1.0, 2.0], [3.0, 4.0]], [[2, 1], [1, 2]], [[0.0, -1.0], [1.0, 0.0]]):
        np.testing.assert_allclose(pnp.poly(pnp.asarray(matrix)), np.poly(np.asarray(matrix)), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(pnp.poly(pnp.asarray([1.0, 2.0])), [1, -3, 2])
    for bad in (pnp.ones((2, 3)), pnp.ones((0, 0)), pnp.ones((2, 2, 2))):
        with pytest.raises(ValueError, match="square"):
            pnp.poly(bad)


class Forwarding(Wrapped):
    """As Flax's variables: all other attributes are those of the array, `aval` among them."""

    def __getattr__(self, name):
        return getattr(pnp.asarray(self.__dict__["x"]), name)


@pytest.mark.parametrize("name", OPERATORS)
def test_what_stands_for_an_array_may_forward_its_attributes(name):
    apply = OPERATORS[name]
    want = apply(pnp.asarray(X), pnp.asarray(X))
    np.testing.assert_allclose(pc.jit(lambda x: apply(x, Forwarding(X)))(X), want, rtol=1e-6)
    np.testing.assert_allclose(pc.jit(lambda x: apply(x, Forwarding(x)))(X), want, rtol=1e-6)


def test_shapes_of_numpys_other_dtypes():
    texts = np.array([["a", "b"], ["c", "d"]])
    assert pnp.shape(texts) == (2, 2)
    assert pnp.ndim(texts) == 2
    assert pnp.size(texts, 1) == 2
    assert pnp.shape(np.array([None, "x"], object)) == (2,)
    with pytest.raises(TypeError, match="<U1 is not supported"):
        pnp.asarray(texts)


def test_a_constant_of_numpy_stays_one_in_reshape():
    """As in JAX, so that libraries read it while a function is traced. Outside, and in ravel, it becomes an array."""
    mask = np.array([[True, True], [True, False]])

    @pc.jit
    def rows(x):
        assert isinstance(pnp.reshape(mask, (4,)), np.ndarray)
        return x + float(pnp.reshape(mask, (4, 1), order="F").all()) + pnp.ravel(mask).sum()

    assert rows(pnp.ones(3)).tolist() == [4, 4, 4]
    assert pc.vmap(rows)(pnp.ones(3)).tolist() == [4, 4, 4]
    assert isinstance(pnp.reshape(mask, (4,)), pc.Array)
    assert isinstance(pnp.squeeze(mask), pc.Array)
    with pytest.raises(ValueError, match="cannot reshape"):
        pc.jit(lambda x: x + pnp.reshape(mask, (3, -1)))(1)
