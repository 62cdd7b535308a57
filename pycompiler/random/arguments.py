"""Preparation of the arguments of distributions: the key, the dtype, the shape of the result."""

import os
import sys
from collections.abc import Callable
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import warn
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcasts, canonical_shape, check_arrays
from pycompiler.random.containers import THREEFRY, default_generator

Dtype = Any

_HERE = os.path.dirname(__file__)


def check_key(name: str, key: Any) -> None:
    """Raise TypeError unless key is one key."""
    check_arrays(name, key)
    aval = get_aval(key)
    is_typed = dtypes.is_key(aval.dtype) and aval.shape == ()
    of_setting = default_generator()
    words = of_setting.words
    if not is_typed and (aval.dtype != dtypes.uint32 or aval.shape != (words,)):
        of = "" if of_setting is THREEFRY else f" of {of_setting.name}, the setting default_prng_impl"
        raise ArgumentError(
            f"{name}: takes one key, such as random.key(seed), or its numbers u32[{words}]{of}, got {short(aval)}; "
            "for several, use vmap; wrap_key_data(numbers, impl=...) makes keys of another generator"
        )
    if not is_typed and config.legacy_prng_key != "allow":
        said = f"{name}: is given the numbers of a key, and the setting legacy_prng_key is {config.legacy_prng_key!r}"
        if config.legacy_prng_key == "error":
            raise ValueError(f"{said}: make the key by random.key, or wrap its numbers by random.wrap_key_data")
        warn(said)
    if config.debug_key_reuse and is_typed and name != "fold_in" and _outermost() == name:
        key_use.bind(key, name=name)


def _outermost() -> str:
    """The outermost function of this package on the stack. The functions that it calls are not separate uses."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    name = ""
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        if frame.f_code.co_name != "with_generator":
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


def float_dtype(name: str, dtype: Any) -> Dtype:
    """The given dtype, by default float32 (float64 with enable_x64). TypeError unless it is a float."""
    wanted = dtypes.canonicalize_requested(float if dtype is None else dtype, name)
    if not dtypes.is_floating(wanted):
        raise ArgumentError(f"{name}: the dtype must be a floating-point one, got {wanted.name}")
    return wanted


def inexact_dtype(name: str, dtype: Any) -> Dtype:
    """Like `float_dtype`, but complex dtypes are accepted, too."""
    wanted = dtypes.canonicalize_requested(float if dtype is None else dtype, name)
    if not dtypes.is_inexact(wanted):
        raise ArgumentError(f"{name}: the dtype must be a floating-point or complex one, got {wanted.name}")
    return wanted


def int_dtype(name: str, dtype: Any) -> Dtype:
    """The given dtype, by default int32 (int64 with enable_x64). TypeError unless it is an integer."""
    wanted = dtypes.canonicalize_requested(int if dtype is None else dtype, name)
    if not dtypes.is_integer(wanted):
        raise ArgumentError(f"{name}: the dtype must be an integer, got {wanted.name}")
    return wanted


def result_shape(name: str, shape: Any, *parameters: Any) -> tuple[Any, ...]:
    """The shape of the result: the given shape, to which the parameters must broadcast, or that of the parameters."""
    check_arrays(name, *parameters)
    shapes = [get_aval(x).shape for x in parameters]
    common = broadcast_shapes(*shapes) if shapes else ()
    if shape is None:
        return common
    wanted = canonical_shape(name, shape)
    if not broadcasts(common, wanted):
        raise ArgumentError(f"{name}: parameters of shape {common} do not broadcast to the shape {wanted}")
    return wanted


def check_castable(name: str, dtype: Dtype, *parameters: Any) -> None:
    """Raise TypeError for a parameter that would lose digits in the dtype."""
    for x in parameters:
        if dtypes.wider(x, dtype) != dtype:
            raise TypeError(f"{name}: a parameter of {get_aval(x).dtype.name} would lose digits in {dtype.name}")


def sampled(name: str, function: Callable[..., Array], key: Any, shape: Any, dtype: Dtype, *parameters: Any) -> Array:
    """The sample that a function draws with a key for checked parameters, compiled as one call."""
    check_key(name, key)
    size = result_shape(name, shape, *parameters)
    check_castable(name, dtype, *parameters)
    return eager_jit(function, key, *parameters, shape=size, dtype=dtype)
