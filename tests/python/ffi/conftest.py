"""The compiled handlers and functions of handlers.cc, for this package and for jax: one library for both."""

from types import SimpleNamespace

import jax
import pytest
from handlers_library import compile_library, register

import pycompiler as pc
from pycompiler import ffi

HANDLERS = (
    "Saxpy", "Powers", "Describe", "InMemory", "Increment", "Variadic", "Fail", "Pooled", "Waits", "Gated", "Counts",
    "Context",
)  # fmt: skip


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the library."""
    return compile_library(tmp_path_factory.mktemp("ffi"))


@pytest.fixture(scope="session")
def handlers(library):
    """The library in ctypes; its handlers are registered under their names, here and in jax."""
    return register(library, (ffi, jax.ffi), HANDLERS)


@pytest.fixture(params=[pc, jax], ids=["ours", "jax"])
def each(request, handlers):
    """One of the two packages."""
    module = request.param
    return SimpleNamespace(ShapeDtypeStruct=module.ShapeDtypeStruct, ffi_call=module.ffi.ffi_call)
