"""`sparsify`: functions of dense arrays with sparse arguments, beside the same functions of dense arrays."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import sparse
from pycompiler.experimental.sparse import BCOO, BCSR

RNG = np.random.default_rng(2)


def dense_of(shape):
    x = RNG.uniform(0.1, 0.9, shape).astype(np.float32)
    x[RNG.random(shape) > 0.5] = 0
    return x


DENSE = dense_of((4, 5))
VECTOR = RNG.normal(size=5).astype(np.float32)

FUNCTIONS = {
    "sin": pnp.sin,
    "sqrt": pnp.sqrt,
    "log1p": pnp.log1p,
    "square": pnp.square,
    "cube": lambda x: x**3,
    "conj": lambda x: pnp.conj(x + 1j * x),
    "scaled": lambda x: 3 * x / 2,
    "product": lambda x: pnp.sin(x) @ VECTOR,
    "einsum": lambda x: pnp.einsum("ij,j->i", x, VECTOR),
    "sums": lambda x: x.sum(0) + x.mean(0),
    "stack": lambda x: pnp.stack([x, 2 * x]),
    "concatenate": lambda x: pnp.concatenate([x, x], 1),
    "split": lambda x: pnp.split(x, 2),
    "squeeze": lambda x: pnp.squeeze(x[:, None]),
    "expand": lambda x: pnp.expand_dims(x, (0, 2)),
    "reverse": lambda x: x[::-1],
    "index": lambda x: x[1:, 2],
    "broadcast": lambda x: pnp.broadcast_to(x, (3, 4, 5)),
    "rows": lambda x: x * VECTOR,
    "columns": lambda x: x * pnp.arange(4.0)[:, None],
    "jit": lambda x: pc.jit(lambda x: 2 * x)(x),
    "cond": lambda x: lax.cond(VECTOR[0] > 100, lambda x: x, lambda x: 2 * x, x),
    "switch": lambda x: lax.switch(1, [lambda x: x, lambda x: 2 * x, lambda x: -x], x),
    "fori": lambda x: lax.fori_loop(0, 3, lambda _, x: 2 * x, x),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1],
    "loop of products": lambda x: lax.fori_loop(0, 3, lambda _, y: x.T @ (x @ y), VECTOR),
    "dense inside": lambda x: pnp.cos(sparse.todense(x)),
    "dense alone": lambda x: pnp.cos(VECTOR) + 1,
    "custom": lambda x: _doubled(x),
}


@pc.custom_jvp
def _doubled(x):
    return 2 * x


_doubled.defjvp(lambda primals, tangents: (_doubled(*primals), 2 * tangents[0]))


def whole(tree):
    return [
        np.asarray(sparse.todense(x)) for x in pc.tree.leaves(tree, is_leaf=lambda x: isinstance(x, sparse.JAXSparse))
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    fun = FUNCTIONS[name]
    wanted = whole(fun(pnp.asarray(DENSE)))
    for found in (sparse.sparsify(fun)(BCOO.fromdense(DENSE)), pc.jit(sparse.sparsify(fun))(BCOO.fromdense(DENSE))):
        for x, y in zip(whole(found), wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


ROWS = ("sin", "square", "product", "stack", "concatenate", "jit", "dense inside")


@pytest.mark.parametrize("name", ROWS)
def test_functions_of_rows(name):
    found = sparse.sparsify(FUNCTIONS[name])(BCSR.fromdense(DENSE))
    for x, y in zip(whole(found), whole(FUNCTIONS[name](pnp.asarray(DENSE))), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_elements_at_one_place():
    """A function that isn't linear sees their sum."""
    mat = BCOO((pnp.array([1.0, 2.0]), pnp.array([[1], [1]])), shape=(3,))
    for fun in (pnp.sin, pnp.square, lambda x: x**3, lambda x: -x):
        np.testing.assert_allclose(sparse.sparsify(fun)(mat).todense(), fun(mat.todense()), rtol=1e-6)


def test_places_stay_the_same():
    """Sums of matrices at the same places store no more elements."""
    mat = BCOO.fromdense(DENSE)
    found = sparse.sparsify(lambda x: 2 * x + pnp.sin(x) - x * x)(mat)
    assert found.nse == mat.nse
    assert found.unique_indices
    grown = sparse.sparsify(lambda x, y: x + y)(mat, BCOO.fromdense(DENSE))
    assert grown.nse == 2 * mat.nse


@pytest.mark.parametrize("make", [lambda m: m, BCSR.from_bcoo], ids=["BCOO", "BCSR"])
@pytest.mark.parametrize("name", ["cube", "seventh", "by sine", "sine by", "sum", "difference"])
def test_products_with_own_functions_stay_at_the_places(name, make):
    """A matrix that may have duplicates, and a function of it that has none, are at the same places."""
    fun = {
        "cube": lambda m: m**3,
        "seventh": lambda m: m**7,
        "by sine": lambda m: m * pnp.sin(m),
        "sine by": lambda m: pnp.sin(m) * 2 * m,
        "sum": lambda m: m + pnp.sin(m),
        "difference": lambda m: pnp.sin(m) - m,
    }[name]
    places = pnp.array([[0, 0], [0, 0], [1, 2], [3, 3]])
    mat = make(BCOO((pnp.arange(1.0, 5), places), shape=(4, 5)))
    wanted = fun(mat.todense())
    for function in (sparse.sparsify(fun), pc.jit(sparse.sparsify(fun))):
        found = function(mat)
        assert found.nse == mat.nse
        np.testing.assert_allclose(found.todense(), wanted, rtol=1e-6)


def test_nothing_is_made_dense():
    """A scalar that multiplies a matrix of 10^12 elements is not broadcast to it."""
    mat = BCOO((pnp.array([1.0, 2.0]), pnp.array([[5, 7], [999_999, 3]])), shape=(10**6, 10**6))
    np.testing.assert_allclose((3 * mat / 2).sum(), 4.5)
    np.testing.assert_allclose(sparse.sparsify(lambda m: (m * pnp.arange(10.0**6)).sum())(mat), 13.0)


def test_trees_and_static_arguments():
    @sparse.sparsify
    def fun(tree, *, power):
        return {"out": tree["m"] ** power, "v": tree["v"] + 1}

    out = fun({"m": BCOO.fromdense(DENSE), "v": VECTOR}, power=2)
    np.testing.assert_allclose(out["out"].todense(), DENSE**2, rtol=1e-6)
    np.testing.assert_allclose(out["v"], VECTOR + 1)


def test_derivatives_and_maps():
    mat = BCOO.fromdense(DENSE)
    loss = sparse.sparsify(lambda m, v: (pnp.tanh(m) @ v).sum())
    slope = sparse.grad(loss)(mat, VECTOR)
    wanted = pc.grad(lambda m: (pnp.tanh(m) @ VECTOR).sum())(DENSE)
    np.testing.assert_allclose(slope.data, sparse.bcoo_extract(mat, wanted).data, rtol=1e-5)
    batch = BCOO.fromdense(np.stack([DENSE, 2 * DENSE]), n_batch=1)
    found = pc.vmap(sparse.sparsify(lambda m: pnp.sin(m) @ VECTOR))(batch)
    np.testing.assert_allclose(found, np.sin(np.stack([DENSE, 2 * DENSE])) @ VECTOR, rtol=1e-5, atol=1e-6)


def test_todense():
    mat = BCOO.fromdense(DENSE)
    np.testing.assert_array_equal(sparse.todense(mat), DENSE)
    np.testing.assert_array_equal(sparse.todense(DENSE), DENSE)
    np.testing.assert_allclose(pc.jit(pc.grad(lambda x: (sparse.todense(x) ** 2).sum()))(VECTOR), 2 * VECTOR)
    np.testing.assert_array_equal(pc.vmap(sparse.todense)(DENSE), DENSE)


@pytest.mark.parametrize(
    "fun",
    [pnp.cos, lambda x: x + 1, lambda x: 1 / x, lambda x: x - VECTOR, lambda x: x > 0, pnp.sort, lambda x: x.max()],
)
def test_refused(fun):
    with pytest.raises(NotImplementedError, match="sparse rule for"):
        sparse.sparsify(fun)(BCOO.fromdense(DENSE))


def test_powers_of_complex_matrices():
    """The complex square compares its parts and selects: operations that alone would make the matrix dense."""
    dense = np.array([[1 + 2j, 0, 3j], [0, 0, -1]], np.complex64)
    a = sparse.BCOO.fromdense(pnp.asarray(dense))
    b = sparse.BCSR.fromdense(pnp.asarray(dense))
    for power in (2, 3, 4):
        for matrix in (a**power, pc.jit(lambda x, n=power: x**n)(a), sparse.sparsify(lambda x, n=power: x**n)(b)):
            assert matrix.nse == a.nse
            np.testing.assert_allclose(matrix.todense(), dense**power, rtol=1e-5)
    twice = sparse.BCOO((pnp.array([1 + 1j, 2j]), pnp.array([[0, 1], [0, 1]])), shape=(2, 2))
    np.testing.assert_allclose((twice**2).todense(), [[0, (1 + 3j) ** 2], [0, 0]], rtol=1e-6)
    moved = pc.grad(lambda d: (abs((sparse.BCOO((d, a.indices), shape=a.shape) ** 2).todense()) ** 2).sum())(a.data)
    wanted = pc.grad(lambda d: (abs(d**2) ** 2).sum())(a.data)
    np.testing.assert_allclose(moved, wanted, rtol=1e-5)
    own = pc.custom_jvp(lambda x: pnp.cos(x) - 1)
    own.defjvp(lambda primals, tangents: (own(*primals), -pnp.sin(primals[0]) * tangents[0]))
    np.testing.assert_allclose(sparse.sparsify(own)(a).todense(), np.cos(dense) - 1, rtol=1e-5, atol=1e-6)
    own = pc.custom_jvp(pnp.cos)
    own.defjvp(lambda primals, tangents: (own(*primals), -pnp.sin(primals[0]) * tangents[0]))
    with pytest.raises(NotImplementedError, match="sparse rule for cos"):
        sparse.sparsify(own)(a)


@pytest.mark.parametrize("kind", [BCOO, BCSR])
def test_matrices_at_the_same_places_stay_there(kind):
    dense = np.array([[1.0, 0, -2], [0, 3, 0]], np.float32)
    matrix = kind.fromdense(pnp.asarray(dense))
    for function in (
        lambda x: x * pnp.sin(x) * x,
        lambda x: x + 2 * x - pnp.tanh(x),
        lambda x: (x * x) * (x != 0),
    ):
        for run in (sparse.sparsify(function), pc.jit(sparse.sparsify(function))):
            out = run(matrix)
            assert isinstance(out, kind)
            assert out.nse == matrix.nse
            np.testing.assert_allclose(out.todense(), function(pnp.asarray(dense)), rtol=1e-6)
