"""Trees of containers with arrays at the leaves: the long names, as in `jax.tree_util`, and registration of classes."""

from collections.abc import Iterable
from typing import Any, cast

from pycompiler import _runtime
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.tree import (
    Leaf,
    PyTreeDef,
    register_dataclass,
    tree_all,
    tree_broadcast,
    tree_leaves,
    tree_map,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
    tree_transpose,
    tree_unflatten,
    treedef_children,
    treedef_is_leaf,
)
from pycompiler.core.types.tree_keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    Partial,
    SequenceKey,
    all_leaves,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    keystr,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map_with_path,
)
from pycompiler.lax.names import nearest_name

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]


def tree_flatten(tree: Any, is_leaf: Leaf | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves, from left to right, and the structure.

    >>> import pycompiler as pc
    >>> pc.tree.flatten({"b": 1, "a": (2, 3)})
    ([2, 3, 1], PyTreeDef({'a': (*, *), 'b': *}))
    """
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(f"tree_flatten: is_leaf is a function, got {is_leaf!r} of type {type(is_leaf).__name__}")
    return _runtime.tree_flatten(tree, is_leaf)


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of these structures."""
    if not isinstance(cast(object, treedefs), Iterable):
        raise TypeError(f"treedef_tuple: takes structures of trees, got {treedefs!r}; tree_structure gives them")
    return _runtime.treedef_tuple(list(treedefs))


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
