"""NumPy's broadcasting and JAX's type promotion: the preparation of arguments for all functions of numpy."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.errors import ArgumentError, InconclusiveDimensionError
from pycompiler.core.source import is_users_call, warn
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly

_P = ParamSpec("_P")
_R = TypeVar("_R")

FLOAT16S = (dtypes.float16, dtypes.bfloat16)


def converted(name: str, *xs: Any) -> list[Array]:
    """The arguments in the dtype to which they promote, each in its own shape."""
    check_arrays(name, *xs)
    dtype, weak = dtypes.result_type(*xs)
    return [x if get_aval(x).dtype == dtype and not _python(x) else cast(x, dtype, weak) for x in xs]


def check_promotion(name: str, *xs: Any) -> None:
    """Apply the setting numpy_dtype_promotion to the operands of a function that passes them on to other ones.

    Only operands of the function that the user called count.
    """
    if config.numpy_dtype_promotion == "strict":
        given = [x for x in xs if x is not None and not isinstance(x, list | tuple)]
        check_arrays(name, *given)
        if given:
            dtypes.result_type(*given)


def _python(x: Any) -> bool:
    return type(x) in (bool, int, float, complex)


def broadcast_of(name: str, *xs: Any) -> tuple[Any, ...]:
    """The common shape. Raises a ValueError that shows the shapes."""
    avals = [get_aval(x) for x in xs]
    try:
        return broadcast_shapes(*(aval.shape for aval in avals))
    except InconclusiveDimensionError:
        raise
    except ValueError:
        shown = " and ".join(map(short, avals))
        raise ArgumentError(f"{name}: shapes do not broadcast: {shown}; each dimension must be equal or 1") from None


def check_ranks(name: str, *xs: Any) -> None:
    """Apply the setting numpy_rank_promotion to operands with different numbers of axes.

    Only operands with axes count, and only operands of the function that the user called.
    """
    if config.numpy_rank_promotion != "allow":
        check_ranks_of(name, [get_aval(x).shape for x in xs])


def check_ranks_of(name: str, shapes: Sequence[tuple[Any, ...]]) -> None:
    """`check_ranks` of operands of some shapes."""
    if config.numpy_rank_promotion == "allow":
        return
    if len({len(shape) for shape in shapes if shape}) < 2 or not is_users_call():
        return
    said = (
        f"{name}: operands of shapes {', '.join(map(str, shapes))} have different numbers of axes, and the setting "
        f"numpy_rank_promotion is {config.numpy_rank_promotion!r}"
    )
    if config.numpy_rank_promotion == "raise":
        raise ValueError(f"{said}: give one of them new axes, as x[None, :]")
    warn(said)


def broadcast(name: str, *xs: Any) -> list[Array]:
    """The arguments in their common shape."""
    shape = broadcast_of(name, *xs)
    return [broadcast_to(x, shape) for x in xs]


def promoted(name: str, *xs: Any) -> list[Array]:
    """The arguments in their common dtype and shape."""
    xs = tuple(converted(name, *xs))
    check_ranks(name, *xs)
    return broadcast(name, *xs)


def promoted_inexact(name: str, *xs: Any) -> list[Array]:
    """The arguments in their common shape, and in a floating-point or complex dtype that holds their common dtype."""
    xs = tuple(promoted_inexact_each(name, *xs))
    check_ranks(name, *xs)
    return broadcast(name, *xs)


def promoted_inexact_each(name: str, *xs: Any) -> list[Array]:
    """The arguments in a floating-point or complex dtype that holds their common dtype, each in its own shape."""
    check_arrays(name, *xs)
    return _inexact_each(xs, *dtypes.result_type(*xs))


def mixed_inexact(name: str, *xs: Any) -> list[Array]:
    """Like promoted_inexact, for arguments of different meaning and kind, such as an order and a number."""
    check_arrays(name, *xs)
    return broadcast(name, *_inexact_each(xs, *dtypes.joined(*xs)))


def _inexact_each(xs: tuple[Any, ...], dtype: Any, weak: bool) -> list[Array]:
    if not dtypes.is_inexact(dtype):
        dtype = inexact(dtype)
    return [
        x
        if (aval := get_aval(x)).dtype == dtype and aval.weak_type <= weak and not _python(x)
        else cast(x, dtype, weak)
        for x in xs
    ]


def never_weak(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator for functions whose result is never weakly typed, as in JAX."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        result: Any = function(*args, **kwargs)
        return tuple(weakly(x, False) for x in result) if isinstance(result, tuple) else weakly(result, False)

    return call


def weak_scalars(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator for functions whose result is weakly typed for weakly typed numbers, but not for arrays, as in JAX.

    JAX combines such arrays with constants of their dtype.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        result: Any = function(*args, **kwargs)
        return weakly(result, False) if get_aval(result).shape else result

    return call


def inexact(dtype: Any) -> Any:
    """The floating-point (or complex) dtype of results for arguments of other dtypes."""
    if dtypes.is_inexact(dtype):
        return dtype
    # 64-bit integers, which require enable_x64, become float64; all others become float32.
    return dtypes.float64 if dtype.itemsize == 8 else dtypes.float32


def widened(dtype: Any) -> Any:
    """The dtype in which integers and bools are summed: at least 32 bits (with enable_x64: 64)."""
    default = dtypes.scalar_dtype(int)
    if dtypes.is_unsigned(dtype):
        default = np.dtype(f"u{default.name}")
    return default if dtype.itemsize < default.itemsize else dtype


def requested(name: str, dtype: Any) -> Any:
    """The dtype that the caller asks for; None stays. A 64-bit dtype is narrowed with a warning unless enable_x64 is
    set."""
    return None if dtype is None else dtypes.canonicalize_requested(dtype, name)
