"""`jax.experimental.pallas.tpu`: kernels for TPUs as users of JAX run them on a CPU."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.compat import pallas_tpu as pltpu
from pycompiler.experimental import pallas as pl

S = pc.ShapeDtypeStruct
WAYS = pytest.mark.parametrize("interpret", [False, pltpu.InterpretParams()], ids=["compiled", "interpreted"])
X = np.arange(256, dtype=np.int32).reshape(16, 16)


@WAYS
def test_a_matmul_with_scratch_memory(interpret):
    def body(x, y, o, total, *, steps):
        @pl.when(pl.program_id(2) == 0)
        def _():
            total[...] = pnp.zeros_like(total)

        total[...] += pnp.dot(x[...], y[...], preferred_element_type=pnp.float32)

        @pl.when(pl.program_id(2) == steps - 1)
        def _():
            o[...] = total[...].astype(o.dtype)

    call = pl.pallas_call(
        functools.partial(body, steps=2),
        S((16, 16), "float32"),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=0,
            grid=(2, 2, 2),
            in_specs=[pl.BlockSpec((8, 8), lambda i, j, k: (i, k)), pl.BlockSpec((8, 8), lambda i, j, k: (k, j))],
            out_specs=pl.BlockSpec((8, 8), lambda i, j, k: (i, j)),
            scratch_shapes=[pltpu.VMEM((8, 8), "float32")],
        ),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=(pltpu.PARALLEL, "core_parallel", pltpu.ARBITRARY), vmem_limit_bytes=1 << 20
        ),
        interpret=interpret,
    )
    y = np.random.default_rng(0).standard_normal((16, 16), np.float32)
    np.testing.assert_allclose(call(X.astype(np.float32), y), X @ y, rtol=1e-4)


@WAYS
def test_memories(interpret):
    def body(factor, x, o):
        o[...] = x[...] * factor[0]

    specs = [pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)]
    out = pl.BlockSpec(memory_space=pltpu.HBM)
    call = pl.pallas_call(body, S(X.shape, X.dtype), in_specs=specs, out_specs=out, interpret=interpret)
    np.testing.assert_array_equal(call(np.array([3], np.int32), X), X * 3)


@WAYS
def test_copies_with_two_buffers(interpret):
    def body(x, o, buffers, semaphores):
        def copy(i):
            slot = i % 2
            return pltpu.make_async_copy(x.at[pl.ds(i * 4, 4)], buffers.at[slot], semaphores.at[slot])

        copy(0).start()

        @pl.loop(0, 4)
        def _(i):
            @pl.when(i + 1 < 4)
            def _():
                copy(i + 1).start()

            copy(i).wait()
            o[pl.ds(i * 4, 4)] = buffers[i % 2] * 2

        pltpu.sync_copy(x.at[0:2], o.at[2:4])
        pltpu.async_copy(x.at[1], o.at[0], semaphores.at[0]).wait()

    call = pl.pallas_call(
        body,
        S(X.shape, X.dtype),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        scratch_shapes=[pltpu.VMEM((2, 4, 16), X.dtype), pltpu.SemaphoreType.DMA((2,))],
        interpret=interpret,
    )
    want = X * 2
    want[2:4], want[0] = X[0:2], X[1]
    np.testing.assert_array_equal(call(X), want)


def test_a_semaphore_is_scratch_memory():
    def body(x, o, semaphore):
        pltpu.touch(x)
        with pltpu.force_tpu_interpret_mode():
            pltpu.async_copy(x, o, semaphore).wait()

    call = pl.pallas_call(body, S(X.shape, X.dtype), scratch_shapes=[pltpu.SemaphoreType.DMA])
    np.testing.assert_array_equal(call(X), X)


@WAYS
def test_functions_of_blocks(interpret):
    def body(x, o, p):
        o[...] = pltpu.roll(x[...], 3, 1) + pltpu.roll(x[...], 1, 1, stride=2, stride_axis=0)
        mask = lax.broadcasted_iota("int32", x.shape, 0) < 2
        pltpu.store(p, pltpu.bitcast(pltpu.bitcast(x[...], "int16"), "int32") + pltpu.load(x, mask=mask), mask=mask)

    found, masked = pl.pallas_call(body, (S(X.shape, X.dtype), S(X.shape, X.dtype)), interpret=interpret)(X)
    strided = np.stack([np.roll(row, 1 + 2 * number) for number, row in enumerate(X)])
    np.testing.assert_array_equal(found, np.roll(X, 3, 1) + strided)
    np.testing.assert_array_equal(masked[:2], X[:2] * 2)
    np.testing.assert_array_equal(masked[2:], 0)
    with pytest.raises(ValueError, match="neither"):
        pltpu.roll(X, 1, 0, stride=1)
