"""Own kernels of arrays that are divided over devices: gathered by the partitioner, and part by part in shard_map."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import kernel
from pycompiler.core.errors import ShardingTypeError
from pycompiler.sharding import AxisType

DEVICES = 4


def rows_doubled(count):
    def double(x, y):
        y[...] = x[...] * 2 + kernel.program_id(0).astype(y.dtype)

    rows = kernel.BlockSpec((1, 3), lambda i: (i, 0))
    shape = pc.ShapeDtypeStruct((count, 3), "float32")
    return kernel.kernel_call(double, shape, grid=(count,), in_specs=[rows], out_specs=rows)


def divided(kind):
    mesh = pc.make_mesh((4,), ("x",), axis_types=(kind,))
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    return mesh, x, pc.device_put(x, pc.NamedSharding(mesh, pc.P("x")))


def test_the_partitioner_gathers():
    _, x, on_devices = divided(AxisType.Auto)
    got = pc.jit(lambda x: rows_doubled(8)(x + 1) - 1)(on_devices)
    np.testing.assert_array_equal(got, (x + 1) * 2 + np.arange(8, dtype=np.float32)[:, None] - 1)


def test_parts_in_shard_map():
    mesh, x, on_devices = divided(AxisType.Auto)
    mapped = pc.shard_map(rows_doubled(2), mesh=mesh, in_specs=pc.P("x"), out_specs=pc.P("x"))
    np.testing.assert_array_equal(mapped(on_devices), x * 2 + np.tile([0, 1], 4).astype(np.float32)[:, None])


def test_explicit_axes_have_no_rule():
    _, _, on_devices = divided(AxisType.Explicit)
    with pytest.raises(ShardingTypeError, match=r"kernel_call of .*: there is no rule"):
        rows_doubled(8)(on_devices)
