"""Handlers of XLA's FFI that a JAX program registers, on our backend beside XLA's CPU."""

import pathlib
import runpy
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import ffi

HANDLERS = ("Saxpy", "Describe", "InMemory", "Increment", "Variadic", "Fail", "Waits", "Context")


SHARED = runpy.run_path(str(pathlib.Path(__file__).parents[1] / "python" / "ffi" / "handlers_library.py"))


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the library of handlers, which tests/python/ffi calls as well."""
    return SHARED["compile_library"](tmp_path_factory.mktemp("ffi"))


@pytest.fixture(scope="session", autouse=True)
def handlers(library, device):
    return SHARED["register"](library, (ffi,), HANDLERS)


def shape(*sizes, dtype=np.float32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def test_values_and_vmap(beside):
    def f(x, y):
        return ffi.ffi_call("Saxpy", shape(4), vmap_method="broadcast_all")(x, y, a=np.float32(2.5)) + 1

    x = np.arange(4, dtype=np.float32)
    beside(f, x, x[::-1].copy())
    beside(jax.vmap(lambda x: f(x, x)), np.stack([x, x + 1]))


def test_a_handler_for_our_platform_comes_first(device, handlers):
    ffi.register_ffi_target("Chosen", ffi.pycapsule(handlers.Fail), platform="cpu")
    ffi.register_ffi_target("Chosen", ffi.pycapsule(handlers.InMemory), platform="pycompiler")
    with jax.default_device(device):
        out = jax.jit(lambda x: ffi.ffi_call("Chosen", shape(3))(x))(jnp.arange(3.0))
    np.testing.assert_array_equal(out, [0, 1, 2])


def test_the_call_frame_is_xlas(device, beside):
    def f(x, y):
        return ffi.ffi_call("Describe", shape(1000, dtype=np.uint8))(
            x, y, flag=True, count=7, ratio=0.5, small=np.int8(-3), word="a word",
            numbers=np.arange(5, dtype=np.int32), reals=np.linspace(0, 1, 3), inner={"a": 1, "b": "deep"},
        )  # fmt: skip

    beside(f, np.zeros((2, 3), np.float32), np.zeros((), np.int16))
    with jax.default_device(device):
        assert b"small=scalar" in bytes(np.asarray(jax.jit(f)(np.zeros(2, np.float32), np.int16(1))))


def test_orders_of_dimensions_and_shared_memory(beside):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    beside(lambda x: ffi.ffi_call("InMemory", shape(2, 3), input_layouts=[(1, 0)], output_layouts=(0, 1))(x), x)
    beside(lambda x: ffi.ffi_call("InMemory", shape(2, 3), output_layouts=(1, 0))(x) * 2, x)
    beside(lambda x: ffi.ffi_call("Increment", shape(2, 3), input_output_aliases={0: 0})(x) + x, x)


def test_errors_are_the_handlers(device):
    f = jax.jit(lambda x: ffi.ffi_call("Fail", shape(3))(x, code=np.int32(3), message="no luck"))
    with jax.default_device(device), pytest.raises(jax.errors.JaxRuntimeError, match="INVALID_ARGUMENT: no luck"):
        f(-jnp.ones(3)).block_until_ready()


def test_stages_and_state(beside):
    beside(lambda: ffi.ffi_call("Count", shape(dtype=np.int32), has_side_effect=True)(start=5))


def test_the_older_interface_is_refused(device, handlers):
    ffi.register_ffi_target("Older", ffi.pycapsule(handlers.Fail), platform="cpu", api_version=0)
    with jax.default_device(device), pytest.raises(jax.errors.JaxRuntimeError, match="older interface"):
        jax.jit(lambda x: ffi.ffi_call("Older", shape(3), custom_call_api_version=1)(x))(jnp.zeros(3))


def test_sparse_products_of_jaxlib(beside):
    sparse = pytest.importorskip("jax.experimental.sparse")
    dense = np.array([[0, 2, 0], [1, 0, 3]], np.float32)

    def f(x, y):
        return sparse.CSR.fromdense(x, nse=3) @ y

    beside(f, dense, np.arange(3, dtype=np.float32))


def test_parts_and_other_processes(library, tmp_path):
    """Each device calls a handler; programs of the caches call the handlers of their process."""
    text = textwrap.dedent("""
        import ctypes, sys, jax, jax.numpy as jnp, numpy as np
        from jax import ffi, shard_map
        from jax.sharding import NamedSharding, PartitionSpec as P
        loaded = ctypes.CDLL(sys.argv[1])
        ffi.register_ffi_target("Saxpy", ffi.pycapsule(loaded.Saxpy), platform="cpu")
        mesh = jax.make_mesh((4,), ("x",))
        def f(x):
            return ffi.ffi_call("Saxpy", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, x, a=np.float32(2))
        x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, P("x")))
        print(float(jax.jit(f)(x).sum()), float(jax.jit(f)(np.ones(3, np.float32)).sum()))
        print(float(jax.jit(shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x).sum()))
    """)
    from test_jax_devices import ENVIRONMENT

    environment = ENVIRONMENT | {
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path / "ours"),
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_RAISE_PERSISTENT_CACHE_ERRORS": "1",
    }
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text, str(library)],
            env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        assert done.stdout.split() == ["84.0", "9.0", "84.0"]
