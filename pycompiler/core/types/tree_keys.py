"""Trees with the keys that lead to their leaves: key classes, one level at a time, and maps that get the path.

`core.types.tree` flattens without keys in C++. Registered classes may name their children by functions; otherwise the
children are numbered. Names are those of `jax.tree_util`.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from pycompiler._runtime import PyTreeDef, register_node, set_data_functions, set_node_namer, tree_flatten
from pycompiler.core.types.tree_data import copy_data, equal_data

# The names that `tree_util` takes from here.
__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "SequenceKey",
    "all_leaves",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_flatten_with_path",
    "tree_leaves_with_path",
    "tree_map_with_path",
]

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class SequenceKey:
    """The index of a child in a tuple or list."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class DictKey:
    """The key of a child in a dict."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute that holds a child: a field of a namedtuple or of a registered dataclass."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclass(frozen=True)
class FlattenedIndexKey:
    """The number of a child of a class that was registered without names for its children."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"

    def __hash__(self) -> int:
        # The hash differs from that of a `SequenceKey` with the same number.
        return hash((FlattenedIndexKey, self.key))


KeyEntry = TypeVar("KeyEntry", bound=Hashable)
KeyPath = tuple[KeyEntry, ...]
Keys = tuple[Any, ...]
KeyChildren = Iterable[tuple[Any, Any]]
# Decides whether a value is a leaf, from the value or from the path and the value.
LeafTest = Callable[..., bool]

# (flatten, flatten with keys or None) of the registered classes. C++ does not return the data and the keys.
_registered: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any] | None]] = {}
# The function that makes an instance of a registered class.
_unflatten: dict[type, Callable[[Any, Any], Any]] = {}


def registered() -> Collection[type]:
    """The classes that are registered as nodes of trees."""
    return _registered.keys()


def _child_names(nodetype: type, data: Any, count: int) -> list[str] | None:
    """The keys of a class's children, as text, from an instance with placeholder children. None if it has no keys."""
    try:
        return _known_names(nodetype, data, count)
    except TypeError:  # the data has no hash
        return _names(nodetype, data, count)


@functools.lru_cache(maxsize=1024)
def _known_names(nodetype: type, data: Hashable, count: int) -> list[str] | None:
    return _names(nodetype, data, count)


def _names(nodetype: type, data: Any, count: int) -> list[str] | None:
    _, with_keys = _registered.get(nodetype, (None, None))
    if with_keys is None:
        return None
    try:
        children, _ = with_keys(_unflatten[nodetype](data, tuple([object() for _ in range(count)])))
        return [str(key) for key, _ in children]
    except Exception:  # a class that checks its children: they are numbered
        return None


set_node_namer(_child_names)
set_data_functions(equal_data, copy_data)


def check_class(name: str, given: object, *methods: str) -> None:
    """Raise TypeError if `given` is not a class, or lacks one of the methods."""
    if not isinstance(given, type):
        raise TypeError(f"{name}: takes a class, got {given!r} of type {type(given).__name__}")
    missing = [method for method in methods if not hasattr(given, method)]
    if missing:
        raise TypeError(f"{name}: the class {given.__name__} has no {' and no '.join(missing)}; define it")


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[KeyChildren, Hashable]] | None = None,
) -> None:
    """Make a class a container: `flatten_func(x) -> (children, data)`, `unflatten_func(data, children) -> x`.

    The data is compared and hashed as part of the structure. `flatten_with_keys_func` gives pairs of a key and a child
    instead of children. Raises ValueError for a class that is registered already.
    """
    register_node(nodetype, flatten_func, unflatten_func)
    _registered[nodetype] = (flatten_func, flatten_with_keys_func)
    _unflatten[nodetype] = unflatten_func


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[KeyChildren, Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """`register_pytree_node` for a class whose children have keys: `flatten_with_keys(x) -> ([(key, child)], data)`.

    Raises ValueError for a class that is registered already.
    """

    def without_keys(x: Any) -> tuple[tuple[Any, ...], Hashable]:
        children, data = flatten_with_keys(x)
        return tuple(child for _, child in children), data

    register_pytree_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: _Class) -> _Class:
    """A class decorator: the class's own `tree_flatten_with_keys(self)`, class method `tree_unflatten(data, children)`
    and, if it has one, `tree_flatten(self)`."""
    check_class("register_pytree_with_keys_class", cls, "tree_flatten_with_keys", "tree_unflatten")
    methods = cast(Any, cls)
    register_pytree_with_keys(
        cls, lambda x: x.tree_flatten_with_keys(), methods.tree_unflatten, getattr(methods, "tree_flatten", None)
    )
    return cls


def register_pytree_node_class(cls: _Class) -> _Class:
    """A class decorator: the class's own `tree_flatten(self)` and class method `tree_unflatten(data, children)`."""
    check_class("register_pytree_node_class", cls, "tree_flatten", "tree_unflatten")
    methods = cast(Any, cls)
    register_pytree_node(cls, lambda x: x.tree_flatten(), methods.tree_unflatten)
    return cls


def register_static(cls: _Class) -> _Class:
    """A class decorator: instances are containers without children, compared and hashed as part of the structure."""

    def flatten(x: Any) -> tuple[tuple[()], Any]:
        return (), x

    def unflatten(data: Any, children: Any) -> Any:
        return data

    register_pytree_node(cls, flatten, unflatten)
    return cls


class Partial(partial[Any]):
    """`functools.partial` that is a container: the bound arguments are its children, the function is data.

    A Partial can be passed to transformed functions. A partial of a partial keeps the two apart: the arguments of the
    inner one are part of the function.
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> Partial:
        # functools would merge the two.
        kept: Any = _Kept(cast(Any, func)) if isinstance(func, partial) else func
        return super().__new__(cls, kept, *args, **keywords)


class _Kept:
    """A functools.partial as a function. It is equal to another one of an equal partial."""

    def __init__(self, inner: Any) -> None:
        self.inner: Any = inner
        self.__wrapped__ = inner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("func", "args", "keywords"):
            return getattr(self.inner, name)
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return self.inner == (other.inner if isinstance(other, _Kept) else other)

    def __hash__(self) -> int:
        return hash(self.inner)

    def __repr__(self) -> str:
        return repr(self.inner)


register_pytree_with_keys(
    Partial,
    lambda x: (((GetAttrKey("args"), x.args), (GetAttrKey("keywords"), x.keywords)), x.func),
    lambda function, children: Partial(function, *children[0], **children[1]),
)

_BUILTIN = frozenset({tuple, list, dict, OrderedDict, defaultdict, type(None)})


def is_tree_node(typ: type) -> bool:
    """Whether instances of `typ` are containers: tuple, list, dict, OrderedDict, defaultdict, None, namedtuples,
    registered ones."""
    return typ in _BUILTIN or typ in _registered or (issubclass(typ, tuple) and hasattr(cast(Any, typ), "_fields"))


def is_registered(typ: type) -> bool:
    """Whether a class was registered as a container."""
    return typ in _registered


def unflatten_one_level(nodetype: type, data: Any, children: Iterable[Any]) -> Any:
    """An instance of a registered class, from the results of `flatten_one_level`."""
    return _unflatten[nodetype](data, tuple(children))


def _has_fields(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(cast(Any, x), "_fields")


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]:
    """The children of a container and its data: keys of a dict, type of a namedtuple, data of a registered class.

    Raises ValueError for a leaf.
    """
    kind: type[Any] = tree.__class__
    if kind in _registered:
        children, data = _registered[kind][0](tree)
        return list(children), data
    keyed, data = flatten_one_level_with_keys(tree)
    children = [child for _, child in keyed]
    return (tuple(children) if kind in (tuple, dict, type(None)) else children), data


def flatten_one_level_with_keys(tree: Any) -> tuple[KeyChildren, Hashable]:
    """`flatten_one_level` with pairs of a key and a child. Raises ValueError for a leaf."""
    kind: type[Any] = tree.__class__
    if kind in _registered:
        flatten, with_keys = _registered[kind]
        if with_keys is not None:
            children, data = with_keys(tree)
            return tuple(children), data
        children, data = flatten(tree)
        return tuple((FlattenedIndexKey(i), child) for i, child in enumerate(children)), data
    if kind is type(None):
        return (), None
    if kind is tuple or kind is list:
        return tuple((SequenceKey(i), child) for i, child in enumerate(tree)), None
    if _has_fields(tree):
        return tuple((GetAttrKey(name), child) for name, child in zip(tree._fields, tree, strict=True)), kind
    if kind is dict or kind is OrderedDict or kind is defaultdict:
        keys = tuple(tree if kind is OrderedDict else _sorted(tree))
        data = (tree.default_factory, keys) if kind is defaultdict else keys
        return tuple((DictKey(key), tree[key]) for key in keys), data
    raise ValueError(f"flatten_one_level: {tree!r} of type {kind.__name__} is a leaf, not a container")


def _sorted(keys: Iterable[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        raise ValueError(f"the keys of a dict in a tree cannot be sorted: {list(keys)}") from None


def tree_flatten_with_path(
    tree: Any, is_leaf: LeafTest | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[Keys, Any]], PyTreeDef]:
    """The leaves, each with the tuple of keys that leads to it, and the structure.

    `is_leaf(value)`, or with `is_leaf_takes_path` `is_leaf(path, value)`, decides whether a value is a leaf.
    """
    found: list[tuple[Keys, Any]] = []
    cut: dict[int, Any] = {}

    def walk(path: Keys, x: Any) -> None:
        stop = is_leaf is not None and (is_leaf(path, x) if is_leaf_takes_path else is_leaf(x))
        if stop or not (is_tree_node(x.__class__) or _has_fields(x)):
            found.append((path, x))
            if stop:
                cut[id(x)] = x
            return
        for key, child in flatten_one_level_with_keys(x)[0]:
            walk((*path, key), child)

    walk((), tree)
    if not cut:
        return found, tree_flatten(tree)[1]
    # A container may occur at several paths, and be a leaf at only some. The structure is read in the same order.
    pending = iter(found)
    expected = next(pending)

    def is_next(x: Any) -> bool:
        nonlocal expected
        if x is not expected[1]:
            return False
        expected = next(pending, ((), cut))
        return True

    return found, tree_flatten(tree, is_next)[1]


def tree_leaves_with_path(
    tree: Any, is_leaf: LeafTest | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[Keys, Any]]:
    """The leaves, each with the tuple of keys that leads to it."""
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: LeafTest | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """The tree of `f(path, leaf, *leaves of the rest at the same position)`.

    Raises ValueError, naming the position, when one of `rest` does not have the structure of `tree`.
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [treedef.flatten_up_to(other) for other in rest]
    return treedef.unflatten([f(*pair, *others) for pair, *others in zip(pairs, *columns, strict=True)])


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as text, `['w'][0].x`. With `simple`, the bare names with `separator` between them: `w/0/x`."""
    if not isinstance(separator, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"keystr: separator is a string, got {separator!r}")
    return separator.join(map(_simple_key if simple else str, keys))


def _simple_key(key: Any) -> str:
    match key:
        case SequenceKey(idx=index):
            return str(index)
        case DictKey(key=name) | FlattenedIndexKey(key=name) | GetAttrKey(name=name):
            return str(name)
        case _:
            return str(key)


def all_leaves(iterable: Iterable[Any], is_leaf: LeafTest | None = None) -> bool:
    """Whether no element of `iterable` is a container."""
    for x in iterable:
        leaves, _ = tree_flatten(x, is_leaf)
        if len(leaves) != 1 or leaves[0] is not x:
            return False
    return True
