"""Helpers of transformations that libraries write themselves, as in `jax.api_util`.

A library flattens the arguments of a function with `flatten_fun`, which takes and returns functions of
`extend.linear_util`, and reads the structure of the result after the call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.tracing.function_info import FunctionInfo, function_info
from pycompiler.core.tracing.wrapped import Store, WrappedFun, transformation2
from pycompiler.core.tracing.wrapped import transformation_with_aux2 as transformation_with_aux
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, prefix_leaves, tree_flatten
from pycompiler.lax.names import nearest_name

__all__ = [
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "shaped_abstractify",
]

Thunk = Callable[[], PyTreeDef]


@transformation_with_aux
def _flat(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *args_flat: Any) -> list[Any]:
    args, kwargs = in_tree.unflatten(args_flat)
    leaves, out_tree = tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return leaves


@transformation_with_aux
def _flat_nokwargs(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *args_flat: Any) -> list[Any]:
    leaves, out_tree = tree_flatten(f(*in_tree.unflatten(args_flat)))
    store.store(out_tree)
    return leaves


def flatten_fun(f: WrappedFun, in_tree: PyTreeDef) -> tuple[WrappedFun, Thunk]:
    """A function of the leaves of (args, kwargs), a tree of the structure `in_tree`, that returns the leaves of the
    result; and a function that gives the structure of the result after a call.

    >>> import pycompiler as pc
    >>> from pycompiler.core.tracing.wrapped import wrap_init
    >>> leaves, tree = pc.tree.flatten(((1, (2,)), {"c": 3}))
    >>> flat, out_tree = pc.api_util.flatten_fun(wrap_init(lambda a, b, c: {"sum": a + b[0] + c}), tree)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([6], PyTreeDef({'sum': *}))
    """
    return _flat(f, in_tree)


def flatten_fun_nokwargs(f: WrappedFun, in_tree: PyTreeDef) -> tuple[WrappedFun, Thunk]:
    """`flatten_fun` for only positional arguments: `in_tree` is the structure of their tuple."""
    return _flat_nokwargs(f, in_tree)


@transformation2
def _on_dynamic(
    f: Callable[..., Any], places: tuple[int, ...], fixed: tuple[Any, ...], *args: Any, **kwargs: Any
) -> Any:
    moving = dict(zip(places, args, strict=True))
    rest = iter(fixed)
    return f(*[moving[i] if i in moving else next(rest).val for i in range(len(places) + len(fixed))], **kwargs)


class _Fixed:
    """A fixed argument, equal to another one of the same type and value; compared by identity if it is unhashable."""

    __slots__ = ("is_hashable", "val")

    def __init__(self, val: Any, is_hashable: bool) -> None:
        self.val = val
        self.is_hashable = is_hashable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Fixed) or not self.is_hashable:
            return self is other
        return type(self.val) is type(other.val) and self.val == other.val

    def __hash__(self) -> int:
        return hash(self.val) if self.is_hashable else id(self)


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], require_static_args_hashable: bool = True
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """The function of the arguments at the positions `dyn_argnums`, with the others fixed; and these arguments.

    Raises ValueError for a position that is not among the arguments, and for a fixed argument that can't be hashed, if
    `require_static_args_hashable`.
    """
    dyn_argnums = as_integers("argnums_partial", "dyn_argnums", dyn_argnums)
    numbers = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(f"argnums_partial: position {number} is not among the {len(args)} arguments")
    places = tuple([number % len(args) for number in numbers])
    fixed: list[_Fixed] = []
    for index, arg in enumerate(args):
        if index in places:
            continue
        if require_static_args_hashable and not _is_hashable(arg):
            raise ValueError(
                f"argnums_partial: argument {index} of {f.__name__}, of type {type(arg).__name__}, is fixed and must "
                "be hashable"
            )
        fixed.append(_Fixed(arg, require_static_args_hashable))
    return _on_dynamic(f, places, tuple(fixed)), tuple([args[place] for place in places])


def _is_hashable(x: Hashable) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def donation_vector(
    donate_argnums: Iterable[int], donate_argnames: Iterable[str], in_tree: PyTreeDef, kws: bool = True
) -> tuple[bool, ...]:
    """For each leaf of (args, kwargs), whether its argument is donated, by its position or name. Without `kws`,
    `in_tree` is the structure of only the positional arguments."""
    numbers, names = frozenset(donate_argnums), frozenset(donate_argnames or ())
    args, kwargs = in_tree.children() if kws else (in_tree, None)
    found: list[bool] = []
    for place, arg in enumerate(args.children()):
        found += [place in numbers] * arg.num_leaves
    if kwargs is not None:
        keys: Any = (kwargs.node_data() or (dict, ()))[1]
        for name, value in zip(keys, kwargs.children(), strict=True):
            found += [name in names] * value.num_leaves
    return tuple(found)


def rebase_donate_argnums(donate_argnums: Iterable[int], static_argnums: Iterable[int]) -> tuple[int, ...]:
    """The positions of donated arguments, counted without the static ones.

    Raises ValueError for an argument that is both.

    >>> import pycompiler as pc
    >>> pc.api_util.rebase_donate_argnums((3, 4), (0, 1))
    (1, 2)
    """
    donated, static = sorted({*donate_argnums}), sorted({*static_argnums})
    if {*donated} & {*static}:
        raise ValueError(f"`static_argnums` {static} and `donate_argnums` {donated} cannot intersect.")
    return tuple([number - sum(other < number for other in static) for number in donated])


def flatten_axes(
    name: str, treedef: PyTreeDef, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False
) -> list[Any]:
    """An entry for each leaf of a structure, from a tree that is a prefix of it; None is an entry.

    Raises ValueError, naming the position, if it is no prefix. `name` is that of the parameter. `kws` and `tupled_args`
    say where the tree comes from, for the message.

    >>> import pycompiler as pc
    >>> pc.api_util.flatten_axes("in_axes", pc.tree.structure((1, {"a": 2, "b": 3})), (0, None))
    [0, None, None]
    """
    tree = treedef.unflatten([object() for _ in range(treedef.num_leaves)])
    try:
        return prefix_leaves(axis_tree, tree, lambda x: x is None)
    except ValueError as error:
        hint = ""
        if tupled_args:
            hint = f"; a tree of {name} that is no single entry is a tuple with an entry for each argument"
        raise ValueError(
            f"{name} specification must be a tree prefix of the corresponding value{hint}: {error}"
        ) from None


def debug_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths_thunk: Any = None,
    sourceinfo: str | None = None,
    signature: inspect.Signature | None = None,
) -> FunctionInfo:
    """The information about a function that is traced for `traced_for`: its name and place, and the names of its
    arguments, which example arguments give.

    >>> import pycompiler as pc
    >>> def f(params, x): ...
    >>> pc.api_util.debug_info("jit", f, ({"w": 1, "b": 2}, 3), {}).arg_names
    ("params['b']", "params['w']", 'x')
    """
    known = getattr(fun, "__fun_debug_info__", None)
    if known is not None:
        return known
    return function_info(
        traced_for, fun, args, kwargs, static_argnums, static_argnames, result_paths_thunk, sourceinfo, signature
    )


def safe_map(f: Callable[..., Any], /, *args: Iterable[Any]) -> list[Any]:
    """The results of `f` on the elements of several sequences. Raises AssertionError if their lengths differ."""
    rows = [list(arg) for arg in args]
    assert len({len(row) for row in rows}) <= 1, f"length mismatch: {[len(row) for row in rows]}"
    return [f(*row) for row in zip(*rows, strict=True)]


def shaped_abstractify(x: Any) -> ShapedArray:
    """The abstract value of an array, a scalar, or an abstract value: its shape and dtype.

    Raises TypeError for another object.
    """
    return x if isinstance(x, ShapedArray) else get_aval(x)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
