"""`custom_batching`: functions with their own map, in every composition; and `sequential_vmap`."""

import warnings

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.custom_batching import custom_vmap, sequential_vmap

X = np.array([0.5, -1.5, 2.0], np.float32)
Y = np.array([1.0, 2.0, 0.25], np.float32)


def make():
    """x * sin(y), whose map is 10 times as much: a test sees which one was used. `seen` are the flags of the rule."""
    seen = []

    @custom_vmap
    def f(x, y):
        return x * pnp.sin(y)

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        seen.append((axis_size, *in_batched))
        return 10 * x * pnp.sin(y), any(in_batched)

    return f, seen


def test_a_call_and_a_map():
    f, seen = make()
    np.testing.assert_allclose(f(X, y=Y), X * np.sin(Y), rtol=1e-6)
    np.testing.assert_allclose(pc.jit(f)(X, Y), X * np.sin(Y), rtol=1e-6)
    assert seen == []
    for mapped in (pc.vmap(f), pc.jit(pc.vmap(f)), pc.vmap(pc.jit(f))):
        np.testing.assert_allclose(mapped(X, Y), 10 * X * np.sin(Y), rtol=1e-6)
    assert seen == [(3, True, True)] * 3


def test_the_mapped_axis_is_in_front_and_others_are_not_mapped():
    f, seen = make()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = pc.vmap(f, in_axes=(1, None), out_axes=1)(x, 2.0)
    np.testing.assert_allclose(out, 10 * x * np.sin(np.float32(2)), rtol=1e-6)
    assert seen == [(3, True, False)]


def test_in_loops_branches_and_nested_maps():
    f, seen = make()
    scanned = pc.vmap(lambda x, y: pc.lax.scan(lambda c, _: (f(c, y), None), x, None, length=2)[0])(X, Y)
    np.testing.assert_allclose(scanned, 100 * X * np.sin(Y) ** 2, rtol=1e-5)
    chosen = pc.vmap(lambda x, y: pc.lax.cond(True, f, lambda x, y: x, x, y))(X, Y)
    np.testing.assert_allclose(chosen, 10 * X * np.sin(Y), rtol=1e-6)
    seen.clear()
    # The rule of the inner map is itself mapped: its call of an ordinary function.
    both = pc.vmap(pc.vmap(f, (None, 0)), (0, None))(X, Y)
    np.testing.assert_allclose(both, 10 * X[:, None] * np.sin(Y), rtol=1e-6)
    assert seen == [(3, False, True)]


def test_a_rule_that_calls_the_function_maps_the_outer_axis_by_the_rule_too():
    calls = []

    @custom_vmap
    def f(x):
        return x + 1

    @f.def_vmap
    def rule(axis_size, in_batched, x):
        calls.append(axis_size)
        return f(x) + 10, True

    np.testing.assert_allclose(pc.vmap(pc.vmap(f))(np.zeros((2, 3), np.float32)), np.full((2, 3), 21.0))
    assert calls == [3, 2]


def test_trees_of_arguments_and_results():
    @custom_vmap
    def f(params, x):
        return {"out": params["w"] * x + params["b"], "b": params["b"]}

    @f.def_vmap
    def rule(axis_size, in_batched, params, x):
        assert in_batched == [{"w": True, "b": False}, False]
        return {"out": -params["w"], "b": params["b"]}, {"out": True, "b": False}

    mapped = pc.vmap(f, in_axes=({"w": 0, "b": None}, None), out_axes={"out": 0, "b": None})
    out = mapped({"w": X, "b": np.float32(4)}, 2.0)
    np.testing.assert_array_equal(out["out"], -X)
    assert out["b"].item() == 4


def test_derivatives_of_a_map_are_those_of_the_rule():
    f, _ = make()
    loss = pc.jit(pc.grad(lambda x, y: pc.vmap(f)(x, y).sum(), argnums=1))
    np.testing.assert_allclose(loss(X, Y), 10 * X * np.cos(Y), rtol=1e-6)
    _, moved = pc.jvp(pc.vmap(f), (X, Y), (np.ones(3, np.float32), np.zeros(3, np.float32)))
    np.testing.assert_allclose(moved, 10 * np.sin(Y), rtol=1e-6)


def test_maps_of_derivatives():
    f, seen = make()

    def push(x, dx, y):
        return pc.jvp(lambda x: f(x, y), (x,), (dx,))

    ones = np.ones(3, np.float32)
    for way in (lambda g: g, pc.jit):
        out, moved = way(pc.vmap(push))(X, ones, Y)
        np.testing.assert_allclose(out, 10 * X * np.sin(Y), rtol=1e-6)
        np.testing.assert_allclose(moved, 10 * np.sin(Y), rtol=1e-6)
    assert set(seen) == {(3, True, True)}
    # Tangents that are mapped without their values, and the reverse: a map around the derivative of the rule.
    seen.clear()
    out, moved = pc.vmap(push, (None, 0, None), (None, 0))(X[2], Y, np.float32(1))
    np.testing.assert_allclose(out, 10 * X[2] * np.sin(1), rtol=1e-6)
    np.testing.assert_allclose(moved, 10 * Y * np.sin(1), rtol=1e-6)
    _, moved = pc.vmap(push, (0, None, None))(X, np.float32(2), np.float32(1))
    np.testing.assert_allclose(moved, np.full(3, 20 * np.sin(1)), rtol=1e-6)
    assert set(seen) == {(3, False, False)}
    np.testing.assert_allclose(pc.jacfwd(f)(X, Y), np.diag(10 * np.sin(Y)), rtol=1e-6)
    # One argument is mapped with its tangent, the other without: both are given mapped.
    seen.clear()
    _, moved = pc.vmap(lambda x, dx, y, dy: pc.jvp(f, (x, y), (dx, dy)), (0, 0, 0, None))(X, ones, Y, np.float32(0.5))
    np.testing.assert_allclose(moved, 10 * (np.sin(Y) + 0.5 * X * np.cos(Y)), rtol=1e-5)
    assert set(seen) == {(3, True, True)}


def test_linearize():
    f, _ = make()
    out, push = pc.linearize(lambda x: f(x, Y), X)
    np.testing.assert_allclose(out, X * np.sin(Y), rtol=1e-6)
    np.testing.assert_allclose(push(X), X * np.sin(Y), rtol=1e-6)


def test_an_integer_argument():
    @custom_vmap
    def f(n, x):
        return n + 1, x * n

    @f.def_vmap
    def rule(axis_size, in_batched, n, x):
        return (n - 1, 5 * x * n), (True, True)

    n = np.arange(3, dtype=np.int32)
    (count, _), (none, moved) = pc.vmap(lambda n, x: pc.jvp(lambda x: f(n, x), (x,), (1.0,)))(n, X)
    assert count.tolist() == [-1, 0, 1]
    assert none.dtype == pc.float0
    np.testing.assert_allclose(moved, 5 * n)


def test_reverse_mode_needs_custom_vjp():
    f, _ = make()
    with pytest.raises(pc.errors.NotDifferentiableError, match="wrapping it in custom_vjp"):
        pc.grad(lambda x: f(x, 2.0))(1.0)

    @pc.custom_vjp
    @custom_vmap
    def g(x, y):
        return pnp.sin(x) * y

    @g.def_vmap  # the method of the function inside
    def rule(axis_size, in_batched, xs, ys):
        return pnp.cos(xs) * ys, True

    g.defvjp(lambda x, y: (g(x, y), (x, y)), lambda res, ct: (pnp.cos(res[0]) * ct * res[1], pnp.sin(res[0]) * ct))
    np.testing.assert_allclose(pc.vmap(g)(X, Y), np.cos(X) * Y, rtol=1e-6)
    np.testing.assert_allclose(pc.vmap(pc.grad(g, argnums=(0, 1)))(X, Y), (np.cos(X) * Y, np.sin(X)), rtol=1e-6)
    with pytest.raises(AttributeError, match="def_nothing"):
        _ = g.def_nothing


def test_wrong_rules():
    @custom_vmap
    def f(x):
        return x, x

    with pytest.raises(AttributeError, match=r"f has no batching rule. What to do: give it one with @f.def_vmap"):
        f(1.0)
    for given, kind, match in [
        (lambda n, b, x: x, TypeError, r"the rule .* must return a pair, the result and its flags"),
        (lambda n, b, x: ((x, x), True), ValueError, "must return flags of the structure of its result"),
        (lambda n, b, x: (x, True), ValueError, r"must return the structure of f, PyTreeDef\(\(\*, \*\)\)"),
        (
            lambda n, b, x: ((x, x[0]), (True, True)),
            ValueError,
            r"of size 3, in front at output\[1\], it returned f32\[",
        ),
    ]:
        f.def_vmap(given)
        with pytest.raises(kind, match=match):
            pc.vmap(f)(X)
    with pytest.raises(TypeError, match=r"takes a function, got i32\[\]"):
        custom_vmap(3)

    def closed(y):
        g = custom_vmap(lambda x: x * y)
        g.def_vmap(lambda n, b, x: (x, True))
        return g(1.0)

    with pytest.raises(ValueError, match="closes over a value that is mapped"):
        pc.vmap(closed)(X)
    with pytest.raises(ValueError, match="closes over a value that is mapped"):
        pc.vmap(pc.jit(closed))(X)


def test_sequential_vmap_runs_in_order():
    order = []

    @sequential_vmap
    def f(x, y):
        pc.debug.callback(lambda x: order.append(int(x)), x, ordered=True)
        return x + y

    out = pc.vmap(f, in_axes=(0, None))(np.arange(3, dtype=np.int32), 10)
    pc.effects_barrier()
    assert out.tolist() == [10, 11, 12]
    assert order == [0, 1, 2]
    nested = pc.jit(pc.vmap(pc.vmap(f, (0, None)), (None, 0)))(
        np.arange(3, dtype=np.int32), np.array([10, 20], np.int32)
    )
    assert nested.tolist() == [[10, 11, 12], [20, 21, 22]]


def test_the_compiled_module_has_the_operations_of_the_function():
    f, _ = make()
    text = pc.jit(f).lower(X, Y).as_text()
    assert "array.sin" in text
    assert "custom" not in text


@pytest.mark.parametrize("decorator", [custom_vmap, sequential_vmap])
def test_eager_calls_compute_on_arrays(decorator):
    """Not on the arguments as they are: NumPy would compute in 64 bits, and return its own arrays."""
    f = decorator(lambda x: {"a": x * 2, "b": x})
    if decorator is custom_vmap:
        f.def_vmap(lambda size, batched, x: ({"a": x * 2, "b": x}, {"a": True, "b": True}))
    for x in (2.0, 3, np.ones(2, np.float32), np.int32(4), pnp.ones(2, pnp.bfloat16)):
        out, wanted = f(x), pc.jit(lambda x: {"a": x * 2, "b": x})(x)
        for name in ("a", "b"):
            assert isinstance(out[name], pc.Array)
            assert (out[name].dtype, out[name].weak_type) == (wanted[name].dtype, wanted[name].weak_type)
            np.testing.assert_array_equal(out[name], wanted[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # float64 is narrowed
        assert f(np.ones(2))["a"].dtype == np.float32
