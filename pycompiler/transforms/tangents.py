"""Checks of the structures and types of tangents and cotangents that users pass. `derivative` imports this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import Array, ShapedArray, sharding_of, with_weak_type
from pycompiler.core.source import swap_source
from pycompiler.core.tracing.flat import nothing_of
from pycompiler.core.tracing.primitive import Zero, is_zero
from pycompiler.core.tracing.trace import Tracer, current_trace
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, is_array, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.primitives.arithmetic import convert


class Mismatch(NamedTuple):
    """The errors for another structure, dtype or shape than expected. They are JAX's, which depend on the
    transformation."""

    structure: type[Exception]
    dtype: type[Exception]
    shape: type[Exception]
    # Whether the cotangent of an integer may have any dtype: a pullback accepts the result of the function itself.
    any_of_integers: bool = False


OF_JVP = Mismatch(TypeError, TypeError, ValueError)
OF_LINEARIZE = Mismatch(TypeError, ValueError, ValueError)
OF_VJP = Mismatch(ValueError, ValueError, ValueError, any_of_integers=True)


_NUMBERS = (bool, int, float, complex)


def on_device(leaves: Sequence[Any]) -> list[Any]:
    """The leaves as arrays. Inside a traced function they stay unchanged, so that scalars are literals there.

    Python's numbers stay numbers, as in JAX: functions with rules of their own may need their values. A Zero, and the
    float0 of an integer's derivative, are not arrays and stay unchanged.
    """
    return list(leaves) if current_trace() is not None else list(map(to_device, leaves))


def all_on_device(leaves: Sequence[Any]) -> list[Any]:
    """`on_device`, with Python's numbers as arrays, too."""
    plain = current_trace() is not None
    return [leaf if plain or type(leaf) not in _NUMBERS else as_array(leaf) for leaf in on_device(leaves)]


def to_device(leaf: Any) -> Any:
    """`on_device` for one leaf."""
    if type(leaf) in _NUMBERS:
        get_aval(leaf)  # an int may be too large
        return leaf
    if current_trace() is not None or is_zero(leaf) or getattr(leaf, "dtype", None) == dtypes.float0:
        return leaf
    return as_array(leaf)


def varies(aval: ShapedArray) -> bool:
    """Whether values of this aval have derivatives."""
    return dtypes.is_inexact(aval.dtype)


def typed(derivative: Any, aval: ShapedArray) -> Any:
    """A derivative with the weak type of its value: the gradient with respect to a Python scalar adapts its dtype, as
    the scalar does."""
    own = getattr(derivative, "aval", None)
    if not isinstance(own, ShapedArray) or own.weak_type == aval.weak_type or own.dtype != aval.dtype:
        return derivative
    if type(derivative) is Array and current_trace() is None and sharding_of(derivative) is None:
        return with_weak_type(derivative, aval.weak_type)
    if is_zero(derivative):
        return Zero(aval)
    # The conversion has the source line of the derivative, as the computations before it.
    previous = swap_source(None)
    swap_source((derivative.made_at() if isinstance(derivative, Tracer) else None) or previous)
    try:
        return convert.bind(derivative, new_dtype=aval.dtype, **({"weak_type": True} if aval.weak_type else {}))
    finally:
        swap_source(previous)


def float0(x: Any) -> np.ndarray[Any, Any]:
    """The tangent of an integer, which holds nothing. It is a NumPy array; a symbolic axis has size 0."""
    aval = x if isinstance(x, ShapedArray) else x.aval if is_zero(x) else get_aval(x)
    return nothing_of(aval.shape)


def check_tangents(
    what: str,
    names: Callable[[], Sequence[str]],
    treedef: PyTreeDef,
    avals: Sequence[ShapedArray],
    tree: Any,
    mismatch: Mismatch,
) -> list[Any]:
    """The leaves of a tree of tangents, which must have the given structure and types; Zero for integers."""
    given, found = tree_flatten(tree)
    if found != treedef:
        raise mismatch.structure(f"{what} must have the structure of its values, {treedef}, got {found}")
    checked: list[Any] = []
    for index, (aval, tangent) in enumerate(zip(avals, given, strict=True)):
        shape = getattr(tangent, "shape", None)
        if not varies(aval) and getattr(tangent, "dtype", None) == dtypes.float0:
            if shape == nothing_of(aval.shape).shape:
                checked.append(Zero(aval))
                continue
            raise mismatch.shape(f"{what} for {names()[index]} must be float0{list(aval.shape)}, got float0{shape}")
        own = get_aval(tangent) if is_array(tangent) else None
        if own is not None and not varies(aval) and mismatch.any_of_integers and own.shape == aval.shape:
            checked.append(Zero(aval))
            continue
        if own is not None and varies(aval):
            scalar = type(tangent) in _NUMBERS
            # A Python float fits every dtype; a whole number is no tangent.
            of_dtype = own.dtype == aval.dtype or (scalar and varies(own))
            if of_dtype and own.shape == aval.shape:
                keeps = not scalar or (aval.weak_type and own.dtype == aval.dtype)
                checked.append(tangent if keeps else np.asarray(tangent, aval.dtype)[()])
                continue
            kind = mismatch.shape if of_dtype else mismatch.dtype
        else:
            kind = TypeError if own is None else mismatch.dtype
        wanted = short(aval) if varies(aval) else f"float0{list(aval.shape)} (that of an integer {short(aval)})"
        got = f"{tangent!r} of type {type(tangent).__name__}" if own is None else short(own)
        raise kind(f"{what} for {names()[index]} must be {wanted}, got {got}")
    return on_device(checked)
