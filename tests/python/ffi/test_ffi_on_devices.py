"""C functions over several devices: in shard_map each device calls its own, in a divided program one calls for all."""

import jax
import numpy as np

import pycompiler as pc
from pycompiler import ffi
from pycompiler.sharding import NamedSharding
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4

X = np.arange(8, dtype=np.float32)


def device_numbers(x):
    return ffi.ffi_call("Context", pc.ShapeDtypeStruct((2,), np.int32))() + 0 * x[:2].astype(np.int32)


def squares(x, call=ffi.ffi_call):
    return call("Powers", [jax.ShapeDtypeStruct(x.shape, x.dtype)] * 2)(x)[0]


def test_shard_map_calls_on_each_device(handlers):
    mesh = pc.make_mesh((4,), ("i",))
    f = pc.shard_map(squares, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False)
    for run in (f, pc.jit(f)):
        assert run(X).tolist() == (X**2).tolist()
    text = pc.shard_map(
        lambda x: ffi.ffi_call("Describe", pc.ShapeDtypeStruct((20,), np.uint8))(x)[None],
        mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False,
    )(X)  # fmt: skip
    assert [bytes(row).rstrip(b"\0") for row in np.asarray(text)] == [b"F32[2,]->U8[20,] "] * 4


def test_a_divided_operand_is_gathered(handlers):
    mesh = pc.make_mesh((4,), ("i",), axis_types=(pc.sharding.AxisType.Auto,))
    x = pc.device_put(X, NamedSharding(mesh, P("i")))
    assert pc.jit(lambda x: squares(x * 2) + 1)(x).tolist() == (4 * X**2 + 1).tolist()


def test_other_devices_than_the_first(handlers):
    for device in pc.devices():
        x = pc.device_put(X, device)
        assert pc.jit(squares)(x).tolist() == (X**2).tolist()
        assert pc.jit(device_numbers)(x).tolist() == [device.id, 1]
