"""A GPU as a device, in separate processes with the emulated driver: the places of arrays, transfers, and errors."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DRIVER = ROOT / "build" / "tests" / "libcuda-emulated.so"
PRELUDE = """
import numpy as np, pycompiler as pc, pycompiler.numpy as pnp
cpu = pc.devices("cpu")[0]
"""


def run(code, driver=DRIVER, **environment):
    """Run a program, which has the names of PRELUDE, with a driver; returns its output and its errors."""
    assert DRIVER.exists(), f"{DRIVER} is missing: build it (ninja -C build cuda-emulated)"
    unset = {"PYCOMPILER_PLATFORM", "PYCOMPILER_DEFAULT_DEVICE", "PYCOMPILER_NUM_CPU_DEVICES"}
    unset |= {"JAX_PLATFORMS", "JAX_PLATFORM_NAME", "JAX_DEFAULT_DEVICE"}  # JAX's names count as ours do
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        env={**kept, "PYCOMPILER_CUDA_DRIVER": str(driver), **environment},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done


def output(code, **settings):
    done = run(code, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_gpu_is_the_default_device_where_there_is_one():
    code = "d = pc.devices(); print(d, d[0], d[0].platform, d[0].device_kind, d[0].compute_capability)"
    assert output(code) == "[CudaDevice(id=0)] cuda:0 gpu Emulated device 0 9.0\n"
    assert output(code, PYCOMPILER_EMULATED_DEVICES="2").startswith("[CudaDevice(id=0), CudaDevice(id=1)]")
    code = "print(pc.default_backend(), pnp.zeros(3).device, pc.device_count('cpu'), pc.devices('cuda')[0])"
    assert output(code) == "gpu cuda:0 1 cuda:0\n"
    assert output(code, PYCOMPILER_PLATFORM="cuda") == "gpu cuda:0 1 cuda:0\n"


def test_the_platform_is_chosen_and_never_replaced():
    code = "print(pc.default_backend(), pnp.zeros(3).device); pc.devices('gpu')"
    done = run(code, PYCOMPILER_PLATFORM="cpu")
    assert done.stdout == "cpu cpu:0\n"
    assert "PYCOMPILER_PLATFORM=cpu excludes the GPUs" in done.stderr
    done = run(code, driver="/nowhere/libcuda.so", PYCOMPILER_PLATFORM="gpu")
    assert "there is no platform 'gpu' here; there is cpu (1 device)" in done.stderr
    assert "no CUDA driver: cannot load /nowhere/libcuda.so" in done.stderr
    done = run(code, PYCOMPILER_EMULATED_VERSION="11080", PYCOMPILER_PLATFORM="gpu")
    assert "the CUDA driver is too old" in done.stderr
    code = "print(pc.default_backend(), pnp.zeros(3).device)"
    assert output(code, driver="/nowhere/libcuda.so") == "cpu cpu:0\n"
    code = "pc.config.update('platform_name', 'cpu'); print(pc.default_backend(), pnp.zeros(3).device)"
    assert output(code) == "cpu cpu:0\n"


def test_arrays_go_there_and_come_back():
    output("""
for dtype in ("bool", "int8", "uint16", "int32", "float16", "float32", "complex64", "bfloat16", "float8_e4m3fn"):
    values = np.arange(6).reshape(2, 3).astype(pnp.dtype(dtype))
    x = pnp.asarray(values)
    assert str(x.device) == "cuda:0" and x.dtype == values.dtype
    back = pc.device_put(x, cpu)
    for found in (np.asarray(x), np.asarray(back), np.asarray(pc.device_put(back, pc.devices()[0]))):
        assert found.dtype == values.dtype and np.array_equal(found, values), dtype
assert np.array_equal(np.asarray(pnp.asarray(np.zeros((0, 3), np.float32))), np.zeros((0, 3)))
x = pnp.asarray(2.5)
assert float(x) == 2.5 and x.item() == 2.5 and bool(x) and repr(x) == "Array(2.5, dtype=float32, weak_type=True)"
large = np.random.default_rng(0).standard_normal(3_000_000).astype(np.float32)
x = pnp.asarray(large)
assert x.copy_to_host_async() is None
assert np.array_equal(np.asarray(x), large) and np.asarray(x) is not np.asarray(x)
large[:] = 0  # the program owns the sent array again
assert np.asarray(x).any()
assert np.array_equal(np.asarray(pnp.arange(5)), np.arange(5)) and np.asarray(pnp.full(3, 7)).tolist() == [7, 7, 7]
""")


def test_kernels_are_assembled_once_for_a_driver(tmp_path):
    """The disk cache has the kernels as PTX, which all drivers take, and in the form that the driver made of it."""
    code = """
from pycompiler.cache import entry
loaded = entry.unpack
entry.unpack = pc.cache.unpack = lambda *given: (kept := loaded(*given), print(kept.assembler, len(kept.image) > 0))[0]
f = pc.jit(lambda x: pnp.tanh(x) * 2)
print(np.asarray(f(np.zeros(5, np.float32))).tolist())
"""
    settings = {"PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path), "PYCOMPILER_DEBUG": "1"}

    def stages(**environment):
        done = run(code, **settings, **environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("[0.0, 0.0, 0.0, 0.0, 0.0]\n")
        (line,) = [line for line in done.stderr.splitlines() if "<lambda>" in line and " ms (" in line]
        return "loaded" in line, "assemble" in line, done.stdout.splitlines()[:-1]

    assert stages() == (False, True, [])
    assert stages() == (True, False, ["CUDA 12.8 True"])
    assert stages(PYCOMPILER_EMULATED_VERSION="13000") == (True, True, ["CUDA 12.8 True"])
    assert stages(PYCOMPILER_EMULATED_VERSION="13000") == (True, False, ["CUDA 13.0 True"])


def test_several_gpus():
    output(
        """
first, second = pc.devices()
x = pc.device_put(np.arange(5), first)
y = pc.device_put(x, second)
assert y.device is second and np.asarray(y).tolist() == [0, 1, 2, 3, 4]
assert np.asarray(pc.device_put(y, cpu)).tolist() == [0, 1, 2, 3, 4]
with pc.default_device(second):
    assert pnp.zeros(2).device is second
""",
        PYCOMPILER_EMULATED_DEVICES="2",
    )


def test_views_and_deletion():
    output("""
x = pnp.asarray(np.arange(1 << 20, dtype=np.float32))
assert np.asarray(x.reshape(1024, 1024))[1, 0] == 1024
np.asarray(x)
before = pc.devices()[0].memory_stats()["bytes_in_use"]
x.delete()
try:
    np.asarray(x)
except RuntimeError as error:
    assert "was deleted" in str(error)
else:
    raise AssertionError("a deleted array was read")
""")


def test_dlpack():
    output("""
gpu = pc.devices()[0]
x = pnp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
assert x.__dlpack_device__() == (2, 0) and pc.device_put(x, cpu).__dlpack_device__() == (1, 0)
for copy in (None, False, True):
    y = pnp.from_dlpack(x, copy=copy)
    assert y.device is gpu and np.array_equal(np.asarray(y), np.asarray(x))
z = pnp.from_dlpack(np.arange(3, dtype=np.float32))  # from the host, so copied
assert z.device is gpu and np.asarray(z).tolist() == [0, 1, 2]
for ask, text in (
    (lambda: pnp.from_dlpack(np.arange(3, dtype=np.float32), copy=False), "has to be copied to cuda:0"),
    (lambda: x.__dlpack__(dl_device=(1, 0)), "is on device (2, 0) and can't be exported to (1, 0)"),
):
    try:
        ask()
    except BufferError as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)
""")


def test_a_part_of_anothers_array_that_kernels_cannot_access_is_copied():
    """As torch's x[1:]: a kernel's accesses of 16 bytes need an address that is a multiple of 16."""
    output("""
import ctypes
x = pnp.asarray(np.arange(4097, dtype=np.float32))
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)

class Part:
    def __dlpack__(self, **options):
        capsule = x.__dlpack__()
        tensor = pointer_of(capsule, b"dltensor")
        ctypes.c_int64.from_address(ctypes.c_void_p.from_address(tensor + 24).value).value = 4096  # shape[0]
        ctypes.c_uint64.from_address(tensor + 40).value = 4  # byte_offset
        return capsule
    def __dlpack_device__(self):
        return (2, 0)

y = pnp.from_dlpack(Part())
assert y.unsafe_buffer_pointer() % 16 == 0
assert np.array_equal(np.asarray(y * 2), 2 * np.arange(1, 4097))
try:
    pnp.from_dlpack(Part(), copy=False)
except BufferError as error:
    assert "not a multiple of 16 bytes" in str(error), error
else:
    raise AssertionError("shared")
""")


def test_memory_is_the_devices():
    output(
        """
gpu = pc.devices()[0]
before = gpu.memory_stats()
assert before["bytes_limit"] == 64 << 20
x = pnp.asarray(np.zeros(8 << 20, np.uint8))
after = gpu.memory_stats()
assert after["bytes_in_use"] - before["bytes_in_use"] == 8 << 20 and after["peak_bytes_in_use"] >= 8 << 20
try:
    pnp.asarray(np.zeros(100 << 20, np.uint8))
except MemoryError as error:
    assert "cuda:0 has a limit of 64.0 MiB" in str(error) and "8.0 MiB u8[8388608] made at" in str(error)
else:
    raise AssertionError("no MemoryError")
assert np.asarray(x).sum() == 0
""",
        PYCOMPILER_EMULATED_MEMORY=str(64 << 20),
    )


def test_the_child_of_a_fork_is_refused():
    done = run("""
import os
x = pnp.asarray(np.arange(3))
np.asarray(x)
y = pnp.asarray(np.arange(4))
child = os.fork()
if child == 0:
    try:
        np.asarray(y)
    except RuntimeError as error:
        os._exit(7 if "this process was forked from one that uses CUDA" in str(error) else 8)
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert np.asarray(y).tolist() == [0, 1, 2, 3]
""")
    assert done.returncode == 0, done.stderr


def test_transfers_to_the_host_are_guarded():
    output("""
x = pnp.asarray(np.arange(3))
with pc.transfer_guard_device_to_host("disallow"):
    try:
        np.asarray(x)
    except RuntimeError as error:
        assert "device-to-host transfer" in str(error)
    else:
        raise AssertionError("it was not guarded")
assert np.asarray(x).tolist() == [0, 1, 2]
""")
