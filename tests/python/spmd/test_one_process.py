"""Functions about processes, of which there is one, and about copies to the host."""

import warnings

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import io_callback


def test_one_process_has_all_devices():
    assert pc.process_count() == 1
    assert pc.process_index() == 0
    assert pc.process_indices() == pc.process_indices("cpu") == [0]


@pytest.mark.parametrize(
    ("old", "new"), [("host_count", "process_count"), ("host_id", "process_index"), ("host_ids", "process_indices")]
)
def test_old_names_warn(old, new):
    with pytest.warns(UserWarning, match=f"{old} is an old name: use {new}"):
        assert getattr(pc, old)() == getattr(pc, new)()


def test_data_of_the_process():
    sharding = pc.NamedSharding(pc.make_mesh((1,), ("x",)), pc.P("x"))
    data = {"a": np.arange(4, dtype=np.float32), "b": np.ones((2, 3), np.float32)}
    made = pc.make_array_from_process_local_data(sharding, data, {"a": (4,), "b": None})
    assert made["a"].sharding.is_equivalent_to(sharding, 1)
    np.testing.assert_array_equal(made["a"], data["a"])
    np.testing.assert_array_equal(pc.make_array_from_process_local_data(sharding, data["b"]), data["b"])
    with pytest.raises(ValueError, match=r"None or the shape of the data, \(4,\), got \(8,\)"):
        pc.make_array_from_process_local_data(sharding, data["a"], (8,))
    (shard,) = made["a"].addressable_shards
    assert isinstance(shard, pc.Shard)


def test_copies_to_the_host_are_started():
    tree = {"a": pnp.arange(3), "b": "text", "c": np.ones(2)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pc.copy_to_host_async(tree)
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"] == "text"
    assert found["c"] is tree["c"]


def test_ordered_effects_on_a_mesh_of_one_device():
    """They follow the program, within and across calls."""
    sharding = pc.NamedSharding(pc.make_mesh((1,), ("x",)), pc.P("x"))
    seen: list[int] = []

    @pc.jit
    def f(x):
        io_callback(lambda x: seen.append(int(x[0])), None, x, ordered=True)
        return io_callback(lambda x: seen.append(int(x[0])) or x, x, x + 1, ordered=True)

    x = pc.device_put(pnp.zeros(2, pnp.int32), sharding)
    for _ in range(5):
        x = f(x)
    assert x.sharding.is_equivalent_to(sharding, 1)
    pc.effects_barrier()
    assert seen == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
