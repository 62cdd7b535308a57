"""The memory attributes of arrays, against NumPy's and jax's; the list of attributes that they have."""

import ctypes
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.errors import ConcretizationTypeError

VALUES = [
    np.arange(12, dtype=dtype).reshape(3, 4)
    for dtype in ("int8", "uint16", "int32", "float16", "float32", "complex64", ml_dtypes.bfloat16)
]
VALUES += [np.array([[True, False]]), np.float32(2.5).reshape(()), np.zeros((0, 3), np.int16)]
WIDE = [np.arange(6, dtype=dtype).reshape(2, 3) - 2 for dtype in ("int64", "float64", "complex128")]


@pytest.mark.parametrize("values", [*VALUES, *WIDE], ids=lambda x: f"{x.dtype}{x.shape}")
def test_bytes_are_numpy_s(values):
    with pc.enable_x64(values.dtype.itemsize > 8 or values.dtype in ("int64", "float64")):
        x = pnp.asarray(values)
        assert x.tobytes() == values.tobytes()
        assert x.tobytes("F") == values.tobytes("F")
        assert x.tobytes(order="C") == bytes(x.tobytes())
        np.testing.assert_array_equal(pickle.loads(x.dumps()), values)
        assert x.strides == values.strides
        assert (x.flags.writeable, x.flags.c_contiguous, x.base) == (False, True, None)
        np.testing.assert_array_equal(x.flat, values.ravel())
        swapped = values.byteswap()
        for ours in (x.byteswap(), pc.jit(lambda x: x.byteswap())(x), pc.vmap(lambda x: x.byteswap())(x[None])[0]):
            assert ours.dtype == values.dtype
            assert np.asarray(ours).tobytes() == swapped.tobytes()
        assert x.byteswap().byteswap().tobytes() == values.tobytes()
        assert x.on_device_size_in_bytes() == values.nbytes
        if values.size:
            assert ctypes.string_at(x.unsafe_buffer_pointer(), values.nbytes) == values.tobytes()


def test_files_and_views(tmp_path):
    x = pnp.arange(5)
    x.tofile(tmp_path / "x.bin")
    np.testing.assert_array_equal(np.fromfile(tmp_path / "x.bin", np.int32), np.arange(5))
    x.tofile(tmp_path / "x.txt", sep=",", format="%d")
    assert (tmp_path / "x.txt").read_text() == "0,1,2,3,4"
    x.dump(tmp_path / "x.pkl")
    np.testing.assert_array_equal(np.load(tmp_path / "x.pkl", allow_pickle=True), np.arange(5))
    assert x.data.readonly
    assert x.data.tolist() == [0, 1, 2, 3, 4]
    assert x.ctypes.data == x.unsafe_buffer_pointer()


def test_choose_is_the_function():
    a = pnp.asarray([2, 0, 1])
    choices = [pnp.arange(3) * 10, pnp.arange(3) + 100, -pnp.arange(3)]
    wanted = np.asarray(a).choose([np.asarray(c) for c in choices])
    np.testing.assert_array_equal(a.choose(choices), wanted)
    np.testing.assert_array_equal(pc.jit(lambda a: a.choose(choices, mode="clip"))(a), wanted)
    np.testing.assert_array_equal((a + 3).choose(choices, mode="wrap"), wanted)


def test_an_address_waits_and_is_of_one_device():
    slow = pc.jit(lambda x: pc.lax.fori_loop(0, 2000, lambda i, c: pnp.sin(c) + x, x))
    x = slow(pnp.arange(1000.0))
    address = x.unsafe_buffer_pointer()
    assert x.is_ready()
    assert ctypes.string_at(address, x.nbytes) == x.tobytes()
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x.unsafe_buffer_pointer()
    keys = pc.random.split(pc.random.key(0), 3)
    assert keys.on_device_size_in_bytes() == 24
    with pytest.raises(TypeError, match="byteswap: keys"):
        keys.byteswap()
    with pytest.raises(TypeError):
        keys.tobytes()


@pytest.mark.parametrize("name", ["tobytes", "unsafe_buffer_pointer", "on_device_size_in_bytes", "item", "tolist"])
def test_traced_values_have_no_bytes(name):
    with pytest.raises(ConcretizationTypeError, match=r"of a traced f32\[2\] was asked for"):
        pc.jit(lambda x: getattr(x, name)())(pnp.ones(2))


# Left out: attributes for which jax raises, or which show its internals.
ABSENT = {"clone", "device_buffer", "device_buffers", "traceback"}
# NumPy's methods that write in place, and its internals.
IN_PLACE = {"fill", "getfield", "partition", "put", "resize", "setfield", "setflags"}


def test_arrays_have_the_attributes_of_jax_s_and_of_numpy_s():
    public = lambda x: {name for name in dir(x) if not name.startswith("_")}  # noqa: E731
    x = pnp.ones(2)
    assert public(jnp.ones(2)) - public(x) == ABSENT
    assert public(np.ones(2)) - public(x) == IN_PLACE
    for name in IN_PLACE:
        with pytest.raises(AttributeError):
            getattr(x, name)
    theirs, ours = [], []
    jax.jit(lambda x: theirs.append(public(x)) or x)(jnp.ones(2))
    pc.jit(lambda x: ours.append(public(x)) or x)(x)
    own = {
        "aval_mutable_qdd",
        "cur_qdd",
        "dimension_as_value",
        "full_lower",
        "get_const",
        "get_referent",
        "mutable_qdd",
    }
    own |= {"parent", "to_concrete_value", "val"}
    # Only arrays, not tracers, know the place of the elements and whether they are computed.
    placed = {"addressable_data", "addressable_shards", "committed", "delete", "devices", "global_shards", "is_deleted"}
    placed |= {"format", "is_fully_addressable", "is_fully_replicated", "sharding"}
    assert theirs[0] - ours[0] - own - placed - ABSENT == set()
