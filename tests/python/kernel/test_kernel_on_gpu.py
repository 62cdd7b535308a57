"""Own kernels on a GPU: blocks of threads; the host runs the programs of a kernel that calls a routine."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel

GPU = True


def double(x, o):
    o[...] = x[...] * 2


def in_order(x, o):
    o[...] = pnp.sort(x[...])


def call(body, interpret=False):
    spec = kernel.BlockSpec((2,), lambda i: i)
    out = pc.ShapeDtypeStruct((4,), "float32")
    return kernel.kernel_call(body, out, grid=(2,), in_specs=[spec], out_specs=spec, interpret=interpret)


@pytest.mark.parametrize("interpret", [False, True])
def test_a_kernel_computes(interpret):
    np.testing.assert_array_equal(call(double, interpret)(np.arange(4, dtype=np.float32)), [0, 2, 4, 6])


def test_a_kernel_is_one_launch():
    ptx = pc.jit(call(double)).lower(np.ones(4, np.float32)).as_text("ptx")
    assert ptx.count(".entry") == 1


def test_a_kernel_with_a_routine_computes():
    np.testing.assert_array_equal(call(in_order)(np.float32([2, 1, 4, 3])), [1, 2, 3, 4])


def scattered(x, o):
    o[...] = x[...].at[pnp.array([0, 0])].add(1.0)


@pytest.mark.parametrize(
    ("body", "expected"),
    [(lambda x, o: o.set(pnp.cumsum(x[...])), [0, 1, 2, 5]), (scattered, [2, 1, 4, 3])],
    ids=["cumsum", "scatter"],
)
def test_the_host_runs_programs_with_routines(body, expected):
    np.testing.assert_array_equal(pc.jit(call(body))(np.arange(4, dtype=np.float32)), expected)


def test_a_kernel_in_a_loop_and_a_batch():
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    repeated = pc.jit(lambda x: pc.lax.fori_loop(0, 3, lambda i, v: pc.vmap(call(double))(v), x))
    np.testing.assert_array_equal(repeated(x), x * 8)
