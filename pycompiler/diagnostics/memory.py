"""The live arrays of the program. A device itself counts bytes: `devices()[0].memory_stats()`."""

from __future__ import annotations

from pycompiler._runtime import Array, list_arrays, local_devices
from pycompiler.core.tracing.boundary import boundary


@boundary
def live_arrays(platform: str | None = None) -> list[Array]:
    """Every live array that was not deleted, the oldest first, including those in this library's caches.

    Raises ValueError for a platform that has no devices here.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> x = pnp.ones(3)
    >>> any(x is array for array in pc.live_arrays())
    True
    """
    platforms = {device.platform for device in local_devices()}
    if platform is not None and (not isinstance(platform, str) or platform not in platforms):
        raise ValueError(f"live_arrays: there is no platform {platform!r} here, only {', '.join(sorted(platforms))}")
    # The list has the arrays of all platforms.
    return [array for array in list_arrays() if not array.is_deleted()]
