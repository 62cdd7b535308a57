"""Meshes, shardings and specs without devices: queries, and the errors of wrong arguments."""

import pickle

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
        (lambda: ONE.__exit__(None, None, None), ValueError, "with: an abstract mesh has no devices"),
        (lambda: P("a", "b").index("c"), ValueError, "not in tuple"),
        (lambda: P("a", unreduced={None}), ValueError, "PartitionSpec: unreduced holds names of axes, got None"),
        (lambda: pc.make_mesh((1,), ([],)), TypeError, r"make_mesh: axis_names are strings, got \(\[\],\)"),
        (
            lambda: pc.set_mesh(Mesh(np.array(pc.devices()[:1]), ("a",), (AxisType.Manual,))),
            ValueError,
            "has Manual axes; shard_map makes axes Manual",
        ),
        (lambda: pc.make_jaxpr(lambda x: pc.set_mesh(None))(1.0), ValueError, "set it outside of the function"),
        (
            lambda: pc.make_jaxpr(lambda x: sharding.get_mesh())(1.0),
            ValueError,
            r"a traced function has no devices: use sharding.get_abstract_mesh\(\)",
        ),
        (
            lambda: sharding.make_single_device_sharding("cpu"),
            TypeError,
            "make_single_device_sharding: takes a device, got 'cpu' of type str",
        ),
        (
            lambda: pc.ShapeDtypeStruct((2,), "float32", manual_axis_type="x"),
            ValueError,
            "manual_axis_type must be None, got 'x'",
        ),
        (
            lambda: setattr(sharding.ManualAxisType(), "varying", frozenset("a")),
            AttributeError,
            r"make another one, with varying=\.\.\.",
        ),
        (
            lambda: pc.typeof(1.0).update(sharding="x"),
            TypeError,
            "ShapedArray: sharding is a NamedSharding, a PartitionSpec or None, got 'x'",
        ),
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


def test_abstract_meshes_are_pickled_and_copied():
    mesh = AbstractMesh((2, 3), ("a", "b"), axis_types=(AxisType.Auto, AxisType.Explicit))
    again = pickle.loads(pickle.dumps(mesh))
    assert again == mesh
    assert hash(again) == hash(mesh)
    assert not mesh.are_all_axes_auto
    assert ONE.are_all_axes_auto
    device = sharding.AbstractDevice("cpu", 4, "cpu")
    assert repr(device) == "AbstractDevice(device_kind=cpu, num_cores=4, platform=cpu)"
    assert device.fields_text() in repr(AbstractMesh((2,), ("a",), abstract_device=device))


def test_equivalence_of_shardings_over_abstract_meshes_and_of_one_device():
    mesh = AbstractMesh((2, 3), ("a", "b"))
    by_rows, named = NamedSharding(mesh, P("a", None)), NamedSharding(mesh, ("a",))
    assert named.spec == P("a")
    assert by_rows.is_equivalent_to(named, 2)
    assert not by_rows.is_equivalent_to(NamedSharding(mesh, P(None, "a")), 2)
    assert not by_rows.is_equivalent_to(NamedSharding(AbstractMesh((3, 2), ("a", "b")), P("a")), 2)
    one = SingleDeviceSharding(pc.devices()[0])
    assert not by_rows.is_equivalent_to(one, 2)
    whole = NamedSharding(Mesh(np.array(pc.devices()[:1]), ("a",)), P("a"))
    assert whole.is_equivalent_to(one, 1)
    assert P("a") != 3


def test_a_type_has_the_sharding_of_explicit_axes():
    explicit = AbstractMesh((2,), ("a",), axis_types=(AxisType.Explicit,))
    aval = pc.typeof(np.zeros((4, 2), np.float32))
    assert aval.update(sharding=NamedSharding(explicit, P("a"))).sharding.spec == P("a", None)
    with sharding.use_abstract_mesh(explicit):
        assert aval.update(sharding=P(None, "a")).sharding.spec == P(None, "a")
    # Of the types of arrays, those of one device and those without axes are no part.
    for without in (SingleDeviceSharding(pc.devices()[0]), NamedSharding(AbstractMesh((), ()), P())):
        assert aval.update(sharding=without) == aval
    struct = pc.ShapeDtypeStruct((4, 2), "float32")
    assert pc.ShapeDtypeStruct.like(struct) is struct


def test_types_of_axes_along_which_values_vary():
    varying = sharding.ManualAxisType(varying=frozenset({"b", "a"}))
    assert repr(varying) == "ManualAxisType(varying={'a', 'b'})"
    assert {varying: 1}[sharding.ManualAxisType(varying=frozenset({"a", "b"}))] == 1
    assert pc.typeof(1.0).mat == sharding.ManualAxisType()
