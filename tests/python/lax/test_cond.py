"""cond and switch: values against Python's, in every transformation; derivatives against differences; errors."""

import jax
import numpy as np
import plain
import pytest
from beside_plain import both, near, near_trees
from slopes import derivatives, gradients, hessians

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

X = np.float32([0.3, -0.5, 0.8])
Y = np.float32([[1, 2, 0.5], [-1, 0.2, 3]])


def two(lib, n, i, x, y):
    return lib.cond(i > 0, lambda a, b: (n.sin(a) * b[0], a), lambda a, b: (n.exp(a) + b.sum(), b[1]), x, y)


def closures(lib, n, i, x, y):
    scale = n.cos(y)
    return lib.cond(i, lambda: (scale * x).sum(), lambda: n.float32(2))


def three(lib, n, i, x, y):
    branches = [lambda t: {"a": t["x"] * t["y"]}, lambda t: {"a": t["y"] - n.sin(t["y"])}, lambda t: {"a": y * 2}]
    return lib.switch(i, branches, {"x": x, "y": y})


def constant(lib, n, i, x, y):
    """A branch without a derivative, and a result without one."""
    return lib.switch(i, [lambda a: (n.ones(3), 1), lambda a: (a * a, 2), lambda a: (n.floor(a), 3)], x)


def nested(lib, n, i, x, y):
    def inner(a):
        return lib.cond(a.sum() > 0, n.sin, lambda b: b * y[0], a)

    return lib.cond(i == 1, lambda a: inner(a) * 2, lambda a: inner(-a) * a, x)


def around_loops(lib, n, i, x, y):
    def loop(a):
        return lib.scan(lambda c, row: (n.tanh(c * row), c), a, y)

    return lib.cond(i > 1, loop, lambda a: (a * 2, y * a), x)


def shared(lib, n, i, x, y):
    """Branches whose residuals are of one kind."""
    return lib.switch(i, [lambda a: n.sin(n.sin(a)), lambda a: n.exp(n.cos(a)), lambda a: n.tanh(a) * n.sin(a)], x)


PROGRAMS = {
    f.__name__: f for f in (two, closures, three, constant, nested, around_loops, shared)
}  # fmt: skip
each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
INDICES = [np.int32(i) for i in range(3)]


def scalar(n, f):
    def total(*args):
        outs = [x for x in jax.tree.leaves(f(*args)) if getattr(x, "dtype", np.dtype(int)).kind == "f"]
        return sum((n.sin(x + 1) * (k + 1)).sum() for k, x in enumerate(outs))

    return total


@each_program
def test_values(program):
    ours, theirs = both(program)
    compiled = pc.jit(ours)
    for i in INDICES:
        want = theirs(i, X, Y)
        near_trees(compiled(i, X, Y), want)
        near_trees(ours(i, X, Y), want)


@each_program
def test_derivatives(program):
    ours, theirs = both(program)
    gradient = pc.jit(pc.grad(scalar(pnp, ours), (1, 2)))
    hessian = pc.jit(pc.hessian(scalar(pnp, ours), (1, 2)))
    backwards_twice = pc.jit(pc.jacrev(pc.grad(scalar(pnp, ours), (1, 2)), (1, 2)))
    wanted = scalar(np, theirs)
    forward = pc.jit(lambda i, xs, ts: pc.jvp(lambda *ys: scalar(pnp, ours)(i, *ys), xs, ts))
    tangents = (np.float32([1, -2, 0.5]), np.float32(np.cos(Y)))
    for i in INDICES:
        near_trees(gradient(i, X, Y), gradients(wanted, (i, X, Y), (1, 2)), 1e-4)
        want = hessians(wanted, (i, X, Y), (1, 2))
        near_trees(hessian(i, X, Y), want, 1e-3)
        near_trees(backwards_twice(i, X, Y), want, 1e-3)
        near_trees(forward(i, (X, Y), tangents), derivatives(wanted, (i, X, Y), (None, *tangents)), 1e-4)


@each_program
def test_mapped(program):
    ours, theirs = both(program)
    xs, ys = np.stack([X, X * 2, -X]), np.stack([Y, -Y, Y + 1], axis=1)
    for axes in ((0, 0, 1), (0, None, None), (None, 0, 1)):
        args = [
            whole if a is not None else one
            for a, whole, one in zip(axes, (np.int32([2, 0, 1]), xs, ys), (np.int32(1), X, Y), strict=True)
        ]
        near_trees(pc.jit(pc.vmap(ours, axes))(*args), plain.mapped(theirs, axes, args))
        want = plain.mapped(lambda *xs: gradients(scalar(np, theirs), xs, (1, 2)), axes, args)
        near_trees(pc.jit(pc.vmap(pc.grad(scalar(pnp, ours), (1, 2)), axes))(*args), want, 1e-4)


def test_predicates():
    for pred in (True, False, 3, 0.0, np.bool_(True), np.float32(2), np.int8(0)):
        near(lax.cond(pred, lambda x: x + 1, lambda x: x - 1, X), X + 1 if pred else X - 1)
    near(lax.cond(pnp.asarray(2.5), lambda: 1, lambda: 2), np.int32(1))


def test_indices_are_clamped():
    branches = [lambda x: x * 1, lambda x: x * 2, lambda x: x * 3]
    for index, factor in ((-7, 1), (1, 2), (9, 3), (np.uint8(255), 3), (np.int64(2), 3)):
        near(lax.switch(index, branches, X), X * factor)
    assert lax.switch(5, [lambda x: x], X) is X


def test_forms():
    near(lax.cond(True, X, lambda x: x * 2, Y, lambda y: y[0]), X * 2)
    near(lax.cond(False, X, lambda x: x * 2, Y, lambda y: y[0]), Y[0])
    near(lax.cond(False, lambda x: x * 2, lambda x: x * 3, operand=X), X * 3)
    near(lax.switch(0, [lambda t: t[0] * 2, lambda t: t[1]], operand=(X, X)), X * 2)
    assert lax.cond(True, lambda _: 3, lambda _: 4, operand=None) == 3
    assert lax.cond(True, lambda: (), lambda: ()) == ()


def test_under_grad_alone_values_are_concrete():
    def f(x):
        return lax.cond(x > 2, lambda v: v * v, lambda v: v * 3, x)

    near(pc.grad(f)(3.0), np.float32(6))
    near(pc.grad(f)(1.0), np.float32(3))
    near(pc.grad(pc.grad(f))(3.0), np.float32(2))


def test_only_the_chosen_branch_is_computed():
    # The other loop would never end.
    def forever(x):
        return lax.while_loop(lambda v: v.sum() > -99, lambda v: v + 0, x)

    near(pc.jit(lambda i, x: lax.cond(i > 0, lambda v: v, forever, x))(1, X), X)


def test_residuals_of_branches_share_their_places():
    def f(i, x):
        return shared(lax, pnp, i, x, Y).sum()

    text = repr(pc.make_jaxpr(pc.grad(f, 1))(np.int32(0), X))
    results = text.split(" = cond[")[0].split("let")[-1].split("\n")[-1]
    assert results.count("f32[3]") == 5  # the value, and the four residuals of the branch with most residuals


def test_printed():
    text = repr(pc.make_jaxpr(lambda i, x: lax.cond(i, lambda v: v * 2, lambda v: v, x))(True, X))
    assert "cond[" in text
    assert "branches=(" in text


def test_what_all_branches_hand_on_is_no_result():
    def f(i, x, y):
        def doubled(x, y):
            twice = y * 2
            return x, twice, y, twice

        return lax.cond(i, doubled, lambda x, y: (x, y, y, y), x, y)

    (_, choice) = pc.make_jaxpr(f)(True, X, Y).graph.equations
    assert len(choice.outputs) == 1
    for i in (True, False):
        near_trees(f(i, X, Y), (X, Y * 2 if i else Y, Y, Y * 2 if i else Y))
    assert isinstance(f(True, X, Y)[0], pc.Array)
    assert "cond" not in repr(pc.make_jaxpr(lambda i, x: lax.cond(i, lambda x: x, lambda x: x, x))(True, X))


def test_functions_are_traced_once():
    traced = []

    def double(x):
        traced.append(x)
        return x * 2

    def same(x):
        return x

    for i in (0, 1, 5):
        near(lax.switch(i, [double, same], X), X * 2 if i < 1 else X)
    assert len(traced) == 1


ERRORS = {
    "shapes": (lambda: lax.cond(True, lambda x: {"a": x}, lambda x: {"a": x[:2]}, X),
               r"cond: false_fun .* returns f32\[2\] at output\['a'\], but true_fun .* returns f32\[3\]"),
    "structure": (lambda: lax.switch(1, [lambda x: x, lambda x: x, lambda x: (x, x)], X),
                  r"switch: branch 0 .* structure PyTreeDef.*, but branch 2 .* returns PyTreeDef\(\("),
    "dtype": (lambda: lax.switch(1, [lambda x: x, lambda x: x > 0], X), r"branch 1 .* returns bool\[3\] there"),
    "no function": (lambda: lax.cond(True, 3, lambda x: x, X), "cond: true_fun must be a function, got 3"),
    "no functions": (lambda: lax.switch(1, [lambda x: x, 4], X), r"switch: branches\[1\] must be a function, got 4"),
    "vector": (lambda: lax.cond(X > 0, lambda x: x, lambda x: x, X), r"cond: pred must be a scalar, got bool\[3\]"),
    "index": (lambda: lax.switch(1.5, [lambda x: x, lambda x: x], X), r"switch: index must be an integer, got f32"),
    "complex": (lambda: lax.cond(1j, lambda: 1, lambda: 2), "cond: pred must be a bool or a real number"),
    "no array": (lambda: lax.cond(True, lambda x: x, lambda x: x, "text"), "not an array"),
    "both": (lambda: lax.cond(True, lambda x: x, lambda x: x, X, operand=X), "not both"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
    call, message = case
    with pytest.raises(TypeError, match=message):
        call()


def test_no_branches():
    with pytest.raises(ValueError, match="switch: needs at least one branch"):
        lax.switch(0, [], X)
