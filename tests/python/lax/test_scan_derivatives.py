"""Derivatives of scan against differences, to second order, mapped; the residuals and work of a derivative's loops."""

import numpy as np
import plain
import pytest
from beside_plain import both, near, near_trees
from scan_programs import PROGRAMS, XS, B, V, W, each_program, equations, floats, rnn, scalar
from slopes import derivatives, gradient, gradients, hessian

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.autodiff.transpose import pull_back
from pycompiler.core.tracing.primitive import UndefinedPrimal


@each_program
def test_gradients(case):
    program, args = case
    ours, theirs = both(program)
    want = gradients(scalar(np, theirs), args, floats(args))
    near_trees(pc.jit(pc.grad(scalar(pnp, ours), floats(args)))(*args), want, 1e-4)


def test_gradients_of_concrete_values():
    ours, theirs = both(rnn)
    want = gradients(scalar(np, theirs), (W, V, XS, B))
    near_trees(pc.grad(scalar(pnp, ours), (0, 1, 2, 3))(W, V, XS, B), want, 1e-4)


@each_program
def test_forward_derivatives(case):
    program, args = case
    ours, theirs = both(program)
    tangents = tuple(np.float32(np.cos(np.arange(x.size))).reshape(x.shape) for x in args)
    want = derivatives(scalar(np, theirs), args, tangents)
    near_trees(pc.jit(lambda xs, ts: pc.jvp(scalar(pnp, ours), xs, ts))(args, tangents), want, 1e-4)


@pytest.mark.parametrize("name", ["rnn", "backwards", "counter", "invariant", "nested", "zero start", "fori_loop"])
def test_second_derivatives(name):
    program, args = PROGRAMS[name]
    ours, theirs = both(program)
    want = hessian(scalar(np, theirs), *args)
    near(pc.jit(pc.hessian(scalar(pnp, ours)))(*args), want, 1e-3)
    reverse = pc.jit(pc.jacrev(pc.grad(scalar(pnp, ours))))(*args)
    near(reverse, want, 1e-3)


@pytest.mark.parametrize("name", ["rnn", "counter", "nested", "invariant"])
def test_mapped_gradients(name):
    program, args = PROGRAMS[name]
    ours, theirs = both(program)
    several = [np.stack([x, x[::-1] * 0.5]) for x in args]
    chosen = floats(args)

    def slopes(*xs):
        return gradients(scalar(np, theirs), xs, chosen)

    want = plain.mapped(slopes, [0] * len(args), several)
    near_trees(pc.jit(pc.vmap(pc.grad(scalar(pnp, ours), chosen)))(*several), want, 1e-4)
    axes = (0,) + (None,) * (len(args) - 1)
    got = pc.grad(lambda x, *rest: pc.vmap(scalar(pnp, ours), axes)(x, *rest).sum(), chosen)
    args = (several[0], *args[1:])
    of_first, *of_rest = plain.mapped(slopes, axes, args)
    near_trees(pc.jit(got)(*args), (of_first, *(x.sum(0) for x in of_rest)), 1e-4)


def test_a_derivative_keeps_little():
    """A value of an iteration is computed once, stored once, and not stored if another value has it."""

    def loss(w, h, xs):
        h, hs = lax.scan(lambda h, x: (pnp.tanh(x * pnp.exp(w) + h),) * 2, h, xs)
        return (hs * hs).sum()

    jaxpr = pc.make_jaxpr(pc.grad(loss))(V, B, XS)
    forward, backward = equations(jaxpr, "scan")
    # The results of tanh are already a result; exp(w) is computed before the loop.
    assert forward.params["num_carry"] == 1
    assert [v.aval.shape for v in forward.outputs] == [(3,), (5, 3)]
    assert len(equations(jaxpr, "exp")) == 1
    for loop in (forward, backward):
        assert not equations(loop.params["jaxpr"], "exp")
    assert not equations(backward.params["jaxpr"], "tanh")


def test_products_with_a_constant_are_summed_at_once():
    def loss(w, h, xs):
        return (lax.scan(lambda h, x: (pnp.tanh(x * pnp.cos(h) @ w.T), ()), h, xs)[0] ** 2).sum()

    h, xs = np.float32(np.sin(np.arange(6))).reshape(2, 3), np.stack([XS, -XS], 1)
    jaxpr = pc.make_jaxpr(pc.grad(loss))(W, h, xs)
    _, backward = equations(jaxpr, "scan")
    assert (3, 3) not in [v.aval.shape for v in backward.outputs]
    assert len(equations(jaxpr, "dot_general")) == 1

    def wanted(w, h, xs):
        for x in xs:
            h = np.tanh(x * np.cos(h) @ w.T)
        return (h**2).sum()

    near_trees(pc.jit(pc.grad(loss, (0, 1, 2)))(W, h, xs), gradients(wanted, (W, h, xs)), 1e-4)


def test_cotangents_of_parts_are_summed_in_place():
    """An iteration of the backward loop takes no longer for a larger carry: only updates have the size of the carry."""

    def loss(lib, n, x):
        def step(i, b):
            b = b.at[i].set(n.sin(b[i - 1]) * x[0] + b[i])
            return lib.dynamic_update_slice(b, lib.dynamic_slice(b, (i,), (2,)) * b[5:7], (i - 1,))

        return (lib.fori_loop(1, 20, step, x) ** 2).sum()

    x = np.float32(np.sin(np.arange(30)))
    _, backward = equations(pc.make_jaxpr(pc.grad(lambda x: loss(lax, pnp, x)))(x), "scan")
    body = backward.params["jaxpr"].graph
    whole = {
        equation.primitive.name for equation in body.equations if (30,) in [v.aval.shape for v in equation.outputs]
    }
    assert whole <= {"scatter", "dynamic_update_slice"}
    want = gradient(lambda x: loss(plain.lax, np, plain.array(x)), x)
    near(pc.jit(pc.grad(lambda x: loss(lax, pnp, x)))(x), want, 1e-4)


def test_transposed_beside_a_counter():
    def linear(x):
        return lax.fori_loop(0, 4, lambda i, v: v * (i + 1) + pnp.roll(v, 1), x)

    # The rows of the transposed matrix, step by step from the last.
    want = B.astype(np.float64)
    for i in reversed(range(4)):
        want = want * (i + 1) + np.roll(want, -1)
    graph = pc.make_jaxpr(linear)(V)
    (got,) = pull_back(graph, [UndefinedPrimal(aval) for aval in graph.in_avals], [B])
    near(got, want, 1e-4)
