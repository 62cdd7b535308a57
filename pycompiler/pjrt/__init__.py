"""The backend that JAX itself loads: `JAX_PLATFORMS=pycompiler python train.py` runs a JAX program here.

`jax_plugins/pycompiler` registers the platform with JAX. The C side of the plugin is `runtime/pjrt`. This room brings
the compiler (`compiler`), JAX's rules of lowering (`lowering`) and callbacks into Python (`callbacks`). It is the only
one that imports JAX, and nothing of it runs unless JAX asks for it. docs/how-to/run-jax-programs.md is for users.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any

from pycompiler._runtime import set_pjrt_compiler

__all__ = ["PLATFORM", "client", "library_path", "load"]

PLATFORM = "pycompiler"


def client() -> Any:
    """JAX's client of the plugin. JAX calls this once, at the first use of the platform."""
    xla_client: Any = importlib.import_module("jax._src.lib").xla_client
    load()
    if not xla_client.pjrt_plugin_loaded(PLATFORM):
        xla_client.load_pjrt_plugin_dynamically(PLATFORM, library_path())
    if not xla_client.pjrt_plugin_initialized(PLATFORM):
        xla_client.initialize_pjrt_plugin(PLATFORM)
    for part in ("lowering", "allowances", "dlpack"):
        importlib.import_module(f"pycompiler.pjrt.{part}").register()
    return xla_client.make_c_api_client(PLATFORM, {})


def library_path() -> str:
    """The path of the library with GetPjrtApi. Other clients of PJRT may load it after `load`."""
    return str(Path(__file__).parent.parent / "libpjrt_pycompiler.so")


@functools.cache
def load() -> None:
    """Give the plugin its compiler. Without it the plugin knows its devices, but compiles nothing."""
    compiler: Any = importlib.import_module("pycompiler.pjrt.compiler")
    oldest, newest = compiler.stablehlo_versions()
    set_pjrt_compiler(compiler.compile_program, compiler.load_program, oldest, newest)
