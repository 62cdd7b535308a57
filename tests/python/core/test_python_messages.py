"""Python's own messages about a value name the function that was called, the parameter, and the expectation."""

import numpy as np
import pytest

from pycompiler import lax
from pycompiler import numpy as pnp

X = np.ones((2, 3), "float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pnp.transpose(X, 1), "transpose: axes must be a sequence of integers, got 1 of type int"),
        (lambda: pnp.fft.fftn(X, axes=1.5), "fftn: axes must be a sequence of integers, got 1.5 of type float"),
        (lambda: pnp.fft.fftn(X, s=1.5), "fftn: s must be a sequence of integers, got 1.5 of type float"),
        (lambda: pnp.fft.fft2(X, s=3), "fft2: s must be a sequence of integers, got 3 of type int"),
        (
            lambda: lax.squeeze(X, dimensions=np.int64(1)),
            "squeeze: dimensions must be a sequence of integers, got np.int64(1) of type int64",
        ),
        (lambda: lax.rev(X, None), "rev: dimensions must be a sequence of integers, got None of type NoneType"),
        (lambda: pnp.linalg.multi_dot(3), "multi_dot: arrays must be a sequence, got 3 of type int"),
        (lambda: pnp.piecewise(X, [X > 0], {0}), "piecewise: funclist must be a sequence, got {0} of type set"),
        (lambda: pnp.apply_over_axes(1, X, [0]), "apply_over_axes: func must be a function, got 1 of type int"),
        (lambda: lax.fori_loop(0, 3, 5, X), "fori_loop: body_fun must be a function, got 5 of type int"),
    ],
)
def test_the_parameter_is_named(call, message):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == message


def test_messages_of_the_users_own_function_stay():
    with pytest.raises(TypeError, match=r"^'int' object is not iterable$"):
        pnp.apply_along_axis(lambda row: iter(3), 0, X)
