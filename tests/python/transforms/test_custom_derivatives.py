"""`custom_derivatives`: linear calls with their transpose, and what rules with symbolic zeros receive."""

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import custom_derivatives as ours

X = np.array([0.5, -1.5, 2.0], np.float32)


def scaled(r, x):
    """Linear in x, with a transpose of its own: 3 / r in place of 1 / r."""
    return ours.linear_call(lambda r, x: {"q": x / r}, lambda r, ct: 3 * ct["q"] / r, r, x)["q"]


def test_a_linear_call_and_its_transposes():
    for way in (lambda f: f, pc.jit):
        np.testing.assert_allclose(way(scaled)(4.0, X), X / 4)
        (back,) = way(pc.linear_transpose(lambda x: scaled(4.0, x), X))(X)
        np.testing.assert_allclose(back, 3 * X / 4)
        (twice,) = way(pc.linear_transpose(lambda x: pc.linear_transpose(lambda x: scaled(4.0, x), X)(x)[0], X))(X)
        np.testing.assert_allclose(twice, X / 4)


def test_derivatives_and_maps_of_a_linear_call():
    np.testing.assert_allclose(pc.jvp(lambda x: scaled(4.0, x), (X,), (2 * X,))[1], X / 2)
    gradient = pc.grad(lambda x: (scaled(4.0, x) ** 2).sum())
    np.testing.assert_allclose(gradient(X), 2 * (X / 4) * 3 / 4)
    np.testing.assert_allclose(pc.vmap(pc.grad(lambda x, r: scaled(r, x)))(X, X), 3 / X)
    np.testing.assert_allclose(pc.jit(pc.vmap(scaled))(X, 2 * X), np.full(3, 2.0))
    np.testing.assert_allclose(pc.jacrev(lambda x: scaled(4.0, x))(X), np.eye(3) * 0.75)
    out = pc.grad(lambda x: pc.lax.scan(lambda c, _: (scaled(4.0, c), None), x, None, length=2)[0])(1.0)
    np.testing.assert_allclose(out, (3 / 4) ** 2)
    with pytest.raises(pc.errors.NotDifferentiableError, match="a residual is differentiated"):
        pc.grad(lambda r: scaled(r, 1.0))(2.0)


def test_the_example_of_jax():
    def custom_id(module):
        return lambda x: module.linear_call(lambda _, x: x, lambda _, t: 7.0, (), x)

    def transposed(api, f):
        return lambda y: api.linear_transpose(f, 1.0)(y)[0]

    for api, module in ((pc, ours), (jax, jax.custom_derivatives)):
        f = custom_id(module)
        assert [g(1.0) for g in (f, transposed(api, f), transposed(api, transposed(api, f)))] == [1, 7, 1]


def test_a_value_in_the_closure_of_a_linear_call():
    def f(w, x):
        return ours.linear_call(lambda r, x: w * x, lambda r, ct: 2 * w * ct, (), x)

    np.testing.assert_allclose(pc.jit(pc.grad(f, argnums=1))(5.0, 1.0), 10)
    np.testing.assert_allclose(pc.vmap(pc.grad(f, argnums=1))(X, X), 2 * X)


def test_a_transpose_of_another_type():
    with pytest.raises(TypeError, match=r"must return the structure of the linear arguments, PyTreeDef\(\*\)"):
        ours.linear_call(lambda r, x: x, lambda r, ct: (ct, ct), (), 1.0)
    with pytest.raises(TypeError, match=r"must return f32\[3\] at output, .* it returned f32\[\]"):
        ours.linear_call(lambda r, x: x.sum(), lambda r, ct: ct, (), X)


def test_symbolic_zeros():
    zero = ours.SymbolicZero.from_primal_value(pnp.ones((2, 3)))
    assert (zero.shape, zero.dtype, zero.ndim, zero.size) == ((2, 3), np.float32, 2, 6)
    assert ours.SymbolicZero.from_primal_value(3).dtype == pc.float0
    with pytest.raises(AttributeError):
        _ = zero.nothing
    tree = {"a": X, "n": np.int32(3)}
    found, wanted = ours.zero_from_primal(tree), jax.custom_derivatives.zero_from_primal(tree)
    for name in tree:
        assert found[name].dtype == wanted[name].dtype
        assert found[name].shape == wanted[name].shape
    assert not np.any(found["a"])
    assert type(ours.zero_from_primal(X, symbolic_zeros=True)) is ours.SymbolicZero
    assert pnp.zeros((2,), pc.float0).dtype == pnp.zeros_like(found["n"]).dtype == pc.float0


def test_values_of_the_arguments_of_a_forward_function():
    assert ours.custom_vjp_primal_tree_values({"w": ours.CustomVJPPrimal(1.0, True)}) == {"w": 1.0}
    with pytest.raises(TypeError, match=r"takes a tree of CustomVJPPrimal, got a leaf 1\.0"):
        ours.custom_vjp_primal_tree_values([1.0])


def test_a_cotangent_for_a_whole_argument():
    """One array, or a symbolic zero, stands for all leaves below it."""

    @pc.custom_vjp
    def f(pair, y):
        return pair[0] * pair[1] * y

    def rule(whole):
        f.defvjp(lambda pair, y: (f(pair, y), None), lambda _, ct: (whole(ct), None))

    rule(lambda ct: 2 * ct)
    assert pc.tree.map(float, pc.grad(f)((3.0, 4.0), 5.0)) == (2, 2)
    rule(lambda ct: ours.zero_from_primal(ct, symbolic_zeros=True))
    assert pc.tree.map(float, pc.grad(f)((3.0, 4.0), 5.0)) == (0, 0)


def test_the_operations_that_graphs_record():
    f = pc.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    g = pc.custom_vjp(lambda x: x)
    g.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    for function, primitive in ((f, ours.custom_jvp_call_p), (g, ours.custom_vjp_call_p)):
        (equation,) = pc.make_jaxpr(function)(1.0).graph.equations
        assert equation.primitive is primitive
