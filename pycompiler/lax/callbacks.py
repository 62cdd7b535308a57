"""Python functions that compiled code calls: `pure_callback`, `io_callback`. `effects_barrier` waits for effects.

The primitives are in `primitives.control.callbacks`. `debug` has the callbacks that only inspect values. The functions
are public at top level and in `experimental`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler import _runtime
from pycompiler.core.mesh.sharding import SingleDeviceSharding
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, get_aval, is_array
from pycompiler.core.types.tree import tree_flatten
from pycompiler.primitives.control import callbacks as primitives
from pycompiler.primitives.control.host_functions import HostFunction
from pycompiler.primitives.control.mapped_calls import VMAP_METHODS


def _check_callback(name: str, callback: object) -> None:
    if not callable(callback):
        raise TypeError(f"{name}: the callback must be a function, got {callback!r} of type {type(callback).__name__}")


def _declared(name: str, shapes: Any) -> tuple[tuple[ShapedArray, ...], Any]:
    """The avals that `result_shape_dtypes` declares, and its structure."""
    leaves, tree = tree_flatten(shapes)
    avals: list[ShapedArray] = []
    for leaf, path in zip(leaves, tree.paths(), strict=True):
        shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
        if shape is None or dtype is None:
            if not is_array(leaf):
                raise TypeError(
                    f"{name}: result_shape_dtypes{path} is {leaf!r} of type {type(leaf).__name__}, which has no shape "
                    "and dtype; give a ShapeDtypeStruct for each array that the callback returns"
                )
            aval = get_aval(leaf)
            shape, dtype = aval.shape, aval.dtype
        kind: Any = dtypes.as_dtype(dtype)
        if dtypes.canonicalize(kind) != kind:
            raise ValueError(
                f"{name}: result_shape_dtypes{path} is of 64-bit {kind.name}, which needs enable_x64; "
                f"turn it on, or declare {dtypes.canonicalize(kind).name}"
            )
        avals.append(ShapedArray(tuple(shape), kind))
    return tuple(avals), tree


def _check_sharding(name: str, sharding: object) -> None:
    if sharding is not None and not isinstance(sharding, SingleDeviceSharding):
        raise NotImplementedError(
            f"{name}: sharding={sharding!r} is not supported: a callback runs once on the host, and its arrays are on "
            "the first CPU device; give a SingleDeviceSharding, or leave it out"
        )


def _arguments(name: str, args: Sequence[Any], kwargs: dict[str, Any], callback: Callable[..., Any]) -> Any:
    leaves, in_tree = tree_flatten((args, kwargs))
    for leaf, path in zip(leaves, in_tree.paths(), strict=True):
        if not is_array(leaf):
            raise TypeError(
                f"{name}: an argument of the callback, {path}, is {leaf!r} of type {type(leaf).__name__}, which is not "
                "an array; bind it to the function by functools.partial"
            )
    return leaves, HostFunction(name, callback, in_tree)


@boundary
def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any | None = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """The result of a Python function for these arrays; compiled code calls it.

    The function takes trees of Arrays and returns a tree of arrays, of the declared shapes and dtypes. It must be pure:
    equal calls may be merged, and calls without readers removed. Reading the result raises its exception.

    Args:
      callback: the function.
      result_shape_dtypes: a tree with a `ShapeDtypeStruct`, or another object with a shape and a dtype, for each array
        of the result.
      args, kwargs: trees of arrays.
      sharding: None, or a SingleDeviceSharding, with the same meaning: the function runs on the host.
      vmap_method: the behaviour under `vmap`. "sequential" calls the function once for each element, in a loop;
        "sequential_unrolled" calls it without a loop. The other methods call it once for all elements: "expand_dims"
        gives unmapped arguments a leading axis of size 1, "broadcast_all" gives them the mapped axis,
        "legacy_vectorized" passes them unchanged. With None, `vmap` raises NotImplementedError.

    Raises TypeError if `callback` is not a function or an argument not an array, ValueError for an unknown vmap_method
    and for a 64-bit dtype without enable_x64. If the function returns other shapes or dtypes than declared, reading
    raises ValueError. There is no derivative: NotDifferentiableError.

    >>> import numpy as np, pycompiler as pc, pycompiler.numpy as pnp
    >>> x = pnp.float32([0, 1])
    >>> pc.jit(lambda x: pc.pure_callback(np.cos, x, x))(x)
    Array([1.        , 0.54030228], dtype=float32)
    """
    _check_callback("pure_callback", callback)
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(
            f"pure_callback: vmap_method is {vmap_method!r}, expected None or one of {', '.join(VMAP_METHODS)}"
        )
    _check_sharding("pure_callback", sharding)
    avals, tree = _declared("pure_callback", result_shape_dtypes)
    leaves, function = _arguments("pure_callback", args, kwargs, callback)
    outs = primitives.pure_callback.bind(*leaves, callback=function, result_avals=avals, vmap_method=vmap_method)
    return tree.unflatten(outs)


@boundary
def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any | None = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """The result of a Python function with side effects for these arrays.

    Like `pure_callback`, but each time the program reaches the call, the function is called exactly once, with or
    without readers. With `ordered`, calls follow program order, also across calls of compiled functions. Under `vmap`
    an unordered function is called once for each element.

    Raises TypeError if `callback` is not a function or an argument not an array, ValueError under `vmap` with
    `ordered`. If the function returns other shapes or dtypes than declared, reading raises ValueError. There is no
    derivative: NotDifferentiableError.

    >>> import pycompiler as pc
    >>> from pycompiler.experimental import io_callback
    >>> seen = []
    >>> pc.jit(lambda x: io_callback(seen.append, None, x, ordered=True))(3)
    >>> pc.effects_barrier()
    >>> seen
    [Array(3, dtype=int32)]
    """
    _check_callback("io_callback", callback)
    _check_sharding("io_callback", sharding)
    avals, tree = _declared("io_callback", result_shape_dtypes)
    leaves, function = _arguments("io_callback", args, kwargs, callback)
    outs = primitives.io_callback.bind(
        *leaves, callback=function, result_avals=avals, ordered=bool(np.asarray(ordered))
    )
    return tree.unflatten(outs)


@boundary
def effects_barrier() -> None:
    """Wait until the effects of all calls are done: prints, callbacks.

    Raises the error of a `debug` callback, or of a call with side effects, if no read has reported it. Raises
    RuntimeError inside a callback.

    >>> import pycompiler as pc
    >>> pc.jit(lambda x: pc.debug.print("{}", x))(1)
    >>> pc.effects_barrier()
    1
    """
    _runtime.effects_barrier()
