"""Derivatives: `jvp` and `linearize` forwards, `vjp`, `grad` and `value_and_grad` backwards (linearize, transpose).

The public face of the interpreters in `core`. Arguments and results are trees, which are checked here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.jvp import JvpTrace, push_forward
from pycompiler.core.autodiff.linearize import linearize as linearize_flat
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.boundary import boundary, check_function, wraps
from pycompiler.core.tracing.flat import FlatFunction, argument_names, check_arrays
from pycompiler.core.tracing.primitive import is_zero
from pycompiler.core.tracing.references import Ref, check_aliases, hide, references_in
from pycompiler.core.tracing.structural import instantiate
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.transforms.held import referring, tangent_references
from pycompiler.transforms.linear_functions import VJP, Linearized, linear_function
from pycompiler.transforms.tangents import OF_JVP, check_tangents, float0, on_device, typed, varies

Argnums = int | Sequence[int]

# The transformations with the parameter allow_int.
_TAKES_INTEGERS = ("grad", "value_and_grad", "jacrev")


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

    Complex leaves are accepted unless `real_only` is set. With `holomorphic`, only complex leaves are accepted. With
    `allow_int`, integers are accepted, too.
    """
    numbers: tuple[Any, ...] = tuple(argnums) if isinstance(argnums, Sequence) else (argnums,)
    for number in numbers:
        if not isinstance(number, int):
            raise TypeError(f"{transform}: argnums is an int or a sequence of them, got {argnums!r}")
        if not -len(args) <= number < len(args):
            raise ArgumentError(
                f"{transform}: argnums={argnums} asks for argument {number}, but the call has {len(args)} positional "
                "arguments; arguments to differentiate by are given by position"
            )
    places = [number % len(args) for number in numbers]
    if len({*places}) < len(places):
        raise ArgumentError(
            f"{transform}: argnums={argnums} names an argument twice, in a call of {len(args)} positional arguments; "
            "give each argument once"
        )
    leaves, in_tree = tree_flatten((tuple(args[place] for place in places), {}))
    flat = FlatFunction(transform, fun, in_tree, places, args, kwargs, has_aux)
    _refuse_references(flat, leaves)
    check_arrays(transform, fun, leaves, in_tree, places)
    for index, leaf in enumerate(leaves):
        dtype = get_aval(leaf).dtype
        where = functools.partial(_describe_argument, flat, index)
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


def _describe_argument(flat: FlatFunction, index: int) -> str:
    return f"argument {_position(flat, index)} ('{flat.names()[index]}') of {flat.debug_info().name}"


def _position(flat: FlatFunction, index: int) -> int:
    arguments = flat.in_tree.children()[0].children()
    for place, child in zip(flat.places or range(len(arguments)), arguments, strict=True):
        if index < child.num_leaves:
            return place
        index -= child.num_leaves
    raise AssertionError("the leaf is in one of the arguments")


def derivatives(flat: FlatFunction, argnums: Argnums, leaves: Sequence[Any]) -> Any:
    """The values for the leaves of the selected arguments, in the structure that the user gets."""
    args, _ = flat.in_tree.unflatten(leaves)
    return args[0] if isinstance(argnums, int) else args


def check_output(transform: str, what: str, aval: ShapedArray, holomorphic: bool) -> None:
    """Raise TypeError unless a result is real, or complex with `holomorphic`."""
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
    """A function that returns the value of `fun`, which must be a scalar, and its gradient.

    The gradient has the structure, shapes and dtypes of the argument at `argnums`, or is a tuple of these for several.
    With `has_aux` the function returns `(value, aux)`, and the result is `((value, aux), gradient)`. The gradient with
    respect to a complex argument is df/dx - i df/dy. With `holomorphic`, it is f'(z); values are complex. With
    `allow_int`, arguments may be integers, whose gradient is of dtype float0.
    Raises TypeError if the value is not a floating-point scalar or an argument is not floating-point.

    >>> import pycompiler as pc
    >>> pc.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """

    argnums = as_integers("value_and_grad", "argnums", argnums)

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
    """A function that returns the gradient of `fun`: as `value_and_grad`, without the value.

    >>> import pycompiler as pc
    >>> pc.grad(lambda x: x * x)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """

    argnums = as_integers("grad", "argnums", argnums)

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
    outs, aux, linearized, consts = _linearized(flat, leaves)
    name = linearized.name
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
    gradients = linearized.pull_back(consts, [_one(aval)])
    (value,) = on_device(outs)
    return (value, aux) if has_aux else value, derivatives(flat, argnums, gradients)


@boundary
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and the function from a cotangent of the value to a tuple of those of the primals.

    With `has_aux`, the aux is a third result. Cotangents of integers are of dtype float0. The function is a container
    of the arrays that it keeps: `jit` and `vmap` return it and take it. It raises ValueError for a cotangent that does
    not have the structure, shape and dtype of the value.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> y, back = pc.vjp(pnp.sin, 0.0)
    >>> back(2.0)
    (Array(2., dtype=float32, weak_type=True),)
    """
    flat, leaves = _flat("vjp", fun, primals, has_aux)
    outs, aux, linearized, consts = _linearized(flat, leaves)
    value, vjp_fun = flat.out_tree.unflatten(on_device(outs)), VJP.of(linearized, consts, leaves)
    return (value, vjp_fun, aux) if has_aux else (value, vjp_fun)


def _flat(
    transform: str, fun: Callable[..., Any], primals: Sequence[Any], has_aux: bool
) -> tuple[FlatFunction, list[Any]]:
    """The function of the leaves of all arguments, and these leaves."""
    check_function(transform, fun)
    leaves, in_tree = hide(*tree_flatten((tuple(primals), {})), but_references=True)
    flat = FlatFunction(transform, fun, in_tree, has_aux=has_aux)
    _refuse_references(flat, leaves)
    check_arrays(transform, fun, leaves, in_tree)
    return flat, on_device(leaves)


def _refuse_references(flat: FlatFunction, leaves: Sequence[Any]) -> None:
    """Raise TypeError if one of the leaves is a reference."""
    if references_in(leaves):
        index = next(index for index, leaf in enumerate(leaves) if type(leaf) is Ref)
        raise TypeError(
            f"{flat.transform}: {_describe_argument(flat, index)} is a reference, {leaves[index].aval}. What to do: "
            "differentiate by the value that it holds, ref[...]; close over a reference that is only read"
        )


def _with_references(
    transform: str, fun: Callable[..., Any], primals: Sequence[Any], has_aux: bool
) -> tuple[FlatFunction, list[Any], dict[int, Ref]]:
    """`_flat`, with the values of references as leaves; and the references by place."""
    leaves, in_tree = hide(*tree_flatten((tuple(primals), {})), but_references=True)
    if not references_in(leaves):
        return *_flat(transform, fun, primals, has_aux), {}
    check_function(transform, fun)
    flat = FlatFunction(transform, fun, in_tree, has_aux=has_aux)
    check_aliases(transform, fun, leaves, flat.names)
    refs = {i: leaf for i, leaf in enumerate(leaves) if type(leaf) is Ref}
    leaves = [leaf.read() if i in refs else leaf for i, leaf in enumerate(leaves)]
    check_arrays(transform, fun, leaves, in_tree)
    return flat, on_device(leaves), refs


def _linearized(flat: FlatFunction, leaves: Sequence[Any]) -> tuple[list[Any], Any, Linearized, Sequence[Any]]:
    """The results and the aux of a function, its linearization, and the constants of its linear graph."""
    avals = tuple(map(get_aval, leaves))
    moving = tuple([varies(aval) for aval in avals])
    outs, linear, varying = linearize_flat(flat, leaves, moving, flat.debug_info(), flat.active)
    outs, aux = flat.split(outs)
    found = Linearized(
        name=flat.debug_info().name,
        graph=linear.graph,
        in_tree=flat.in_tree,
        in_avals=avals,
        # Not a method of `flat`, which may hold arguments.
        in_names=functools.partial(argument_names, flat.fun, flat.in_tree, flat.places),
        moving=moving,
        out_tree=flat.out_tree,
        out_avals=tuple(map(get_aval, outs)),
        varying=tuple(varying[: len(outs)]),
    )
    return outs, aux, found, linear.consts


@boundary
def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and its derivative in the direction of `tangents`, of the same structure.

    With `has_aux`, the aux is a third result. Tangents of integers are of dtype float0. The tangent of a reference is a
    reference. It holds the tangent of the value in the reference, before and after the call. Raises TypeError for a
    tangent that does not have the structure and dtype of its primal, ValueError for another shape.

    >>> import pycompiler as pc
    >>> pc.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (Array(6., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"jvp: {name} must be a tuple or list with an entry for each argument, got {given!r}")
    flat, leaves, refs = _with_references("jvp", fun, primals, has_aux)
    tangent_refs, tangents = tangent_references(flat, refs, tangents) if refs else ({}, tangents)
    avals = [get_aval(leaf) for leaf in leaves]
    what = f"jvp of {flat.debug_info().name}: the tangent"
    given = check_tangents(what, flat.names, flat.in_tree, avals, (tuple(tangents), {}), OF_JVP)
    function, count = referring(flat, refs) if refs else flat, len(refs)
    outs, out_tangents = push_forward(
        function, leaves, given, JvpTrace(flat.debug_info()), lambda: count + flat.active()
    )
    last, (outs, aux) = outs[:count], flat.split(outs[count:])
    shown = [float0(t) if is_zero(t) and not varies(t.aval) else instantiate(t) for t in out_tangents]
    shown = [typed(t, get_aval(out)) for t, out in zip(on_device(shown), [*last, *outs], strict=True)]
    for i, x, t in zip(refs, last, shown, strict=False):
        refs[i].write(x)
        if i in tangent_refs:
            tangent_refs[i].write(t)
    shown = shown[count:]
    value, derivative = flat.out_tree.unflatten(on_device(outs)), flat.out_tree.unflatten(shown)
    return (value, derivative, aux) if has_aux else (value, derivative)


@boundary
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun(*primals)`, and the linear function from tangents of the primals to the tangent of the value.

    Values that depend only on the primals are computed once. With `has_aux`, the aux is a third result. The function
    is a container of the arrays that it keeps. It raises TypeError for tangents of another structure, ValueError for
    another shape or dtype.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> y, slope = pc.linearize(pnp.sin, 0.0)
    >>> slope(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    flat, leaves = _flat("linearize", fun, primals, has_aux)
    outs, aux, linearized, consts = _linearized(flat, leaves)
    value, linear_fun = flat.out_tree.unflatten(on_device(outs)), linear_function(linearized, consts)
    return (value, linear_fun, aux) if has_aux else (value, linear_fun)
