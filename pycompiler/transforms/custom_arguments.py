"""Arguments, tangents and cotangents of functions with custom derivative rules: their trees, flattened and checked.

Errors name the function, the rule and the leaf, and give advice. `custom_rules` is the public face.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.flat import argument_names, nothing_of
from pycompiler.core.tracing.primitive import Zero
from pycompiler.core.tracing.references import Ref, check_aliases, hide
from pycompiler.core.tracing.structural import instantiate
from pycompiler.core.tracing.trace import Tracer, current_trace
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import for_rule, get_aval, is_array, same_type, short, strong
from pycompiler.core.types.tree import PyTreeDef, is_leaf_alone, tree_flatten, tree_leaves, tree_structure
from pycompiler.primitives.arithmetic import convert, stop_gradient
from pycompiler.transforms.symbolic_zeros import SymbolicZero
from pycompiler.transforms.tangents import on_device, typed


def name_of(fun: object) -> str:
    """The function's own name."""
    while isinstance(fun, functools.partial):
        fun = cast(object, fun.func)  # pyright: ignore[reportUnknownMemberType]
    return str(getattr(fun, "__name__", type(fun).__name__))


def shown(x: object) -> str:
    """The text of a value in a message: the type of an array, else the value itself."""
    if is_array(x) or isinstance(x, SymbolicZero):
        return short(x.aval if isinstance(x, SymbolicZero) else get_aval(x))
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '...'} of type {type(x).__name__}"


def defined_by(decorator: Any, name: str) -> Any:
    """The method of the decorated function that defines a rule, if that function is itself decorated: `custom_vjp` over
    `custom_vmap` has `def_vmap`. Raises AttributeError for any other name."""
    fun: Any = decorator.__dict__.get("fun")
    kind: Any = fun.__class__
    if name.startswith("def") and hasattr(kind, name):
        return getattr(fun, name)
    raise AttributeError(f"{type(decorator).__name__!r} object has no attribute {name!r}")


def numbers_of(kind: str, fun: Callable[..., Any], argnums: Any, argnames: Any) -> tuple[int, ...]:
    """The positions of the arguments that are not differentiated, from their numbers and names."""
    numbers: set[int] = set()
    argnums = as_integers(kind, "nondiff_argnums", argnums)
    given: tuple[Any, ...] = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    for number in given:
        if not isinstance(number, int) or number < 0:
            raise TypeError(f"{kind}: nondiff_argnums holds positions of arguments, from 0, got {number!r}")
        numbers.add(number)
    names: tuple[Any, ...] = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    parameters = list(inspect.signature(fun).parameters) if names else []
    for name in names:
        if name not in parameters:
            raise ValueError(
                f"{kind}: nondiff_argnames has '{name}', but the parameters of {name_of(fun)} are {parameters}"
            )
        numbers.add(parameters.index(name))
    return tuple(sorted(numbers))


def positional(kind: str, fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call by position, with defaults for missing ones. Those that a `functools.partial` holds are
    not among them."""
    kind_of_function: Any = fun.__class__
    if kind_of_function is functools.partial and not kwargs:
        return args
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        if kwargs:
            raise TypeError(f"{kind}: the parameters of {name_of(fun)} are not known: pass them by position") from None
        return args
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{kind}: {name_of(fun)} can't take these arguments: {error}") from None
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{kind}: {', '.join(map(repr, bound.kwargs))} of {name_of(fun)} can be given by keyword only, and rules "
            "take arguments by position. What to do: make it an ordinary parameter, or close over it"
        )
    return bound.args


class Arguments:
    """The arguments of one call as operands.

    Tracers among the arguments that are not differentiated come first; their derivative is zero. The leaves of the
    differentiated arguments follow.
    """

    __slots__ = ("_fixed", "_fixed_tree", "_held", "_operands", "count", "fun", "in_tree", "places")

    def __init__(self, kind: str, fun: Callable[..., Any], nondiff: Sequence[int], args: tuple[Any, ...]) -> None:
        for number in nondiff:
            if number >= len(args):
                raise ValueError(
                    f"{kind}: nondiff_argnums has {number}, but {name_of(fun)} is given {len(args)} arguments"
                )
        self.fun = fun
        self.count = len(args)
        self.places = [place for place in range(len(args)) if place not in nondiff]
        leaves, self.in_tree = tree_flatten((tuple(args[place] for place in self.places), {}))
        check_aliases(kind, fun, leaves, self.names)
        leaves, self.in_tree = hide(leaves, self.in_tree)
        for index, leaf in enumerate(leaves):
            if not is_array(leaf):
                raise TypeError(
                    f"{kind}: argument '{self.names()[index]}' of {name_of(fun)} is {shown(leaf)}, not an array. "
                    "What to do: name it in nondiff_argnums"
                )
        self._fixed, self._fixed_tree = tree_flatten([args[place] for place in nondiff])
        self._held = [place for place, leaf in enumerate(self._fixed) if isinstance(leaf, Tracer)]
        self._operands = [*(_held(self._fixed[place]) for place in self._held), *on_device(leaves)]
        for place in self._held:
            self._fixed[place] = None

    def key(self, *parts: Hashable) -> Hashable:
        """Equal for calls with the same parts and the same values in the place of arguments that are not operands. None
        if a value has no hash."""
        fixed: Any = tuple([(x.__class__, x) for x in self._fixed])
        found: Hashable = (*parts, fixed, self._fixed_tree.snapshot(), self.in_tree.snapshot())
        try:
            hash(found)
        except TypeError:
            return None
        return found

    def take_operands(self) -> list[Any]:
        """The operands; none at a second call. The rules live as long as the trace and must not keep the operands."""
        operands, self._operands = self._operands, []
        return operands

    def names(self) -> list[str]:
        """The names of the differentiated leaves."""
        return argument_names(self.fun, self.in_tree, self.places)

    def held(self, operands: Sequence[Any]) -> Sequence[Any]:
        """The operands that belong to arguments that are not differentiated."""
        return operands[: len(self._held)]

    def moving(self, operands: Sequence[Any]) -> Sequence[Any]:
        """The operands that are differentiated."""
        return operands[len(self._held) :]

    def fixed(self, held: Sequence[Any]) -> list[Any]:
        """The arguments that are not differentiated."""
        leaves = list(self._fixed)
        for place, x in zip(self._held, held, strict=True):
            leaves[place] = x
        return self._fixed_tree.unflatten(leaves)

    def trees(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The differentiated arguments, from values for their leaves."""
        return self.in_tree.unflatten(leaves)[0]

    def all(self, held: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
        """Every argument, in order."""
        fixed, moving = iter(self.fixed(held)), iter(self.trees(leaves))
        return [next(moving) if place in self.places else next(fixed) for place in range(self.count)]


def _held(x: Any) -> Any:
    return stop_gradient.bind(x) if dtypes.is_inexact(get_aval(x).dtype) else x


class Results:
    """The results of the function, once it has run. The results of its rules must have the same structure and types."""

    __slots__ = ("avals", "tree")

    def __init__(self) -> None:
        self.tree: PyTreeDef | None = None
        self.avals: list[ShapedArray] = []

    def of_function(self, kind: str, fun: Callable[..., Any], result: Any) -> list[Any]:
        """The leaves of the result of the function itself."""
        return self._arrays(f"{kind}: {name_of(fun)}", result)

    def of_rule(self, what: str, fun: Callable[..., Any], result: Any) -> list[Any]:
        """The leaves of the primal result of a rule."""
        known, avals = self.tree, self.avals
        outs = self._arrays(what, result)
        if known is not None and self.tree != known:
            raise TypeError(
                f"{what} must return the result of {name_of(fun)} first, which has the structure {known}, it returned "
                f"{self.tree}"
            )
        if known is not None:
            for path, aval, out in zip(known.paths(), avals, outs, strict=True):
                if not same_type(aval, get_aval(out)):
                    raise TypeError(
                        f"{what} must return the result of {name_of(fun)} first, {short(aval)} at output{path}, "
                        f"it returned {short(get_aval(out))}"
                    )
        return outs

    def _arrays(self, what: str, result: Any) -> list[Any]:
        outs, self.tree = tree_flatten(result)
        for path, out in zip(self.tree.paths(), outs, strict=True):
            if not is_array(out):
                if type(out) is Ref:
                    raise ValueError(
                        f"{what} returned a mutable array reference of type {out.aval} at output{path}, but mutable "
                        f"array references cannot be returned.\n\nThe returned mutable array {out.origin}.\n"
                        "What to do: return what it holds, ref[...]"
                    )
                raise TypeError(f"{what} returned {shown(out)} at output{path}, not an array")
        self.avals = [get_aval(out) for out in outs]
        return outs


def pair(what: str, of: str, result: Any) -> tuple[Any, Any]:
    """The result of a rule, which must be a pair."""
    if not isinstance(result, (tuple, list)) or len(cast(Sequence[Any], result)) != 2:
        raise TypeError(f"{what} must return a pair, {of}; it returned {shown(cast(object, result))}")
    first, second = cast(Sequence[Any], result)
    return first, second


def given_zero(x: Any, symbolic: bool) -> Any:
    """A tangent or cotangent for a rule: zeros become arrays, or `symbolic`; derivatives of integers are float0."""
    if type(x) is not Zero:
        return for_rule(x)
    if symbolic:
        return SymbolicZero(x.aval)
    return instantiate(x) if dtypes.is_inexact(x.aval.dtype) else nothing_of(x.aval.shape)


def given_derivative(x: Any, aval: ShapedArray, symbolic: bool) -> Any:
    """The tangent or cotangent of a value of this aval for a rule, as `given_zero`. If the value is weakly typed, the
    derivative is, too: the product of a float16 with the derivative of a Python number is a float16."""
    found = given_zero(x, symbolic)
    if isinstance(found, SymbolicZero):
        return found
    if aval.weak_type and isinstance(found, np.generic):
        # A zero. In a graph it stays a literal.
        if current_trace() is not None:
            return convert.bind(found, new_dtype=aval.dtype, weak_type=True)
        found = for_rule(found)
    return typed(found, aval)


def taken(x: Any, aval: ShapedArray, of_any_float: bool = False) -> Any:
    """A tangent or cotangent that a rule returned, for a value of this aval. None: it does not fit. If it may be
    `of_any_float`, it is converted to the dtype of the value."""
    if not dtypes.is_inexact(aval.dtype):
        # The derivative of an integer is always zero.
        return Zero(aval)
    if isinstance(x, SymbolicZero):
        return Zero(strong(aval)) if same_type(x.aval, aval) else None
    if getattr(x, "dtype", None) == dtypes.float0 or not is_array(x):
        return None
    own = get_aval(x)
    if own.shape != aval.shape:
        return None
    if own.dtype == aval.dtype:
        return x
    if isinstance(x, (bool, int, float)) or (isinstance(x, complex) and dtypes.is_complex(aval.dtype)):
        return np.asarray(x, aval.dtype)[()]
    if (
        of_any_float
        and dtypes.is_inexact(own.dtype)
        and (dtypes.is_complex(aval.dtype) or not dtypes.is_complex(own.dtype))
    ):
        return convert.bind(x, new_dtype=aval.dtype)
    return None


def mirror(tree: Any, like: Any) -> list[Any] | None:
    """The entries of `tree` for the leaves of `like`. A None or a leaf in `tree` stands for all leaves below it.

    The result is None if the structures differ.
    """
    if tree is None or is_leaf_alone(tree_structure(tree)):
        return [tree] * len(tree_leaves(like))
    children, wanted = tree_flatten(like, lambda x: x is not like)
    if is_leaf_alone(wanted):
        return [tree]
    entries, found = tree_flatten(tree, lambda x: x is not tree)
    if found != wanted:
        return None
    rows = [mirror(entry, child) for entry, child in zip(entries, children, strict=True)]
    return None if any(row is None for row in rows) else [x for row in rows if row is not None for x in row]
