"""`test_util`: right derivatives pass in every mode and dtype; wrong ones fail, and the message says where."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.test_util import check_grads, check_jvp, check_vjp

X = np.array([0.5, -1.25, 2.0], np.float32)
MODES = ["fwd", "rev", "lin"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 2])
def test_right_derivatives(mode, order):
    check_grads(
        lambda x, y: {"a": pnp.sin(x) * y["w"], "b": (x**2).sum()}, (X, {"w": X[::-1]}), order, [mode], eps=1e-2
    )
    with pc.enable_x64():
        wide = X.astype(np.float64)
        check_grads(lambda x: pnp.exp(x) / (1 + x * x), (wide,), order, modes=mode)
        check_grads(lambda z: z**2 * pnp.conj(z) + pnp.abs(z), (wide + 1j * wide[::-1],), order, [mode])


def test_all_modes_together_and_python_scalars():
    check_grads(lambda x, n: x**3 * n, (0.5, 2), 1, MODES, eps=1e-2)
    check_grads(lambda x: x**3, (0.5,), 2, MODES, eps=1e-2)
    check_grads(lambda x: (x, x.astype("int32")), (X,), 1, MODES, eps=1e-2)
    check_grads(pnp.tanh, (X.astype(np.float16),), 1, atol=0.1, rtol={np.float16: 0.1}, eps=1e-1)


@functools.partial(pc.custom_jvp)
def wrong(x):
    return x * x


@wrong.defjvp
def _wrong_rule(primals, tangents):
    return primals[0] ** 2, 3 * primals[0] * tangents[0]


def test_wrong_derivatives():
    for mode, match in (("fwd", "JVP tangent"), ("rev", "VJP cotangent projection"), ("lin", "LIN tangent")):
        with pytest.raises(AssertionError, match=match):
            check_grads(wrong, (X,), 1, [mode], eps=1e-2)
    check_grads(_kept, (X,), 1, eps=1e-2)
    with pytest.raises(AssertionError, match="JVP of JVP tangent"):
        check_grads(_kept, (X,), 2, ["fwd"], eps=1e-2)


@pc.custom_jvp
def _kept(x):
    return pnp.sin(x) - pnp.cos(x) * x


@_kept.defjvp
def _kept_rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    # The derivative is right, and its own derivative is hidden.
    return _kept(x), pc.lax.stop_gradient(x * pnp.sin(x)) * dx


def test_wrong_results_and_types():
    def jvp_of(result, moved):
        return lambda primals, tangents: (result(primals[0]), moved(tangents[0]))

    for result, moved, match in [
        (lambda x: x + 1, lambda t: 2 * t, "mine primal"),
        (lambda x: 2 * x, lambda t: 3 * t, "mine tangent"),
        (lambda x: 2 * x, lambda t: t.astype(np.float16), "the dtypes differ: float32 and float16"),
        (lambda x: (2 * x,), lambda t: (2 * t,), "the structures differ"),
    ]:
        with pytest.raises((AssertionError, ValueError), match=match):
            check_jvp(lambda x: 2 * x, jvp_of(result, moved), (X,), err_msg="mine", eps=1e-2)
    check_jvp(lambda x: 2 * x, jvp_of(lambda x: 2 * x, lambda t: 2 * t), (X,), eps=1e-2)
    check_vjp(lambda x: 2 * x, lambda x: (2 * x, lambda ct: (2 * ct,)), (X,), eps=1e-2)
    with pytest.raises(AssertionError, match="cotangent projection"):
        check_vjp(lambda x: 2 * x, lambda x: (2 * x, lambda ct: (3 * ct,)), (X,), eps=1e-2)


@pytest.mark.parametrize("tangent", [pnp.array(5), pnp.array(5.0, "float16"), np.int32(5)])
def test_tangents_have_the_dtype_of_their_values(tangent):
    for function in (lambda x: x, lambda x: x * 2):
        with pytest.raises(TypeError, match=r"the tangent for x must be f32\[\], got"):
            pc.jvp(function, (1.0,), (tangent,))
        with pytest.raises(TypeError, match=r"the tangent for x must be f32\[\], got"):
            pc.jit(lambda x, t, function=function: pc.jvp(function, (x,), (t,)))(1.0, tangent)


def test_whole_numbers_are_no_tangents_of_floats():
    _, f_jvp = pc.linearize(lambda x: x * 2, 1.0)
    assert float(f_jvp(1.0)) == 2
    with pytest.raises(ValueError, match=r"must be f32\[\], got i32\[\]"):
        f_jvp(1)
    with pytest.raises(TypeError, match=r"must be f32\[\], got i32\[\]"):
        pc.jvp(lambda x: x * 2, (1.0,), (1,))
    _, f_vjp = pc.vjp(lambda x: x * 2, 1.0)
    with pytest.raises(ValueError, match=r"must be f32\[\], got i32\[\]"):
        f_vjp(1)
