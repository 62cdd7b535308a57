"""Loops: values against a Python loop's, in every transformation, types as jax's; compiled in place; their errors."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import plain
import pytest
from beside_plain import both, near, near_trees
from slopes import along, gradients, hessian, jacobian

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import NotDifferentiableError

X = np.linspace(-1, 2, 24, dtype=np.float32).reshape(4, 6)
V = np.float32([3, 1, 2, 5, 4])


# (lax, numpy module, *arguments): a program with a loop.
PROGRAMS = {
    "doubling": (lambda lib, n, x: lib.while_loop(lambda v: v < 100, lambda v: v * 2, x), (3,)),
    "no iteration": (lambda lib, n, x: lib.while_loop(lambda v: v < 100, lambda v: v * 2, x), (300.0,)),
    "promoted carry": (lambda lib, n, x: lib.while_loop(lambda v: v < 9, lambda v: v + n.float32(0.5), x), (1.0,)),
    "sum of indices": (lambda lib, n, x: lib.fori_loop(0, x, lambda i, t: t + i, 0), (10,)),
    "no index": (lambda lib, n, x: lib.fori_loop(5, 5, lambda i, t: t + i, x), (1.5,)),
    "bounds of a dtype": (
        lambda lib, n, x: lib.fori_loop(np.int8(-3), x, lambda i, t: t * 2 + i, np.int8(1)),
        (np.int8(2),),
    ),
    "bools": (lambda lib, n, x: lib.while_loop(lambda v: v.any(), lambda v: v & (n.roll(v, 1)), x), (V > 2,)),
    "fibonacci": (lambda lib, n, x: lib.fori_loop(0, 9, lambda i, t: (t[1], t[0] + t[1]), (x, x + 1)), (V,)),
    "rotation": (lambda lib, n, x: lib.fori_loop(0, 4, lambda i, t: (t[1], t[2], t[0] * 2), (x, x + 1, x * 3)), (V,)),
    "swap in a dict": (
        lambda lib, n, x: lib.fori_loop(0, 3, lambda i, t: {"a": t["b"], "b": t["a"]}, {"a": x, "b": -x}),
        (V,),
    ),
    "reads what it overwrote": (
        lambda lib, n, x: lib.fori_loop(0, 4, lambda i, t: (t[0].at[i].set(t[1][0]), t[0] + t[1]), (x, x * 2)),
        (V,),
    ),
    "newton": (
        lambda lib, n, x: lib.while_loop(lambda v: n.abs(v * v - x) > 1e-3, lambda v: (v + x / v) / 2, n.float32(1)),
        (np.float32(7),),
    ),
    "products": (lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: n.tanh(v @ v.T) @ v, x), (X,)),
    "large products": (
        lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: (v @ v) / 40, n.tile(x, (10, 7))[:40, :40]),
        (X,),
    ),
    "sorting": (lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: n.sort(-v) + i, x), (V,)),
    "softmax": (lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: n.exp(v) / n.exp(v).sum(1, keepdims=True), x), (X,)),
    "transposes": (lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: n.sin(v.T), x), (X[:, :4],)),
    "slices": (
        lambda lib, n, x: lib.fori_loop(
            0, 4, lambda i, v: lib.dynamic_update_slice(v, lib.dynamic_slice(v, (i, 0), (1, 6)), (0, 0)), x
        ),
        (X,),
    ),
    "nested": (
        lambda lib, n, x: lib.fori_loop(
            0, 3, lambda i, v: lib.while_loop(lambda w: w.sum() < 50 + i, lambda w: w * 2, v) - 1, x
        ),
        (V,),
    ),
    "an element after an inner loop": (
        lambda lib, n, x: lib.fori_loop(
            0, 5, lambda i, v: lib.fori_loop(0, 3, lambda j, w: w.at[j].add(1), v).at[i].set(3), x
        ),
        (V,),
    ),
    "an element before an inner loop": (
        lambda lib, n, x: lib.fori_loop(0, 5, lambda i, v: lib.fori_loop(0, 3, lambda j, w: w * 2, v.at[i].add(3)), x),
        (V,),
    ),
    "rows in both loops": (
        lambda lib, n, x: lib.fori_loop(
            0, 4, lambda i, v: lib.fori_loop(0, 3, lambda j, w: w.at[j].add(1), v).at[i].multiply(v[0]), x
        ),
        (X,),
    ),
    "closure": (lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: v * x + n.arange(5), n.ones(5, n.float32)), (V,)),
    "no arrays": (lambda lib, n, x: (lib.while_loop(lambda v: False, lambda v: v, ()), x), (V,)),
    "half": (
        lambda lib, n, x: lib.fori_loop(0, 3, lambda i, v: n.exp(v * n.bfloat16(0.5)), x.astype(n.bfloat16)),
        (V,),
    ),
}


@pytest.mark.parametrize("case", PROGRAMS.values(), ids=PROGRAMS)
def test_values(case):
    program, args = case
    ours, theirs = both(program)
    kinds = jax.eval_shape(lambda *xs: program(jax.lax, jnp, *xs), *args)
    got, want = pc.jit(ours)(*args), theirs(*args)
    near_trees(got, want)
    assert [(x.dtype, x.weak_type) for x in jax.tree.leaves(got)] == [
        (kind.dtype, kind.weak_type) for kind in jax.tree.leaves(kinds)
    ]
    near_trees(ours(*map(pnp.asarray, args)), want)


DERIVED = [
    "promoted carry",
    "fibonacci",
    "rotation",
    "newton",
    "products",
    "softmax",
    "transposes",
    "nested",
    "closure",
]


@pytest.mark.parametrize("name", [*DERIVED, "reads what it overwrote", "slices"])
def test_forward_derivative(name):
    program, args = PROGRAMS[name]
    tangents = [np.float32(np.cos(np.arange(np.size(x)) * 1.5)).reshape(np.shape(x)) for x in args]
    # Not where the number of iterations changes: there is no slope.
    args = [np.asarray(x, np.float32) + np.float32(0.03) for x in args]
    ours, theirs = both(program)
    value, slope = pc.jit(lambda xs, ts: pc.jvp(ours, xs, ts))(tuple(args), tuple(tangents))
    want = theirs(*args)
    near_trees(value, want)
    slopes = jax.tree.leaves(slope)
    assert len(slopes) == len(jax.tree.leaves(want))
    for number, got in enumerate(slopes):
        near(got, along(lambda *xs, n=number: jax.tree.leaves(theirs(*xs))[n], args, tangents))


MAPPED = [name for name in PROGRAMS if name not in ("bounds of a dtype", "no arrays", "large products")]


@pytest.mark.parametrize("name", MAPPED)
def test_mapped(name):
    program, args = PROGRAMS[name]
    several = [np.stack([x, x + type(x)(1) if np.ndim(x) == 0 else x[::-1], x]) for x in args]
    if name == "bools":
        several = [np.stack([V > 2, V > 9, V > 0.5])[:2]]
    ours, theirs = both(program)
    near_trees(pc.jit(pc.vmap(ours))(*several), plain.mapped(theirs, [0] * len(several), several))


def test_a_loop_whose_condition_is_not_mapped_keeps_it():
    text = repr(pc.make_jaxpr(pc.vmap(lambda x: lax.fori_loop(0, 5, lambda i, v: v * i, x)))(V))
    assert "select" not in text
    assert "reduce_or" not in text
    text = repr(pc.make_jaxpr(pc.vmap(lambda x: lax.while_loop(lambda v: v < 9, lambda v: v * 2, x)))(V))
    assert "select" in text
    assert "reduce_or" in text


def test_mapped_derivative_of_a_mapped_loop():
    def f(x, y):
        return lax.while_loop(lambda v: v[0] < 20, lambda v: (v[0] * x, v[1] + v[0] * y), (x, y))[1]

    def g(x, y):
        return plain.while_loop(lambda v: v[0] < 20, lambda v: (v[0] * x, v[1] + v[0] * y), (x, y))[1]

    x = np.float32([1.5, 2, 3])
    want = [[jacobian(lambda a, y=y: g(a, y), one) for one in x] for y in x]
    near(pc.vmap(pc.vmap(pc.jacfwd(f), (0, None)), (None, 0))(x, x), want)


def test_reverse_mode_is_refused():
    def f(x):
        return lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)

    with pytest.raises(
        NotDifferentiableError,
        match=r"test_control_flow.py:(.|\n)*while_loop: reverse-mode .* use forward mode .* max_steps=",
    ):
        pc.grad(f)(1.0)
    # A loop outside of the derivative does not prevent reverse mode.
    near(pc.grad(lambda x: x * f(pnp.float32(3)))(pnp.float32(2)), np.float32(12))
    value, linear = pc.linearize(f, 1.0)
    near(value, np.float32(16))
    near(linear(1.0), np.float32(16))


def segmented(lib, n, x, w, max_steps):
    """A bounded number of iterations."""

    def condition(v):
        return v[0].sum() < 40

    def body(v):
        return v[0] * 1.3 + n.sin(w * v[1]), v[1] + 1.0

    return lib.while_loop(condition, body, (x, n.float32(1)), max_steps=max_steps)[0]


# The condition ends the loop after 8 iterations.
@pytest.mark.parametrize("max_steps", [1, 5, 8, 30])
def test_reverse_mode_with_max_steps(max_steps):
    x, w = np.float32([0.3, 0.7, 1.1]), np.float32([0.5, -0.2, 1.5])

    ours, theirs = both(lambda lib, n, x, w: segmented(lib, n, x, w, max_steps))
    near(pc.jit(ours)(x, w), theirs(x, w))
    got = pc.jit(pc.grad(lambda x, w: ours(x, w).sum(), (0, 1)))(x, w)
    near_trees(got, gradients(lambda x, w: theirs(x, w).sum(), (x, w)))


def test_second_derivatives_and_maps_with_max_steps():
    x, w = np.float32([0.3, 0.7, 1.1]), np.float32([0.5, -0.2, 1.5])

    ours, theirs = both(lambda lib, n, w, x: segmented(lib, n, x, w, 20).sum())
    want = hessian(theirs, w, x)
    near(pc.jit(pc.hessian(ours))(w, x), want)
    near(pc.jit(pc.jacrev(pc.grad(ours)))(w, x), want)
    several = np.stack([x, 5 * x, 90 * x])
    want = plain.mapped(lambda w, x: gradients(theirs, (w, x), (0,))[0], (None, 0), (w, several))
    near(pc.jit(pc.vmap(pc.grad(ours), (None, 0)))(w, several), want)


def test_max_steps_ends_a_loop():
    near(lax.while_loop(lambda v: True, lambda v: v + 1, 0, max_steps=7), np.int32(7))
    near(lax.while_loop(lambda v: v < 3, lambda v: v + 1, 0, max_steps=7), np.int32(3))
    # Without a derivative, it stays one loop.
    text = repr(pc.make_jaxpr(lambda x: lax.while_loop(lambda v: v < 3, lambda v: v + 1, x, max_steps=9))(0))
    assert "while[" in text
    assert "scan[" not in text


def test_bounds_that_are_known_make_a_scan():
    def loop(n, x):
        return lax.fori_loop(0, n, lambda i, v: v * x + i, x)

    assert "scan[" in repr(pc.make_jaxpr(lambda x: loop(3, x))(2.0))
    assert "while[" in repr(pc.make_jaxpr(loop)(3, 2.0))
    near(pc.grad(lambda x: loop(3, x))(2.0), np.float32(4 * 8 + 1))


def test_printed():
    assert repr(pc.make_jaxpr(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 2, x))(3)) == (
        "{ lambda ; a:i32[]. let\n"
        "    f:i32[] = while[\n"
        "      body_jaxpr={ lambda ; b:i32[]. let c:i32[] = mul b 2:i32[] in (c,) }\n"
        "      body_nconsts=0\n"
        "      cond_jaxpr={ lambda ; d:i32[]. let e:bool[] = lt d 10:i32[] in (e,) }\n"
        "      cond_nconsts=0\n"
        "    ] a\n"
        "  in (f,) }"
    )


def bufferized(f, *args):
    return pc.jit(f).lower(*args).as_text("bufferized")


UPDATES = {
    "element": lambda x: lax.fori_loop(0, 1000, lambda i, v: v.at[i].set(pnp.sin(v[i])), x),
    "elementwise": lambda x: lax.fori_loop(0, 9, lambda i, v: pnp.cos(v) + i, x),
    "nested": lambda x: lax.fori_loop(0, 9, lambda i, v: lax.fori_loop(0, 9, lambda j, w: w.at[j].set(i), v), x),
    "after the inner loop": lambda x: lax.fori_loop(
        0, 9, lambda i, v: lax.fori_loop(0, 9, lambda j, w: w.at[j].set(i), v).at[i].set(3), x
    ),
}


@pytest.mark.parametrize("case", UPDATES.values(), ids=UPDATES)
def test_an_iteration_neither_allocates_nor_copies_the_carry(case):
    _, indent, loop = re.split(r"\n( *)[^\n]*scf\.for", bufferized(case, pnp.zeros(1000)), maxsplit=1)
    inside = loop.split(f"\n{indent}}}")[0].split("\n")
    assert not [line for line in inside if "memref<1000xf32>" in line and ("= memref.alloc" in line or "copy" in line)]


def test_a_counter_is_in_a_register():
    text = bufferized(lambda n: lax.while_loop(lambda v: v[0] < n, lambda v: (v[0] + 1, v[1] * 2), (0, 1.0)), 5)
    assert "memref.store" not in text.split("scf.while")[1].split("return")[0].split("}")[1]


def test_functions_are_traced_once():
    traced = []

    def body(v):
        traced.append(v)
        return v + 1

    def cond(v):
        return v < 5

    for start in (0, 1, 2):
        near(lax.while_loop(cond, body, start), np.int32(5))
    assert len(traced) == 1
    lax.while_loop(cond, body, 0.0)
    assert len(traced) == 2


def test_closed_over_tracers():
    near(pc.jit(lambda n, s: lax.while_loop(lambda v: v < n, lambda v: v + s, 0))(5, 2), np.int32(6))
    slope = pc.jvp(lambda s: lax.fori_loop(0, 3, lambda i, v: v * s, 1.0), (2.0,), (1.0,))[1]
    near(slope, np.float32(12))


def test_symbolic_shapes_go_through():
    size = Dim("n")
    graph = pc.make_jaxpr(lambda x: lax.fori_loop(0, 3, lambda i, v: v * 2, x))(pc.ShapeDtypeStruct((size,), "float32"))
    assert "f32[n]" in repr(graph)


ERRORS = {
    "shape": (lambda: lax.while_loop(lambda v: True, lambda v: {"a": pnp.ones(4)}, {"a": V}), TypeError,
              r"while_loop: the value\['a'\] starts as f32\[5\], but <lambda> returns f32\[4\]"),
    "dtype": (lambda: lax.fori_loop(0, 3, lambda i, v: v > 0, V), TypeError, r"fori_loop: .* f32\[5\], .* bool\[5\]"),
    "structure": (lambda: lax.fori_loop(0, 3, lambda i, v: (v, v), V), TypeError, "fori_loop: .* structure"),
    "condition": (lambda: lax.while_loop(lambda v: v, lambda v: v, V), TypeError, r"cond_fun must return one bool\[\]"),
    "conditions": (lambda: lax.while_loop(lambda v: (True, True), lambda v: v, V), TypeError, "one bool"),
    "no function": (lambda: lax.while_loop(3, lambda v: v, V), TypeError, "cond_fun must be a function, got 3"),
    "no array": (lambda: lax.while_loop(lambda v: True, lambda v: v, "text"), TypeError, "not an array"),
    "steps": (lambda: lax.while_loop(lambda v: True, lambda v: v, V, max_steps=2.5), TypeError, "a positive int"),
    "bool of steps": (lambda: lax.while_loop(lambda v: True, lambda v: v, V, max_steps=True), TypeError, "got True"),
    "many steps": (lambda: lax.while_loop(lambda v: True, lambda v: v, V, max_steps=2**31), ValueError, "below 2"),
    "no steps": (lambda: lax.while_loop(lambda v: True, lambda v: v, V, max_steps=0), ValueError, "positive int"),
    "bounds": (lambda: lax.fori_loop(np.int8(0), np.int16(3), lambda i, v: v, V), TypeError, r"i8\[\] and i16\[\]"),
    "float bound": (lambda: lax.fori_loop(0, 3.5, lambda i, v: v, V), TypeError, r"one dtype, got i32\[\] and f32\[\]"),
    "bool bound": (lambda: lax.fori_loop(0, True, lambda i, v: v, V), TypeError, "upper must be one integer or float"),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("bounds", [(0, 3), (0.5, 3.2), (-1.5, -1.5), (2, -1), (0.1, 3.1), (250, 254)])
def test_fori_loop_over_floats(bounds, dtype):
    with pc.enable_x64(dtype == "float64"):
        lower, upper = (np.asarray(bound, pnp.dtype(dtype)) for bound in bounds)
        expected, i = [], lower
        while i < upper:
            expected.append(i)
            i = (i + np.asarray(1, i.dtype)).astype(i.dtype)

        def f(y, lower, upper):
            return lax.fori_loop(lower, upper, lambda i, v: v * y + i, pnp.zeros((), lower.dtype))

        value = np.asarray(0, lower.dtype)
        for i in expected:
            value = (value * np.asarray(0.5, i.dtype)).astype(i.dtype) + i
        y = np.asarray(0.5, lower.dtype)
        for g in (f, pc.jit(f)):
            result = g(y, lower, upper)
            assert result.dtype == lower.dtype
            np.testing.assert_allclose(np.float64(result), np.float64(value), rtol=0.02 if result.nbytes == 2 else 1e-6)
        slope = pc.grad(lambda y: lax.fori_loop(lower, upper, lambda i, v: v * y, pnp.ones((), lower.dtype)))(y)
        n = len(expected)
        np.testing.assert_allclose(np.float64(slope), n * 0.5 ** (n - 1) if n else 0, rtol=0.01)


def test_fori_loop_over_python_floats():
    assert lax.fori_loop(0.0, 3.0, lambda i, x: x + i, 0.0) == 3
    with pc.disable_jit():
        assert lax.fori_loop(0.5, 3.2, lambda i, x: x + i, 0.0) == 4.5
    assert pc.jit(lambda n: lax.fori_loop(0.0, n, lambda i, x: x + i, 0.0))(4.0) == 6


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call()


BOUNDS = {
    "numbers": (lambda n: (0, 4), True),
    "an array": (lambda n: (0, pnp.int32(4)), True),
    "arrays": (lambda n: (pnp.uint8(0), pnp.uint8(4)), True),
    "a traced end": (lambda n: (0, n), True),
    "a traced start": (lambda n: (n - 4, 4), False),
    "a traced end of another dtype": (lambda n: (0, n.astype(pnp.int16)), False),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_index_has_the_type_of_the_lower_bound(name):
    """A weak one adapts to the value: an int8 stays one."""
    bounds, weak = BOUNDS[name]

    @pc.jit
    def total(n):
        kinds = []

        def body(i, c):
            kinds.append(pc.typeof(i).weak_type)
            return c + i.astype(c.dtype) * 2 - (i if weak else i.astype(c.dtype))

        result = lax.fori_loop(*bounds(n), body, pnp.int8(1))
        assert set(kinds) == {weak}
        return result

    result = total(pnp.int32(4))
    assert (int(result), result.dtype) == (7, np.int8)
