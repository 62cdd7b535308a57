"""Tracers: errors when their value is requested, and when they are used after the end of their trace."""

import pickle
import re

import numpy as np
import pytest

from pycompiler import ShapeDtypeStruct
from pycompiler.core import errors
from pycompiler.core.dims.dims import Dim
from pycompiler.primitives import PRIMITIVES
from pycompiler.transforms import eval_shape, grad, jvp, make_jaxpr, vmap

sin, mul, ge = PRIMITIVES["sin"], PRIMITIVES["mul"], PRIMITIVES["ge"]


def divide(x, y):
    return PRIMITIVES["div"].bind(x, y) if ge.bind(y, np.float32(1)) else 0.0


def line_of(fun, offset):
    return fun.__code__.co_firstlineno + offset


def test_a_condition_names_the_line_the_argument_and_what_to_do():
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        make_jaxpr(divide)(1.0, 2.0)
    message = str(caught.value).split("\n")
    assert message[0] == f"{__file__}:{line_of(divide, 1)} (divide)"
    assert message[1].strip() == 'return PRIMITIVES["div"].bind(x, y) if ge.bind(y, np.float32(1)) else 0.0'
    assert set(message[2].strip()) == {"^"}
    assert "the truth value of a traced bool[] was asked for, but make_jaxpr of divide" in message[3]
    assert message[4] == "It depends on the argument 'y'."
    assert message[5].startswith(
        "What to do: mark 'y' static (static_argnums, static_argnames), or write it with `where`"
    )


def test_grad_alone_traces_concrete_values():
    assert float(np.asarray(grad(divide)(3.0, 2.0))) == 0.5
    assert float(np.asarray(grad(divide, argnums=1)(3.0, 2.0))) == -0.75
    assert float(np.asarray(grad(lambda x: mul.bind(x, float(x)))(3.0))) == 3.0


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (bool, errors.TracerBoolConversionError),
        (lambda x: not x, errors.TracerBoolConversionError),
        (int, errors.ConcretizationTypeError),
        (float, errors.ConcretizationTypeError),
        (complex, errors.ConcretizationTypeError),
        (lambda x: [1, 2][x], errors.TracerIntegerConversionError),
        (range, errors.TracerIntegerConversionError),
        (np.asarray, errors.TracerArrayConversionError),
        (np.sin, errors.TracerArrayConversionError),
    ],
)
def test_a_value_that_is_not_there_is_an_error_of_its_kind(read, kind):
    with pytest.raises(kind, match="depends on the argument 'p\\['w'\\]'") as caught:
        make_jaxpr(lambda p, q: read(mul.bind(p["w"], 2)))({"w": 1}, 2)
    assert isinstance(caught.value, errors.ConcretizationTypeError)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).startswith(f"{__file__}:")


def test_a_tracer_can_not_be_hashed_and_an_array_of_many_has_no_truth_value():
    with pytest.raises(TypeError, match="unhashable"):
        make_jaxpr(lambda x: {x: 1})(1.0)
    with pytest.raises(ValueError, match=r"the truth value of f32\[3\] is ambiguous"):
        make_jaxpr(bool)(np.ones(3, np.float32))
    with pytest.raises(TypeError, match="len"):
        make_jaxpr(len)(1.0)


def test_under_vmap_there_is_no_value_and_nothing_static():
    with pytest.raises(errors.TracerBoolConversionError, match="vmap of <lambda>") as caught:
        vmap(lambda x: 1.0 if x else 2.0)(np.ones(3, np.float32))
    assert "'x'" in str(caught.value)
    assert "static" not in str(caught.value)


@pytest.mark.parametrize(
    ("transform", "shown"),
    [(make_jaxpr, "float32[3]"), (eval_shape, "float32[3]"), (vmap, "float32[]")],
)
def test_a_tracer_shows_its_type_and_its_transformation(transform, shown):
    seen = []
    x = np.ones(3, np.float32)

    def look(x):
        seen.append(repr(x))
        return x

    transform(look, x) if transform is eval_shape else transform(look)(x)
    assert seen == [f"Traced<{shown}>with<{transform.__name__}>"]


leaked = []


def leaky(x):
    y = sin.bind(x)
    leaked.append(y)
    return y


@pytest.mark.parametrize("transform", [make_jaxpr, grad, vmap])
def test_a_leaked_tracer_names_the_function_that_made_it(transform):
    leaked.clear()
    transform(leaky)(np.ones(3, np.float32) if transform is vmap else 1.0)
    with pytest.raises(errors.UnexpectedTracerError, match=re.escape(f"of leaky ({__file__}:")) as caught:
        sin.bind(leaked[0])
    assert "What to do: return the value" in str(caught.value)
    if transform is make_jaxpr:
        assert f"made at {__file__}:{line_of(leaky, 1)} (leaky)" in str(caught.value)
    # The tracer must not enter another graph, either.
    with pytest.raises(errors.UnexpectedTracerError):
        make_jaxpr(lambda x: mul.bind(x, leaked[0]))(1.0)


def test_a_trace_ends_when_the_function_raises():
    def fails(x):
        leaked[:] = [x]
        raise KeyError("mine")

    for transform in (make_jaxpr, grad):
        with pytest.raises(KeyError, match="mine"):
            transform(fails)(1.0)
        with pytest.raises(errors.UnexpectedTracerError):
            sin.bind(leaked[0])
    assert float(np.asarray(sin.bind(0.0))) == 0.0


def test_reading_a_value_under_grad():
    """Forward mode and grad know the value of what they trace, so Python may read it."""
    whole = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

    def read(x):
        one = x[1, 0] if hasattr(x, "shape") and x.shape else x
        seen.extend([bool(one), int(one), float(one), complex(one), one.item(), one.tolist(), f"{one:.2f}"])
        seen.extend([x.tolist(), x.tobytes(), x.item(3), x.is_valid() if hasattr(x, "is_valid") else None])
        return mul.bind(x, x)

    seen = []
    jvp(read, (whole,), (whole,))
    assert seen[:7] == [True, 3, 3.0, 3 + 0j, 3.0, 3.0, "3.00"]
    assert seen[7:10] == [whole.tolist(), whole.tobytes(), 4.0]
    with pytest.raises(TypeError, match="integer"):
        jvp(lambda x: [1, 2][x], (np.float32(1),), (np.float32(1),))
    with pytest.raises(errors.ConcretizationTypeError, match=r"(?s)to format it as '\.2f'.*format it outside"):
        make_jaxpr(lambda x: f"{x:.2f}")(1.0)
    with pytest.raises(errors.ConcretizationTypeError, match=r"(?s)to pickle them.*pickle the result"):
        make_jaxpr(pickle.dumps)(1.0)
    texts = []
    make_jaxpr(lambda x: texts.append(f"{x}") or x)(np.float32(1))
    assert texts == ["Traced<float32[]>with<make_jaxpr>"]


def test_a_size_that_is_not_known_is_no_count():
    with pytest.raises(errors.InconclusiveDimensionError, match=r"len\(\) of a traced f32\[n\] must be an int"):
        make_jaxpr(len)(ShapeDtypeStruct((Dim("n"),), "float32"))
