"""Functions of vjp, linearize and linear_transpose as containers: through jit, vmap, scan, as arguments and results."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import tree_util

X = np.array([0.5, 1.0, 2.0], np.float32)


def f(x):
    return pnp.sin(x) * x


def slope(x):
    return np.cos(x) * x + np.sin(x)


def test_jit_returns_a_pullback():
    value, back = pc.jit(lambda x: pc.vjp(f, x))(X)
    np.testing.assert_allclose(value, np.sin(X) * X, rtol=1e-6)
    np.testing.assert_allclose(back(pnp.ones(3))[0], slope(X), rtol=1e-6)
    assert all(isinstance(leaf, pc.Array) for leaf in tree_util.tree_leaves(back))


def test_jit_takes_a_pullback_and_traces_it_once_for_all_points():
    traces = []

    @pc.jit
    def apply(back, ct):
        traces.append(1)
        return back(ct)[0]

    forward = pc.jit(lambda x: pc.vjp(f, x)[1])
    for x in (X, X + 1, X + 2):
        np.testing.assert_allclose(apply(forward(x), pnp.ones(3)), slope(x), rtol=1e-5)
    assert len(traces) == 1


def test_a_pullback_made_outside_of_jit_is_taken():
    _, back = pc.vjp(f, pnp.asarray(X))
    np.testing.assert_allclose(pc.jit(lambda b: b(pnp.ones(3))[0])(back), slope(X), rtol=1e-6)
    doubled = tree_util.tree_map(lambda x: x, back)
    np.testing.assert_allclose(doubled(pnp.ones(3))[0], slope(X), rtol=1e-6)


def test_jit_returns_and_takes_a_linearized_function():
    value, push = pc.jit(lambda x: pc.linearize(f, x))(X)
    np.testing.assert_allclose(value, np.sin(X) * X, rtol=1e-6)
    np.testing.assert_allclose(push(pnp.ones(3)), slope(X), rtol=1e-6)
    assert isinstance(push, tree_util.Partial)
    np.testing.assert_allclose(pc.jit(lambda p: p(2 * pnp.ones(3)))(push), 2 * slope(X), rtol=1e-6)


def test_jit_returns_and_takes_a_transposed_function():
    matrix = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    transpose = pc.jit(lambda a: pc.linear_transpose(lambda x: a @ x, pc.ShapeDtypeStruct((3,), "float32")))(matrix)
    (ct,) = transpose(pnp.ones(2))
    np.testing.assert_array_equal(ct, matrix.sum(0))
    np.testing.assert_array_equal(pc.jit(lambda t: t(pnp.ones(2))[0])(transpose), matrix.sum(0))


def test_vmap_returns_and_takes_pullbacks():
    _, backs = pc.vmap(lambda x: pc.vjp(f, x))(X)
    np.testing.assert_allclose(pc.vmap(lambda back: back(1.0)[0])(backs), slope(X), rtol=1e-6)
    _, pushes = pc.vmap(lambda x: pc.linearize(f, x))(X)
    np.testing.assert_allclose(pc.vmap(lambda push: push(1.0))(pushes), slope(X), rtol=1e-6)


def test_scan_stacks_pullbacks():
    def forward(x, _):
        y, back = pc.vjp(pnp.sin, x)
        return y, back

    _, backs = pc.lax.scan(forward, pnp.float32(0.5), None, length=3)
    ct, _ = pc.lax.scan(lambda ct, back: (back(ct)[0], None), pnp.float32(1), backs, reverse=True)
    expected = pc.grad(lambda x: pnp.sin(pnp.sin(pnp.sin(x))))(0.5)
    np.testing.assert_allclose(ct, expected, rtol=1e-6)


def test_a_pullback_is_differentiated_by_what_it_keeps():
    def through(x):
        _, back = pc.jit(lambda x: pc.vjp(f, x))(x)
        return pc.jit(lambda b: b(1.0)[0])(back)

    np.testing.assert_allclose(pc.grad(through)(0.7), 2 * np.cos(0.7) - 0.7 * np.sin(0.7), rtol=1e-5)


def test_what_a_pullback_keeps_of_the_arguments():
    x, y = pnp.float32(2), pnp.float32(3)
    _, back = pc.vjp(lambda x, y: x * y, x, y)
    assert [float(kept) for kept in back.args_res] == [2, 3]
    assert back.opaque_residuals == []
    _, back = pc.vjp(lambda x, y: x + pnp.sin(y), x, y)
    assert tree_util.tree_leaves(back.args_res) == []
    assert len(back.opaque_residuals) == 1
    assert back.in_tree == tree_util.tree_structure((0, 0))
    assert back.out_tree == tree_util.tree_structure(0)


def test_trees_aux_and_integers():
    def g(tree, n):
        return {"y": tree["a"] * tree["b"] * n}, n + 1

    value, back, aux = pc.jit(lambda t, n: pc.vjp(g, t, n, has_aux=True))({"a": 2.0, "b": 3.0}, 4)
    assert float(value["y"]) == 24
    assert int(aux) == 5
    tree, nothing = back({"y": pnp.float32(1)})
    assert {key: float(x) for key, x in tree.items()} == {"a": 12, "b": 8}
    assert nothing.dtype == pc.dtypes.float0


def test_wrong_cotangents_are_value_errors():
    _, back = pc.vjp(lambda x: (x, 2 * x), pnp.ones(3))
    with pytest.raises(ValueError, match=r"vjp of <lambda>: the cotangent must have the structure"):
        back(pnp.ones(3))
    with pytest.raises(ValueError, match=r"for output\[1\] must be f32\[3\], got f32\[2\]"):
        back((pnp.ones(3), pnp.ones(2)))
    with pytest.raises(ValueError, match=r"must be f32\[3\], got i32\[3\]"):
        back((pnp.ones(3), pnp.ones(3, int)))
    with pytest.raises(TypeError, match="got 'a' of type str"):
        back((pnp.ones(3), "a"))
    with pytest.raises(TypeError, match="takes one argument, the cotangent of the result, got 2"):
        back(pnp.ones(3), pnp.ones(3))


def test_cotangents_of_integers_are_of_any_dtype():
    """A pullback takes the results of the function itself; cotangents of integers are not read."""

    def f(x):
        return {"y": x * 2, "n": pnp.arange(3), "any": x.sum() > 0}

    x = pnp.ones(2)
    out, back = pc.vjp(f, x)
    nothing = {"n": np.zeros(3, pc.dtypes.float0), "any": np.zeros((), pc.dtypes.float0)}
    for others in (nothing, {"n": out["n"], "any": out["any"]}, {"n": pnp.ones(3), "any": 1.0}):
        for transform in (lambda f: f, pc.jit):
            (found,) = transform(back)({"y": x, **others})
            np.testing.assert_array_equal(found, [2, 2])
    with pytest.raises(ValueError, match=r"for output\['n'\] must be float0\[3\] .*, got i32\[2\]"):
        back({"y": x, "n": pnp.arange(2), "any": True})
    with pytest.raises(TypeError, match="got 'a' of type str"):
        back({"y": x, "n": "a", "any": True})


def test_wrong_tangents():
    x = pnp.ones(3)
    with pytest.raises(TypeError, match="must have the structure"):
        pc.jvp(pnp.sin, (x,), ((x, x),))
    with pytest.raises(ValueError, match=r"must be f32\[3\], got f32\[2\]"):
        pc.jvp(pnp.sin, (x,), (pnp.ones(2),))
    with pytest.raises(TypeError, match=r"must be f32\[3\], got i32\[3\]"):
        pc.jvp(pnp.sin, (x,), (pnp.ones(3, int),))
    with pytest.raises(ValueError, match=r"must be float0\[3\]"):
        pc.jvp(lambda n: n * 2.0, (pnp.arange(3),), (np.zeros(2, pc.dtypes.float0),))
    _, push = pc.linearize(pnp.sin, x)
    with pytest.raises(TypeError, match="must have the structure"):
        push(x, x)
    with pytest.raises(ValueError, match=r"got f32\[2\]"):
        push(pnp.ones(2))


# Arrays of dtype float0 as arguments.

NOTHING = np.zeros(3, pc.dtypes.float0)


def test_float0_through_jit():
    same = pc.jit(lambda x: x)
    for _ in range(2):
        found = same(NOTHING)
        assert found.dtype == pc.dtypes.float0
        assert found.shape == (3,)
    assert same.cache_size() == 1
    assert same(np.zeros((2, 2), pc.dtypes.float0)).shape == (2, 2)
    assert same.cache_size() == 2
    tree, total = pc.jit(lambda t: (t, t["x"].sum()))({"n": NOTHING, "x": pnp.arange(3.0)})
    assert tree["n"].shape == (3,)
    assert float(total) == 3
    assert pc.eval_shape(lambda n, x: x, NOTHING, pnp.ones(2)).shape == (2,)
    assert len(pc.make_jaxpr(lambda n, x: x * 2)(NOTHING, pnp.ones(2)).in_avals) == 1
    assert pc.jit(lambda n, x: x * 2).lower(NOTHING, pnp.ones(2)).compile()(NOTHING, pnp.ones(2)).shape == (2,)


def test_tangents_of_integers_through_jit():
    n = pnp.arange(3)
    value, tangent = pc.jit(lambda n, t: pc.jvp(lambda i: i * 2.0, (n,), (t,)))(n, NOTHING)
    np.testing.assert_array_equal(value, [0, 2, 4])
    np.testing.assert_array_equal(tangent, [0, 0, 0])
    _, back = pc.vjp(lambda i: (i + 1, i * 2.0), n)
    (ct,) = pc.jit(lambda c: back(c))((NOTHING, pnp.ones(3)))
    assert ct.dtype == pc.dtypes.float0
    _, push = pc.linearize(lambda i, x: i * x, n, pnp.ones(3))
    np.testing.assert_array_equal(pc.jit(lambda t, u: push(t, u))(NOTHING, pnp.ones(3)), [0, 1, 2])


def test_float0_under_vmap():
    mapped = pc.vmap(lambda n, x: (n, x * 2))(NOTHING, pnp.arange(3.0))
    assert mapped[0].shape == (3,)
    assert mapped[0].dtype == pc.dtypes.float0
    values, tangents = pc.vmap(lambda n, t: pc.jvp(lambda i: i * 2.0, (n,), (t,)))(pnp.arange(3), NOTHING)
    np.testing.assert_array_equal(values, [0, 2, 4])
    np.testing.assert_array_equal(tangents, [0, 0, 0])
