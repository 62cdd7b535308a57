"""Exchange with other libraries: DLPack in both directions, the Array API's inspection, copies, the device's names."""

import copy
import gc
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)
DTYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32"]


def address(x):
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 1, 3)])
def test_numpy_takes_our_arrays_without_a_copy(dtype, shape):
    values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = pnp.asarray(values)
    shared = np.from_dlpack(x)
    np.testing.assert_array_equal(shared, values)
    assert (shared.dtype, shared.shape) == (values.dtype, values.shape)
    assert not shared.flags.writeable
    if x.size:
        assert address(shared) == address(np.asarray(x))
        copied = np.from_dlpack(x, copy=True)
        assert address(copied) != address(np.asarray(x))
        np.testing.assert_array_equal(copied, values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 1, 3)])
def test_we_take_numpys_arrays_without_a_copy(dtype, shape):
    values = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = pnp.from_dlpack(values)
    assert (x.dtype, x.shape, x.weak_type) == (values.dtype, shape, False)
    np.testing.assert_array_equal(x, values)
    if values.size:
        assert address(np.asarray(x)) == address(values)
        assert address(np.asarray(pnp.from_dlpack(values, copy=True))) != address(values)


def test_the_memory_lives_as_long_as_anybody_needs_it():
    x = pnp.from_dlpack(np.full(1000, 7.0, np.float32))
    shared = np.from_dlpack(pnp.ones(1000) * 3)
    y = x + 1
    gc.collect()
    np.testing.assert_array_equal(x, 7)
    np.testing.assert_array_equal(y, 8)
    np.testing.assert_array_equal(shared, 3)
    capsule = y.__dlpack__()
    del capsule  # no consumer took it
    assert y[0] == 8


def test_what_is_not_row_major_is_copied():
    for view in (VALUES.T, VALUES[:, ::2], VALUES[::-1], np.broadcast_to(VALUES[0], (2, 4))):
        np.testing.assert_array_equal(pnp.from_dlpack(view), view)
        with pytest.raises(BufferError):
            pnp.from_dlpack(view, copy=False)
    # A dimension of one element may have any stride.
    np.testing.assert_array_equal(pnp.from_dlpack(VALUES[:, :1].T, copy=None), VALUES[:, :1].T)


def test_with_jax_and_bfloat16():
    x = pnp.asarray([1.5, -2.0], dtype=pnp.bfloat16)
    theirs = jnp.from_dlpack(x)
    assert theirs.dtype == jnp.bfloat16
    np.testing.assert_array_equal(np.asarray(theirs), np.asarray(x))
    ours = pnp.from_dlpack(jnp.arange(4, dtype=jnp.bfloat16))
    assert ours.dtype == pnp.bfloat16
    assert ours.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(pnp.from_dlpack(jax.numpy.ones((2, 3))), np.ones((2, 3)))


def test_what_is_exported_is_what_a_computation_comes_to():
    x = pnp.ones((300, 300))
    np.testing.assert_array_equal(np.from_dlpack(x @ x), 300)


def test_wide_types_are_narrowed_with_a_warning():
    with pytest.warns(UserWarning, match="from_dlpack: float64 is narrowed to float32"):
        x = pnp.from_dlpack(np.arange(3.0))
    assert x.dtype == np.float32
    with pytest.raises(BufferError, match="float64 must be narrowed to float32"):
        pnp.from_dlpack(np.arange(3.0), copy=False)
    with enable_x64(True):
        assert pnp.from_dlpack(np.arange(3.0), copy=False).dtype == np.float64


def test_bad_exchange():
    with pytest.raises(TypeError, match="from_dlpack: list has no __dlpack__ method; use asarray"):
        pnp.from_dlpack([1])
    with pytest.raises(ValueError, match="__dlpack__: stream must be None on a CPU, got 3"):
        pnp.ones(3).__dlpack__(stream=3)
    with pytest.raises(BufferError, match="can't be exported to"):
        pnp.ones(3).__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="device 'gpu' is none of"):
        pnp.from_dlpack(VALUES, device="gpu")

    class Elsewhere:
        def __dlpack__(self, **_):
            raise AssertionError

        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="device of DLPack type 2"):
        pnp.from_dlpack(Elsewhere())
    with pytest.raises(TypeError, match="no DLPack capsule"):
        pc._runtime.array_from_dlpack(3, None)
    capsule = VALUES.__dlpack__()
    pc._runtime.array_from_dlpack(capsule, None)
    with pytest.raises(TypeError, match="was used already"):
        pc._runtime.array_from_dlpack(capsule, None)


def test_device_names():
    x = pnp.ones(3)
    (device,) = pc.devices()
    assert x.device is device
    assert x.devices() == {device}
    assert x.platform() == "cpu"
    assert x.to_device(device).committed
    assert not x.committed
    assert x.copy_to_host_async() is None
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(ValueError, match="to_device: device 'tpu'"):
        x.to_device("tpu")


def test_arrays_are_made_on_a_device():
    (device,) = pc.devices()
    calls = {
        "array": ([1, 2],),
        "asarray": ([1, 2],),
        "zeros": (3,),
        "ones": (3,),
        "empty": (3,),
        "full": (3, 2),
        "zeros_like": (VALUES,),
        "ones_like": (VALUES,),
        "empty_like": (VALUES,),
        "full_like": (VALUES, 1),
        "arange": (3,),
        "linspace": (0, 1),
        "eye": (2,),
        "astype": (VALUES, int),
    }
    for name, args in calls.items():
        assert getattr(pnp, name)(*args, device=device).device is device
        with pytest.raises(ValueError, match=f"{name}: device 'gpu:0' is none of"):
            getattr(pnp, name)(*args, device="gpu:0")


def test_deleted_arrays():
    x = pnp.ones(3)
    assert not x.is_deleted()
    y = x + 1
    x.delete()
    assert x.is_deleted()
    assert y.tolist() == [2, 2, 2]
    for use in (lambda: x.tolist(), lambda: np.asarray(x + 1), lambda: pc.jit(lambda x: x * 2)(x).block_until_ready()):
        with pytest.raises(RuntimeError, match="was deleted"):
            use()


def test_pickle_and_copy():
    for x in (pnp.ones((2, 3)), pnp.asarray(1.5), pnp.asarray([1, 2], dtype=pnp.bfloat16), pnp.zeros((0, 2))):
        for again in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
            assert (again.dtype, again.shape, again.weak_type) == (x.dtype, x.shape, x.weak_type)
            np.testing.assert_array_equal(np.asarray(again, np.float32), np.asarray(x, np.float32))


def test_array_api_inspection():
    x = pnp.ones(3)
    assert x.__array_namespace__() is pnp
    assert x.__array_namespace__(api_version="2024.12") is pnp
    assert pnp.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"api_version must be '2024\.12'"):
        x.__array_namespace__(api_version="2019.01")
    info = pnp.__array_namespace_info__()
    theirs = jnp.__array_namespace_info__()
    assert info.dtypes() == theirs.dtypes()
    assert info.default_dtypes() == theirs.default_dtypes()
    assert info.dtypes(kind=("bool", "signed integer")) == theirs.dtypes(kind=("bool", "signed integer"))
    assert info.dtypes(kind="real floating") == {"float32": np.float32}
    assert info.devices() == pc.devices()
    assert info.default_device() == pc.devices()[0]
    assert info.capabilities()["boolean indexing"] is True
    with enable_x64(True):
        assert "float64" in info.dtypes()
        assert info.default_dtypes()["integral"] == np.int64
    with pytest.raises(ValueError, match="kind must be one of"):
        info.dtypes(kind="floaty")
