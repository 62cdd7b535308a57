"""Services that JAX has only for platforms that it knows by name, for ours: donation, its persistent cache, and arrays
without a copy.

`client` calls `register` once.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from jax._src import compilation_cache
from jax._src import compiler as jax_compiler
from jax._src.interpreters import mlir
from jax._src.numpy import array_constructors

from pycompiler.pjrt.callbacks import CALLERS

__all__ = ["register"]

_PLATFORM = "pycompiler"


def register() -> None:
    """Add the platform."""
    # On other platforms JAX keeps donated arrays, and warns.
    mlir._platforms_with_donation.append(_PLATFORM)
    original = compilation_cache.is_cache_used
    known: Any = types.SimpleNamespace(platform="cpu")

    def is_cache_used(backend: Any) -> bool:
        return original(known if backend.platform == _PLATFORM else backend)

    compilation_cache.is_cache_used = is_cache_used
    write: Any = jax_compiler._cache_write

    def cache_write(
        key: str, seconds: float, name: str, backend: Any, executable: Any, host_callbacks: Sequence[Any]
    ) -> None:
        # JAX's list has those of its own emitter.
        calls = backend.platform == _PLATFORM and executable.fingerprint in CALLERS
        write(key, seconds, name, backend, executable, host_callbacks or ([name] if calls else []))

    jax_compiler._cache_write = cache_write
    # `asarray(x, copy=False)` accepts arrays in the host's memory only for CPUs.
    place: Any = array_constructors
    platform_of = place._get_platform

    def get_platform(given: Any) -> str:
        name = platform_of(given)
        return "cpu" if name == _PLATFORM else name

    place._get_platform = get_platform
