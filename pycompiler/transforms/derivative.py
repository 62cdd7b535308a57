"""Derivatives: `jvp` and `linearize` forwards, `vjp`, `grad` and `value_and_grad` backwards (linearize, transpose).

The public face of core's interpreters: arguments and results are trees, checked here, at the user's line.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray, with_weak_type
from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import as_array, get_aval, is_array, short
from pycompiler.core.boundary import boundary, wraps
from pycompiler.core.evaluate import evaluate
from pycompiler.core.flat import FlatFunction, check_arrays, nothing_of
from pycompiler.core.graph import ClosedGraph
from pycompiler.core.jvp import JvpTrace, push_forward
from pycompiler.core.linearize import linearize as linearize_flat
from pycompiler.core.primitive import UndefinedPrimal, Zero, is_zero
from pycompiler.core.source import swap_source
from pycompiler.core.structural import instantiate
from pycompiler.core.trace import Tracer, current_trace
from pycompiler.core.transpose import pull_back
from pycompiler.core.tree import PyTreeDef, tree_flatten
from pycompiler.ops.arithmetic import convert

Argnums = int | Sequence[int]

# The transformations that have allow_int.
_TAKES_INTEGERS = ("grad", "value_and_grad", "jacrev")


def on_device(leaves: Sequence[Any]) -> list[Any]:
    """The leaves as arrays; inside a traced function as they are: scalars stay literals there.

    A Zero, and the float0 of an integer's derivative, are no arrays and stay.
    """
    if current_trace() is not None:
        return list(leaves)
    return [
        leaf if is_zero(leaf) or getattr(leaf, "dtype", None) == dtypes.float0 else as_array(leaf) for leaf in leaves
    ]


def typed(derivative: Any, aval: ShapedArray) -> Any:
    """A derivative as weakly typed as the value that it belongs to: the gradient by a Python scalar follows what it
    meets, as the scalar does."""
    own = getattr(derivative, "aval", None)
    if not isinstance(own, ShapedArray) or own.weak_type == aval.weak_type or own.dtype != aval.dtype:
        return derivative
    if type(derivative) is Array and current_trace() is None:
        return with_weak_type(derivative, aval.weak_type)
    if is_zero(derivative):
        return Zero(aval)
    # At the line that made it, as what was computed before it.
    previous = swap_source(None)
    swap_source((derivative.made_at() if isinstance(derivative, Tracer) else None) or previous)
    try:
        return convert.bind(derivative, new_dtype=aval.dtype, **({"weak_type": True} if aval.weak_type else {}))
    finally:
        swap_source(previous)


def select(
    transform: str,
    fun: Callable[..., Any],
    argnums: Argnums,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    real_only: bool = False,
    allow_int: bool = False,
) -> tuple[FlatFunction, list[Any]]:
    """`fun` as a function of the leaves of some of its arguments, and these leaves, which must be floating-point.

    Complex ones are taken too, unless `real_only`; with `holomorphic` nothing else is; integers with `allow_int`.
    """
    numbers: tuple[Any, ...] = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)
    for number in numbers:
        if not isinstance(number, int):
            raise TypeError(f"{transform}: argnums is an int or a sequence of them, got {argnums!r}")
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"{transform}: argnums={argnums} asks for argument {number}, but the call has {len(args)} positional "
                "arguments; arguments to differentiate by are given by position"
            )
    places = [number % len(args) for number in numbers]
    leaves, in_tree = tree_flatten((tuple(args[place] for place in places), {}))
    flat = FlatFunction(transform, fun, in_tree, places, args, kwargs, has_aux)
    check_arrays(transform, fun, leaves, in_tree, places)
    for index, leaf in enumerate(leaves):
        dtype = get_aval(leaf).dtype
        where = functools.partial(_place, flat, index)
        if holomorphic and not dtypes.is_complex(dtype):
            raise TypeError(
                f"{transform} with holomorphic=True requires complex inputs, got {dtype.name} for {where()}"
            )
        if not dtypes.is_inexact(dtype) and not allow_int:
            or_allowed = ", or give allow_int=True" if transform in _TAKES_INTEGERS else ""
            raise TypeError(
                f"{transform} requires real-valued inputs (f32, f64, f16, bf16), got {dtype.name} for {where()}: pass "
                f"a float (2.0, .astype(float)), or leave it out of argnums{or_allowed}"
            )
        if real_only and not holomorphic and dtypes.is_complex(dtype):
            raise TypeError(
                f"{transform} requires real-valued inputs (f32, f64, f16, bf16), got {dtype.name} for {where()}: pass "
                "holomorphic=True for a holomorphic function, or use jvp"
            )
    return flat, on_device(leaves)


def _place(flat: FlatFunction, index: int) -> str:
    return f"argument {_position(flat, index)} ('{flat.names()[index]}') of {flat.origin().name}"


def _position(flat: FlatFunction, index: int) -> int:
    assert flat.places is not None
    for place, child in zip(flat.places, flat.in_tree.children()[0].children(), strict=True):
        if index < child.num_leaves:
            return place
        index -= child.num_leaves
    raise AssertionError("the leaf is in one of the arguments")


def derivatives(flat: FlatFunction, argnums: Argnums, leaves: Sequence[Any]) -> Any:
    """Values for the leaves of the selected arguments in the shape in which the user gets them."""
    args, _ = flat.in_tree.unflatten(leaves)
    return args[0] if isinstance(argnums, int) else args


def check_output(transform: str, what: str, aval: ShapedArray, holomorphic: bool) -> None:
    """Raises TypeError unless a result is real, or complex with `holomorphic`."""
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise TypeError(f"{transform} with holomorphic=True requires complex outputs, but {what} is {short(aval)}")
    if not holomorphic and dtypes.is_complex(aval.dtype):
        raise TypeError(
            f"{transform} requires real-valued outputs (f32, f64, f16, bf16), but {what} is {short(aval)}: pass "
            "holomorphic=True for a holomorphic function, else use vjp"
        )
    if not dtypes.is_inexact(aval.dtype):
        raise TypeError(f"{transform} requires real-valued outputs (f32, f64, f16, bf16), but {what} is {short(aval)}")


def _one(aval: ShapedArray) -> Any:
    return np.ones((), aval.dtype)[()]


def value_and_grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the value of `fun`, which must be a scalar, and its gradient.

    The gradient has the structure, shapes and dtypes of the argument at `argnums`, or is a tuple of these for several.
    With `has_aux` the function returns `(value, aux)`, and the result is `((value, aux), gradient)`. The gradient by a
    complex argument is df/dx - i df/dy; with `holomorphic`, which takes complex values to complex ones, f'(z). With
    `allow_int` arguments may be integers, whose gradient is of dtype float0.
    Raises TypeError when the value is no floating-point scalar or when an argument is not floating-point.

    >>> import pycompiler as pc
    >>> pc.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """

    @wraps(fun, "value_and_grad")
    def value_and_grad_fun(*args: Any, **kwargs: Any) -> Any:
        return _value_and_grad("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)

    return value_and_grad_fun


def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the gradient of `fun`: as `value_and_grad`, without the value.

    >>> import pycompiler as pc
    >>> pc.grad(lambda x: x * x)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """

    @wraps(fun, "grad")
    def grad_fun(*args: Any, **kwargs: Any) -> Any:
        value, gradient = _value_and_grad("grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_fun


def _value_and_grad(
    transform: str,
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    flat, leaves = select(transform, fun, argnums, args, kwargs, has_aux, holomorphic=holomorphic, allow_int=allow_int)
    moving = [varies(get_aval(leaf)) for leaf in leaves]
    outs, linear, varying = linearize_flat(flat, leaves, moving, flat.origin(), flat.active)
    outs, aux = flat.split(outs)
    name = flat.origin().name
    if len(outs) != 1 or flat.out_tree.num_nodes != 1:
        raise TypeError(
            f"{transform}: {name} must return one scalar, it returned a tree of {len(outs)} leaves: "
            f"{flat.out_tree}; for a result beside the scalar use has_aux=True"
        )
    aval = get_aval(outs[0])
    if aval.shape:
        raise TypeError(
            f"{transform}: {name} must return a scalar, it returned {short(aval)}; reduce it (.sum(), .mean()), or use "
            "jacrev or vjp"
        )
    check_output(transform, f"the result of {name}", aval, holomorphic)
    gradients = _pull_back(linear, leaves, moving, varying, [_one(aval)])
    (value,) = on_device(outs)
    return (value, aux) if has_aux else value, derivatives(flat, argnums, gradients)


def _pull_back(
    linear: ClosedGraph,
    leaves: Sequence[Any],
    moving: Sequence[bool],
    varying: Sequence[bool],
    cotangents: Sequence[Any],
) -> list[Any]:
    """The cotangents of all leaves, zeros made real, float0 for integers: `moving` says which are none; `varying`,
    which of the results depend on them."""
    undefined = [UndefinedPrimal(aval) for aval in linear.in_avals]
    given = [ct for ct, v in zip(cotangents, varying, strict=True) if v]
    found = iter(pull_back(linear, undefined, given))
    found_all = on_device(
        [instantiate(next(found)) if m else float0(leaf) for leaf, m in zip(leaves, moving, strict=True)]
    )
    return [typed(ct, get_aval(leaf)) for ct, leaf in zip(found_all, leaves, strict=True)]


@boundary
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and the function from a cotangent of the value to a tuple of those of the primals.

    With `has_aux` a third result, the aux. Cotangents of integers are of dtype float0. Raises TypeError where a
    cotangent does not have the structure, shape and dtype of the value.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> y, back = pc.vjp(pnp.sin, 0.0)
    >>> back(2.0)
    (Array(2., dtype=float32, weak_type=True),)
    """
    leaves, in_tree = tree_flatten((tuple(primals), {}))
    flat = FlatFunction("vjp", fun, in_tree, has_aux=has_aux)
    check_arrays("vjp", fun, leaves, in_tree)
    leaves = on_device(leaves)
    moving = [varies(get_aval(leaf)) for leaf in leaves]
    outs, linear, varying = linearize_flat(flat, leaves, moving, flat.origin(), flat.active)
    outs, aux = flat.split(outs)
    name, out_tree, out_avals = flat.origin().name, flat.out_tree, [get_aval(out) for out in outs]

    def output_names() -> list[str]:
        return [f"output{path}" for path in out_tree.paths()]

    @boundary
    def vjp_fun(cotangent: Any) -> Any:
        given = check_tangents(f"vjp of {name}: the cotangent", output_names, out_tree, out_avals, cotangent)
        return in_tree.unflatten(_pull_back(linear, leaves, moving, varying, given))[0]

    value = out_tree.unflatten(on_device(outs))
    return (value, vjp_fun, aux) if has_aux else (value, vjp_fun)


@boundary
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and its derivative in the direction of `tangents`, of the same structure.

    With `has_aux` a third result, the aux. Tangents of integers are of dtype float0. Raises TypeError where a tangent
    does not have the structure, shape and dtype of its primal.

    >>> import pycompiler as pc
    >>> pc.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (Array(6., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"jvp: {name} must be a tuple or list with an entry for each argument, got {given!r}")
    leaves, in_tree = tree_flatten((tuple(primals), {}))
    flat = FlatFunction("jvp", fun, in_tree, has_aux=has_aux)
    check_arrays("jvp", fun, leaves, in_tree)
    leaves = on_device(leaves)
    avals = [get_aval(leaf) for leaf in leaves]
    name = flat.origin().name
    given = check_tangents(f"jvp of {name}: the tangent", flat.names, in_tree, avals, (tuple(tangents), {}))
    outs, out_tangents = push_forward(flat, leaves, given, JvpTrace(flat.origin()), flat.active)
    outs, aux = flat.split(outs)
    shown = [float0(t) if is_zero(t) and not varies(t.aval) else instantiate(t) for t in out_tangents]
    shown = [typed(t, get_aval(out)) for t, out in zip(on_device(shown), outs, strict=True)]
    value, derivative = flat.out_tree.unflatten(on_device(outs)), flat.out_tree.unflatten(shown)
    return (value, derivative, aux) if has_aux else (value, derivative)


@boundary
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and the linear function from tangents of the primals to the tangent of the value.

    What depends on the primals alone is computed once. With `has_aux` a third result, the aux.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> y, slope = pc.linearize(pnp.sin, 0.0)
    >>> slope(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    leaves, in_tree = tree_flatten((tuple(primals), {}))
    flat = FlatFunction("linearize", fun, in_tree, has_aux=has_aux)
    check_arrays("linearize", fun, leaves, in_tree)
    leaves = on_device(leaves)
    avals = [get_aval(leaf) for leaf in leaves]
    moving = [varies(aval) for aval in avals]
    outs, linear, varying = linearize_flat(flat, leaves, moving, flat.origin(), flat.active)
    outs, aux = flat.split(outs)
    name, out_tree, out_avals = flat.origin().name, flat.out_tree, [get_aval(out) for out in outs]

    @boundary
    def linear_fun(*tangents: Any) -> Any:
        given = check_tangents(f"linearize of {name}: the tangent", flat.names, in_tree, avals, (tangents, {}))
        args = [instantiate(t) for t, moves in zip(given, moving, strict=True) if moves]
        results = iter(evaluate(linear, args))
        shown = [
            next(results) if v else instantiate(Zero(aval)) if varies(aval) else float0(aval)
            for aval, v in zip(out_avals, varying, strict=True)
        ]
        return out_tree.unflatten([typed(t, aval) for t, aval in zip(on_device(shown), out_avals, strict=True)])

    value = out_tree.unflatten(on_device(outs))
    return (value, linear_fun, aux) if has_aux else (value, linear_fun)


def varies(aval: ShapedArray) -> bool:
    """Whether values of this aval have derivatives."""
    return dtypes.is_inexact(aval.dtype)


def float0(x: Any) -> np.ndarray[Any, Any]:
    """The tangent of an integer, which holds nothing. It is an array of NumPy: an axis that is a symbol has size 0."""
    aval = x if isinstance(x, ShapedArray) else x.aval if is_zero(x) else get_aval(x)
    return nothing_of(aval.shape)


def check_tangents(
    what: str, names: Callable[[], Sequence[str]], treedef: PyTreeDef, avals: Sequence[ShapedArray], tree: Any
) -> list[Any]:
    """The leaves of a tree of tangents, which must be of the given structure and types; Zero for integers."""
    given, found = tree_flatten(tree)
    if found != treedef:
        raise TypeError(f"{what} must have the structure of what it belongs to, {treedef}, got {found}")
    checked: list[Any] = []
    for index, (aval, tangent) in enumerate(zip(avals, given, strict=True)):
        dtype = getattr(tangent, "dtype", None)
        if not varies(aval) and dtype == dtypes.float0:
            checked.append(Zero(aval))
            continue
        if is_array(tangent):
            own = get_aval(tangent)
            if varies(aval) and own.shape == aval.shape and (own.dtype == aval.dtype or own.weak_type):
                scalar = isinstance(tangent, (bool, int, float, complex))
                checked.append(np.asarray(tangent, aval.dtype)[()] if scalar else tangent)
                continue
        wanted = short(aval) if varies(aval) else f"float0{list(aval.shape)} (that of an integer {short(aval)})"
        got = short(tangent) if is_array(tangent) else f"{tangent!r} of type {type(tangent).__name__}"
        raise TypeError(f"{what} for {names()[index]} must be {wanted}, got {got}")
    return on_device(checked)
