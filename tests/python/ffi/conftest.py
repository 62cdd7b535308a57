"""The compiled handlers and functions of handlers.cc, for this package and for jax: one library for both."""

import ctypes
import pathlib
import shutil
import subprocess
from types import SimpleNamespace

import jax
import pytest

import pycompiler as pc
from pycompiler import ffi

HANDLERS = (
    "Saxpy", "Powers", "Describe", "InMemory", "Increment", "Variadic", "Fail", "Pooled", "Waits", "Gated", "Counts",
    "Context",
)  # fmt: skip


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the library."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    path = tmp_path_factory.mktemp("ffi") / "handlers.so"
    source = pathlib.Path(__file__).with_name("handlers.cc")
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-w", "-I", ffi.include_dir()]
    subprocess.run([compiler, *flags, source, "-o", path], check=True)
    return path


@pytest.fixture(scope="session")
def handlers(library):
    """The library in ctypes; its handlers are registered under their names, here and in jax."""
    loaded = ctypes.CDLL(library)
    for name in ("CounterTypeId", "CounterTypeInfo"):
        getattr(loaded, name).restype = ctypes.c_void_p
    for module in (ffi, jax.ffi):
        for name in HANDLERS:
            module.register_ffi_target(name, module.pycapsule(getattr(loaded, name)), platform="cpu")
        registration = {
            "type_id": module.pycapsule(loaded.CounterTypeId()),
            "type_info": module.pycapsule(loaded.CounterTypeInfo()),
        }
        module.register_ffi_type("Counter", registration)
        stages = {"instantiate": loaded.CountInstantiate, "execute": loaded.CountExecute}
        module.register_ffi_target("Count", {stage: module.pycapsule(x) for stage, x in stages.items()})
    return loaded


@pytest.fixture(params=[pc, jax], ids=["ours", "jax"])
def each(request, handlers):
    """One of the two packages."""
    module = request.param
    return SimpleNamespace(ShapeDtypeStruct=module.ShapeDtypeStruct, ffi_call=module.ffi.ffi_call)
