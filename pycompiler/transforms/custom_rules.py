"""Functions with custom derivative rules: `custom_jvp`, `custom_vjp`, `custom_gradient`, `closure_convert`.

The public face of `core.autodiff.custom`. `custom_arguments` checks the inputs and outputs of rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.custom import custom_call
from pycompiler.core.autodiff.custom_batch import Backward, Custom
from pycompiler.core.source import lines_of
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.references import Ref
from pycompiler.core.tracing.rules import is_zero
from pycompiler.core.tracing.structural import add_tangents
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, strong
from pycompiler.core.types.tree import PyTreeDef, is_leaf_alone, tree_flatten, tree_leaves
from pycompiler.transforms.custom_arguments import (
    Arguments,
    Results,
    defined_by,
    given_derivative,
    mirror,
    name_of,
    numbers_of,
    pair,
    positional,
    shown,
    taken,
)
from pycompiler.transforms.symbolic_zeros import CustomVJPPrimal

Values = Sequence[Any]


class custom_jvp:  # noqa: N801 (a decorator)
    """A function with a custom derivative rule, for forward and reverse mode.

    `nondiff_argnums` (and `nondiff_argnames`) are positional arguments that are not differentiated: Python values,
    functions, or arrays. `defjvp` or `defjvps` sets the rule; a call without a rule is an AttributeError.
    Values that the function closes over are not differentiated: a derivative with respect to one is a TypeError.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> @pc.custom_jvp
    ... def log1pexp(x):
    ...     return pnp.log(1 + pnp.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + pnp.exp(x))) * dx
    >>> pc.grad(log1pexp)(100.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        if not callable(fun):
            raise TypeError(f"custom_jvp: takes a function, got {shown(fun)}")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = numbers_of("custom_jvp", fun, nondiff_argnums, nondiff_argnames)
        self.jvp: Callable[..., Any] | None = None
        self.symbolic_zeros = False

    def __getattr__(self, name: str) -> Any:
        return defined_by(self, name)

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule, and return it: `jvp(primals, tangents)`, two tuples, gives the result and its tangent.

        Arguments that are not differentiated come first: `jvp(*nondiff_args, primals, tangents)`. Tangents of integers
        are of dtype float0. With `symbolic_zeros`, a tangent that is certainly zero is a `SymbolicZero`. The rule may
        return one, too.
        """
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set the rule argument by argument: `jvp(tangent, result, *args)` gives the contribution of one tangent.

        None: the argument has no derivative. Raises TypeError for a function with `nondiff_argnums`.
        """
        if self.nondiff_argnums:
            raise TypeError(f"defjvps: {name_of(self.fun)} has nondiff_argnums; write the rule with defjvp")

        def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise TypeError(
                    f"defjvps: {name_of(self.fun)} has {len(primals)} arguments, and {len(jvps)} rules are given: give "
                    "one for each, None for those without derivative"
                )
            result = self(*primals)
            leaves, tree = tree_flatten(result)
            avals = [get_aval(leaf) for leaf in leaves]
            sums: list[Any] = [Zero(strong(aval)) for aval in avals]
            for rule, primal, tangent in zip(jvps, primals, tangents, strict=True):
                parts, structure = tree_flatten(tangent)
                if rule is None or all(type(part) is Zero for part in parts):
                    continue
                given = structure.unflatten(_for_rule(parts, map(get_aval, tree_leaves(primal)), False))
                what = f"custom_jvp: the rule {name_of(rule)} of {name_of(self.fun)}"
                added = _tangents(what, tree, avals, rule(given, result, *primals))
                sums = [add_tangents(a, b) for a, b in zip(sums, added, strict=True)]
            return result, tree.unflatten(sums)

        self.jvp = jvp
        self.symbolic_zeros = _INTERNAL

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise AttributeError(
                f"custom_jvp: {name_of(self.fun)} has no rule. What to do: give it one with @{name_of(self.fun)}.defjvp"
            )
        args = positional("custom_jvp", self.fun, args, kwargs)
        given = Arguments("custom_jvp", self.fun, self.nondiff_argnums, args)
        results = Results()

        def flat(*operands: Any) -> list[Any]:
            result = self.fun(*given.all(given.held(operands), given.moving(operands)))
            return results.of_function("custom_jvp", self.fun, result)

        def rule(primals: Values, tangents: Values) -> tuple[Values, Values]:
            assert self.jvp is not None
            what = f"custom_jvp: the rule {name_of(self.jvp)} of {name_of(self.fun)}"
            moving, values = given.moving(tangents), given.moving(primals)
            if self.symbolic_zeros is not _INTERNAL:
                moving = _for_rule(moving, map(get_aval, values), self.symbolic_zeros)
            fixed = given.fixed(given.held(primals))
            with lines_of(self.jvp):
                result = self.jvp(*fixed, given.trees(values), given.trees(moving))
            out, tangent = pair(what, "the result and its tangent", result)
            outs = results.of_rule(what, self.fun, out)
            assert results.tree is not None
            return outs, _tangents(what, results.tree, results.avals, tangent)

        name = name_of(self.fun)
        outs = custom_call(
            Custom(name, self.fun, flat, rule=rule, key=given.key(self, self.jvp)), given.take_operands()
        )
        assert results.tree is not None
        return results.tree.unflatten(outs)


# The value of `symbolic_zeros` that marks an internal rule, which takes the zeros of core.
_INTERNAL: Any = object()


def _tangents(what: str, tree: PyTreeDef, avals: Sequence[ShapedArray], given: Any) -> list[Any]:
    """The tangents that a rule returned, for results of this structure and these types."""
    # A Zero is a container without leaves elsewhere; here it is a tangent, which `defjvps` returns.
    leaves, found = tree_flatten(given, is_leaf=is_zero)
    if found != tree:
        raise TypeError(
            f"{what} must return a tangent of the structure of its result, {tree}, it returned {found}. What to do: "
            "give zeros, of dtype float0 for integers, for results without derivative"
        )
    tangents: list[Any] = []
    for path, leaf, aval in zip(tree.paths(), leaves, avals, strict=True):
        tangent = leaf if type(leaf) is Zero else taken(leaf, aval)
        if tangent is None:
            raise TypeError(
                f"{what} must return tangents of the shape and dtype of its result: at output{path} the result is "
                f"{strong(aval)}, the tangent {shown(leaf)}. What to do: convert it with .astype or reshape"
            )
        tangents.append(tangent)
    return tangents


class custom_vjp:  # noqa: N801 (a decorator)
    """A function with custom derivative rules, for reverse mode only; forward mode is a TypeError.

    `nondiff_argnums` (and `nondiff_argnames`) are positional arguments that are not differentiated: Python values,
    functions, or arrays. `defvjp` sets the rules; a call without rules is an AttributeError. Values that the
    function closes over are not differentiated: a derivative with respect to one is a TypeError.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> @pc.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (pnp.clip(g, -1, 1),))
    >>> pc.grad(lambda x: 5 * clipped(x))(3.0)
    Array(1., dtype=float32, weak_type=True)
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        if not callable(fun):
            raise TypeError(f"custom_vjp: takes a function, got {shown(fun)}")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = numbers_of("custom_vjp", fun, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.symbolic_zeros = False
        self.optimize_remat = False

    def __getattr__(self, name: str) -> Any:
        return defined_by(self, name)

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the rules: `fwd(*args)` gives the result and residuals, `bwd(residuals, cotangent)` the cotangents.

        `bwd` returns a tuple with an entry for each differentiated argument. An entry has the structure of the argument
        or of a prefix, in which an array stands for all leaves below it. None stands for zero. Other arguments come
        first: `bwd(*nondiff_args, residuals, cotangent)`. Residuals are a tree of arrays or Python values. With
        `symbolic_zeros`, `fwd` receives a `CustomVJPPrimal` for each array, and a cotangent that is certainly zero is a
        `SymbolicZero`. `optimize_remat` has no effect: the recomputation of `checkpoint` calls the function itself, and
        `fwd` only if residuals are read.
        """
        self.fwd, self.bwd = fwd, bwd
        self.symbolic_zeros = symbolic_zeros
        self.optimize_remat = optimize_remat

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = name_of(self.fun)
        if self.fwd is None:
            raise AttributeError(
                f"custom_vjp: {name} has no rules. What to do: give it a forward and a backward function with "
                f"{name}.defvjp(fwd, bwd)"
            )
        args = positional("custom_vjp", self.fun, args, kwargs)
        given = Arguments("custom_vjp", self.fun, self.nondiff_argnums, args)
        results = Results()

        def flat(*operands: Any) -> list[Any]:
            result = self.fun(*given.all(given.held(operands), given.moving(operands)))
            return results.of_function("custom_vjp", self.fun, result)

        def forward(primals: Values, varying: Sequence[bool]) -> tuple[Values, Values, Backward]:
            return self._forward(given, results, primals, varying)

        outs = custom_call(
            Custom(name, self.fun, flat, forward=forward, key=given.key(self, self.fwd, self.bwd)),
            given.take_operands(),
        )
        assert results.tree is not None
        return results.tree.unflatten(outs)

    def _forward(
        self, given: Arguments, results: Results, primals: Values, varying: Sequence[bool]
    ) -> tuple[Values, Values, Backward]:
        assert self.fwd is not None
        held, moving = given.held(primals), given.moving(primals)
        avals = [get_aval(x) for x in moving]
        leaves: list[Any] = list(moving)
        if self.symbolic_zeros:
            leaves = [CustomVJPPrimal(x, v) for x, v in zip(leaves, given.moving(varying), strict=True)]
        fixed: list[Any] = list(held)
        if self.symbolic_zeros:
            fixed = [CustomVJPPrimal(x, False) for x in fixed]
        what = f"custom_vjp: the forward function {name_of(self.fwd)} of {name_of(self.fun)}"
        earlier = Ref.count
        with lines_of(self.fwd):
            result = self.fwd(*given.all(fixed, leaves))
        out, residual = pair(what, "the result and the residuals that the backward function needs", result)
        outs = results.of_rule(what, self.fun, out)
        out_tree = results.tree
        assert out_tree is not None
        out_avals = [get_aval(x) for x in outs]
        kept, kept_tree = tree_flatten(residual)
        for x in kept if Ref.count else ():
            if type(x) is Ref and x.number >= earlier:
                raise ValueError(
                    f"custom_vjp fwd function {name_of(self.fwd)} of {name_of(self.fun)} returned a mutable array "
                    f"reference of type {x.aval} that it made as a residual.\nWhat to do: return what it holds, "
                    "ref[...]; or make the reference outside, and pass it as an argument"
                )
        places = [place for place, x in enumerate(kept) if _is_value(x)]
        count = len(held)

        def backward(residuals: Values, cotangents: Values) -> Values:
            for place, x in zip(places, residuals[count:], strict=True):
                kept[place] = x
            cotangent = out_tree.unflatten(_for_rule(cotangents, out_avals, self.symbolic_zeros))
            found = self._backward(given, avals, residuals[:count], kept_tree.unflatten(kept), cotangent)
            return [*(Zero(strong(get_aval(x))) for x in residuals[:count]), *found]

        return outs, [*held, *(kept[place] for place in places)], backward

    def _backward(
        self, given: Arguments, avals: Sequence[ShapedArray], held: Values, residual: Any, cotangent: Any
    ) -> list[Any]:
        """The cotangents of the differentiated arguments."""
        assert self.bwd is not None
        what = f"custom_vjp: the backward function {name_of(self.bwd)} of {name_of(self.fun)}"
        with lines_of(self.bwd):
            found = self.bwd(*given.fixed(held), residual, cotangent)
        like = given.trees(avals)
        rows = cast(Sequence[Any], found)
        if not isinstance(found, (tuple, list)) or len(rows) != len(like):
            raise TypeError(
                f"{what} must return a tuple with a cotangent for each of {len(like)} arguments, it returned "
                f"{tree_flatten(found)[1]}. What to do: give None for one that is zero"
            )
        cotangents: list[Any] = []
        for place, ct, tree in zip(given.places, rows, like, strict=True):
            row = mirror(ct, tree)
            if row is None:
                raise TypeError(
                    f"{what} must return a cotangent of the structure of argument {place}, "
                    f"{tree_flatten(tree)[1]}, it returned {tree_flatten(ct)[1]}"
                )
            # References have no cotangents.
            cotangents += [x for x, leaf in zip(row, tree_leaves(tree), strict=True) if type(leaf) is not Ref]
        checked: list[Any] = []
        for index, (ct, aval) in enumerate(zip(cotangents, avals, strict=True)):
            value = Zero(strong(aval)) if ct is None else taken(ct, aval, of_any_float=True)
            if value is None:
                raise ValueError(
                    f"{what} must return cotangents of the shapes and dtypes of the arguments: "
                    f"'{given.names()[index]}' is {strong(aval)}, its cotangent {shown(ct)}. What to do: sum over axes "
                    "that were broadcast, convert with .astype, or give None for zero"
                )
            checked.append(value)
        return checked


def _for_rule(derivatives: Values, avals: Iterable[ShapedArray], symbolic: bool) -> list[Any]:
    """The tangents or cotangents of values of these avals for a rule."""
    return [given_derivative(x, aval, symbolic) for x, aval in zip(derivatives, avals, strict=True)]


def _is_value(x: Any) -> bool:
    """Whether a residual is computed, not a Python value that is kept unchanged."""
    return isinstance(getattr(x, "aval", None), ShapedArray) and not isinstance(x, CustomVJPPrimal)


def custom_gradient(fun: Callable[..., Any]) -> custom_vjp:
    """A function that defines its own gradient: `fun(*args)` returns the result and the function of its cotangent.

    That function returns a tuple with a cotangent for each argument, or the cotangent if there is one argument. It may
    use values of `fun`. Only reverse mode is supported, and no second derivative.

    >>> import pycompiler as pc
    >>> @pc.custom_gradient
    ... def f(x):
    ...     return x**2, lambda g: g * x
    >>> pc.grad(f)(3.0)
    Array(3., dtype=float32, weak_type=True)
    """

    @functools.wraps(fun)
    def function(*args: Any) -> Any:
        return pair(f"custom_gradient: {name_of(fun)}", _HALVES, fun(*args))[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        result, rule = pair(f"custom_gradient: {name_of(fun)}", _HALVES, fun(*args))
        leaves, tree = tree_flatten(((result,), {}))
        flat = FlatFunction("custom_gradient", rule, tree)
        graph = record(flat, [strong(get_aval(leaf)) for leaf in leaves], flat.debug_info())
        return result, (graph.consts, _Rule(graph, flat.out_tree))

    def bwd(residual: Any, cotangent: Any) -> Any:
        consts, rule = residual
        leaves = tree_flatten(cotangent)[0]
        found = rule.tree.unflatten(evaluate(ClosedGraph(rule.graph.graph, consts), leaves))
        return (found,) if is_leaf_alone(rule.tree) else found

    defined = custom_vjp(function)
    defined.defvjp(fwd, bwd)
    return defined


_HALVES = "the result and the function from its cotangent to those of the arguments"


class _Rule:
    """The recorded backward function of a custom_gradient, whose constants are residuals."""

    __slots__ = ("graph", "tree")

    def __init__(self, graph: ClosedGraph, tree: PyTreeDef) -> None:
        self.graph = graph
        self.tree = tree


@boundary
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` with the traced values of its closure as further arguments, and the list of these values.

    `fun` is traced for the types of `example_args`. A higher-order function with a custom derivative rule uses this
    to differentiate with respect to values in the closure of its argument: they become arguments.

    Raises TypeError if the arguments of the returned function have another structure than the examples.
    """
    check_function("closure_convert", fun)
    leaves, in_tree = tree_flatten((tuple(example_args), {}))
    flat = FlatFunction("closure_convert", fun, in_tree)
    graph = record(flat, [get_aval(leaf) for leaf in leaves], flat.debug_info())
    moved = [_may_vary(const) for const in graph.consts]
    out_tree = flat.out_tree
    hoisted = [const for const, m in zip(graph.consts, moved, strict=True) if m]

    @boundary
    def converted(*args: Any) -> Any:
        count = len(args) - len(hoisted)
        given = iter(args[max(count, 0) :])
        values, tree = tree_flatten((args[: max(count, 0)], {}))
        if count < 0 or tree != in_tree:
            raise TypeError(
                f"closure_convert: the function of {name_of(fun)} takes arguments of the structure of the examples, "
                f"{in_tree.children()[0]}, and {len(hoisted)} values of its closure; it is given {len(args)} arguments"
            )
        consts = [next(given) if m else const for const, m in zip(graph.consts, moved, strict=True)]
        return out_tree.unflatten(evaluate(ClosedGraph(graph.graph, consts), values))

    return converted, hoisted


def _may_vary(const: Any) -> bool:
    return isinstance(const, Tracer) and dtypes.is_inexact(const.aval.dtype)
