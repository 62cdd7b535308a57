"""The folder of the cache of compiled code."""

import os

from pycompiler import cache
from pycompiler.core.config.config import config
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name

__all__ = ["reset_cache", "set_cache_dir"]


def set_cache_dir(path: str) -> None:
    """Keep compiled code in this folder, as the setting `compilation_cache_dir` does."""
    config.update("compilation_cache_dir", os.fspath(path))


def reset_cache() -> None:
    """Check the folder of the setting again at the next compilation, also if it was refused before."""
    cache.reset()


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
