"""The cache of compiled code on disk."""

from pycompiler.experimental.compilation_cache import compilation_cache

__all__ = ["compilation_cache"]
