"""Checkpoints of one process: what comes back, and what is an error. test_torn_checkpoints.py kills processes."""

import json
import os
import threading
from collections import OrderedDict, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.checkpoint
import pycompiler.numpy as pnp
from pycompiler import checkpoints, random
from pycompiler.checkpoint import latest, restore, save, wait
from pycompiler.checkpoints import files
from pycompiler.checkpoints.files import DamagedError
from pycompiler.core.types.dtype import DTYPES
from pycompiler.sharding import Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

DEVICES = 4


class State(NamedTuple):
    count: object
    empty: object = ()


@pc.tree_util.register_pytree_node_class
class Box:
    def __init__(self, inside):
        self.inside = inside

    def tree_flatten(self):
        return (self.inside,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def mesh(count=4):
    return Mesh(np.array(pc.devices()[:count]), ("x",))


def divided(count=4, spec=None):
    return NamedSharding(mesh(count), P("x") if spec is None else spec)


def there_and_back(folder, tree, **options):
    save(folder, 1, tree)
    return restore(folder, **options)


def same_bits(one, other):
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and np.asarray(one).tobytes() == np.asarray(other).tobytes()
    )


def test_the_function_of_jax_and_the_module_are_one():
    assert pc.checkpoint.save is save
    assert pycompiler.checkpoint is pc.checkpoint
    assert pc.grad(pc.checkpoint(lambda x: x * x))(3.0) == 6
    assert set(checkpoints.__all__) == {"latest", "restore", "save", "wait"}


def test_a_tree_comes_back_with_its_structure(tmp_path):
    tree = {
        "layers": [(pnp.ones((2, 3)), None), (pnp.arange(4), State(pnp.zeros(()), ()))],
        "ordered": OrderedDict(b=1, a=2.5),
        "by number": {3: True, 1: "text/with~signs"},
        "a/b": 1 + 2j,
    }
    found = there_and_back(tmp_path, tree)
    assert pc.tree.structure(found) == pc.tree.structure(tree)
    assert type(found["layers"][1][1]) is State
    assert list(found["ordered"]) == ["b", "a"]
    for one, other in zip(pc.tree.leaves(found), pc.tree.leaves(tree), strict=True):
        assert type(one) is type(other)
        assert np.array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_has_the_same_bits(tmp_path, dtype):
    with pc.enable_x64(True):
        x = pnp.asarray(np.random.default_rng(0).normal(size=(5, 4)) * 3).astype(dtype)
        found = there_and_back(tmp_path, [x, np.asarray(x)])
    assert same_bits(found[0], x)
    assert type(found[1]) is np.ndarray
    assert same_bits(found[1], x)


def test_wide_numbers_and_special_ones(tmp_path):
    x = np.array([np.nan, -0.0, np.inf, 1e-310])
    tree = {
        "f64": x,
        "c128": x * 1j,
        "nan": float("nan"),
        "tiny": 5e-324,
        "long": 10**30,
        "bool": np.array([True, False]),
    }
    found = there_and_back(tmp_path, tree)
    assert same_bits(found["f64"], tree["f64"])
    assert same_bits(found["c128"], tree["c128"])
    assert same_bits(found["bool"], tree["bool"])
    assert np.isnan(found["nan"])
    assert (found["tiny"], found["long"]) == (5e-324, 10**30)


def test_keys_weak_types_and_empty_arrays(tmp_path):
    tree = {
        "key": random.key(7),
        "keys": random.split(random.key(8), (2, 3)),
        "rbg": random.key(9, impl="rbg"),
        "weak": pnp.asarray(2.0) * 3.0,
        "none": pnp.zeros((0, 3)),
        "scalar": pnp.float32(4),
    }
    tree["weak"] = pc.jit(lambda: 1.5)()
    found = there_and_back(tmp_path, tree, like=tree)
    assert found["weak"].weak_type
    assert found["none"].shape == (0, 3)
    for name in ("key", "keys", "rbg"):
        assert np.array_equal(random.key_data(found[name]), random.key_data(tree[name]))
        assert found[name].dtype == tree[name].dtype
    assert np.array_equal(random.normal(found["key"], (3,)), random.normal(tree["key"], (3,)))


def test_arrays_that_are_restored_go_where_later_calls_want_them(tmp_path):
    found = there_and_back(tmp_path, {"w": pnp.ones(8), "key": random.key(0)})
    assert not found["w"].committed
    assert not found["key"].committed
    x = pc.device_put(np.arange(8.0, dtype=np.float32), divided())
    assert float((x * found["w"]).sum()) == 28


@pytest.mark.parametrize("like", [True, False])
@pytest.mark.parametrize(("before", "after"), [(4, 2), (2, 4), (4, 1), (1, 4), (4, 4)])
def test_another_mesh(tmp_path, before, after, like):
    x = np.arange(24, dtype=np.float32).reshape(8, 3)
    tree = {"w": pc.device_put(x, divided(before)), "all": pc.device_put(x, divided(before, P()))}
    sharding = divided(after)
    save(tmp_path, 5, tree)
    if like:
        found = restore(tmp_path, {name: pc.ShapeDtypeStruct((8, 3), "float32", sharding=sharding) for name in tree})
    else:
        found = restore(tmp_path, sharding={"w": sharding, "all": sharding})
    for each in found.values():
        assert each.sharding == sharding
        assert np.array_equal(each, x)


def test_another_division_of_two_axes(tmp_path):
    grid = Mesh(np.array(pc.devices()).reshape(2, 2), ("a", "b"))
    x = np.arange(48, dtype=np.int16).reshape(8, 6)
    save(tmp_path, 0, pc.device_put(x, NamedSharding(grid, P("a", "b"))))
    for spec in (P("b", "a"), P(None, "a"), P(("a", "b")), P("a"), P()):
        found = restore(tmp_path, sharding=NamedSharding(grid, spec))
        assert np.array_equal(found, x)
        assert found.sharding.spec == spec


def test_parts_are_written_once_and_read_as_needed(tmp_path, monkeypatch):
    x = pc.device_put(np.arange(4096, dtype=np.float32).reshape(64, 64), divided())
    same = pc.device_put(x, divided(spec=P()))
    save(tmp_path, 1, {"x": x, "same": same})
    wait()
    file = tmp_path / "step-1" / "process-0-of-1.safetensors"
    assert 2 * x.nbytes < file.stat().st_size < 2 * x.nbytes + 2000
    read = []
    inner = files.File.tensor

    def counted(self, name, *rest):
        read.append(name)
        return inner(self, name, *rest)

    monkeypatch.setattr(files.File, "tensor", counted)
    part = Mesh(np.array(pc.devices()[:1]), ("x",))
    found = restore(
        tmp_path, {"x": pc.ShapeDtypeStruct((64, 64), "float32", sharding=NamedSharding(part, P())), "same": x}
    )
    assert np.array_equal(found["same"], x)
    assert sorted(set(read)) == ["same", "x@0,0", "x@16,0", "x@32,0", "x@48,0"]


def header(path):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def test_the_files_are_in_the_format(tmp_path):
    save(tmp_path, 1, {"w": pnp.ones((2, 3), pnp.bfloat16), "n": pnp.arange(3), "c": pnp.ones(2, pnp.complex64)})
    wait()
    found, data = header(tmp_path / "step-1" / "process-0-of-1.safetensors")
    assert found.pop("__metadata__") == {"step": "1"}
    assert found["w"] == {"dtype": "BF16", "shape": [2, 3], "data_offsets": [28, 40]}
    assert found["n"] == {"dtype": "I32", "shape": [3], "data_offsets": [16, 28]}
    assert found["c"] == {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    assert len(data) == 40
    assert np.array_equal(np.frombuffer(data[16:28], np.int32), [0, 1, 2])
    read = pytest.importorskip("safetensors.numpy", reason="the package safetensors is not needed").load_file
    assert np.array_equal(read(tmp_path / "step-1" / "process-0-of-1.safetensors")["n"], [0, 1, 2])


def test_saving_does_not_wait_and_takes_what_is_there(tmp_path, monkeypatch):
    inner, may_write = files.write, threading.Event()

    def slow(*args):
        assert may_write.wait(60)
        return inner(*args)

    monkeypatch.setattr(files, "write", slow)
    step = pc.jit(lambda x: x + 1, donate_argnums=0)
    host = np.zeros(3)
    x = step(pnp.zeros(100_000))
    # If it waited for the file, nothing would be written.
    save(tmp_path, 1, {"x": x, "host": host})
    host[:] = 7
    for _ in range(3):
        x = step(x)
    assert latest(tmp_path) is None
    may_write.set()
    found = restore(tmp_path)
    assert float(found["x"][0]) == 1
    assert found["host"][0] == 0


def test_latest_and_keep(tmp_path):
    assert latest(tmp_path / "nothing") is None
    for step in (3, 10, 200):
        save(tmp_path, step, {"step": step})
    wait()
    assert latest(tmp_path) == 200
    assert restore(tmp_path, step=10) == {"step": 10}
    save(tmp_path, 300, {"step": 300}, keep=2)
    wait()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["step-200", "step-300"]


@pytest.mark.parametrize("damage", ["no index", "half an index", "short file", "no file", "another index"])
def test_a_torn_checkpoint_is_never_the_latest(tmp_path, damage):
    for step in (1, 2):
        save(tmp_path, step, {"w": pnp.full(1000, step)})
    wait()
    place = tmp_path / "step-2"
    index, file = place / "index.json", place / "process-0-of-1.safetensors"
    if damage == "no index":
        index.unlink()
    elif damage == "half an index":
        index.write_bytes(index.read_bytes()[:-20])
    elif damage == "short file":
        os.truncate(file, file.stat().st_size - 1)
    elif damage == "no file":
        file.unlink()
    else:
        index.write_text('{"format": "another"}')
    assert latest(tmp_path) == 1
    assert int(restore(tmp_path)["w"][0]) == 1
    with pytest.raises((DamagedError, FileNotFoundError), match="step-2"):
        restore(tmp_path, step=2)
    # The attempt is no obstacle to the next one.
    save(tmp_path, 2, {"w": pnp.full(1000, 9)})
    assert int(restore(tmp_path)["w"][0]) == 9


def test_a_failed_write_is_raised_by_the_next_call(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    inner = files.write
    for call in (wait, lambda: restore(tmp_path), lambda: save(tmp_path, 2, {})):
        monkeypatch.setattr(files, "write", full)
        save(tmp_path, 1, {"w": pnp.ones(3)})
        with pytest.raises(OSError, match="No space left"):
            call()
        wait()
    monkeypatch.setattr(files, "write", inner)
    assert latest(tmp_path) is None
    save(tmp_path, 1, {"w": pnp.ones(3)})
    wait()
    assert latest(tmp_path) == 1


def test_a_result_that_failed_fails_the_save(tmp_path):
    def bad(x):
        raise KeyError("lost")

    x = pc.jit(lambda x: pc.pure_callback(bad, x, x))(pnp.ones(3))
    save(tmp_path, 1, {"x": x})
    with pytest.raises(Exception, match="lost"):
        wait()
    assert latest(tmp_path) is None


@pytest.mark.parametrize("step", [np.int64(4), pnp.asarray(4), np.array(4)])
def test_steps_are_integers_of_any_kind(tmp_path, step):
    save(tmp_path, step, {"a": 1})
    assert restore(tmp_path, step=step) == {"a": 1}
    assert latest(tmp_path) == 4
    for wrong in (True, 4.0, np.float32(4)):
        with pytest.raises((TypeError, ValueError), match="step"):
            save(tmp_path, wrong, {"a": 1})


def saved(folder):
    save(folder, 1, {"w": pnp.ones((2, 3)), "rate": 0.5, "box": [Box(pnp.ones(1))]})
    return folder


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda d: save(d, -1, {}), ValueError, "step must be an int from 0, got -1"),
        (lambda d: save(d, 5, {}, keep=0), ValueError, "keep must be None or an int from 1"),
        (lambda d: (save(d, 5, {}), save(d, 5, {})), ValueError, "step-5 is a checkpoint already"),
        (lambda d: save(d, 5, {"a": [object()]}), TypeError, "leaf at 'a/0' is of type object"),
        (lambda d: save(d, 5, {"a": np.array(["x"])}), TypeError, "leaf at 'a' is of type ndarray"),
        (lambda d: save(d, 5, {"r": pc.new_ref(pnp.ones(2))}), TypeError, "of a Ref"),
        (lambda d: restore(d / "no"), FileNotFoundError, "no complete checkpoint"),
        (lambda d: restore(d, step=7), FileNotFoundError, "step-7 is no checkpoint"),
        (lambda d: restore(saved(d)), ValueError, "a container of the type .*Box.*like="),
        (
            lambda d: restore(saved(d), {"w": pnp.ones((2, 4)), "rate": 1.0, "b": 1, "box": [Box(1.0)]}),
            ValueError,
            r"'b' is not in the checkpoint; 'box/0/0' is f32\[1\] in the checkpoint, a Python float in like; 'w' is "
            r"f32\[2,3\] in the checkpoint, f32\[2,4\] in like",
        ),
        (lambda d: (save(d, 1, np.ones(3)), restore(d, sharding=divided(1))), ValueError, "enable_x64 is off"),
        (lambda d: (save(d, 1, pnp.ones(3)), restore(d, sharding=divided(2))), ValueError, "divide"),
        (lambda d: (save(d, 1, {"d": defaultdict(int, a=1)}), restore(d)), ValueError, "collections.defaultdict"),
    ],
)
def test_errors(tmp_path, call, kind, text):
    with pytest.raises(kind, match=text):
        call(tmp_path)
    wait()


def test_what_like_asks_for(tmp_path):
    save(saved(tmp_path), 2, {"w": np.ones((2, 3), np.float32), "n": 3, "x": pnp.ones((2, 3)), "s": pnp.float32(2)})
    found = restore(tmp_path, {"w": pnp.zeros((2, 3)), "n": pnp.int32(0), "x": np.zeros((2, 3), np.float32), "s": 0.0})
    assert isinstance(found["w"], pc.Array)
    assert isinstance(found["n"], pc.Array)
    assert int(found["n"]) == 3
    assert type(found["x"]) is np.ndarray
    assert found["s"] == 2
    assert type(found["s"]) is float
    box = restore(tmp_path, {"w": pnp.zeros((2, 3)), "rate": 1.0, "box": [Box(pnp.zeros(1))]}, step=1)["box"][0]
    assert np.array_equal(box.inside, [1])
