"""`grad` and its family: arguments, structures, integers, and messages for bad input."""

import traceback

import numpy as np
import pytest

from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.config.config import config
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES as P
from pycompiler.transforms import grad, jacfwd, jacrev, jvp, linearize, make_jaxpr, value_and_grad, vjp

sin, mul, add, convert = P["sin"], P["mul"], P["add"], P["convert"]
VECTOR = np.float32([1, 2, 3])


def total(x):
    return P["reduce_sum"].bind(x, axes=tuple(range(np.ndim(x) if isinstance(x, np.ndarray) else x.ndim)))


def number(x):
    return float(np.asarray(x))


def wave(x):
    return mul.bind(sin.bind(x), x)


def slope_of_wave(x):
    return np.cos(x) * x + np.sin(x)


def test_values():
    assert number(grad(wave)(2.0)) == pytest.approx(slope_of_wave(2), rel=1e-6)
    assert number(grad(grad(wave))(2.0)) == pytest.approx(2 * np.cos(2) - 2 * np.sin(2), rel=1e-5)
    value, gradient = value_and_grad(wave)(2.0)
    assert number(value) == pytest.approx(2 * np.sin(2), rel=1e-6)
    assert number(gradient) == pytest.approx(slope_of_wave(2), rel=1e-6)


def test_argnums_choose_and_order_the_gradients():
    def fun(x, y, z):
        return mul.bind(mul.bind(x, x), mul.bind(y["y"], z))

    args = (2.0, {"y": 3.0}, 5.0)
    assert number(grad(fun)(*args)) == 60.0
    gradients = grad(fun, argnums=(2, 0))(*args)
    assert [number(g) for g in gradients] == [12.0, 60.0]
    assert number(grad(fun, argnums=1)(*args)["y"]) == 20.0
    assert number(grad(fun, argnums=-1)(*args)) == 12.0
    assert number(grad(lambda x, *, scale: mul.bind(x, scale))(2.0, scale=7.0)) == 7.0


def test_aux_is_passed_on():
    def fun(x):
        return mul.bind(x, x), {"twice": add.bind(x, x), "name": "square"}

    (value, aux), gradient = value_and_grad(fun, has_aux=True)(3.0)
    assert (number(value), number(gradient)) == (9.0, 6.0)
    assert aux["name"] == "square"
    assert number(aux["twice"]) == 6.0
    gradient, aux = grad(fun, has_aux=True)(3.0)
    assert number(gradient) == 6.0
    assert number(jvp(fun, (3.0,), (1.0,), has_aux=True)[2]["twice"]) == 6.0
    assert number(vjp(fun, 3.0, has_aux=True)[2]["twice"]) == 6.0
    assert number(jacrev(fun, has_aux=True)(3.0)[1]["twice"]) == 6.0
    with pytest.raises(TypeError, match=r"with has_aux=True <lambda> must return a pair \(output, aux\)"):
        grad(lambda x: x, has_aux=True)(3.0)


def test_what_does_not_vary_has_a_gradient_of_zeros():
    gradient = grad(lambda p: mul.bind(p["used"], 2.0))({"used": 1.0, "not": VECTOR})
    np.testing.assert_array_equal(np.asarray(gradient["not"]), np.zeros(3, np.float32))
    np.testing.assert_array_equal(np.asarray(grad(lambda x: 1.0)(VECTOR)), np.zeros(3, np.float32))
    stopped = grad(lambda x: mul.bind(x, P["stop_gradient"].bind(x)))(3.0)
    assert number(stopped) == 3.0


def test_gradients_keep_the_dtype():
    for dtype in (dtypes.float16, dtypes.bfloat16, dtypes.float32):
        x = np.ones((), dtype)
        gradient = np.asarray(grad(lambda x: mul.bind(x, x))(x))
        assert gradient.dtype == dtype
    mixed = np.asarray(grad(lambda x: convert.bind(sin.bind(x), new_dtype=dtypes.float32))(np.ones((), np.float16)))
    assert mixed.dtype == np.float16


def test_integers_have_tangents_of_float0():
    def fun(n, x):
        return mul.bind(x, convert.bind(n, new_dtype=dtypes.float32)), n

    none = np.zeros((), dtypes.float0)
    _, tangents = jvp(fun, (3, 2.0), (none, 1.0))
    assert number(tangents[0]) == 3.0
    assert tangents[1].dtype == dtypes.float0
    _, pullback = vjp(fun, 3, 2.0)
    first, second = pullback((1.0, none))
    assert first.dtype == dtypes.float0
    assert number(second) == 3.0
    _, linear = linearize(fun, 3, 2.0)
    assert number(linear(none, 1.0)[0]) == 3.0


def test_jacobians_have_the_structure_of_output_and_argument():
    def fun(p):
        return {"wave": wave(p["x"]), "total": total(mul.bind(p["x"], p["x"]))}

    for jacobian in (jacfwd(fun)({"x": VECTOR}), jacrev(fun)({"x": VECTOR})):
        expected = np.diag(slope_of_wave(VECTOR))
        np.testing.assert_allclose(np.asarray(jacobian["wave"]["x"]), expected, rtol=1e-6)
        np.testing.assert_allclose(np.asarray(jacobian["total"]["x"]), 2 * VECTOR)


BAD = [
    (lambda: grad(wave)(3), TypeError, r"got int32 for argument 0 \('x'\) of wave: pass a float"),
    (lambda: grad(lambda p: 1.0)({"w": [True]}), TypeError, r"got bool for argument 0 \('p\['w'\]\[0\]'\)"),
    (lambda: grad(wave)(VECTOR), TypeError, r"wave must return a scalar, it returned f32\[3\]; reduce it"),
    (lambda: grad(lambda x: (x, x))(1.0), TypeError, "must return one scalar, it returned a tree of 2 leaves"),
    (lambda: grad(lambda x: 3)(1.0), TypeError, r"requires real-valued outputs .* result of <lambda> is i32\[\]"),
    (lambda: grad(lambda x: "a")(1.0), TypeError, "<lambda> returned 'a' of type str at output, not an array"),
    (lambda: grad(wave)("a"), TypeError, "grad: argument 'x' of wave is 'a' of type str, not an array"),
    (lambda: grad(wave, argnums=1)(1.0), TypeError, "argnums=1 asks for argument 1, but the call has 1 positional"),
    (lambda: jvp(wave, 1.0, 1.0), TypeError, "primals must be a tuple or list"),
    (lambda: jvp(wave, (1.0,), (VECTOR,)), ValueError, r"the tangent for x must be f32\[\], got f32\[3\]"),
    (lambda: jvp(wave, (1.0,), (1.0, 2.0)), TypeError, "the tangent must have the structure of"),
    (lambda: jvp(wave, (np.float32(1),), (np.float16(1),)), TypeError, r"x must be f32\[\], got f16\[\]"),
    (lambda: jvp(lambda n: n, (1,), (1,)), TypeError, r"must be float0\[\] \(that of an integer i32\[\]\)"),
    (lambda: vjp(wave, 1.0)[1](VECTOR), ValueError, r"the cotangent for output must be f32\[\], got f32\[3\]"),
    (lambda: vjp(wave, 1.0)[1]("a"), TypeError, "got 'a' of type str"),
    (lambda: jacrev(lambda x: 1)(1.0), TypeError, r"jacrev requires real-valued outputs .* is i32\[\]"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_bad_input_is_told_at_the_users_line(call, kind, message):
    with pytest.raises(kind, match=message) as caught:
        call()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}


def test_the_packages_own_frames_can_be_shown():
    config.update("traceback_filtering", False)
    try:
        with pytest.raises(TypeError) as caught:
            grad(wave)(3)
    finally:
        config.update("traceback_filtering", True)
    assert any("derivative.py" in frame.filename for frame in traceback.extract_tb(caught.value.__traceback__))


def test_a_primitive_without_a_transpose_says_so_with_its_line():
    def linear(primals, tangents, **params):
        return broken.bind(*primals, **params), broken.bind(*tangents, **params)

    like = P["reduce_sum"]
    broken = type(like)("broken", like.shape_rule, linear, None, like.batch, like.reference, like.sampler)
    with pytest.raises(NotDifferentiableError, match="broken: reverse-mode differentiation is not defined") as caught:
        grad(lambda x: broken.bind(x, axes=(0,)))(VECTOR)
    assert str(caught.value).startswith(f"{__file__}:")


def test_the_backward_pass_has_the_places_of_the_forward_one():
    graph = make_jaxpr(grad(wave))(1.0).graph
    lines = {equation.source.line for equation in graph.equations if equation.source}
    assert lines == {wave.__code__.co_firstlineno + 1}


def test_the_results_look_like_the_function():
    assert grad(wave).__name__ == "wave"
    assert grad(wave).__wrapped__ is wave
    assert grad(wave).__doc__ == "grad of wave."


def test_residuals_that_nothing_needs_are_not_kept():
    def fun(x):
        # The derivative of sin would read cos(x); stop_gradient makes it dead.
        return mul.bind(P["stop_gradient"].bind(sin.bind(x)), x)

    graph = make_graph(lambda x: [fun(x)], [get_aval(1.0)], DebugInfo("jit", fun))
    parts = linearize_graph(graph, (True,))
    assert len(parts.residuals) == 1
    assert [equation.primitive.name for equation in parts.linear.graph.equations] == ["mul"]


def test_a_shape_has_no_elements():
    shape = ShapeDtypeStruct((), "float32")
    with pytest.raises(
        TypeError, match="has no elements: only eval_shape, make_jaxpr, linear_transpose and lower take it"
    ):
        grad(wave)(shape)
    with pytest.raises(TypeError, match="has no elements"):
        make_jaxpr(lambda x: mul.bind(x, shape))(1.0)
