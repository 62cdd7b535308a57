"""Meshes, shardings and specs without devices: queries, and the errors of wrong arguments."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import sharding
from pycompiler.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, SingleDeviceSharding
from pycompiler.sharding import PartitionSpec as P

ONE = AbstractMesh((2,), ("a",))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: pc.set_mesh(3), ValueError, "set_mesh: takes a Mesh or None, got 3 of type int"),
        (lambda: sharding.use_abstract_mesh(3), ValueError, "takes an AbstractMesh, got 3 of type int"),
        (lambda: SingleDeviceSharding(3), TypeError, "takes a device, got 3 of type int"),
        (lambda: NamedSharding(3, P()), TypeError, "takes a Mesh, got 3 of type int"),
        (lambda: Mesh(np.array(pc.devices()[:1]), (None,)), ValueError, r"names of axes can't be None, got \(None,\)"),
        (lambda: AbstractMesh((2, 3), ("a",)), ValueError, r"axis_sizes \(2, 3\) .* must be of one length"),
        (lambda: AbstractMesh((2,), ("a",), axis_types=(1,)), TypeError, r"members of AxisType, got \(1,\)"),
        (
            lambda: AbstractMesh((2,), ("a",), axis_types=(AxisType.Auto,) * 2),
            ValueError,
            "1 axes need as many axis types",
        ),
        (lambda: setattr(ONE, "axis_names", ("b",)), AttributeError, r"make another one by update\(axis_names=...\)"),
        (lambda: ONE.device_ids, ValueError, "device_ids: an abstract mesh has no devices"),
        (lambda: ONE.is_multi_process, ValueError, "is_multi_process: an abstract mesh has no devices"),
        (lambda: ONE.local_devices, ValueError, "local_devices: an abstract mesh has no devices"),
        (lambda: ONE.local_mesh, ValueError, "local_mesh: an abstract mesh has no devices"),
        (lambda: ONE.__enter__(), ValueError, "with: an abstract mesh has no devices"),
        (lambda: P("a", "b").index("c"), ValueError, "not in tuple"),
    ],
)
def test_errors_of_meshes_name_what_was_given(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_spec_is_searched_as_a_tuple():
    spec = P("a", ("b", "c"), "a")
    assert spec.index("a") == 0
    assert spec.index(("b", "c")) == 1
    assert spec.count("a") == 2
    assert spec.count("d") == 0


def test_a_sharding_of_one_device():
    device = pc.devices()[0]
    one = SingleDeviceSharding(device)
    assert one == SingleDeviceSharding(device)
    assert hash(one) == hash(SingleDeviceSharding(device))
    assert one.is_fully_replicated
    assert one.num_devices == 1
    assert one.device_set == {device}
    assert one._device_assignment == (device,)  # of JAX's multihost_utils
    assert one.devices_indices_map((2, 3)) == {device: (slice(None), slice(None))}
    assert one.memory_kind == "device"
    assert one.with_memory_kind("device") == one
    assert repr(device) in repr(one)


def test_a_mesh_of_one_process_is_its_block():
    mesh = Mesh(np.array(pc.devices()[:1]).reshape(1, 1), ("a", "b"))
    assert mesh.local_devices == pc.devices()[:1]
    assert mesh.local_mesh == mesh
