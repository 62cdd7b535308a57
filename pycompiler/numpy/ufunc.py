"""Universal functions as objects: `ufunc`, and NumPy's binary functions that reduce, accumulate and update.

Imports reductions and cumulative, which have the fast reductions by add, multiply, maximum, ...
"""

import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pycompiler._runtime import Array, ArrayFunction
from pycompiler.core.dims.dims import dim_product, is_empty
from pycompiler.core.source import publish
from pycompiler.core.tracing.arguments import array_of, as_index
from pycompiler.core.tracing.boundary import given_arrays, leaving
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax import reduction as reduce_
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, broadcasts, canonical_axis, cast, check_arrays
from pycompiler.numpy import arithmetic, cumulative, reductions, ufuncs
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.mapping import vectorize
from pycompiler.numpy.movement import moveaxis, ravel, reshape
from pycompiler.numpy.promotion import promoted_inexact, requested
from pycompiler.numpy.updates import IndexUpdate


class ufunc(ArrayFunction):  # noqa: N801
    """A function of `nin` scalars with `nout` results, applied to arrays element by element.

    func: a function of arrays. `vectorize` maps it, unless `call` applies it to whole arrays. identity: the neutral
    element, the start of a reduction. reduce, accumulate, at, reduceat: faster implementations than pairwise
    application of func, with the signatures of the methods. The methods are NumPy's, except `at`, which needs
    inplace=False and returns the changed array. Pairs are combined from the left, one after the other.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None,
        reduceat: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(self._apply)
        if call is not None:
            publish(call)
        called = name or func.__name__
        # This bypasses __setattr__.
        self.__dict__.update(
            __signature__=_SIGNATURE,
            __name__=called,
            __qualname__=called,
            __doc__=func.__doc__,
            _func=func,
            _call=call or vectorize(func),
            _reduce=reduce,
            _accumulate=accumulate,
            _at=at,
            _reduceat=reduceat,
            nin=operator.index(nin),
            nout=operator.index(nout),
            nargs=operator.index(nargs or nin),
            identity=identity,
        )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(
            f"{self!r}: its attributes can't be set, as NumPy's can't, got {name}; wrap it in a function of your own"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r}: its attributes can't be deleted, as NumPy's can't, got {name}")

    if TYPE_CHECKING:
        __name__: str
        _func: Callable[..., Any]
        _call: Callable[..., Any]
        _reduce: Callable[..., Any] | None
        _accumulate: Callable[..., Any] | None
        _at: Callable[..., Any] | None
        _reduceat: Callable[..., Any] | None
        nin: int
        nout: int
        nargs: int
        identity: Any

        def __call__(self, *args: Any, **kwargs: Any) -> Array: ...

    def _key(self) -> tuple[Any, ...]:
        return self._func, self.__name__, self.identity, self.nin, self.nout, self.nargs

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ufunc) and self._key() == other._key()

    def __repr__(self) -> str:
        return f"<pycompiler.numpy.ufunc '{self.__name__}'>"

    def __reduce__(self) -> Any:
        return self.__name__ if globals().get(self.__name__) is self else object.__reduce__(self)

    @property
    def compiled_by(self) -> Callable[..., Any]:
        """The function of whole arrays."""
        return self._call

    def _apply(self, *args: Any, out: None = None, where: None = None, **unknown: Any) -> Any:
        """The function of arrays that broadcast. out= and where= are errors."""
        try:
            if unknown:
                raise TypeError(f"{self.__name__}: takes no keyword {', '.join(unknown)}; it takes arrays by position")
            if out is not None or where is not None:
                ufuncs.no_out(self.__name__, out)
                raise TypeError(f"{self.__name__}: takes no where=; use pycompiler.numpy.where on the result")
            if len(args) != self.nargs:
                raise TypeError(f"{self.__name__}: takes {self.nargs} arguments, got {len(args)}")
            return self._call(*map(array_of, args))
        except BaseException as error:
            leaving(error, self.__name__)
            raise

    def _check(self, method: str, *arrays: Any, out: Any = None) -> str:
        name = f"{self.__name__}.{method}"
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(f"{name}: needs a function of two arguments with one result")
        ufuncs.no_out(name, out)
        check_arrays(name, *arrays)
        return name

    @given_arrays
    def reduce(
        self,
        a: Any,
        axis: int | None = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """The elements along an axis (None: all) in `where`, combined by the function, starting with `initial`."""
        name = self._check("reduce", a, out=out)
        if where is not None and self.identity is None and initial is None:
            raise ValueError(f"{name}: where= needs initial=, the value for no elements")
        if self._reduce is not None:
            return self._reduce(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
        shape = get_aval(a).shape
        if axis is not None:
            axis = canonical_axis(name, axis, len(shape))
        if where is not None:
            check_arrays(name, where)
            if get_aval(where).dtype != dtypes.bool_ or not broadcasts(get_aval(where).shape, shape):
                raise ValueError(f"{name}: where= is a mask of bools that broadcasts to {shape}, got {short(where)}")
            where = broadcast_to(where, shape)
        lines, kept = (ravel(a), None if where is None else ravel(where)) if axis is None else (a, where)
        start = self.identity if initial is None else initial
        steps = get_aval(lines).shape[axis or 0]
        if start is None and steps == 0:
            raise ValueError(f"{name}: there are no elements, and no initial= is given")
        values = () if start is None else (asarray(start),)
        result = eager_jit(
            _reduced,
            lines,
            *values,
            *(() if kept is None else (kept,)),
            of=self,
            axis=axis or 0,
            dtype=requested(name, dtype),
            started=start is not None,
            masked=kept is not None,
        )
        if not keepdims:
            return result
        return reshape(result, tuple(1 if axis in (None, i) else size for i, size in enumerate(shape)))

    @given_arrays
    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """Combinations of the elements up to each place along an axis."""
        name = self._check("accumulate", a, out=out)
        axis = canonical_axis(name, axis, get_aval(a).ndim)
        if self._accumulate is not None:
            return self._accumulate(a, axis=axis, dtype=dtype)
        return eager_jit(_accumulated, a, of=self, axis=axis, dtype=requested(name, dtype))

    @given_arrays
    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Array:
        """a with the function applied to the elements at the indices (and to b), once for each occurrence of an index.

        inplace must be False: arrays never change.
        """
        name = f"{self.__name__}.at"
        if inplace:
            raise TypeError(f"{name}: arrays never change; with inplace=False the changed array is the result")
        values = () if b is None else (b,)
        check_arrays(name, a, *values)
        if self._at is not None:
            return self._at(a, indices, *values)
        return self._at_each(name, a, indices, *values)

    def _at_each(self, name: str, a: Any, indices: Any, *values: Any) -> Array:
        """Apply the indices one after the other, because an index may occur twice."""
        index = indices if isinstance(indices, tuple) else (indices,)
        lists = [i for i, one in enumerate(index) if not isinstance(one, slice) and one is not None and np.ndim(one)]
        if not lists:
            place = IndexUpdate(a)[indices]
            return place.set(self(place.get(), *values))
        if any(get_aval(asarray(index[i])).dtype == dtypes.bool_ for i in lists):
            raise TypeError(f"{name}: takes no masks; give the indices, or use where")
        places = [asarray(index[i]) for i in lists]
        shape = np.broadcast_shapes(*(get_aval(one).shape for one in places))
        places = [ravel(broadcast_to(one, shape)) for one in places]
        x = a
        wide = values
        if values and get_aval(values[0]).ndim:
            wide = (_by_step(values[0], get_aval(a).shape, index, lists, shape),)
        for step in range(get_aval(places[0]).shape[0]):
            full: list[Any] = list(index)
            for i, one in zip(lists, places, strict=True):
                full[i] = movement.index_in_dim(one, step, keepdims=False)
            place = IndexUpdate(x)[tuple(full)]
            these = [
                one if get_aval(one).ndim == 0 else movement.index_in_dim(one, step, keepdims=False) for one in wide
            ]
            x = place.set(self(place.get(), *these))
        return x

    @given_arrays
    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """reduce over a[indices[i]:indices[i+1]] for each i, the last to the end; a[indices[i]] for an empty range."""
        name = self._check("reduceat", a, indices, out=out)
        axis = canonical_axis(name, axis, get_aval(a).ndim)
        if get_aval(indices).ndim != 1 or not dtypes.is_integer(get_aval(indices).dtype):
            raise ValueError(f"{name}: indices are a vector of integers, got {short(indices)}")
        if self._reduceat is not None:
            return self._reduceat(a, indices, axis=axis, dtype=dtype)
        wanted = get_aval(a).dtype if dtype is None else requested(name, dtype)
        lines = moveaxis(cast(a, wanted), axis, 0)
        return moveaxis(eager_jit(_reduced_between, lines, asarray(indices), of=self), 0, axis)

    @given_arrays
    def outer(self, A: Any, B: Any, /) -> Array:
        """The function of each pair of an element of A and an element of B, of shape A.shape + B.shape."""
        self._check("outer", A, B)
        rank, more = get_aval(A).ndim, get_aval(B).ndim
        return self(movement.expand_dims(A, range(rank, rank + more)), movement.expand_dims(B, range(rank)))


_parameters = inspect.signature(ufunc._apply).parameters.values()  # pyright: ignore[reportPrivateUsage]
_SIGNATURE = inspect.Signature([p for p in _parameters if p.name not in ("self", "unknown")])


def _by_step(b: Array, shape: Any, index: tuple[Any, ...], lists: list[int], wide: tuple[int, ...]) -> Array:
    """b, broadcast by NumPy's rules to the values for an indexed array of a shape, in the order of the index lists,
    which have the shape `wide`."""
    found = []
    for length in (1, 2):
        # Only the shape counts, so all places are 0.
        places = [
            np.zeros(length, int) if i in lists else one if one is None or one is ... or isinstance(one, slice) else 0
            for i, one in enumerate(index)
        ]
        found.append(np.broadcast_to(0, shape)[tuple(places)].shape)
    axis = next(i for i, (one, two) in enumerate(zip(*found, strict=True)) if one != two)
    before, after = found[0][:axis], found[0][axis + 1 :]
    whole = broadcast_to(b, (*before, *wide, *after))
    return moveaxis(reshape(whole, (*before, -1, *after)), axis, 0)


def _element(lines: Array, i: int) -> Array:
    return movement.index_in_dim(lines, i, keepdims=False)


def _result_dtype(of: ufunc, a: Array, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    one = movement.full((), 1, get_aval(a).dtype)
    return get_aval(of(one, one)).dtype


def _reduced(lines: Array, *rest: Array, of: ufunc, axis: int, dtype: Any, started: bool, masked: bool) -> Array:
    dtype = _result_dtype(of, lines, dtype)
    lines = moveaxis(cast(lines, dtype), axis, 0)
    kept = moveaxis(rest[-1], axis, 0) if masked else None
    count, *shape = get_aval(lines).shape
    result = broadcast_to(cast(rest[0], dtype), shape) if started else _element(lines, 0)
    for i in range(0 if started else 1, count):
        step = cast(of(result, _element(lines, i)), dtype)
        result = step if kept is None else ufuncs.where(_element(kept, i), step, result)
    return result


def _accumulated(a: Array, *, of: ufunc, axis: int, dtype: Any) -> Array:
    lines = moveaxis(cast(a, _result_dtype(of, a, dtype)), axis, 0)
    if dim_product(get_aval(lines).shape) == 0:
        return moveaxis(lines, 0, axis)
    parts = [_element(lines, 0)]
    for i in range(1, get_aval(lines).shape[0]):
        parts.append(cast(of(parts[-1], _element(lines, i)), get_aval(lines).dtype))
    return moveaxis(movement.concatenate([movement.expand_dims(part, (0,)) for part in parts], 0), 0, axis)


def _reduced_between(lines: Array, indices: Array, *, of: ufunc) -> Array:
    count = get_aval(lines).shape[0]
    result = IndexUpdate(lines)[indices].get()
    if is_empty(get_aval(indices).shape[0]):
        return result
    ends = movement.concatenate(
        [movement.slice_in_dim(indices, 1, None), movement.full((1,), count, get_aval(indices).dtype)], 0
    )
    others = range(1, get_aval(lines).ndim)
    first, end = (movement.expand_dims(one, others) for one in (indices, ends))
    for i in range(count):
        inside = ufuncs.logical_and(ufuncs.greater(i, first), ufuncs.less(i, end))
        step = cast(of(result, movement.index_in_dim(lines, i)), get_aval(lines).dtype)
        result = ufuncs.where(inside, step, result)
    return result


def _of_bits(function: Callable[..., Array], combine: Callable[..., Array], identity: int) -> Callable[..., Array]:
    """A reduction by `and` or `or` of lax."""
    name = f"{combine.__name__}.reduce"

    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Array:
        dtype = get_aval(a).dtype if dtype is None else requested(name, dtype)
        start = bool(identity) if dtype == dtypes.bool_ else np.asarray(identity).astype(dtype)
        return reductions.reduced(name, function, combine, start, cast(a, dtype), axis, keepdims, initial, where)

    return reduce


def _of_truth(function: Callable[..., Array], combine: Callable[..., Array]) -> Callable[..., Array]:
    def reduce(
        a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Array:
        result = function(a, axis, keepdims=keepdims, where=where)
        return result if initial is None else combine(initial, result)

    return reduce


def _without_dtype(function: Callable[..., Array]) -> Callable[..., Array]:
    def reduce(a: Any, dtype: Any = None, **options: Any) -> Array:
        return function(a if dtype is None else cast(a, requested("reduce", dtype)), **options)

    return reduce


def _logsumexp(
    a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    """log(sum(exp(a))), with the maximum factored out."""
    (a,) = promoted_inexact("logaddexp.reduce", a)
    top = reductions.max(a, axis, keepdims=True, initial=-np.inf, where=where)
    top = lax.stop_gradient(ufuncs.where(lax.is_finite(top), top, 0))
    total = reductions.sum(lax.exp(ufuncs.subtract(a, top)), axis, keepdims=True, where=where)
    result = lax.add(lax.log(total), top)
    if not keepdims:
        axes = range(get_aval(a).ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        result = movement.squeeze(result, tuple(axes))
    return result if initial is None else arithmetic.logaddexp(initial, result)


def _logsumexp2(
    a: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Array:
    scale = float(np.log(2))
    initial = None if initial is None else ufuncs.multiply(initial, scale)
    result = _logsumexp(ufuncs.multiply(a, scale), axis, None, keepdims, initial, where)
    return ufuncs.divide(result, scale)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """The ufunc of a function of `nin` scalars with `nout` results. `identity` is the neutral element, if there is one.

    >>> import pycompiler.numpy as pnp
    >>> add = pnp.frompyfunc(lambda x, y: x + y, nin=2, nout=1, identity=0)
    >>> add.reduce(pnp.arange(4))
    Array(6, dtype=int32)
    """
    if not callable(func):
        raise TypeError(f"frompyfunc: takes a function, got {func!r:.80} of type {type(func).__name__}")
    counts = [as_index("frompyfunc", what, given) for what, given in (("nin", nin), ("nout", nout))]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise TypeError(f"frompyfunc: nin and nout are numbers of arguments and results, got {nin!r:.80}, {nout!r:.80}")
    if identity is not None:
        check_arrays("frompyfunc", identity)
    return ufunc(func, *counts, name=getattr(func, "__name__", type(func).__name__), identity=identity)


def _update(method: str) -> Callable[..., Array]:
    def at(a: Any, indices: Any, b: Any) -> Array:
        return getattr(IndexUpdate(a)[indices], method)(b)

    return at


def _binary(function: Callable[..., Any], identity: Any = None, **faster: Any) -> ufunc:
    return ufunc(function, 2, 1, call=function, identity=identity, **faster)


add = _binary(ufuncs.add, 0, reduce=reductions.sum, accumulate=cumulative.cumsum, at=_update("add"))
multiply = _binary(ufuncs.multiply, 1, reduce=reductions.prod, accumulate=cumulative.cumprod, at=_update("multiply"))
subtract = _binary(ufuncs.subtract, at=_update("subtract"))
maximum = _binary(ufuncs.maximum, reduce=_without_dtype(reductions.max), at=_update("max"))
minimum = _binary(ufuncs.minimum, reduce=_without_dtype(reductions.min), at=_update("min"))
bitwise_and = _binary(ufuncs.bitwise_and, -1, reduce=_of_bits(reduce_.reduce_and, ufuncs.bitwise_and, -1))
bitwise_or = _binary(ufuncs.bitwise_or, 0, reduce=_of_bits(reduce_.reduce_or, ufuncs.bitwise_or, 0))
bitwise_xor = _binary(ufuncs.bitwise_xor, 0)
logical_and = _binary(ufuncs.logical_and, True, reduce=_of_truth(reductions.all, ufuncs.logical_and))
logical_or = _binary(ufuncs.logical_or, False, reduce=_of_truth(reductions.any, ufuncs.logical_or))
logical_xor = _binary(ufuncs.logical_xor, False)
logaddexp = _binary(arithmetic.logaddexp, -np.inf, reduce=_logsumexp)
logaddexp2 = _binary(arithmetic.logaddexp2, -np.inf, reduce=_logsumexp2)
negative = ufunc(ufuncs.negative, 1, 1, call=ufuncs.negative)
