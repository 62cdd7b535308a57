"""Trees of containers with arrays at the leaves. Flattening itself is `_runtime`'s; this is what is built on it.

tuple, list, dict (sorted keys), OrderedDict, defaultdict, namedtuple and None are trees; other classes are once they
are registered. Names are those of `jax.tree_util`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast

from pycompiler._runtime import PyTreeDef, register_node, tree_flatten

__all__ = [
    "PyTreeDef",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "tree_all",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_paths",
    "tree_reduce",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
]

Leaf = Callable[[Any], bool]
_Class = TypeVar("_Class", bound=type)


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of that structure with these leaves. Raises ValueError when their number differs."""
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Leaf | None = None) -> list[Any]:
    """The leaves, from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Leaf | None = None) -> PyTreeDef:
    """The structure without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_paths(tree: Any, is_leaf: Leaf | None = None) -> list[tuple[str, Any]]:
    """Each leaf with its key path: `("[0]['w'].x", leaf)`."""
    leaves, treedef = tree_flatten(tree, is_leaf)
    return list(zip(treedef.paths(), leaves, strict=True))


def tree_map(function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Leaf | None = None) -> Any:
    """The tree of `function(leaf, *leaves of the rest at the same place)`.

    Raises ValueError, naming the place, when one of `rest` does not have the structure of `tree`.
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *(treedef.flatten_up_to(other) for other in rest)]
    return treedef.unflatten([function(*row) for row in zip(*columns, strict=True)])


def tree_all(tree: Any, is_leaf: Leaf | None = None) -> bool:
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


_MISSING: Any = object()


def tree_reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _MISSING, is_leaf: Leaf | None = None
) -> Any:
    """The leaves folded from the left, from `initializer` if it is given."""
    leaves = tree_leaves(tree, is_leaf)
    return (
        functools.reduce(function, leaves)
        if initializer is _MISSING
        else functools.reduce(function, leaves, initializer)
    )


def tree_transpose(outer: PyTreeDef, inner: PyTreeDef, tree: Any) -> Any:
    """A tree of structure `outer` whose leaves are trees of structure `inner`, turned inside out.

    Raises ValueError when `tree` is not of that structure.
    """
    rows = [inner.flatten_up_to(subtree) for subtree in outer.flatten_up_to(tree)]
    return inner.unflatten([outer.unflatten(column) for column in zip(*rows, strict=True)] if rows else [])


def register_pytree_node(
    node_type: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Any, Any], Any],
) -> None:
    """Make a class a container: `flatten(x) -> (children, data)`, `unflatten(data, children) -> x`.

    The data is compared and hashed as part of the structure. Raises ValueError for a class that is registered already.
    """
    register_node(node_type, flatten, unflatten)


def register_pytree_node_class(cls: _Class) -> _Class:
    """A class decorator: the class's own `tree_flatten(self)` and class method `tree_unflatten(data, children)`."""
    methods = cast(Any, cls)
    register_pytree_node(cls, lambda x: x.tree_flatten(), methods.tree_unflatten)
    return cls


def _init_fields(cls: Any) -> list[dataclasses.Field[Any]] | None:
    return [field for field in dataclasses.fields(cls) if field.init] if dataclasses.is_dataclass(cls) else None


def register_dataclass(
    cls: _Class, data_fields: Sequence[str] | None = None, meta_fields: Sequence[str] | None = None
) -> _Class:
    """Make a dataclass a container of its `data_fields`; `meta_fields` are part of the structure.

    Without the lists a field is meta when it was made with `field(metadata={"static": True})`. Raises TypeError when
    the class is no dataclass and no lists are given, ValueError when they don't name its fields.
    """
    name = cls.__name__
    make = cast(Callable[..., Any], cls)
    fields = _init_fields(cls)
    if data_fields is None or meta_fields is None:
        if fields is None:
            raise TypeError(f"register_dataclass: {name} is no dataclass; name its data_fields and meta_fields")
        data_fields = [field.name for field in fields if not field.metadata.get("static", False)]
        meta_fields = [field.name for field in fields if field.metadata.get("static", False)]
    data, meta = tuple(data_fields), tuple(meta_fields)
    if fields is not None and {field.name for field in fields} != {*data, *meta}:
        raise ValueError(
            f"register_dataclass: data_fields {data} and meta_fields {meta} must together be the fields of "
            f"{name}: {tuple(field.name for field in fields)}"
        )

    def flatten(x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return tuple(getattr(x, name) for name in data), tuple(getattr(x, name) for name in meta)

    def unflatten(values: tuple[Any, ...], children: Iterable[Any]) -> Any:
        return make(**dict(zip(data, children, strict=True)), **dict(zip(meta, values, strict=True)))

    register_pytree_node(cls, flatten, unflatten)
    return cls
