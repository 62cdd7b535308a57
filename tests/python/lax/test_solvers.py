"""custom_linear_solve and custom_root: values against Python's, derivatives against differences; errors."""

import jax
import numpy as np
import plain
import pytest
from beside_plain import both, near, near_trees
from slopes import derivatives, gradients, hessian

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

A = np.float32([[4, 1, 0.5], [0.3, 3, 1], [0.2, -1, 5]])
B = np.float32([1, -2, 3])


def jacobi(lib, n, diagonal):
    """A solver that needs only products: x + (b - A x) / diagonal, repeatedly."""

    def solve(matvec, b):
        return lib.fori_loop(0, 40, lambda i, x: x + (b - matvec(x)) / diagonal, b / diagonal)

    return solve


def general(lib, n, a, b):
    solve = jacobi(lib, n, lib.stop_gradient(n.diag(a)))
    return lib.custom_linear_solve(lambda x: a @ x, b, solve, solve)


def symmetric(lib, n, a, b):
    s = a + a.T
    return lib.custom_linear_solve(lambda x: s @ x, b, jacobi(lib, n, 9.0), symmetric=True)


def tree(lib, n, a, b):
    """Two unknowns, and an aux next to the solution."""

    def matvec(x):
        return {"u": a @ x["u"] + x["v"] * 0.1, "v": 3 * x["v"]}

    def solve(matvec, b):
        v = b["v"] / 3
        u = jacobi(lib, n, lib.stop_gradient(n.diag(a)))(lambda x: a @ x, b["u"] - v * 0.1)
        return {"u": u, "v": v}, (b["v"] * 7).sum()

    def transpose_solve(vecmat, b):
        u = jacobi(lib, n, lib.stop_gradient(n.diag(a)))(lambda x: x @ a, b["u"])
        return {"u": u, "v": (b["v"] - 0.1 * u) / 3}, (b["v"] * 7).sum()

    return lib.custom_linear_solve(matvec, {"u": b, "v": b * 2}, solve, transpose_solve, has_aux=True)[0]


def scalar_root(lib, n, a, b):
    """The cube root of each."""

    def newton(f, x):
        return lib.fori_loop(0, 30, lambda i, x: x - f(x) / (3 * x * x), x)

    wanted = (a * a + 1).sum() + b[0] ** 2
    return lib.custom_root(lambda x: x**3 - wanted, n.float32(2), newton, lambda g, y: y / g(n.float32(1)))


def vector_root(lib, n, a, b):
    """x + sin(x)/2 = A b, as a tree, with the number of steps as aux."""
    side = a @ b

    def f(x):
        return (x[0] + n.sin(x[0]) / 2 - side,)

    def solve(f, x):
        def step(state):
            x, steps = state
            return (x[0] - f(x)[0] / (1 + n.cos(x[0]) / 2),), steps + 1

        def goes_on(state):
            return (n.abs(f(state[0])[0]).max() > 1e-6) & (state[1] < 50)

        return lib.while_loop(goes_on, step, (x, n.float32(0)))

    def tangent_solve(g, y):
        return (y[0] / g((n.ones(3),))[0],)

    return lib.custom_root(f, (side,), solve, tangent_solve, has_aux=True)[0]


PROGRAMS = {f.__name__: f for f in (general, symmetric, tree, scalar_root, vector_root)}
each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


def scalar(n, f):
    return lambda *args: sum(n.sin(x).sum() for x in jax.tree.leaves(f(*args)))


@each_program
def test_values(program):
    ours, theirs = both(program)
    want = theirs(A, B)
    near_trees(pc.jit(ours)(A, B), want, 1e-4)
    near_trees(ours(A, B), want, 1e-4)


@each_program
def test_derivatives(program):
    ours, theirs = both(program)
    want = gradients(scalar(np, theirs), (A, B))
    near_trees(pc.jit(pc.grad(scalar(pnp, ours), (0, 1)))(A, B), want, 1e-4)
    tangents = (np.float32(np.cos(A)), np.float32([1, 0.5, -1]))
    want = derivatives(scalar(np, theirs), (A, B), tangents)
    near_trees(pc.jit(lambda xs, ts: pc.jvp(scalar(pnp, ours), xs, ts))((A, B), tangents), want, 1e-4)
    want = hessian(lambda b, a: scalar(np, theirs)(a, b), B, A)
    near(pc.jit(pc.hessian(scalar(pnp, ours), 1))(A, B), want, 1e-3)


def test_derivatives_of_concrete_values():
    ours, theirs = both(general)
    want = gradients(scalar(np, theirs), (A, B))
    near_trees(pc.grad(scalar(pnp, ours), (0, 1))(A, B), want, 1e-4)


@each_program
@pytest.mark.parametrize("axes", [(0, None), (None, 1), (2, 0)])
def test_mapped(program, axes):
    ours, theirs = both(program)
    args = [x if axis is None else np.stack([x, x * 1.2], axis) for x, axis in zip((A, B), axes, strict=True)]
    near_trees(pc.jit(pc.vmap(ours, axes))(*args), plain.mapped(theirs, axes, args), 1e-4)
    want = plain.mapped(lambda *xs: gradients(scalar(np, theirs), xs), axes, args)
    near_trees(pc.jit(pc.vmap(pc.grad(scalar(pnp, ours), (0, 1)), axes))(*args), want, 1e-4)


def test_the_steps_of_a_solver_are_not_differentiated():
    def f(a):
        return general(lax, pnp, a, B).sum()

    loops = repr(pc.make_jaxpr(pc.grad(f))(A)).count("scan[")
    # One to solve, one to solve transposed; each of the two holds the graphs of both.
    assert loops == 4


def test_the_guess_has_no_derivative():
    def f(guess):
        return lax.custom_root(lambda x: x - 3.0, guess, lambda f, x: x - f(x), lambda g, y: y / g(1.0))

    value, slope = pc.value_and_grad(f)(1.0)
    near(value, np.float32(3), 1e-4)
    near(slope, np.float32(0), 1e-4)


ERRORS = {
    "structure": (lambda: lax.custom_linear_solve(lambda x: (x, x), B, lambda m, b: b), "matvec .* must return"),
    "shape": (lambda: lax.custom_linear_solve(lambda x: x[:2], B, lambda m, b: b),
              r"return f32\[3\] at output, it .* f32\[2\]"),
    "solution": (lambda: lax.custom_linear_solve(lambda x: x, {"a": B}, lambda m, b: b["a"]), "solve .* the structure"),
    "pair": (lambda: lax.custom_linear_solve(lambda x: x, B, lambda m, b: b, has_aux=True), "a pair"),
    "function": (lambda: lax.custom_linear_solve(A, B, lambda m, b: b), "matvec must be a function"),
    "transpose": (lambda: pc.grad(lambda b: lax.custom_linear_solve(lambda x: x * 2, b, lambda m, b: b / 2).sum())(B),
                  "custom_linear_solve: reverse-mode differentiation needs `transpose_solve`"),
    "root": (lambda: lax.custom_root(lambda x: x > 0, B, lambda f, x: x, lambda g, y: y), r"f must return f32\[3\]"),
    "tangent": (lambda: lax.custom_root(lambda x: x, B, lambda f, x: x, lambda g, y: (y, y)), "tangent_solve .* str"),
    "no function": (lambda: lax.custom_root(lambda x: x, B, lambda f, x: x, 3), "tangent_solve must be a function"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
    call, message = case
    with pytest.raises(TypeError, match=message):
        call()
