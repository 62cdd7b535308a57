"""scan, map, associative_scan: values against a Python loop's, mapped, traced once; errors."""

import numpy as np
import plain
import pytest
from beside_plain import both, near, near_trees
from scan_programs import XS, B, V, each_program, equations, scalar
from slopes import gradient

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.compile import compile as compilation
from pycompiler.core.dims.dims import Dim


@each_program
def test_values(case):
    program, args = case
    ours, theirs = both(program)
    want = theirs(*args)
    near_trees(pc.jit(ours)(*args), want)
    near_trees(ours(*args), want)


@each_program
def test_mapped(case):
    program, args = case
    ours, theirs = both(program)
    several = [np.stack([x, x[::-1] * 0.5]) for x in args]
    near_trees(pc.jit(pc.vmap(ours))(*several), plain.mapped(theirs, [0] * len(args), several), 1e-4)
    for place in range(len(args)):
        axes = tuple(x.ndim - 1 if i == place else None for i, x in enumerate(args))
        some = [np.stack([x, x * 2], axis=x.ndim - 1) if i == place else x for i, x in enumerate(args)]
        near_trees(pc.jit(pc.vmap(ours, axes))(*some), plain.mapped(theirs, axes, some), 1e-4)


# Loops of random bodies, against a Python loop that computes the same.
OPERATIONS = [
    lambda n, a, b: n.sin(a) + b,
    lambda n, a, b: a * b * 0.5,
    lambda n, a, b: n.where(a > b, a, b * 0.5),
    lambda n, a, b: n.tanh(a - b),
    lambda n, a, b: n.roll(a, 1) * 0.9 + b,
    lambda n, a, b: a.sum() * 0.1 + n.cos(b),
]


@pytest.mark.parametrize("seed", range(6))
def test_a_scan_is_a_python_loop(seed):
    rng = np.random.default_rng(seed)
    steps = [(OPERATIONS[rng.integers(len(OPERATIONS))], *rng.integers(0, 4, 3)) for _ in range(5)]
    reverse = bool(seed % 2)

    def body(carry, x):
        values = [carry[0], carry[1], x, constant]
        for operation, a, b, to in steps:
            values[to] = operation(pnp, values[a], values[b])
        return (values[0], values[1]), (values[2], values[3] * values[0])

    def scanned(carry, xs):
        return lax.scan(body, carry, xs, reverse=reverse)

    def looped(carry, xs):
        ys = [None] * len(xs)
        for i in reversed(range(len(xs))) if reverse else range(len(xs)):
            carry, ys[i] = body(carry, xs[i])
        return carry, tuple(pnp.stack(column) for column in zip(*ys, strict=True))

    constant = pnp.asarray(rng.standard_normal(3).astype(np.float32))
    carry = tuple(rng.standard_normal((2, 3)).astype(np.float32))
    near_trees(pc.jit(scanned)(carry, XS), pc.jit(looped)(carry, XS), 1e-4)
    got = pc.jit(pc.grad(scalar(pnp, scanned), (0, 1)))(carry, XS)
    near_trees(got, pc.jit(pc.grad(scalar(pnp, looped), (0, 1)))(carry, XS), 1e-3)


def test_what_is_handed_on_leaves_the_loop():
    def step(carry, x):
        fixed, moving = carry
        return (fixed, moving + x * fixed), (x, moving, moving)

    jaxpr = pc.make_jaxpr(lambda a, b, xs: lax.scan(step, (a, b), xs))(V, B, XS)
    (loop,) = equations(jaxpr, "scan")
    assert loop.params["num_carry"] == 1
    assert len(loop.outputs) == 2
    (fixed, _), (xs, before, again) = lax.scan(step, (V, B), XS)
    near(fixed, V)
    near(xs, XS)
    assert isinstance(fixed, pc.Array)
    assert isinstance(xs, pc.Array)
    near(before, B + V * (np.cumsum(XS, 0) - XS))
    near(again, before)


def test_no_iterations():
    empty = np.zeros((0, 3), np.float32)
    carry, ys = lax.scan(lambda c, x: (c + x, c * 2), V, empty)
    near(carry, V)
    near(ys, empty)
    near(pc.grad(lambda v: lax.scan(lambda c, x: (c + x, c), v, empty)[0].sum())(V), np.ones(3, np.float32))
    near(lax.fori_loop(5, 2, lambda i, v: v + i, 1.5), np.float32(1.5))

    def inside(v):
        c, ys = lax.scan(lambda c, _: (c.at[1].set(pnp.sin(c[0])), c), v, None, length=0)
        return c * 2 + ys.sum()

    near(pc.jit(pc.grad(lambda v: lax.fori_loop(0, 3, lambda i, c: inside(c), v).sum()))(V), np.full(3, 8, np.float32))
    assert "scan" not in repr(pc.make_jaxpr(inside)(V))


def test_functions_are_traced_once():
    traced = []

    def body(carry, x):
        traced.append(x)
        return carry + x, carry

    for start in (0.0, 1.0, 2.0):
        near(lax.scan(body, start, V)[0], np.float32(start + V.sum()))
    assert len(traced) == 1
    lax.scan(body, 3, V)
    assert len(traced) == 3  # once for the weak start, once for the promoted one


def test_lambdas_of_one_line_are_compiled_once(monkeypatch):
    compiled = []
    compile_graph = compilation.compile_graph
    monkeypatch.setattr(compilation, "compile_graph", lambda *args: compiled.append(args) or compile_graph(*args))

    def every_kind(start, offset):
        offset = pnp.asarray(offset)
        total = lax.scan(lambda c, x: (c * x + offset, c), start, XS)[0]
        total = lax.fori_loop(0, 3, lambda i, c: c + offset, total)
        total = lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 2 + 3, total)
        return lax.cond(total.sum() > 1, lambda c: c + offset, lambda c: c * offset, total)

    first = every_kind(V, B)
    count = len(compiled)
    assert count
    second = every_kind(V, B * 2)
    near(every_kind(V, B), first)
    assert len(compiled) == count
    near(pc.jit(every_kind)(V, B * 2), second)


def test_clear_caches_forgets_loops():
    traced = []

    def body(carry, x):
        traced.append(x)
        return carry + x, carry

    lax.scan(body, V, XS)
    pc.clear_caches()
    near(lax.scan(body, V, XS)[0], V + XS.sum(0))
    assert len(traced) == 2


def test_unroll_and_length_are_taken():
    for unroll in (1, 2, True, False):
        near(lax.scan(lambda c, x: (c + x, x), V, XS, length=5, unroll=unroll, _split_transpose=True)[0], V + XS.sum(0))


@pytest.mark.parametrize("batch_size", [None, 0, 1, 2, 3, 5, 7])
def test_map(batch_size):
    def f(x):
        return {"sum": x["a"].sum(), "b": (x["b"] * 2, x["a"] > 0)}

    tree = {"a": XS, "b": np.arange(5, dtype=np.int32)}
    want = {"sum": XS.sum(1), "b": (tree["b"] * 2, XS > 0)}
    near_trees(lax.map(f, tree, batch_size=batch_size), want)
    near_trees(pc.jit(lambda t: lax.map(f, t, batch_size=batch_size))(tree), want)
    gradient = pc.grad(lambda xs: lax.map(lambda x: pnp.sin(x) * scale, xs, batch_size=batch_size).sum())
    scale = pnp.asarray(B)
    near(pc.jit(gradient)(XS), np.cos(XS) * B)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(size, reverse):
    x = np.float32(np.sin(np.arange(size * 6) + 1)).reshape(size, 2, 3)

    def run(lib, n, x, axis):
        def affine(a, b):
            return a[0] * b[0], b[0] * a[1] + b[1]

        return lib.associative_scan(affine, (x, n.cos(x)), reverse, axis), lib.associative_scan(
            n.maximum, x, axis=axis, reverse=reverse
        )

    for y, axis in ((x, 0), (x, -3), (np.moveaxis(x, 0, 1), 1)):
        want = run(plain.lax, np, y.astype(np.float64), axis)
        near_trees(pc.jit(lambda y, axis=axis: run(lax, pnp, y, axis))(y), want)


def test_derivative_of_associative_scan():
    got = pc.jit(pc.grad(lambda x: (lax.associative_scan(pnp.multiply, x) ** 2).sum()))(XS)
    near(got, gradient(lambda x: (np.cumprod(x, 0) ** 2).sum(), XS), 1e-4)


def test_symbolic_shapes_go_through():
    size = Dim("n")
    xs = pc.ShapeDtypeStruct((size, 3), "float32")
    graph = pc.make_jaxpr(pc.grad(lambda w, xs: lax.scan(lambda c, x: (c * w + x @ c, c), w, xs)[1].sum()))(V, xs)
    assert "length=n" in repr(graph)
    assert "f32[n,3]" in repr(graph)


ERRORS = {
    "shape": (lambda: lax.scan(lambda c, x: ({"a": c["a"][:2]}, x), {"a": V}, XS), TypeError,
              r"scan: the carry\['a'\] starts as f32\[3\], but <lambda> returns f32\[2\] for it"),
    "dtype": (lambda: lax.scan(lambda c, x: (c > 0, x), V, XS), TypeError, r"starts as f32\[3\], .* bool\[3\]"),
    "structure": (lambda: lax.scan(lambda c, x: ((c, c), x), V, XS), TypeError, "the carry starts with the struct"),
    "keys": (lambda: lax.scan(lambda c, x: ({"b": c["a"]}, x), {"a": V}, XS), TypeError,
             r"only the first has \['a'\]; only the second has \['b'\]"),
    "no pair": (lambda: lax.scan(lambda c, x: c, V, XS), TypeError, r"scan: <lambda> must return a pair \(carry, y\)"),
    "lengths": (lambda: lax.scan(lambda c, x: (c, c), V, {"a": XS, "b": V}), ValueError,
                r"lengths of the first axes differ: xs\['a'\] f32\[5,3\]: 5; xs\['b'\] f32\[3\]: 3"),
    "length": (lambda: lax.scan(lambda c, x: (c, c), V, XS, length=4), ValueError, r"xs f32\[5,3\]: 5; length: 4"),
    "no length": (lambda: lax.scan(lambda c, x: (c, c), V), ValueError, "give the number of iterations as `length`"),
    "negative": (lambda: lax.scan(lambda c, x: (c, c), V, length=-1), ValueError, "must not be negative, got -1"),
    "kind of length": (lambda: lax.scan(lambda c, x: (c, c), V, length=2.5), TypeError, "length must be an integer"),
    "scalar": (lambda: lax.scan(lambda c, x: (c, c), V, {"t": 3.0}), ValueError, r"xs\['t'\] is f32\[\], which"),
    "function": (lambda: lax.scan(3, V, XS), TypeError, "scan: f must be a function, got 3"),
    "unroll": (lambda: lax.scan(lambda c, x: (c, c), V, XS, unroll=-2), ValueError, "unroll must be"),
    "map": (lambda: lax.map(lambda x: x, V, batch_size=-1), ValueError, "map: batch_size must not be negative"),
    "map lengths": (lambda: lax.map(lambda x: x, (XS, V)), ValueError, r"map: the lengths .* xs\[0\] f32\[5,3\]: 5"),
    "no array": (lambda: lax.scan(lambda c, x: (c, c), "text", XS), TypeError, "not an array"),
    "associative": (lambda: lax.associative_scan(lambda a, b: (a, b), V), TypeError, "associative_scan: .* structure"),
    "sizes": (lambda: lax.associative_scan(pnp.add, (V, XS)), ValueError, r"axis 0 differ: elems\[0\] f32\[3\]"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call()
