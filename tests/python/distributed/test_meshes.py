"""Four processes of two devices each: arrays that go between meshes, `pmap`, and functions that compare trees first."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime
from pycompiler.experimental import multihost_utils
from pycompiler.sharding import AxisType, Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

PROCESSES = 4
DEVICES_EACH = 2
KINDS = ("pmi",)

VALUES = np.arange(128, dtype=np.float32).reshape(16, 8)


def mesh_of(shape, names, devices=None, kind=AxisType.Auto):
    given = np.array(devices or pc.devices(), object).reshape(shape)
    return Mesh(given, names, axis_types=(kind,) * len(names))


def meshes():
    devices = pc.devices()
    return [
        mesh_of((8,), ("x",)),
        mesh_of((2, 4), ("a", "b")),
        mesh_of((4, 2), ("c", "d")),
        mesh_of((2, 2, 2), ("p", "q", "r"), kind=AxisType.Explicit),
        mesh_of((1, 8), ("u", "v")),
        mesh_of((8,), ("x",), devices[::-1]),
        mesh_of((2, 4), ("a", "b"), devices[1:] + devices[:1], AxisType.Explicit),
    ]


def specs_of(mesh):
    first, *_, last = mesh.axis_names * 2
    more = [P(last, first), P(None, last)] if len(mesh.axis_names) > 1 else []
    return [P(), P(first), P(tuple(mesh.axis_names)), P(tuple(mesh.axis_names)[::-1]), *more]


def check(x, values):
    for shard in x.addressable_shards:
        np.testing.assert_array_equal(np.asarray(shard.data), values[shard.index])


def on(mesh, spec, values):
    return pc.device_put(values, NamedSharding(mesh, spec))


def whole(x):
    return multihost_utils.process_allgather(x, tiled=True)


@pytest.mark.parametrize("number", range(7))
def test_arrays_go_from_one_mesh_to_another(number):
    before = meshes()[number]
    pairs = [(spec, mesh, wanted) for spec in specs_of(before) for mesh in meshes() for wanted in specs_of(mesh)]
    for spec, mesh, wanted in pairs[number::17]:
        moved = pc.device_put(on(before, spec, VALUES), NamedSharding(mesh, wanted))
        assert moved.sharding == NamedSharding(mesh, wanted)
        check(moved, VALUES)
        check(moved * 2, VALUES * 2)


def test_arrays_of_two_meshes_meet():
    x, y = on(mesh_of((8,), ("x",)), P("x"), VALUES), on(mesh_of((2, 4), ("a", "b")), P("b", "a"), VALUES)
    np.testing.assert_array_equal(whole(x + y), VALUES * 2)
    f = pc.jit(lambda x, y: (x - 2 * y, (x * y).sum()))
    for a, b in ((x, y), (y, x), (x, y)):
        difference, total = f(a, b)
        np.testing.assert_array_equal(whole(difference), -VALUES)
        assert float(total) == (VALUES * VALUES).sum()
    out = pc.jit(lambda y: y + 1, out_shardings=NamedSharding(mesh_of((8,), ("x",)), P("x")))(y)
    assert out.sharding.spec == P("x")
    np.testing.assert_array_equal(whole(out), VALUES + 1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "complex64", "key"])
def test_any_dtype_goes_between_meshes(dtype):
    values = pc.random.split(pc.random.key(0), 8) if dtype == "key" else (np.arange(8) % 3).astype(pnp.dtype(dtype))
    for mesh, spec in ((mesh_of((2, 4), ("a", "b")), P("b")), (mesh_of((8,), ("x",), pc.devices()[::-1]), P("x"))):
        moved = pc.device_put(on(mesh_of((8,), ("x",)), P("x"), values), NamedSharding(mesh, spec))
        numbers = pc.random.key_data(moved) if dtype == "key" else moved
        expected = np.asarray(pc.random.key_data(values) if dtype == "key" else values)
        check(numbers, expected)


def test_gradients_and_donation_between_meshes():
    x, wanted = on(mesh_of((8,), ("x",)), P("x"), VALUES), NamedSharding(mesh_of((2, 4), ("a", "b")), P("b"))
    slope = pc.grad(lambda x: (pc.device_put(x, wanted) ** 2).sum())(x)
    np.testing.assert_array_equal(whole(slope), 2 * VALUES)
    check(pc.device_put(x, wanted, donate=True), VALUES)
    assert x.is_deleted()


def test_meshes_of_fewer_and_of_more_processes():
    everyone, some = mesh_of((8,), ("x",)), mesh_of((4,), ("x",), pc.devices()[:4])
    part = pc.device_put(on(everyone, P("x"), VALUES), NamedSharding(some, P("x")))
    assert len(part.addressable_shards) == (2 if pc.process_index() < 2 else 0)
    check(part, VALUES)
    if pc.process_index() < 2:
        with pytest.raises(ValueError, match=r"in the processes \[0, 1\].*devices of the processes \[2, 3\], too"):
            pc.device_put(part, NamedSharding(everyone, P("x")))


def test_dlpack_of_an_array_on_several_devices_is_an_error():
    x = on(mesh_of((8,), ("x",)), P("x"), VALUES)
    with pytest.raises(BufferError, match=r"f32\[16,8\] is on 8 devices.*addressable_data"):
        np.from_dlpack(x)
    np.testing.assert_array_equal(np.from_dlpack(x.addressable_data(0)), np.asarray(x.addressable_data(0)))


def test_all_processes_put_a_value_on_devices_of_some():
    some = mesh_of((4,), ("x",), pc.devices()[:4])
    for number in range(20):
        x = on(some, P("x"), VALUES + number)
        check(x, VALUES + number)
        assert len(x.addressable_shards) == (2 if pc.process_index() < 2 else 0)


def test_arrays_of_this_process_are_compared_when_they_go_to_all():
    own, everyone = mesh_of((2,), ("x",), pc.local_devices()), NamedSharding(mesh_of((8,), ("x",)), P("x"))
    np.testing.assert_array_equal(whole(pc.device_put(on(own, P("x"), VALUES), everyone)), VALUES)
    different = on(own, P("x"), VALUES + (pc.process_index() == 3))
    with pytest.raises(ValueError, match="one value in processes 0, 1, 2, another one in process 3"):
        pc.device_put(different, everyone)


def test_values_of_other_types_are_told_apart():
    with pytest.raises(ValueError, match=r"but process 0 puts f32\[2\], process 1 f32\[3\]\. What to do"):
        on(mesh_of((8,), ("x",)), P(), np.ones(3 if pc.process_index() == 1 else 2, np.float32))


# pmap


def test_pmap_of_the_elements_of_each_process():
    own = pc.process_index()
    f = pc.pmap(
        lambda x, y, tree: (x * y, pc.lax.axis_index("i"), pc.lax.psum(tree["a"], "i")),
        axis_name="i",
        in_axes=(1, None, 0),
        out_axes=(1, 0, None),
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2) + own
    for given in (x, pnp.asarray(x)):
        product, place, total = f(given, 2.0, {"a": np.full(2, own, np.int32)})
        assert product.is_fully_addressable
        np.testing.assert_array_equal(product, x * 2)
        np.testing.assert_array_equal(place, [2 * own, 2 * own + 1])
        assert int(total) == 12
    again = pc.pmap(lambda x: pc.lax.pmax(x, "i"), axis_name="i")(place)
    np.testing.assert_array_equal(again, [7, 7])


def test_pmap_of_the_elements_of_all():
    f = pc.pmap(lambda x: pc.lax.psum(x, "i"), axis_name="i")
    out = f(VALUES[:8])
    assert out.shape == (8, 8)
    np.testing.assert_array_equal(whole(f(out))[0], VALUES[:8].sum(0) * 8)
    assert pc.jit(f)(VALUES[:8]).shape == (8, 8)
    with pytest.raises(ValueError, match=r"3 elements.*give the 2 of this process's devices.*those of all 8 devices"):
        f(VALUES[:3])


def test_pmap_of_static_arguments_keywords_and_donation():
    f = pc.pmap(lambda x, n, y=None: x + n + y, static_broadcasted_argnums=1, donate_argnums=0)
    x = pnp.ones((2, 3))
    np.testing.assert_array_equal(f(x, 3, y=np.ones((2, 3), np.float32)), np.full((2, 3), 5))
    assert x.is_deleted()


# Trees that differ


def test_numbers_become_vectors():
    own = pc.process_index()
    for tiled in (False, True):
        np.testing.assert_array_equal(multihost_utils.process_allgather(np.int8(own), tiled=tiled), [0, 1, 2, 3])


@pytest.mark.parametrize("function", [multihost_utils.process_allgather, multihost_utils.broadcast_one_to_all])
def test_trees_that_differ_are_told_apart(function):
    own = pc.process_index()
    with pytest.raises(ValueError, match=r"process 0 gives float32\[2\] at \['a'\], process 1 int32\[2\] at \['a'\]"):
        function({"a": np.ones(2, np.int32 if own == 1 else np.float32)})
    with pytest.raises(ValueError, match=r"process 0 gives float64\[2\], process 2 float64\[3\]"):
        function(np.ones(3 if own == 2 else 2))
    with pytest.raises(ValueError, match=r"process 0 gives nothing, process 3 int64\[\] at \[1\]"):
        function([1, 2] if own == 3 else [1])
    with pytest.raises(TypeError, match=r"got <object object at .*> of type object at \['b'\]"):
        function({"b": object()})


def test_assert_equal_of_trees_that_differ():
    own = pc.process_index()
    with pytest.raises(
        AssertionError, match=r"^no\. The trees differ: process 0 gives float64\[2\], process 1 float64"
    ):
        multihost_utils.assert_equal(np.ones(3 if own == 1 else 2), "no")
    with pytest.raises(AssertionError, match=r"^Expected: 0"):
        multihost_utils.assert_equal(own)


def test_keys_stay_keys():
    own = pc.process_index()
    key = pc.random.key(own)
    got = multihost_utils.broadcast_one_to_all({"rng": key, "step": own}, own == 2)
    assert got["rng"].dtype == key.dtype
    assert pc.random.bits(got["rng"]) == pc.random.bits(pc.random.key(2))
    assert got["step"] == 2
    every = multihost_utils.process_allgather(key)
    np.testing.assert_array_equal(pc.random.key_data(every), [[0, number] for number in range(4)])
    joined = multihost_utils.process_allgather(pc.random.split(key, 3), tiled=True)
    assert joined.shape == (12,)
    third = pc.random.split(pc.random.key(2), 3)
    np.testing.assert_array_equal(pc.random.key_data(joined[6:9]), pc.random.key_data(third))
    divided = pc.device_put(pc.random.split(pc.random.key(5), 8), NamedSharding(mesh_of((8,), ("x",)), P("x")))
    whole = multihost_utils.process_allgather(divided, tiled=True)
    np.testing.assert_array_equal(pc.random.key_data(whole), pc.random.key_data(pc.random.split(pc.random.key(5), 8)))
    multihost_utils.assert_equal({"rng": pc.random.key(1)})
    with pytest.raises(AssertionError, match=r"Expected: \[0 0\]"):
        multihost_utils.assert_equal(key)
    with pytest.raises(ValueError, match=r"process 0 gives key<fry>\[\], process 1 uint32\[2\]"):
        multihost_utils.broadcast_one_to_all(pc.random.PRNGKey(0) if own == 1 else key)


def test_data_that_the_devices_here_cannot_divide_are_an_error():
    sharding = NamedSharding(mesh_of((8,), ("x",)), P("x"))
    with pytest.raises(ValueError, match=r"shape \(5, 3\).*dimension 0 into 2 equal parts here: 5 is not a multiple"):
        pc.make_array_from_process_local_data(sharding, np.ones((5, 3), np.float32))
    with pytest.raises(ValueError, match="5 is not a multiple of 2"):
        pc.make_array_from_process_local_data(sharding, np.ones(5, np.float32), (16,))
    with pytest.raises(ValueError, match="5 is not a multiple of 2"):
        multihost_utils.host_local_array_to_global_array(np.ones(5, np.float32), sharding.mesh, P("x"))
    whole = pc.make_array_from_process_local_data(NamedSharding(sharding.mesh, P(None, "x")), np.ones((5, 2)))
    assert whole.shape == (5, 8)


def test_numpys_comparisons_of_what_is_elsewhere_are_errors():
    x = on(mesh_of((8,), ("x",)), P("x"), VALUES)
    for compare in (np.array_equal, np.array_equiv):
        with pytest.raises(RuntimeError, match="has only 2 of the 8 parts"):
            compare(x, VALUES)
        with pytest.raises(RuntimeError, match="has only 2 of the 8 parts"):
            compare(VALUES, x)
        assert compare(multihost_utils.process_allgather(x, tiled=True), VALUES)


def test_launches_that_differ_in_shapes_say_the_shapes():
    sharding = NamedSharding(mesh_of((8,), ("x",)), P("x"))
    x = pc.make_array_from_process_local_data(sharding, np.ones(4 if pc.process_index() == 2 else 2, np.float32))
    with pytest.raises(
        RuntimeError, match=r"runs `sum` \(.*test_meshes.py:\d+\) with f32\[\d\], .* with f32\[\d\]\. All"
    ):
        np.asarray(x.sum())
    multihost_utils.sync_global_devices("told", timeout=60)


# Meetings


def test_preemption_at_different_steps():
    with pytest.raises(ValueError, match="process 0 is at step 5, process 2 at step 6"):
        multihost_utils.reached_preemption_sync_point(6 if pc.process_index() == 2 else 5)
    assert not multihost_utils.reached_preemption_sync_point(7)


def test_who_comes_late_does_not_wait_for_those_who_have_gone():
    own = pc.process_index()
    if own == 3:
        # Until process 0 has gone.
        _runtime.get_value("process 0 has gone", 60_000)
        with pytest.raises(RuntimeError, match="is late"):
            multihost_utils.sync_global_devices("late")
    else:
        with pytest.raises(
            RuntimeError, match=r"timed out waiting for .*process 3 \(" if own == 0 else "process 3|is late"
        ):
            multihost_utils.sync_global_devices("late", timeout=1)
        _runtime.set_value(f"process {own} has gone", b"")
    multihost_utils.sync_global_devices("late", timeout=60)
