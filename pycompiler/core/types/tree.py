"""Trees of containers with arrays at the leaves. `_runtime` does the flattening; this module builds on it.

tuple, list, dict (sorted keys), OrderedDict, defaultdict, namedtuple and None are trees. Other classes become trees
when they are registered. Names are those of `jax.tree_util`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any, TypeVar, cast

from pycompiler import _runtime
from pycompiler._runtime import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import (
    GetAttrKey,
    check_class,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    register_pytree_node,
    tree_flatten_with_path,
)

# The names that `tree_util` takes from here; its `tree_flatten` checks its arguments.
__all__ = [
    "PyTreeDef",
    "default_registry",
    "register_dataclass",
    "tree_all",
    "tree_broadcast",
    "tree_leaves",
    "tree_map",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

Leaf = Callable[[Any], bool]
_Class = TypeVar("_Class", bound=type)


def _check_structure(name: str, treedef: object) -> None:
    if not isinstance(treedef, PyTreeDef):
        raise TypeError(f"{name}: takes a tree's structure, got {treedef!r}; tree_structure gives it")


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of that structure with these leaves. Raises ValueError when their number differs, TypeError if
    `treedef` is not a structure."""
    _check_structure("tree_unflatten", treedef)
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Leaf | None = None) -> list[Any]:
    """The leaves, from left to right.

    >>> import pycompiler as pc
    >>> pc.tree.leaves({"b": 1, "a": (2, 3)})
    [2, 3, 1]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Leaf | None = None) -> PyTreeDef:
    """The structure without the leaves.

    >>> import pycompiler as pc
    >>> pc.tree.structure({"a": 1, "b": [2]})
    PyTreeDef({'a': *, 'b': [*]})
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_paths(tree: Any, is_leaf: Leaf | None = None) -> list[tuple[str, Any]]:
    """Each leaf with its key path: `("[0]['w'].x", leaf)`."""
    leaves, treedef = tree_flatten(tree, is_leaf)
    return list(zip(treedef.paths(), leaves, strict=True))


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Leaf | None = None) -> Any:
    """The tree of `f(leaf, *leaves of the rest at the same position)`.

    Raises ValueError, naming the position, when one of `rest` does not have the structure of `tree`.

    >>> import pycompiler as pc
    >>> pc.tree.map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *(treedef.flatten_up_to(other) for other in rest)]
    return treedef.unflatten([f(*row) for row in zip(*columns, strict=True)])


def tree_all(tree: Any, *, is_leaf: Leaf | None = None) -> bool:
    """Whether all leaves are true.

    >>> import pycompiler as pc
    >>> pc.tree.all({"a": True, "b": [False]})
    False
    """
    return all(tree_leaves(tree, is_leaf))


_MISSING: Any = object()


def tree_reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _MISSING, is_leaf: Leaf | None = None
) -> Any:
    """The leaves folded from the left, from `initializer` if it is given.

    >>> import pycompiler as pc
    >>> pc.tree.reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]})
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    return reduce(function, leaves) if initializer is _MISSING else reduce(function, leaves, initializer)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _MISSING, is_leaf: Leaf | None = None
) -> Any:
    """The leaves folded pairwise, as a balanced tree: shorter chains than `tree_reduce` for an associative operation.

    `identity` is the result for a tree without leaves. Without an identity, such a tree is a TypeError.
    """
    leaves = tree_leaves(tree, is_leaf)
    if not leaves and identity is _MISSING:
        raise TypeError("tree_reduce_associative: there are no leaves and no identity was given")
    while len(leaves) > 1:
        pairs = [operation(a, b) for a, b in zip(leaves[::2], leaves[1::2], strict=False)]
        leaves = pairs + leaves[len(pairs) * 2 :]
    return leaves[0] if leaves else identity


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: Leaf | None = None) -> Any:
    """A tree of the structure of `full_tree` that repeats the leaves of `prefix_tree`, a prefix of it.

    Raises ValueError, naming the position, when `prefix_tree` is no prefix.
    """
    leaves, treedef = tree_flatten(prefix_tree, is_leaf)
    subtrees = treedef.flatten_up_to(full_tree)
    repeated = [
        tree_map(partial(_first, leaf), subtree, is_leaf=is_leaf)
        for leaf, subtree in zip(leaves, subtrees, strict=True)
    ]
    return treedef.unflatten(repeated)


def _first(x: Any, _: Any) -> Any:
    return x


def prefix_leaves(prefix_tree: Any, full_tree: Any, is_leaf: Leaf | None = None) -> list[Any]:
    """For each leaf of `full_tree`, in order, the leaf of `prefix_tree` above it. `is_leaf` applies to the prefix.

    Raises ValueError, naming the position, when `prefix_tree` is no prefix.
    """
    leaves, treedef = tree_flatten(prefix_tree, is_leaf)
    subtrees = treedef.flatten_up_to(full_tree)
    return [leaf for leaf, subtree in zip(leaves, subtrees, strict=True) for _ in tree_leaves(subtree)]


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """A tree of structure `outer_treedef` whose leaves are trees of structure `inner_treedef`, turned inside out.

    Without `inner_treedef`, the inner structure is that of the first subtree. Raises TypeError when the number of
    leaves differs from that of such a tree.
    """
    for structure in (outer_treedef, *(() if inner_treedef is None else (inner_treedef,))):
        _check_structure("tree_transpose", structure)
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if not outer_treedef.num_leaves:
        raise ValueError("tree_transpose: the outer structure has no leaves")
    inner = inner_treedef or tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    size = inner.num_leaves
    if len(leaves) != outer_treedef.num_leaves * size:
        wanted = outer_treedef.compose(inner)
        raise TypeError(f"tree_transpose: the tree must be of the structure {wanted}, it is {treedef}")
    columns = [leaves[place::size] for place in range(size)]
    return inner.unflatten([outer_treedef.unflatten(column) for column in columns])


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the root's children."""
    _check_structure("treedef_children", treedef)
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a single node: that of a leaf, of None or of an empty container, as in jax."""
    _check_structure("treedef_is_leaf", treedef)
    return treedef.num_nodes == 1


def is_leaf_alone(treedef: PyTreeDef) -> bool:
    """Whether the structure is that of a single leaf."""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of these structures."""
    if not isinstance(cast(object, treedefs), Iterable):
        raise TypeError(f"treedef_tuple: takes structures of trees, got {treedefs!r}; tree_structure gives them")
    return _runtime.treedef_tuple(list(treedefs))


def _init_fields(cls: Any) -> list[dataclasses.Field[Any]] | None:
    return [field for field in dataclasses.fields(cls) if field.init] if dataclasses.is_dataclass(cls) else None


def register_dataclass(
    nodetype: _Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> _Class:
    """Make a dataclass a container of its `data_fields`; `meta_fields` are part of the structure.

    Without the lists, a field made with `field(metadata={"static": True})` (`tree.static()`) is a meta field.
    `drop_fields` are neither; `unflatten` restores their defaults. Raises TypeError when the class is no dataclass and
    no lists are given, ValueError when the lists don't name its fields.
    """
    check_class("register_dataclass", nodetype)
    name = nodetype.__name__
    make = cast(Callable[..., Any], nodetype)
    fields = _init_fields(nodetype)
    if data_fields is None or meta_fields is None:
        if (data_fields is None) != (meta_fields is None):
            raise TypeError("register_dataclass: give both data_fields and meta_fields, or neither")
        if fields is None:
            raise TypeError(f"register_dataclass: {name} is no dataclass; name its data_fields and meta_fields")
        kept = [field for field in fields if field.name not in drop_fields]
        data_fields = [field.name for field in kept if not field.metadata.get("static", False)]
        meta_fields = [field.name for field in kept if field.metadata.get("static", False)]
    data, meta = tuple(data_fields), tuple(meta_fields)
    twice = {*data} & {*meta}
    if twice:
        raise ValueError(f"register_dataclass: {sorted(twice)} are in data_fields and in meta_fields of {name}")
    if fields is not None and {field.name for field in fields} != {*data, *meta, *drop_fields}:
        raise ValueError(
            f"register_dataclass: data_fields {data}, meta_fields {meta} and drop_fields {tuple(drop_fields)} must "
            f"together be the fields of {name}: {tuple(field.name for field in fields)}"
        )

    def flatten(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(x, name) for name in data), tuple(getattr(x, name) for name in meta)

    def flatten_with_keys(x: Any) -> tuple[Any, tuple[Any, ...]]:
        children, values = flatten(x)
        return tuple(zip(map(GetAttrKey, data), children, strict=True)), values

    def unflatten(values: tuple[Any, ...], children: Iterable[Any]) -> Any:
        return make(**dict(zip(data, children, strict=True)), **dict(zip(meta, values, strict=True)))

    register_pytree_node(nodetype, flatten, unflatten, flatten_with_keys)
    return nodetype


class Registry:
    """The containers that trees are made of, as an object: JAX's libraries flatten trees by its methods."""

    __slots__ = ()

    def flatten(self, tree: Any, leaf_predicate: Leaf | None = None) -> tuple[list[Any], PyTreeDef]:
        """The leaves and the structure."""
        return tree_flatten(tree, leaf_predicate)

    def flatten_with_path(self, tree: Any, leaf_predicate: Any = None) -> tuple[list[tuple[Any, Any]], PyTreeDef]:
        """The leaves with their key paths, and the structure. `leaf_predicate(path, node)` decides whether a node is a
        leaf."""
        return tree_flatten_with_path(tree, leaf_predicate, is_leaf_takes_path=leaf_predicate is not None)

    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Any] | None:
        """The children of a container and its other data. None for a leaf."""
        return flatten_one_level(tree) if self.is_node(cast(type, tree.__class__)) else None

    def flatten_one_level_with_keys(self, tree: Any) -> tuple[Iterable[Any], Any] | None:
        """The children of a container with their keys, and its other data. None for a leaf."""
        return flatten_one_level_with_keys(tree) if self.is_node(cast(type, tree.__class__)) else None

    def is_node(self, type: type) -> bool:
        """Whether instances of a class are containers."""
        return is_tree_node(type)

    def register_node(
        self, type: type, to_iterable: Any, from_iterable: Any, to_iterable_with_keys: Any = None
    ) -> None:
        """Make a class a container: `register_pytree_node`."""
        register_pytree_node(type, to_iterable, from_iterable, to_iterable_with_keys)

    def register_dataclass_node(self, type: type, data_fields: Sequence[str], meta_fields: Sequence[str], /) -> None:
        """Make a class a container of some of its attributes: `register_dataclass`."""
        register_dataclass(type, data_fields, meta_fields)

    def __repr__(self) -> str:
        return "default_registry"

    def __reduce__(self) -> str:
        return "default_registry"


default_registry = Registry()


def static_field(**kwargs: Any) -> Any:
    """`dataclasses.field` for a field that `register_dataclass` makes part of the structure."""
    metadata: dict[str, Any] = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(metadata=metadata, **kwargs)
