"""The supported parts of SciPy, by its module names. The functions are compositions; this package has no primitives."""

from typing import TYPE_CHECKING

from pycompiler.lax.names import nearest_name

if TYPE_CHECKING:
    from pycompiler.scipy import (
        cluster,
        fft,
        integrate,
        interpolate,
        linalg,
        ndimage,
        optimize,
        signal,
        sparse,
        spatial,
        special,
        stats,
    )

__all__ = [
    "cluster",
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
]

__getattr__ = nearest_name(__name__, __all__, later=__all__)
