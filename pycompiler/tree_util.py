"""Trees of containers with arrays at the leaves: the long names, as in `jax.tree_util`, and registration of classes."""

from typing import Any

from pycompiler import _runtime
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import tree, tree_keys
from pycompiler.core.types.tree import *
from pycompiler.core.types.tree import Leaf, PyTreeDef
from pycompiler.core.types.tree_keys import *
from pycompiler.lax.names import nearest_name

__all__ = ["tree_flatten"]
__all__ += tree.__all__
__all__ += tree_keys.__all__


def tree_flatten(tree: Any, is_leaf: Leaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves, from left to right, and the structure.

    >>> import pycompiler as pc
    >>> pc.tree.flatten({"b": 1, "a": (2, 3)})
    ([2, 3, 1], PyTreeDef({'a': (*, *), 'b': *}))
    """
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(f"tree_flatten: is_leaf is a function, got {is_leaf!r} of type {type(is_leaf).__name__}")
    return _runtime.tree_flatten(tree, is_leaf)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
