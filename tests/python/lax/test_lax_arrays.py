"""lax's functions that create, join and divide arrays: values against NumPy's, signatures and dtypes as jax's."""

import inspect

import jax.lax
import numpy as np
import pytest
from beside_plain import check

import pycompiler as pc
from pycompiler import lax

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
CALLS = [
    ("stack", ([X, X + 1],), {}),
    ("stack", ([X, X + 1],), {"axis": -1}),
    ("unstack", (X,), {}),
    ("unstack", (X,), {"axis": -2}),
    ("split", (X, (1, 3, 0)), {"axis": 2}),
    ("split", (X, [2]), {}),
    ("tile", (X, (1, 2, 3)), {}),
    ("tile", (X, (0, 2, 1)), {}),
    ("broadcast_like", (X[0, :1], X), {}),
    ("stage", (X,), {}),
    ("stage", (1.5,), {}),
    ("shape_as_value", ((2, 3),), {}),
    ("shape_as_value", ((),), {}),
]


@pytest.mark.parametrize(("name", "args", "params"), CALLS)
def test_function(name, args, params):
    check(lambda m: getattr(m, name)(*args, **params), 0, 0)


@pytest.mark.parametrize("name", sorted({name for name, _, _ in CALLS} | {"dtype", "platform_dependent"}))
def test_signature_is_that_of_jax(name):
    ours, theirs = (inspect.signature(getattr(module, name)).parameters.values() for module in (lax, jax.lax))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_empty_and_dtype():
    assert (lax.empty((2, 3), np.int8).shape, lax.empty(3, np.float32).dtype) == ((2, 3), np.float32)
    for x in (X, 1, 1.5, True, np.float16, "int8", float, np.int32(1)):
        assert lax.dtype(x) == jax.lax.dtype(x)


def test_derivatives():
    def function(x):
        a, b = lax.split(x, (1, 3), axis=2)
        return (lax.tile(a, (1, 1, 3)) * b).sum() + lax.stack(lax.unstack(x))[0, 0, 0]

    want = np.concatenate([X[..., 1:].sum(-1, keepdims=True), np.repeat(X[..., :1], 3, -1)], -1)
    want[0, 0, 0] += 1
    np.testing.assert_allclose(np.asarray(pc.jit(pc.grad(function))(X)), want)


def test_platform_dependent():
    assert lax.platform_dependent(2, cpu=lambda x: x + 1, tpu=lambda x: x) == 3
    assert lax.platform_dependent(2, tpu=lambda x: x, default=lambda x: x - 1) == 1
    with pytest.raises(ValueError, match=r"platform_dependent: runs on cpu, but has functions for \['tpu'\]"):
        lax.platform_dependent(2, tpu=lambda x: x)


def test_errors():
    with pytest.raises(ValueError, match=r"stack: shapes differ: f32\[2,3,4\] and f32\[3,4\]"):
        lax.stack([X, X[0]])
    with pytest.raises(ValueError, match="stack: needs at least one array"):
        lax.stack([])
    with pytest.raises(ValueError, match="stack: axis 4 is out of range"):
        lax.stack([X], axis=4)
    with pytest.raises(ValueError, match=r"split: sizes \(1, 2\) do not add up to axis 2 of f32\[2,3,4\] \(3 vs 4\)"):
        lax.split(X, (1, 2), axis=2)
    with pytest.raises(ValueError, match=r"tile: f32\[2,3,4\] needs 3 repetitions"):
        lax.tile(X, (2,))
    with pytest.raises(ValueError, match=r"broadcast_like: .* does not fit into"):
        lax.broadcast_like(X, X[0])
    with pytest.raises(ValueError, match="unstack: axis -4 is out of range"):
        lax.unstack(X, -4)
