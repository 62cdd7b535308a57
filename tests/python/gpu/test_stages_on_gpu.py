"""What `jit(f).lower(x).compile()` shows and runs in a process with a GPU: the code of the arguments' device."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.sharding import SingleDeviceSharding

GPU = True

X = np.linspace(-2, 2, 12, dtype=np.float32)
PLACES = ["cpu", "gpu"]


def device(platform):
    return pc.devices(platform)[0]


def f(x):
    return pnp.sort(pnp.sin(x)) * 5 + x.sum()


def expected(x):
    return np.sort(np.sin(x)) * 5 + x.sum()


def struct(platform):
    return pc.ShapeDtypeStruct(X.shape, "float32", sharding=SingleDeviceSharding(device(platform)))


@pytest.mark.parametrize("platform", PLACES)
@pytest.mark.parametrize("argument", [lambda name: pc.device_put(X, device(name)), struct], ids=["array", "struct"])
def test_code_is_for_the_device_of_the_arguments(platform, argument):
    compiled = pc.jit(f).lower(argument(platform)).compile()
    assert (".target sm_" in compiled.as_text()) == (platform == "gpu")
    assert compiled.as_text() == compiled.as_text("ptx" if platform == "gpu" else "asm")
    assert compiled.output_shardings.device_set == {device(platform)}
    # Neither is committed to a device.
    for x in (X, pnp.asarray(X)):
        result = compiled(x)
        assert result.device is device(platform)
        np.testing.assert_allclose(result, expected(X), rtol=1e-5, atol=1e-5)


def test_code_is_for_the_default_device_of_its_time():
    with pc.default_device(device("cpu")):
        here = pc.jit(f).lower(X).compile()
    there = pc.jit(f).lower(X).compile()
    assert (here(X).device, there(X).device) == (device("cpu"), device("gpu"))
    assert here.output_shardings.device_set == {device("cpu")}
    with pc.default_device(device("cpu")):
        assert there(X).device is device("gpu")


def test_arguments_of_other_devices_are_taken():
    compiled = pc.jit(f).lower(pc.device_put(X, device("cpu"))).compile()
    result = compiled(pc.device_put(X, device("gpu")))
    assert result.device is device("gpu")
    np.testing.assert_allclose(result, expected(X), rtol=1e-5, atol=1e-5)


def test_what_only_the_cpu_has_is_compiled_for_arguments_there():
    matrix = np.array([[2, 1], [1, 2]], np.float32)
    values = pc.jit(pnp.linalg.eigvals).lower(pc.device_put(matrix, device("cpu"))).compile()(matrix)
    np.testing.assert_allclose(np.sort(np.asarray(values).real), [1, 3], rtol=1e-6)
    (rows,) = pc.export.symbolic_shape("n")
    place = SingleDeviceSharding(device("cpu"))
    doubled = pc.jit(lambda x: x * 2).lower(pc.ShapeDtypeStruct((rows,), "float32", sharding=place)).compile()
    for size in (3, 5):
        np.testing.assert_array_equal(doubled(np.ones(size, np.float32)), np.full(size, 2, np.float32))


@pytest.mark.parametrize("platform", PLACES)
def test_the_plan_of_the_memory_is_of_this_device(platform):
    memory = pc.jit(f).lower(struct(platform)).compile().memory_analysis()
    plan = memory.plan()
    assert max(buffer.offset + buffer.bytes for buffer in plan) == memory.temp_size_in_bytes
    # A sort on a GPU has words of key and position.
    assert any(buffer.bytes > X.nbytes for buffer in plan) == (platform == "gpu")


def test_ptx_before_compilation_is_for_the_device_of_the_arguments():
    capability = device("gpu").compute_capability
    lowered = pc.jit(f).lower(struct("gpu"))
    assert lowered.as_text("ptx") == lowered.as_text("ptx", capability=capability)
    assert pc.jit(f).lower(struct("cpu")).as_text("ptx") == lowered.as_text("ptx", capability="8.0")
