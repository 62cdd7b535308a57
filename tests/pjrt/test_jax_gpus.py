"""JAX's programs on GPUs, which are the plugin's devices where there are any. They are emulated, in other processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EMULATED = HERE.parents[1] / "build" / "tests" / "libcuda-emulated.so"


def run(*command, **more):
    environment = os.environ | {
        "PYCOMPILER_PLATFORM": "gpu",
        "PYCOMPILER_CUDA_DRIVER": str(EMULATED),
        "PYCOMPILER_EMULATED_DEVICES": "2",
    }
    done = subprocess.run(
        [sys.executable, *map(str, command)], env=environment | more, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("file", ["test_jax_programs.py", "test_jax_callbacks.py"])
def test_programs_on_a_gpu(file):
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / file)


PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

assert [device.device_kind for device in jax.devices()] == ["Emulated device 0", "Emulated device 1"]
mesh = jax.make_mesh((2,), ("i",))
x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("i")))
summed = jax.shard_map(lambda v: jax.lax.psum(v.sum(), "i"), mesh=mesh, in_specs=P("i"), out_specs=P())
assert float(jax.jit(summed)(x)) == 28
assert float(jax.jit(lambda v: (v * 2).sum())(x)) == 56
rows = jax.pmap(lambda v: v + jax.lax.axis_index("k"), axis_name="k")(jnp.zeros((2, 3)))
assert np.asarray(rows).tolist() == [[0] * 3, [1] * 3]
one = jax.device_put(jnp.ones(3), jax.devices()[1])
assert (one + 1).devices() == {jax.devices()[1]}
host = jax.device_put(one, jax.devices("cpu")[0])
assert np.from_dlpack(jax.device_put(host, jax.devices()[0])).tolist() == [1, 1, 1]
donated = jax.jit(lambda v: v + 1, donate_argnums=0)
again = donated(one)
assert one.is_deleted() and again.tolist() == [2, 2, 2]
print("done")
"""


def test_two_gpus_are_the_devices():
    assert run("-c", PROGRAM).endswith("done\n")


def test_without_gpus_the_cpu_is():
    text = "import jax; print([d.device_kind for d in jax.devices()], float(jax.numpy.arange(4.0).sum()))"
    assert run("-c", text, PYCOMPILER_PLATFORM="cpu") == "['cpu'] 6.0\n"


def test_a_program_of_the_cache_is_for_its_device(tmp_path):
    text = "import jax; print(float(jax.jit(lambda x: (x * 3).sum())(jax.numpy.arange(4.0))))"
    cached = {"PYCOMPILER_ENABLE_COMPILATION_CACHE": "1", "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path)}
    for platform in ("cpu", "gpu", "cpu", "gpu"):
        assert run("-c", text, PYCOMPILER_PLATFORM=platform, **cached) == "18.0\n"
