"""Interfaces for extensions of the package: graphs, own primitives, backends, random generators.

The names are those of JAX's module. `core` has the graph and its parts, and `Primitive`; the rules of own primitives
are registered in `pycompiler.interpreters`.
"""

from pycompiler.extend import backend, core, linear_util, random, source_info_util

__all__ = ["backend", "core", "linear_util", "random", "source_info_util"]
