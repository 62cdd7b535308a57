"""JAX's libraries and programs on pycompiler, unmodified: `import jax` gives this package under JAX's names.

    python -m pycompiler.jax train.py --epochs 3      # a script
    python -m pycompiler.jax -m pytest tests          # a module

or, in a program of your own, before anything imports jax:

    import pycompiler.compat
    pycompiler.compat.install()

The modules of pycompiler stay as they are; `jax`, `jax.numpy` and their kin are proxies (proxies.py) of them, which the
table in modules.py lists. The few names from inside of JAX that libraries use are in internals.py. A JAX that is
installed is not loaded. After all rooms: nothing of the package imports it.
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
    """From now on, `import jax` gives pycompiler under JAX's names in this process. A second call changes nothing.

    Random numbers get JAX's streams (`threefry_partitionable`), and a call of a program with host callbacks returns
    when they have run (`wait_for_callbacks`), unless variables of the environment set them. The first `import jax`
    reads JAX's variables as they are then: `JAX_ENABLE_X64=1`, `XLA_FLAGS=--xla_force_host_platform_device_count=8`.

    Raises RuntimeError if the real JAX is loaded already.
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
