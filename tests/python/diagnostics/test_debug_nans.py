"""debug_nans and debug_infs: the first nan is an error that names the primitive and the line, for any origin."""

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def log_where_positive(x):
    return pnp.where(x > 0, pnp.log(x), 0.0)


def safe_log(x):
    positive = pnp.where(x > 0, x, 1.0)
    return pnp.where(x > 0, pnp.log(positive), 0.0)


def fault(function, *args):
    with pc.debug_nans(), pytest.raises(FloatingPointError) as caught:
        function(*args)
    return str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        pc.grad(log_where_positive),
        pc.jit(pc.grad(log_where_positive)),
        pc.grad(pc.jit(log_where_positive)),
        lambda x: pc.vmap(pc.grad(log_where_positive))(pnp.stack([x, x])),
    ],
    ids=["grad", "jit of grad", "grad of jit", "vmap of grad"],
)
def test_in_the_backward_pass(function):
    said = fault(function, pnp.float32(0.0))
    assert "test_debug_nans.py" in said
    assert "return pnp.where(x > 0, pnp.log(x), 0.0)" in said
    assert "div" in said
    assert "backward pass" in said


def test_without_a_nan_nothing_is_said():
    with pc.debug_nans():
        assert float(pc.grad(safe_log)(0.0)) == 0.0
        assert float(pc.jit(lambda x: pnp.log(x))(0.0)) == -float("inf")
        assert int(pc.jit(lambda x: x + 1)(2)) == 3
    assert pnp.isnan(pc.grad(log_where_positive)(0.0))


def test_eagerly_and_inside_of_jit():
    said = fault(lambda: pnp.log(pnp.array([1.0, -2.0])))
    assert "log: its result f32[2] has a nan at [1]" in said
    assert "lambda: pnp.log(pnp.array([1.0, -2.0]))" in said

    def eager(x):
        return pnp.sqrt(x)

    def other(x):
        root = pnp.sqrt(x) + 1
        return root

    # The line is that of the current call, not of the first evaluation of the primitive.
    assert "return pnp.sqrt(x)" in fault(eager, -1.0)
    assert "root = pnp.sqrt(x) + 1" in fault(other, -2.0)

    inner = pc.jit(lambda x: pnp.sqrt(x))
    said = fault(pc.jit(lambda x: inner(x - 3) * 2), 1.0)
    assert "inner = pc.jit(lambda x: pnp.sqrt(x))" in said
    assert "in jit of <lambda>" in said
    assert "-2.0" in said


def test_an_argument_that_is_nan_already_is_named():
    said = fault(pc.jit(lambda x, y: x + y), 1.0, pnp.array([0.0, float("nan")]))
    assert "add" in said
    assert "'y'" in said


@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_inside_of_loops(wrap):
    def repeated_log(x):
        return lax.fori_loop(0, 10, lambda i, c: pnp.log(c), x)

    said = fault(wrap(repeated_log), 5.0)
    assert "pnp.log(c)" in said
    assert "iteration 3" in said

    def halves(x):
        return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, pnp.sqrt(c[1] - 1.5)), (0, x))

    said = fault(wrap(halves), 5.0)
    assert "sqrt" in said
    assert "iteration 2" in said


def test_infinities():
    with pc.debug_infs(), pytest.raises(FloatingPointError, match=r"div: its result f32\[2\] has an infinity at \[1\]"):
        pc.jit(lambda x: 1 / x)(pnp.array([1.0, 0.0]))
    with pc.debug_infs():
        assert pnp.isnan(pnp.sqrt(-1.0))


def test_as_a_setting_and_after_an_error():
    f = pc.jit(lambda x: pnp.log(x))
    assert pnp.isnan(f(-1.0))
    pc.config.update("debug_nans", True)
    try:
        with pytest.raises(FloatingPointError):
            f(-1.0)
        assert float(f(1.0)) == 0.0
    finally:
        pc.config.update("debug_nans", False)
    assert pnp.isnan(f(-1.0))


def test_a_donated_array_is_kept_until_the_fault_is_found():
    f = pc.jit(lambda x: pnp.log(x), donate_argnums=0)
    x = pnp.array([1.0, -1.0])
    assert "at [1]" in fault(f, x)
    with pc.debug_nans():
        y = pnp.ones(2)
        f(y)
    assert y.is_deleted()


def scanned(x):
    return lax.scan(lambda c, y: (pnp.log(c) + y, c), x, pnp.zeros(6))


def chosen(x):
    return lax.cond(x > 0, lambda x: x, lambda x: pnp.sqrt(x), x)


@pc.checkpoint
def recomputed(x):
    return pnp.log(x - 9) * 2


@pc.custom_jvp
def ruled(x):
    return x * 1.0


@ruled.defjvp
def rule_of_ruled(primals, tangents):
    return ruled(*primals), pnp.log(primals[0] - 9) * tangents[0]


@pc.custom_vjp
def ruled_backwards(x):
    return x * 1.0


ruled_backwards.defvjp(lambda x: (x * 1.0, x), lambda x, ct: (pnp.log(x - 8) * ct,))


@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    ("function", "x", "what", "line"),
    [
        (scanned, 5.0, "in iteration 3 of scan", "pnp.log(c) + y"),
        (chosen, -1.0, "in branch 0 of cond", "lambda x: pnp.sqrt(x)"),
        (recomputed, 1.0, "log: its result", "return pnp.log(x - 9) * 2"),
        (pc.grad(ruled), 1.0, "log: its result", "pnp.log(primals[0] - 9) * tangents[0]"),
        (pc.grad(ruled_backwards), 1.0, "log: its result", "pnp.log(x - 8) * ct"),
    ],
    ids=["scan", "cond", "checkpoint", "custom_jvp", "custom_vjp"],
)
def test_inside_of_what_holds_functions(wrap, function, x, what, line):
    said = fault(wrap(function), x)
    assert what in said
    assert line in said
