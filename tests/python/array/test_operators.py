"""The operators of arrays: the function that the runtime calls, and equal results of both."""

import itertools
import operator
import sys

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt

FUNCTIONS = {
    operator.add: pnp.add,
    operator.sub: pnp.subtract,
    operator.mul: pnp.multiply,
    operator.truediv: pnp.true_divide,
    operator.floordiv: pnp.floor_divide,
    operator.mod: pnp.remainder,
    divmod: pnp.divmod,
    operator.lt: pnp.less,
    operator.le: pnp.less_equal,
    operator.eq: pnp.equal,
    operator.ne: pnp.not_equal,
    operator.gt: pnp.greater,
    operator.ge: pnp.greater_equal,
    operator.and_: pnp.bitwise_and,
    operator.or_: pnp.bitwise_or,
    operator.xor: pnp.bitwise_xor,
    operator.lshift: pnp.left_shift,
    operator.rshift: pnp.right_shift,
}
OPERANDS = {
    "float": lambda: pnp.arange(3.0) - 1,
    "int": lambda: pnp.arange(3) - 1,
    "bool": lambda: pnp.array([True, False, True]),
    "small": lambda: pnp.arange(3, dtype="uint8"),
    "half": lambda: pnp.ones(3, "bfloat16"),
    "weak": lambda: pnp.asarray(2.5),
    "row": lambda: pnp.ones((2, 3)),
    "2": lambda: 2,
    "-3": lambda: -3,
    "1.5": lambda: 1.5,
    "True": lambda: True,
    "2j": lambda: 2j,
    "300": lambda: 300,
}


def outcome(function, a, b):
    try:
        result = function(a, b)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [(x.dtype, x.shape, x.weak_type, np.asarray(x).tobytes()) for x in parts]


@pytest.mark.parametrize("apply", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_operator_is_its_function(apply):
    for one, other in itertools.product(OPERANDS, OPERANDS):
        a, b = OPERANDS[one](), OPERANDS[other]()
        if isinstance(a, pc.Array) or isinstance(b, pc.Array):
            assert outcome(apply, a, b) == outcome(FUNCTIONS[apply], a, b), (one, other)


def calls_of_python(function):
    """The number of Python functions that run in the call."""
    count = 0

    def profile(frame, event, _):
        nonlocal count
        count += event == "call" and frame.f_code is not function.__code__

    function()  # compiles
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_arrays_and_numbers_never_enter_python():
    x, m = pnp.arange(4.0), pnp.eye(4)
    for function in (lambda: x + x, lambda: 2 * x, lambda: x - 1.5, lambda: x < x, lambda: -x, lambda: m @ x):
        assert calls_of_python(function) == 0
    assert calls_of_python(lambda: m[2]) == 0
    assert calls_of_python(lambda: x + np.ones(4, np.float32)) > 0


def test_what_is_no_array_answers_for_itself():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __matmul__(self, x):
            return "matmul"

    x = pnp.arange(3.0)
    assert x + Other() == "radd"
    assert Other() @ x == "matmul"
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.add(x, [1, 2])
    with pytest.raises(TypeError, match="pow: takes no modulus"):
        pow(x, 2, 3)


def test_inside_a_traced_function_they_are_recorded():
    x = pnp.arange(3.0)
    shown = str(pc.make_jaxpr(lambda y: x * 2 + y[1])(x))
    assert "mul" in shown
    assert "jit" not in shown


def test_indices_beyond_the_axis_are_clamped():
    x = pnp.arange(3.0)
    assert [float(x[i]) for i in (0, 2, 3, -1, -7)] == [0, 2, 2, 2, 0]


def test_an_unknown_operator():
    with pytest.raises(ValueError, match="there is no operator 'plus'"):
        rt.set_operator("plus", len)
