"""Derivative rules of users' primitives from simpler functions, and forward mode and linearization of `WrappedFun`s."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.jvp import JvpTrace, push_forward
from pycompiler.core.tracing.primitive import Primitive, Zero, is_undefined
from pycompiler.core.tracing.structural import add, add_tangents, zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.tracing.user_primitive import Rule, UserPrimitive, jvps, transposes
from pycompiler.core.tracing.wrapped import WrappedFun, transformation2, transformation_with_aux2
from pycompiler.core.types import dtype as dtypes


def zeros_like_aval(aval: ShapedArray) -> Any:
    """An array of zeros of the type; for the tangents of integers, NumPy's array of float0."""
    if dtypes.is_inexact(aval.dtype):
        return zeros(aval)
    return np.zeros(aval.shape, dtypes.float0)


def instantiate_zeros(tangent: Any) -> Any:
    """The tangent; a symbolic zero as an array."""
    return zeros_like_aval(tangent.aval) if type(tangent) is Zero else tangent


def add_jaxvals(x: Any, y: Any) -> Any:
    """The sum of two arrays of one type."""
    return add.bind(x, y)


def _check(function: str, primitive: Primitive) -> None:
    if not isinstance(primitive, UserPrimitive):
        raise TypeError(
            f"{function}: takes a primitive of your own (pycompiler.extend.core.Primitive), got {primitive!r}"
        )


def deflinear(primitive: Primitive, transpose_rule: Rule) -> None:
    """The primitive is linear in all its arguments. `transpose_rule(cotangent, **params)` gives their cotangents."""

    def with_arguments(cotangent: Any, *args: Any, **params: Any) -> Any:
        return transpose_rule(cotangent, **params)

    deflinear2(primitive, with_arguments)


def deflinear2(primitive: Primitive, transpose_rule: Rule) -> None:
    """As `deflinear`, for a rule that takes the arguments too: `transpose_rule(cotangent, *args, **params)`."""
    _check("deflinear", primitive)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        if all(type(tangent) is Zero for tangent in tangents):
            zero = Zero.from_primal_value
            return out, [zero(x) for x in out] if primitive.multiple_results else zero(out)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    def transpose(cotangent: Any, *args: Any, **params: Any) -> Any:
        if type(cotangent) is Zero:
            return [Zero(arg.aval) if is_undefined(arg) else None for arg in args]
        return transpose_rule(cotangent, *args, **params)

    jvps[primitive] = jvp
    transposes[primitive] = transpose


def defjvp(primitive: Primitive, *jvprules: Rule | None) -> None:
    """A rule for each argument, `rule(tangent, *primals, **params)`, gives its part of the tangent. None: no part."""
    defjvp2(primitive, *[rule and _without_result(rule) for rule in jvprules])


def _without_result(rule: Rule) -> Rule:
    def with_result(tangent: Any, out: Any, *primals: Any, **params: Any) -> Any:
        return rule(tangent, *primals, **params)

    return with_result


def defjvp2(primitive: Primitive, *jvprules: Rule | None) -> None:
    """As `defjvp`, for rules that take the result too: `rule(tangent, result, *primals, **params)`."""
    _check("defjvp", primitive)
    if primitive.multiple_results:
        raise TypeError(f"defjvp: {primitive.name} has multiple results; register a rule for it in ad.primitive_jvps")

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        parts = [
            rule(tangent, out, *primals, **params)
            for rule, tangent in zip(jvprules, tangents, strict=False)
            if rule is not None and type(tangent) is not Zero
        ]
        return out, functools.reduce(add_tangents, parts, Zero.from_primal_value(out))

    jvps[primitive] = jvp


def defbilinear(prim: Primitive, lhs_rule: Rule, rhs_rule: Rule) -> None:
    """The primitive is linear in each of its two arguments. `lhs_rule(cotangent, x, y, **params)` gives the
    cotangent of the first, `rhs_rule` that of the second."""

    def by_first(tangent: Any, x: Any, y: Any, **params: Any) -> Any:
        return prim.bind(tangent, y, **params)

    def by_second(tangent: Any, x: Any, y: Any, **params: Any) -> Any:
        return prim.bind(x, tangent, **params)

    defjvp(prim, by_first, by_second)

    def transpose(cotangent: Any, x: Any, y: Any, **params: Any) -> tuple[Any, Any]:
        if is_undefined(x) == is_undefined(y):
            raise TypeError(f"{prim.name}: is linear in one argument at a time, got {x!r} and {y!r}")
        if is_undefined(x):
            return Zero(x.aval) if type(cotangent) is Zero else lhs_rule(cotangent, x, y, **params), None
        return None, Zero(y.aval) if type(cotangent) is Zero else rhs_rule(cotangent, x, y, **params)

    transposes[prim] = transpose


# Transformations of wrapped functions.


def jvp(fun: WrappedFun, has_aux: bool = False, instantiate: bool | Sequence[bool] = True) -> Any:
    """The function from (primals, tangents) to (results, tangents). With `has_aux`, the function gives (results, aux),
    and a second function is returned, which gives the aux after the call. `instantiate`: which symbolic zeros among the
    tangents become arrays."""
    if has_aux:
        return _jvp_with_aux(fun, instantiate)
    return _jvp(fun, instantiate)


def _pushed(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], instantiate: bool | Sequence[bool]
) -> tuple[list[Any], list[Any]]:
    outs, moved = push_forward(
        f, primals, [_symbolic(x, t) for x, t in zip(primals, tangents, strict=True)], JvpTrace(DebugInfo("jvp", f))
    )
    wanted = [instantiate] * len(moved) if isinstance(instantiate, bool) else instantiate
    return outs, [instantiate_zeros(t) if want else t for t, want in zip(moved, wanted, strict=True)]


def _symbolic(primal: Any, tangent: Any) -> Any:
    return Zero.from_primal_value(primal) if getattr(tangent, "dtype", None) == dtypes.float0 else tangent


@transformation2
def _jvp(
    f: Callable[..., Any], instantiate: bool | Sequence[bool], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    return _pushed(f, primals, tangents, instantiate)


@transformation_with_aux2
def _jvp_with_aux(
    f: Callable[..., Any],
    store: Any,
    instantiate: bool | Sequence[bool],
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    kept: list[Any] = []

    def flat(*args: Any) -> Any:
        outs, aux = f(*args)
        kept.append(aux)
        return outs

    results = _pushed(flat, primals, tangents, instantiate)
    store.store(kept[0])
    return results
