"""The names of jax's `experimental`, and names of its earlier releases that programs still use."""

import contextlib
from typing import TYPE_CHECKING

from pycompiler.core.config.config import config, enable_x64
from pycompiler.lax.callbacks import io_callback
from pycompiler.lax.names import nearest_name

if TYPE_CHECKING:
    from pycompiler.experimental import (
        checkify,
        compilation_cache,
        custom_partitioning,
        jet,
        layout,
        mesh_utils,
        multihost_utils,
        ode,
        pallas,
        pjit,
        shard_map,
        sparse,
    )

__all__ = [
    "checkify",
    "compilation_cache",
    "custom_partitioning",
    "disable_x64",
    "enable_x64",
    "io_callback",
    "jet",
    "layout",
    "mesh_utils",
    "multihost_utils",
    "ode",
    "pallas",
    "pjit",
    "shard_map",
    "sparse",
]


def disable_x64() -> contextlib.AbstractContextManager[None]:
    """A context in which 64-bit types are off, in this thread."""
    return config.override("enable_x64", False)


__getattr__ = nearest_name(__name__, __all__, later=set(__all__) - {"disable_x64", "enable_x64", "io_callback"})
