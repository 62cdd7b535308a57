"""The library of handlers.cc: compiled, and registered with a package that has JAX's `ffi`. tests/pjrt runs this file,
too."""

import ctypes
import pathlib
import shutil
import subprocess

import pytest

from pycompiler.ffi import include_dir


def compile_library(folder):
    """The path of the library, in the folder."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    path = folder / "handlers.so"
    source = pathlib.Path(__file__).with_name("handlers.cc")
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-w", "-I", include_dir()]
    subprocess.run([compiler, *flags, source, "-o", path], check=True)
    return path


def register(path, modules, names):
    """The library in ctypes, with its handlers registered under their names in each module."""
    loaded = ctypes.CDLL(path)
    for name in ("CounterTypeId", "CounterTypeInfo"):
        getattr(loaded, name).restype = ctypes.c_void_p
    for module in modules:
        for name in names:
            module.register_ffi_target(name, module.pycapsule(getattr(loaded, name)), platform="cpu")
        registration = {
            "type_id": module.pycapsule(loaded.CounterTypeId()),
            "type_info": module.pycapsule(loaded.CounterTypeInfo()),
        }
        module.register_ffi_type("Counter", registration)
        stages = {"instantiate": loaded.CountInstantiate, "execute": loaded.CountExecute}
        module.register_ffi_target("Count", {stage: module.pycapsule(x) for stage, x in stages.items()})
    return loaded
