"""Jacobians: `linearize` mapped over the standard basis, forwards or backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.linearize import linearize
from pycompiler.core.autodiff.transpose import pull_back
from pycompiler.core.batching.batch import map_axes
from pycompiler.core.dims.dims import Shape, dim_product
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.axes import Axis
from pycompiler.core.tracing.boundary import wraps
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import UndefinedPrimal, Zero
from pycompiler.core.tracing.structural import instantiate, with_batch_dim, zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES
from pycompiler.transforms.derivative import Argnums, check_output, derivatives, select
from pycompiler.transforms.tangents import on_device, typed, varies


def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fun`, computed row by row in reverse mode: for few outputs.

    The result has the structure of the output, with the structure of the argument at each leaf. A block has the shape
    `output.shape + argument.shape`. With `allow_int`, arguments may be integers, whose blocks are zeros of their dtype.
    Raises TypeError for arguments and outputs that are not floating-point.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> pc.jacrev(lambda x: x**2)(pnp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    argnums = as_integers("jacrev", "argnums", argnums)

    @wraps(fun, "jacrev")
    def jacrev_fun(*args: Any, **kwargs: Any) -> Any:
        return _jacobian("jacrev", _rows, fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)

    return jacrev_fun


def jacfwd(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fun`, computed column by column in forward mode: for few inputs.

    The result has the structure of the result of `jacrev`.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> pc.jacfwd(lambda x: x**2)(pnp.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """

    argnums = as_integers("jacfwd", "argnums", argnums)

    @wraps(fun, "jacfwd")
    def jacfwd_fun(*args: Any, **kwargs: Any) -> Any:
        return _jacobian("jacfwd", _columns, fun, argnums, has_aux, holomorphic, False, args, kwargs)

    return jacfwd_fun


def hessian(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that returns the second derivatives of `fun`: `jacfwd(jacrev(fun))`.

    >>> import pycompiler as pc
    >>> import pycompiler.numpy as pnp
    >>> pc.hessian(lambda x: (x**3).sum())(pnp.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


# For each output, for each argument: the block of the Jacobian.
Blocks = list[list[Any]]


def _jacobian(
    transform: str,
    blocks_of: Callable[[ClosedGraph, Sequence[ShapedArray], Sequence[ShapedArray], Sequence[bool]], Blocks],
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    forwards = blocks_of is _columns
    options = {"holomorphic": holomorphic, "real_only": forwards, "allow_int": allow_int}
    flat, leaves = select(transform, fun, argnums, args, kwargs, has_aux, **options)
    in_avals = [get_aval(leaf) for leaf in leaves]
    moving = [varies(aval) for aval in in_avals]
    outs, linear, varying = linearize(flat, leaves, moving, flat.debug_info(), flat.active)
    outs, aux = flat.split(outs)
    out_avals = [get_aval(out) for out in outs]
    if holomorphic or not forwards:
        for index, aval in enumerate(out_avals):
            what = f"output{flat.out_tree.paths()[index]} of {flat.debug_info().name}"
            check_output(transform, what, aval, holomorphic)
    blocks = blocks_of(linear, out_avals, [aval for aval, m in zip(in_avals, moving, strict=True) if m], varying)
    if not all(moving):
        blocks = [_with_integers(row, out, in_avals, moving) for row, out in zip(blocks, out_avals, strict=True)]
    # In forward mode, the rows are tangents of the outputs; in reverse mode, cotangents of the arguments.
    rows = [
        [typed(x, out if forwards else aval) for x, aval in zip(on_device(row), in_avals, strict=True)]
        for row, out in zip(blocks, out_avals, strict=True)
    ]
    jacobian = flat.out_tree.unflatten([derivatives(flat, argnums, row) for row in rows])
    return (jacobian, aux) if has_aux else jacobian


def _basis(aval: ShapedArray) -> Any:
    """The unit arrays of an aval along a new first axis."""
    size = dim_product(aval.shape)
    iota, equal, convert, reshape = (PRIMITIVES[name] for name in ("iota", "eq", "convert", "reshape"))
    row, column = (iota.bind(dtype=np.dtype(np.int32), shape=(size, size), dimension=d) for d in (0, 1))
    units = convert.bind(equal.bind(row, column), new_dtype=aval.dtype)
    return reshape.bind(units, new_sizes=(size, *aval.shape))


def _rows(
    linear: ClosedGraph, out_avals: Sequence[ShapedArray], in_avals: Sequence[ShapedArray], varying: Sequence[bool]
) -> Blocks:
    moving = [aval for aval, v in zip(out_avals, varying, strict=True) if v]
    undefined = [UndefinedPrimal(aval) for aval in linear.in_avals]
    blocks: Blocks = []
    for out, v in zip(out_avals, varying, strict=True):
        if not v:
            blocks.append([_zero_block(out, aval, aval) for aval in in_avals])
            continue
        place = sum(v for v in varying[: len(blocks)])

        def backwards(unit: Any, place: int = place) -> list[Any]:
            cotangents = [unit if index == place else Zero(aval) for index, aval in enumerate(moving)]
            return [instantiate(ct) for ct in pull_back(linear, undefined, cotangents)]

        rows = _mapped(backwards, out)
        blocks.append([_reshape(x, _block(out, aval)) for x, aval in zip(rows, in_avals, strict=True)])
    return blocks


def _columns(
    linear: ClosedGraph, out_avals: Sequence[ShapedArray], in_avals: Sequence[ShapedArray], varying: Sequence[bool]
) -> Blocks:
    moving = [aval for aval, v in zip(out_avals, varying, strict=True) if v]
    columns: list[Any] = []
    for place, aval in enumerate(in_avals):

        def forwards(unit: Any, place: int = place) -> list[Any]:
            return evaluate(linear, [unit if index == place else zeros(a) for index, a in enumerate(in_avals)])

        # The axis of unit arrays comes last, so that a reshape completes the result.
        found = _mapped(forwards, aval, last=True)
        columns.append(iter([_reshape(x, _block(out, aval)) for x, out in zip(found, moving, strict=True)]))
    return [
        [
            next(column) if v else zeros(ShapedArray(_block(out, aval), out.dtype))
            for column, aval in zip(columns, in_avals, strict=True)
        ]
        for out, v in zip(out_avals, varying, strict=True)
    ]


def _mapped(function: Callable[[Any], list[Any]], aval: ShapedArray, last: bool = False) -> list[Any]:
    """The results of a linear function for each unit array, along a new first (or last) axis."""
    size = dim_product(aval.shape)
    outs, dims = map_axes(function, [_basis(aval)], [0], DebugInfo("vmap", function), Axis(None, size))
    results: list[Any] = []
    for out, dim in zip(outs, dims, strict=True):
        rank = get_aval(out).ndim - (dim is not None)
        results.append(with_batch_dim(out, dim, rank if last else 0, size))
    return results


def _block(out: ShapedArray, aval: ShapedArray) -> Shape:
    return (*out.shape, *aval.shape)


def _with_integers(
    row: list[Any], out: ShapedArray, in_avals: Sequence[ShapedArray], moving: Sequence[bool]
) -> list[Any]:
    """The blocks of an output for all arguments, from those of the arguments that are not integers."""
    found = iter(row)
    return [next(found) if m else _zero_block(out, aval, aval) for aval, m in zip(in_avals, moving, strict=True)]


def _zero_block(out: ShapedArray, aval: ShapedArray, typed: ShapedArray) -> Any:
    return zeros(ShapedArray(_block(out, aval), typed.dtype))


def _reshape(x: Any, shape: Shape) -> Any:
    return x if get_aval(x).shape == shape else PRIMITIVES["reshape"].bind(x, new_sizes=shape)
