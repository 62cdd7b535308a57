"""Structures of trees as JSON, for files: Python's containers, and classes with registered names and data.

`exported` imports this module. Names are those of `jax.export`.
"""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import flatten_one_level, is_registered, is_tree_node, unflatten_one_level
from pycompiler.export.damage import DeserializationError, of_kind

_T = TypeVar("_T")


@dataclass(frozen=True)
class _Written:
    """The functions that write and read instances of a class. `from_children` takes the data and the children. It is
    None for namedtuples, which take the children."""

    kind: type
    name: str
    serialize: Callable[[Any], bytes | bytearray]
    deserialize: Callable[[bytes], Any]
    from_children: Callable[[Any, Sequence[Any]], Any] | None


_by_type: dict[type, _Written] = {}
_by_name: dict[str, _Written] = {}


def _register(entry: _Written, function: str) -> None:
    known = _by_type.get(entry.kind)
    if known is not None:
        raise ValueError(f"{function}: {entry.kind.__qualname__} is registered already, as {known.name!r}")
    taken = _by_name.get(entry.name)
    if taken is not None:
        raise ValueError(f"{function}: the name {entry.name!r} is taken by {taken.kind.__qualname__}")
    _by_type[entry.kind] = _by_name[entry.name] = entry


def register_pytree_node_serialization(
    nodetype: type[_T],
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes | bytearray],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type[_T]:
    """Define how exported functions store a container class (`tree_util.register_pytree_node`).

    Args:
      serialized_name: its name in files; the process that loads one registers a class under the same name.
      serialize_auxdata, deserialize_auxdata: functions from the container's data, as flattening returns it, to bytes
        and back.
      from_children: `from_children(data, children)` creates an instance; by default the function from the registration
        of the class.

    Returns the class. Raises ValueError for a class that is not a container, and for a class or a name that is already
    registered.
    """
    if not is_registered(nodetype) and not is_tree_node(nodetype):
        raise ValueError(
            f"register_pytree_node_serialization: {nodetype.__qualname__} is not a container; register it by "
            "tree_util.register_pytree_node before"
        )

    def rebuilt(data: Any, children: Sequence[Any]) -> Any:
        return unflatten_one_level(nodetype, data, children)

    make = from_children or rebuilt
    _register(
        _Written(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, make),
        "register_pytree_node_serialization",
    )
    return nodetype


def register_namedtuple_serialization(nodetype: type[_T], *, serialized_name: str) -> type[_T]:
    """Define the name of a namedtuple in exported functions. Returns the class.

    Raises ValueError if the class is not a namedtuple, and for a class or a name that is already registered.
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"register_namedtuple_serialization: {nodetype.__qualname__} is not a namedtuple")
    _register(
        _Written(nodetype, serialized_name, lambda _: b"", lambda _: None, None), "register_namedtuple_serialization"
    )
    return nodetype


# A node that is not a leaf is an object with one of these entries.
_KINDS = ("none", "tuple", "list", "dict", "OrderedDict", "node")


class _Leaf:
    """The placeholder of a leaf while a structure is walked."""


def tree_to_json(treedef: PyTreeDef) -> Any:
    """A structure as data for JSON. Raises ValueError for classes that are not registered, and for keys of dicts that
    are not strings or integers."""
    return _to_json(treedef.unflatten([_Leaf() for _ in range(treedef.num_leaves)]))


def _to_json(x: Any) -> Any:
    kind: type[Any] = type(x)
    if kind is _Leaf:
        return "*"
    if x is None:
        return {"none": []}
    if kind in (tuple, list):
        return {kind.__name__: [_to_json(child) for child in x]}
    entry = _by_type.get(kind)
    if entry is None and kind in (dict, OrderedDict):
        children, keys = flatten_one_level(x)
        return {kind.__name__: [_to_json(child) for child in children], "keys": [_key(key) for key in cast(Any, keys)]}
    if entry is None:
        is_named = isinstance(x, tuple) and hasattr(cast(Any, x), "_fields") and not is_registered(kind)
        how = "register_namedtuple_serialization" if is_named else "register_pytree_node_serialization"
        raise ValueError(
            f"serialize: the arguments or results hold a {kind.__qualname__}, whose name in files is not known.\nWhat "
            f"to do: export.{how}({kind.__name__}, serialized_name=..., ...) here, and in the process that loads it"
        )
    children, data = flatten_one_level(x)
    written = base64.b64encode(bytes(entry.serialize(data))).decode()
    return {"node": [_to_json(child) for child in children], "name": entry.name, "data": written}


def _key(key: Any) -> Any:
    if type(key) not in (str, int):
        raise ValueError(
            f"serialize: a dict among the arguments or results has the key {key!r} of type {type(key).__name__}; files "
            "hold keys that are strings or integers"
        )
    return key


def tree_from_json(written: Any) -> PyTreeDef:
    """The structure from data of `tree_to_json`. Raises DeserializationError for a name that is not registered here."""
    return tree_flatten(_from_json(written))[1]


def _from_json(written: Any) -> Any:
    if written == "*":
        return _Leaf()
    of_kind(written, dict, "a container")
    kind = next((kind for kind in _KINDS if kind in written), "node")
    children = [_from_json(child) for child in of_kind(written.get(kind, []), list, kind)]
    if kind == "none":
        return None
    if kind == "tuple":
        return tuple(children)
    if kind == "list":
        return children
    if kind in ("dict", "OrderedDict"):
        keys = of_kind(written["keys"], list, "keys")
        if not all(type(key) in (str, int) for key in keys) or len(set(keys)) != len(children):
            raise ValueError(f"{len(children)} entries of a dict have the keys {keys!r:.80}")
        pairs = zip(keys, children, strict=True)
        return dict(pairs) if kind == "dict" else OrderedDict(pairs)
    entry = _by_name.get(written.get("name")) if kind == "node" else None
    if entry is None:
        raise DeserializationError(
            f"deserialize: the arguments or results hold a container by the name {written.get('name', kind)!r}, which "
            "is not registered here.\nWhat to do: export.register_pytree_node_serialization or "
            "export.register_namedtuple_serialization with this serialized_name, before loading"
        )
    if entry.from_children is None:
        return entry.kind(*children)
    return entry.from_children(entry.deserialize(base64.b64decode(written["data"])), children)
