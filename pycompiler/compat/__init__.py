"""JAX's libraries and programs on pycompiler, unmodified: `import jax` gives this package under JAX's names.

    python -m pycompiler.jax train.py --epochs 3      # a script
    python -m pycompiler.jax -m pytest tests          # a module

or, in your own program, before the first import of jax:

    import pycompiler.compat
    pycompiler.compat.install()

The modules of pycompiler do not change. `jax`, `jax.numpy` and the other modules in the table of modules.py are proxies
of them (proxies.py). The few internal names of JAX that libraries use are in internals.py. An installed JAX is not
loaded. No other folder of the package imports this one.
"""

from __future__ import annotations

import importlib
import os
import sys

from pycompiler.compat import finder
from pycompiler.core.config.config import config
from pycompiler.core.types.aval import show_as_jax

__all__ = ["install", "is_installed"]

_PARTITIONABLE = {"PYCOMPILER_THREEFRY_PARTITIONABLE", "JAX_THREEFRY_PARTITIONABLE"}


def is_installed() -> bool:
    """Whether `import jax` gives pycompiler in this process."""
    return any(isinstance(each, finder.Finder) for each in sys.meta_path)


def install() -> None:
    """Make `import jax` give pycompiler under JAX's names in this process. A second call changes nothing.

    Two settings change, unless environment variables set them: random numbers get JAX's streams
    (`threefry_partitionable`), and a call of a program with host callbacks returns when they have run
    (`wait_for_callbacks`). The first `import jax` reads JAX's variables: `JAX_ENABLE_X64=1`,
    `XLA_FLAGS=--xla_force_host_platform_device_count=8`.

    Raises RuntimeError if the process has loaded the real JAX.
    """
    if is_installed():
        return
    there = finder.loaded()
    if there:
        raise RuntimeError(
            f"pycompiler.compat.install: this process has loaded the real {there[0].partition('.')[0]} (module "
            f"{there[0]}). What to do: call install() before anything imports jax, or start the program with "
            "python -m pycompiler.jax"
        )
    sys.meta_path.insert(0, finder.Finder())
    importlib.invalidate_caches()
    show_as_jax()
    if not _PARTITIONABLE & os.environ.keys():
        config.update("threefry_partitionable", True)
    if "PYCOMPILER_WAIT_FOR_CALLBACKS" not in os.environ:
        config.update("wait_for_callbacks", True)
