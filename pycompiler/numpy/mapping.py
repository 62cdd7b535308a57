"""Functions of scalars and vectors applied to whole arrays: `vectorize`, `ufunc`'s generic part, `apply_along_axis`.

All are based on `vmap`, so they call the function once.
"""

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.branches import switch
from pycompiler.lax.operands import broadcast_to, canonical_axis, canonical_shape, cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.promotion import check_ranks_of, promoted
from pycompiler.numpy.ranges import arange
from pycompiler.transforms.mapping import vmap

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "fromfunction",
    "piecewise",
    "select",
    "vectorize",
]

_SIGNATURE = re.compile(r"\((?:\w+(?:,\w+)*)?\)(?:,\((?:\w+(?:,\w+)*)?\))*")
CoreDims = tuple[str, ...]


def _core_dims(signature: str) -> tuple[list[CoreDims], list[CoreDims]]:
    """The names of the dimensions of each argument and each result for one call: `(m,n),(n)->(m)`."""
    if not isinstance(signature, str):
        raise TypeError(f"vectorize: signature is a string as '(m,n),(n)->(m)', got {signature!r}")
    text = signature.replace(" ", "")
    takes, arrow, gives = text.partition("->")
    if not arrow or not _SIGNATURE.fullmatch(takes) or not _SIGNATURE.fullmatch(gives):
        raise ValueError(f"vectorize: signature is of the form '(m,n),(n)->(m)', got {signature!r}")
    sides = ([tuple(re.findall(r"\w+", one)) for one in re.findall(r"\([^)]*\)", side)] for side in (takes, gives))
    return next(sides), next(sides)


def _check_sizes(name: str, what: str, shape: Sequence[Any], dims: CoreDims, sizes: dict[str, Any]) -> None:
    """Record the sizes of the last dimensions of a shape by their names; ValueError if one name has two sizes."""
    if len(shape) < len(dims):
        raise ValueError(f"vectorize of {name}: {what} of shape {tuple(shape)} lacks the dimensions ({','.join(dims)})")
    for dim, size in zip(dims, shape[len(shape) - len(dims) :], strict=True):
        if sizes.setdefault(dim, size) != size:
            raise ValueError(f"vectorize of {name}: dimension {dim} is {sizes[dim]} before and {size} in {what}")


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Collection[int | str] = frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """A function that broadcasts, from a function of scalars, or of arrays with the dimensions in the signature.

    excluded: positions and names of arguments that are passed unchanged. signature: as `(m,n),(n)->(m)`; without it,
    all arguments and results are scalars. The function is traced once, by `vmap`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.vectorize(lambda a, b: a if a > b else b - a)(2.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    if any(not isinstance(one, int | str) for one in excluded):
        raise TypeError(f"vectorize: excluded holds positions and names of arguments, got {excluded!r}")
    if any(isinstance(one, int) and one < 0 for one in excluded):
        raise ValueError(f"vectorize: positions in excluded count from 0, got {excluded!r}")
    dims = None if signature is None else _core_dims(signature)
    name = getattr(pyfunc, "__name__", type(pyfunc).__name__)

    def vectorized(*args: Any, **kwargs: Any) -> Any:
        mapped = [i for i, arg in enumerate(args) if i not in excluded and arg is not None]
        names = sorted(key for key in kwargs if key not in excluded)
        if dims is not None and names:
            raise TypeError(f"vectorize of {name}: a signature is of positional arguments, got {', '.join(names)}=")
        values = [*(args[i] for i in mapped), *(kwargs[key] for key in names)]
        check_arrays(f"vectorize of {name}", *values)
        values = [asarray(value) for value in values]
        core: list[CoreDims] = [()] * len(values)
        if dims is not None:
            given = [i for i in range(len(args)) if i not in excluded]
            if len(given) != len(dims[0]):
                raise TypeError(f"vectorize of {name}: {signature} takes {len(dims[0])} arguments, got {len(given)}")
            core = [of for i, of in zip(given, dims[0], strict=True) if i in mapped]
            nothing = [i for i, of in zip(given, dims[0], strict=True) if i not in mapped and of]
            if nothing:
                raise ValueError(
                    f"vectorize of {name}: argument {nothing[0]} is None, without the dimensions of {signature}"
                )
        sizes: dict[str, Any] = {}
        for place, (value, of) in enumerate(zip(values, core, strict=True)):
            _check_sizes(name, f"argument {place}", get_aval(value).shape, of, sizes)

        def once(*parts: Any) -> Any:
            full, rest = list(args), dict(kwargs)
            for i, part in zip(mapped, parts[: len(mapped)], strict=True):
                full[i] = part
            rest.update(zip(names, parts[len(mapped) :], strict=True))
            out = pyfunc(*full, **rest)
            if dims is not None:
                results = out if isinstance(out, tuple) else (out,)
                if len(results) != len(dims[1]):
                    raise TypeError(
                        f"vectorize of {name}: {signature} gives {len(dims[1])} results, got {len(results)}"
                    )
                for result, of in zip(results, dims[1], strict=True):
                    if len(get_aval(result).shape) != len(of):
                        raise ValueError(f"vectorize of {name}: a result is ({','.join(of)}), got {short(result)}")
                    _check_sizes(name, "a result", get_aval(result).shape, of, sizes)
            return out

        return _mapped(name, once, values, [len(of) for of in core])

    return boundary(functools.wraps(pyfunc)(vectorized))


def _mapped(name: str, function: Callable[..., Any], values: list[Array], ranks: list[int]) -> Any:
    """The function, mapped over all axes of each value except the last `ranks`. The mapped axes broadcast; axes of size
    1 are not mapped."""
    loops = [get_aval(value).shape[: get_aval(value).ndim - rank] for value, rank in zip(values, ranks, strict=True)]
    try:
        shape = broadcast_shapes(*loops) if loops else ()
    except ValueError:
        shown = " and ".join(map(short, values))
        raise ArgumentError(f"vectorize of {name}: shapes do not broadcast: {shown}") from None
    check_ranks_of(f"vectorize of {name}", loops)
    filled = [(*(1,) * (len(shape) - len(loop)), *loop) for loop in loops]
    values = [
        movement.squeeze(value, [i for i, size in enumerate(loop) if size == 1])
        for value, loop in zip(values, loops, strict=True)
    ]
    single: list[int] = []
    for axis in reversed(range(len(shape))):
        in_axes = tuple(None if loop[axis] == 1 else 0 for loop in filled)
        if all(one is None for one in in_axes):
            single.append(axis)
        else:
            function = vmap(function, in_axes)
    result = function(*values)
    if isinstance(result, tuple):
        return tuple(movement.expand_dims(asarray(one), single) for one in result)
    return movement.expand_dims(asarray(result), single)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Apply a function of vectors to each vector along an axis; its results replace the axis.

    >>> import pycompiler.numpy as pnp
    >>> pnp.apply_along_axis(lambda row: row.max() - row.min(), 1, pnp.array([[1, 4], [2, 9]]))
    Array([3, 7], dtype=int32)
    """
    check_arrays("apply_along_axis", arr)
    rank = len(get_aval(arr).shape)
    axis = canonical_axis("apply_along_axis", axis, rank)

    def function(vector: Any) -> Any:
        return func1d(vector, *args, **kwargs)

    for place in range(1, rank - axis):
        function = vmap(function, in_axes=place, out_axes=-1)
    for _ in range(axis):
        function = vmap(function)
    return function(arr)


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Sequence[int]) -> Array:
    """func(a, axis) for each of the axes, one after the other. An axis that func removes is restored with size 1."""
    check_arrays("apply_over_axes", a)
    result = asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        rank = get_aval(result).ndim
        reduced = func(result, axis)
        if get_aval(reduced).ndim == rank - 1:
            reduced = movement.expand_dims(reduced, (canonical_axis("apply_over_axes", axis, rank),))
        if get_aval(reduced).ndim != rank:
            raise ValueError(
                f"apply_over_axes: func must remove at most one axis, and returned {short(reduced)} for {short(result)}"
            )
        result = reduced
    return result


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any) -> Array:
    """The array of function(i, j, ...) for each index of a shape; the coordinates have the dtype."""
    sizes = canonical_shape("fromfunction", shape)

    def once(*coordinates: Any) -> Any:
        return function(*coordinates, **kwargs)

    mapped: Callable[..., Any] = once
    for axis in reversed(range(len(sizes))):
        mapped = vmap(mapped, in_axes=tuple(0 if axis == other else None for other in range(len(sizes))))
    return mapped(*(arange(size, dtype=dtype) for size in sizes))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Each element of the first choice whose condition holds, or the default; all broadcast.

    >>> import pycompiler.numpy as pnp
    >>> pnp.select([pnp.array([True, False])], [pnp.array([1, 2])], 9)
    Array([1, 9], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: takes a choice for each condition, got {len(condlist)} and {len(choicelist)}")
    check_arrays("select", *condlist, *choicelist, default)
    for condition in condlist:
        if get_aval(condition).dtype != np.bool_:
            raise TypeError(f"select: conditions are bools, got {short(condition)}")
    *choices, result = promoted("select", *choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = ufuncs.where(condition, choice, result)
    return asarray(result)


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """Each element of x by the function or number of the last condition that holds, in the dtype of x.

    Functions are called with single elements, *args and **kw. If no condition holds, a further function or number
    applies, or 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.piecewise(pnp.array([-1.0, 2.0]), [pnp.array([True, False])], [0, lambda x: 10 * x])
    Array([ 0., 20.], dtype=float32)
    """
    check_arrays("piecewise", x)
    x = asarray(x)
    aval = get_aval(x)
    conditions = condlist if isinstance(condlist, list | tuple) and len(condlist) and np.ndim(condlist[0]) else None
    if conditions is None:
        single = get_aval(asarray(condlist)).ndim == 0 or get_aval(asarray(condlist)).ndim == aval.ndim
        conditions = [asarray(condlist)] if single else [asarray(condlist)[i] for i in range(len(condlist))]
    rest = len(funclist) - len(conditions)
    if rest not in (0, 1):
        raise ValueError(
            f"piecewise: {len(conditions)} conditions need as many functions or one more, not {len(funclist)}"
        )
    pieces = [*(funclist[-1:] if rest else [0]), *funclist[: len(conditions)]]
    chosen: Any = np.int32(0)
    for number, condition in enumerate(conditions, start=1):
        chosen = ufuncs.where(condition, np.int32(number), chosen)
    numbers = [asarray(0 if callable(piece) else piece) for piece in pieces]

    def branch(place: int, piece: Any) -> Callable[..., Any]:
        if callable(piece):
            return lambda one, *_: cast(asarray(piece(one, *args, **kw)), aval.dtype)
        return lambda _, *numbers: cast(numbers[place], aval.dtype)

    # Branches: an element then takes no part in the derivatives of functions that do not apply to it.
    branches = [branch(place, piece) for place, piece in enumerate(pieces)]
    return vectorize(lambda which, one, *numbers: switch(which, branches, one, *numbers))(
        broadcast_to(asarray(chosen), aval.shape), x, *[broadcast_to(number, aval.shape) for number in numbers]
    )
