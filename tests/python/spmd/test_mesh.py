"""Meshes, specs, shardings, and arrays with these layouts; against JAX's where JAX has the same."""

import itertools
import pickle

import jax
import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import debug
from pycompiler.sharding import AxisType, Mesh, NamedSharding, SingleDeviceSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
JMESH = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
SPECS = [(), ("x",), (None, "x"), ("x", "y"), (("x", "y"),), (("y", "x"), None), ("y", None), (None, ("x", "y"))]


def _both(spec):
    return NamedSharding(MESH, P(*spec)), jax.sharding.NamedSharding(JMESH, jax.sharding.PartitionSpec(*spec))


def test_a_mesh_names_the_axes_of_its_devices():
    assert dict(MESH.shape) == {"x": 4, "y": 2}
    assert MESH.axis_names == ("x", "y")
    assert MESH.size == 8
    assert not MESH.empty
    assert MESH.devices[1, 0] is pc.devices()[2]
    np.testing.assert_array_equal(MESH.device_ids, np.arange(8).reshape(4, 2))
    assert MESH.local_mesh == MESH
    assert MESH.is_multi_process == JMESH.is_multi_process
    assert Mesh(np.array(pc.devices()).reshape(4, 2), ("x", "y")) == MESH
    assert hash(MESH) == hash(pickle.loads(pickle.dumps(MESH)))
    assert auto_mesh((4, 2), ("x", "z")) != MESH
    assert MESH.axis_types == (AxisType.Auto, AxisType.Auto)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pc.make_mesh((16,), ("x",)), "needs 16 devices, there are 8"),
        (lambda: pc.make_mesh((4, 2), ("x",)), "one length"),
        (lambda: Mesh(pc.devices(), ("x", "y")), "needs 1 axis names"),
        (lambda: Mesh(pc.devices()[:1] * 2, ("x",)), "twice"),
        (lambda: Mesh(np.array(pc.devices()).reshape(4, 2), ("x", "x")), "named twice"),
        (lambda: NamedSharding(MESH, P("z")), "names the axis 'z', but the mesh has 'x', 'y'"),
        (lambda: NamedSharding(MESH, P("x", "x")), "names the axis 'x' twice"),
        (lambda: NamedSharding(MESH, P("x")).shard_shape((7,)), r"of size 7.*'x' \(of size 4\).*What to do: pad"),
        (lambda: NamedSharding(MESH, P("x", None)).shard_shape((8,)), "2 entries, for an array of 1 dim"),
    ],
)
def test_what_does_not_fit_is_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_specs_are_compared_by_value():
    assert P("x", ("y",)) == P("x", "y") == ("x", "y")
    assert P("x") != P("x", None)
    assert repr(P("x", None, ("x", "y"))) == "P('x', None, ('x', 'y'))"
    assert len(P("x", None)) == 2
    assert P("x", None)[0] == "x"
    assert list(P("a", "b")) == ["a", "b"]
    assert {P("x"): 1}[P("x")] == 1


@pytest.mark.parametrize("spec", SPECS)
def test_indices_and_shapes_are_jaxs(spec):
    ours, theirs = _both(spec)
    shape = (8, 16)
    assert ours.shard_shape(shape) == theirs.shard_shape(shape)
    assert ours.is_fully_replicated == theirs.is_fully_replicated
    # One process has them all.
    assert ours.addressable_devices == set(MESH.devices.flat)
    assert ours.has_addressable_devices == theirs.has_addressable_devices
    assert ours.replicated_axes == theirs.replicated_axes
    assert ours.is_fully_addressable == theirs.is_fully_addressable
    assert ours.addressable_devices_indices_map(shape) == ours.devices_indices_map(shape)
    indices = {device.id: index for device, index in ours.devices_indices_map(shape).items()}
    for device, index in theirs.devices_indices_map(shape).items():
        assert [s.indices(n) for s, n in zip(indices[device.id], shape, strict=True)] == [
            s.indices(n) for s, n in zip(index, shape, strict=True)
        ]


@pytest.mark.parametrize("spec", SPECS)
def test_equivalence_is_jaxs(spec):
    ours, theirs = _both(spec)
    for other in SPECS:
        our_other, their_other = _both(other)
        assert ours.is_equivalent_to(our_other, 2) == theirs.is_equivalent_to(their_other, 2), other


@pytest.mark.parametrize("spec", SPECS)
def test_shards_are_jaxs(spec):
    ours, theirs = _both(spec)
    values = np.arange(128, dtype=np.float32).reshape(8, 16)
    x, y = ours.place(values), jax.device_put(values, theirs)
    assert isinstance(x, pc.Array)
    np.testing.assert_array_equal(np.asarray(x), values)
    assert x.sharding == ours
    assert x.shape == (8, 16)
    assert x.committed
    by_device = {shard.device.id: shard for shard in x.addressable_shards}
    for shard in y.addressable_shards:
        mine = by_device[shard.device.id]
        assert mine.replica_id == shard.replica_id
        np.testing.assert_array_equal(np.asarray(mine.data), np.asarray(shard.data))
    assert {shard.data.sharding.device_list for shard in x.addressable_shards} == {(d,) for d in pc.devices()}


def test_a_sharded_array_is_an_array():
    sharding = NamedSharding(MESH, P("x"))
    values = np.arange(8, dtype=np.float32)
    x = sharding.place(values)
    assert repr(x) == repr(pnp.arange(8.0))
    assert x.block_until_ready() is x
    assert x.is_ready()
    assert x.tolist() == values.tolist()
    assert float(sharding.place(values)[3]) == 3.0
    assert x.devices() == set(pc.devices())
    again = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(np.asarray(again), values)
    assert bytes(memoryview(np.asarray(x))) == values.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x)[0] = 1
    x.delete()
    assert x.is_deleted()
    with pytest.raises(pc.errors.ExecutionError, match="deleted"):
        np.asarray(x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float16", "complex64", "uint32"])
def test_every_dtype_is_placed(dtype):
    values = np.arange(16).reshape(8, 2).astype(pnp.dtype(dtype))
    x = NamedSharding(MESH, P(("x", "y"))).place(values)
    assert x.dtype == values.dtype
    np.testing.assert_array_equal(np.asarray(x), values)


def test_an_array_moves_between_shardings():
    values = np.arange(64, dtype=np.int32).reshape(8, 8)
    x = NamedSharding(MESH, P("x", "y")).place(values)
    for spec in SPECS:
        moved = NamedSharding(MESH, P(*spec)).place(x)
        np.testing.assert_array_equal(np.asarray(moved), values)
        assert moved.sharding.spec == P(*spec)
        for shard in moved.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), values[shard.index])
    other = auto_mesh((2,), ("z",), devices=pc.devices()[4:6])
    moved = NamedSharding(other, P(None, "z")).place(x)
    assert moved.devices() == set(pc.devices()[4:6])
    np.testing.assert_array_equal(np.asarray(moved), values)
    one = SingleDeviceSharding(pc.devices()[3]).place(x)
    np.testing.assert_array_equal(np.asarray(one), values)


def test_arrays_are_made_of_parts():
    sharding = NamedSharding(MESH, P("x", "y"))
    values = np.arange(32, dtype=np.float32).reshape(8, 4)
    asked = []

    def part(index):
        asked.append(index)
        return values[index]

    x = pc.make_array_from_callback((8, 4), sharding, part)
    np.testing.assert_array_equal(np.asarray(x), values)
    assert len(asked) == 8
    y = pc.make_array_from_single_device_arrays((8, 4), sharding, [s.data for s in x.addressable_shards])
    np.testing.assert_array_equal(np.asarray(y), values)
    asked.clear()
    pc.make_array_from_callback((8, 4), NamedSharding(MESH, P("x")), part)
    assert len(asked) == 4
    with pytest.raises(ValueError, match="parts of the shape"):
        pc.make_array_from_callback((8, 4), sharding, lambda index: values)
    kinds = itertools.cycle([np.float32, np.int32])
    with pytest.raises(ValueError, match=r"one dtype, and the callback gave i32\[2,2\] .* and f32\[2,2\] before"):
        pc.make_array_from_callback((8, 4), sharding, lambda index: values[index].astype(next(kinds)))
    mixed = pc.make_array_from_callback(
        (8, 4), sharding, lambda index: values[index].astype(next(kinds)), dtype="float32"
    )
    np.testing.assert_array_equal(np.asarray(mixed), values)
    with pytest.raises(ValueError, match="8 devices, got 1"):
        pc.make_array_from_single_device_arrays((8, 4), sharding, [x.addressable_shards[0].data])
    parts = [s.data for s in x.addressable_shards]
    with pytest.raises(ValueError, match="dtype is int32, the arrays are"):
        pc.make_array_from_single_device_arrays((8, 4), sharding, parts, dtype="int32")
    with pytest.raises(TypeError, match="is a list of arrays, got f32"):
        pc.make_array_from_single_device_arrays((8, 4), sharding, x)
    with pytest.raises(pc.errors.UnexpectedTracerError, match="outside of traced functions"):
        pc.jit(lambda x: pc.make_array_from_callback((8, 4), sharding, lambda index: x[index]))(values)


def test_entries_that_say_nothing_are_errors():
    open_spec = P(P.UNCONSTRAINED, "x")
    for option in ("in_shardings", "out_shardings"):
        with pytest.raises(ValueError, match=f"jit: {option}: .* leaves a dimension open"):
            pc.jit(lambda x: x, **{option: NamedSharding(MESH, open_spec)})
    with pytest.raises(ValueError, match="got None"):
        pc.lax.with_sharding_constraint(pnp.ones(8), None)
    with pytest.raises(TypeError, match="takes a PartitionSpec, got None"):
        NamedSharding(MESH, None)
    struct = pc.ShapeDtypeStruct((2, 2), np.float32, sharding=P("x"))
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="there is no mesh here for"):
            _ = struct.sharding
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="an integer for each dimension"):
            pc.make_mesh(((4,), 2), ("x", "y"))


def test_a_mesh_as_a_decorator():
    @MESH
    def f():
        return pc.sharding.get_mesh()

    assert f() == f() == MESH
    assert pc.sharding.get_mesh().empty


def test_the_current_mesh():
    assert pc.sharding.get_mesh().empty
    with pc.set_mesh(MESH):
        assert pc.sharding.get_mesh() == MESH
        f = pc.shard_map(lambda x: pc.lax.psum(x, "x"), in_specs=P("x"), out_specs=P())
        np.testing.assert_array_equal(np.asarray(f(np.arange(4.0, dtype=np.float32))), [6.0])
    assert pc.sharding.get_mesh().empty
    with pytest.raises(ValueError, match="there is no mesh"):
        pc.shard_map(lambda x: x, in_specs=P("x"), out_specs=P("x"))(np.arange(4.0))


def test_a_drawing_says_which_device_has_what(capsys):
    x = NamedSharding(MESH, P("x", "y")).place(np.zeros((8, 4)).astype(np.float32))
    debug.visualize_array_sharding(x)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    platform = pc.default_backend().upper()
    assert lines[1].split("│")[1:3] == [f" {platform} 0 ", f" {platform} 1 "]
    debug.visualize_sharding((8,), NamedSharding(MESH, P("y")))
    assert f"{platform} 0,2,4,6" in capsys.readouterr().out
    found = []
    debug.inspect_array_sharding(x, callback=found.append)
    assert found == [x.sharding]
    with pytest.raises(TypeError, match="traced"):
        pc.jit(lambda a: debug.visualize_array_sharding(a))(x)
    with pytest.raises(ValueError, match="one or two dimensions"):
        debug.visualize_sharding((2, 2, 2), x.sharding)


@pytest.mark.parametrize("options", [{}, {"shape": (5,)}, {"shape": ()}, {"dtype": "float32"}])
def test_full_like_stays_on_the_device_of_a_committed_array(options):
    x = pc.device_put(pnp.arange(3), pc.devices()[1])
    y = pc.lax.full_like(x, 7, **options)
    assert y.sharding == x.sharding
    np.testing.assert_array_equal(y, np.full(options.get("shape", 3), 7))
    assert pc.lax.full_like(pnp.arange(3), 7, **options).devices() == {pc.devices()[0]}
