"""disable_jit: jitted functions run as Python, step by step."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler._runtime import Array


def test_values_are_seen_as_python_runs():
    seen = []

    @pc.jit
    def f(x):
        seen.append(type(x) is Array)
        return x + 1 if x > 0 else x - 1  # a branch on a value

    with pc.disable_jit():
        assert [float(f(pnp.float32(x))) for x in (1.0, -1.0, 1.0)] == [2.0, -2.0, 2.0]
    assert seen == [True] * 3
    with pytest.raises(pc.errors.TracerBoolConversionError):
        f(1.0)


def test_what_was_compiled_is_used_again_afterwards():
    traces = []

    @pc.jit
    def f(x):
        traces.append(x)
        return x * 2

    f(1.0)
    with pc.disable_jit():
        f(1.0)
        with pc.disable_jit(False):
            f(1.0)
    f(1.0)
    assert len(traces) == 2
    pc.config.update("disable_jit", True)
    try:
        f(1.0)
    finally:
        pc.config.update("disable_jit", False)
    assert len(traces) == 3


def test_nested_calls_and_derivatives():
    @pc.jit
    def inner(x):
        assert float(x) >= 0  # concrete under grad alone
        return x * x

    f = pc.jit(lambda x: inner(x).sum() if x.ndim == 0 else inner(x.sum()))
    with pc.disable_jit():
        assert float(pc.grad(f)(3.0)) == 6.0
        np.testing.assert_array_equal(pc.grad(f)(pnp.array([1.0, 2.0])), [6.0, 6.0])


def test_static_and_keyword_arguments():
    f = pc.jit(lambda x, n, *, scale: x * n * scale, static_argnums=1)
    with pc.disable_jit():
        assert f(2.0, 3, scale=4.0) == 24.0
