"""The integer parameters of public functions: those that `inspect.signature` shows."""

import inspect

import pytest

from pycompiler.core.tracing.arguments import static_parameters


def positions(shape, x, axis=0, *, size=None, other=1):
    del shape, x, axis, size, other


def rest(x, *shape, axis=None, **shapes):
    del x, shape, axis, shapes


def only(x, /, *others, **more):
    del x, others, more


def wrapped(*args, **kwargs):
    del args, kwargs


wrapped.__wrapped__ = positions


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (positions, (("shape", None, "axis"), {"shape", "axis", "size"}, None)),
        (rest, ((), {"axis", "shapes"}, "shape")),
        (only, ((), set(), None)),
        (wrapped, (("shape", None, "axis"), {"shape", "axis", "size"}, None)),
    ],
)
def test_they_are_those_of_the_signature(function, expected):
    found = static_parameters(function, "pycompiler.numpy")
    assert (found.positional, set(found.named), found.rest) == expected
    assert found.named <= set(inspect.signature(function).parameters)


def test_a_function_without_code_is_refused():
    with pytest.raises(TypeError, match="are those of its code"):
        static_parameters(len, "pycompiler.numpy")
