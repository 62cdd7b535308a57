"""A kernel on a GPU is an error that says so; the loop over the grid runs there."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import kernel

GPU = True


def double(x, o):
    o[...] = x[...] * 2


def call(interpret):
    spec = kernel.BlockSpec((2,), lambda i: i)
    out = pc.ShapeDtypeStruct((4,), "float32")
    return kernel.kernel_call(double, out, grid=(2,), in_specs=[spec], out_specs=spec, interpret=interpret)


def test_a_kernel_is_refused():
    with pytest.raises(Exception, match=r"is not compiled for GPUs.*interpret=True"):
        np.asarray(call(False)(np.ones(4, np.float32)))


def test_the_loop_over_the_grid_computes():
    np.testing.assert_array_equal(call(True)(np.ones(4, np.float32)), [2, 2, 2, 2])
