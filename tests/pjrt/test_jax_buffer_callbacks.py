"""Functions that write into the buffers of results: `jax.experimental.buffer_callback` on our backend."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.buffer_callback import ExecutionStage, buffer_callback

X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16", "int4"])
def test_values(beside, dtype):
    def add(context, out, x):
        np.asarray(out)[...] = np.asarray(x)

    beside(lambda x: buffer_callback(add, jax.ShapeDtypeStruct(x.shape, x.dtype))(x), jnp.array([0, 1, 3], dtype))


def test_trees_and_keywords(beside):
    def work(context, outs, x, *, scale):
        total, pair = outs["total"], outs["pair"]
        np.asarray(total)[...] = np.asarray(x).sum()
        np.asarray(pair[0])[...] = np.asarray(x) * np.asarray(scale)
        np.asarray(pair[1])[...] = -1

    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)
    results = {"total": jax.ShapeDtypeStruct((), X.dtype), "pair": (shape, jax.ShapeDtypeStruct((2,), np.int32))}
    beside(lambda x: buffer_callback(work, results)(x * 2, scale=x[0]), X)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"])
def test_vmap(beside, method):
    def add(context, out, x, y):
        np.asarray(out)[...] = np.asarray(x)
        np.asarray(out)[...] += np.asarray(y)

    call = buffer_callback(add, jax.ShapeDtypeStruct(X.shape[1:], X.dtype), vmap_method=method)
    beside(jax.vmap(call), X, X + 1)


def test_buffers_and_context_have_jaxs_names(device):
    seen = {}

    def look(context, out, x):
        seen["stage"] = context.stage
        seen["shapes"] = (x.shape, x.ndim, x.dtype, out.shape, out.dtype)
        seen["writeable"] = (x.writeable, out.writeable)
        seen["read only"] = not np.asarray(x).flags.writeable
        seen["by DLPack"] = np.from_dlpack(x).copy()
        for name in ("stream", "__cuda_array_interface__"):
            with pytest.raises(jax.errors.JaxRuntimeError, match="UNIMPLEMENTED"):
                getattr(context if name == "stream" else x, name)
        with pytest.raises(ValueError, match="dtype parameter"):
            np.asarray(out, dtype=np.int32)
        with pytest.raises(ValueError, match="copy=True"):
            np.array(out, copy=True)
        with pytest.raises(ValueError, match="copy=True"):
            out.__dlpack__(copy=True)
        np.from_dlpack(out)
        np.asarray(out)[...] = 0

    with jax.default_device(device):
        buffer_callback(look, jax.ShapeDtypeStruct((2,), np.int32))(X).block_until_ready()
    assert seen["stage"] == ExecutionStage.EXECUTE
    assert seen["shapes"] == ((3, 4), 2, np.float32, (2,), np.int32)
    assert seen["writeable"] == (False, True)
    assert seen["read only"]
    np.testing.assert_array_equal(seen["by DLPack"], X)


def test_an_alias_shares_memory_and_leaves_the_argument(device):
    def increment(context, out, x):
        assert np.asarray(out).ctypes.data == np.asarray(x).ctypes.data
        np.asarray(out)[...] += 1

    call = buffer_callback(increment, jax.ShapeDtypeStruct(X.shape, X.dtype), input_output_aliases={0: 0})
    with jax.default_device(device):
        got, kept = jax.jit(lambda x: (call(x), x + 0))(X)
    np.testing.assert_array_equal(got, X + 1)
    np.testing.assert_array_equal(kept, X)


def test_an_effect_is_kept_and_failures_are_the_functions(device):
    called = []
    nothing = jax.ShapeDtypeStruct((), np.float32)
    with jax.default_device(device):
        effect = buffer_callback(lambda *_: called.append(1), nothing, has_side_effect=True)
        jax.jit(lambda x: (effect(), x)[1])(1.0).block_until_ready()
        assert called == [1]
        with pytest.raises(jax.errors.JaxRuntimeError, match="must not return any values"):
            buffer_callback(lambda context, out: out, nothing)().block_until_ready()

        def fails(context, out):
            raise ValueError("no luck")

        with pytest.raises(jax.errors.JaxRuntimeError, match="no luck"):
            buffer_callback(fails, nothing)().block_until_ready()
