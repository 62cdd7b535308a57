"""Random numbers of a distribution, from a key. The algorithms are JAX's, so that the numbers are, to rounding."""

from math import log as scalar_log
from math import prod
from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.core.dims import broadcast_shapes
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.fused import fused
from pycompiler.lax.operands import Array, broadcast_to, broadcasts, canonical_axis, canonical_shape, cast, check_arrays
from pycompiler.numpy import indexing, sorting, ufuncs
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.random.keys import UINTS, bits_of, check_key, split_keys

Dtype = Any


def _float_dtype(name: str, dtype: Any) -> Dtype:
    wanted = dtypes.canonicalize_requested(float if dtype is None else dtype, name)
    if not dtypes.is_floating(wanted):
        raise TypeError(f"{name}: the dtype must be a floating-point one, got {wanted.name}")
    return wanted


def _shape(name: str, shape: Any, *parameters: Any) -> tuple[Any, ...]:
    """The shape of the result: the one given, to which the parameters must broadcast, or theirs."""
    check_arrays(name, *parameters)
    shapes = [get_aval(x).shape for x in parameters]
    common = broadcast_shapes(*shapes) if shapes else ()
    if shape is None:
        return common
    wanted = canonical_shape(name, shape)
    if not broadcasts(common, wanted):
        raise ValueError(f"{name}: parameters of shape {common} do not broadcast to the shape {wanted}")
    return wanted


def _uniform(key: Array, low: Array, high: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    """Random mantissas under the exponent of 1, less 1, scaled: multiples of 2**-nmant."""
    info = dtypes.finfo(dtype)
    width, mantissa = dtype.itemsize * 8, int(info.nmant)
    drawn = 8 if mantissa < 8 else width
    unsigned = UINTS[width]
    words = bits_of(key, drawn, shape)
    words = words if drawn == width else cast(words, unsigned)
    one = int(np.asarray(1, dtype).view(unsigned))
    pattern = lax.bitwise_or(lax.shift_right_logical(words, drawn - mantissa), one)
    floats = lax.sub(lax.bitcast_convert_type(pattern, dtype), 1.0)
    low, high = (broadcast_to(cast(x, dtype), shape) for x in (low, high))
    return lax.max(low, lax.add(lax.mul(floats, lax.sub(high, low)), low))


def uniform(key: Array, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Array:
    """Numbers in minval..maxval (excluded), all equally likely; float32 unless a dtype is given.

    >>> from pycompiler import random
    >>> random.uniform(random.key(0), (2,)).shape
    (2,)
    """
    check_key("uniform", key)
    wanted = _float_dtype("uniform", dtype)
    return fused(_uniform, key, minval, maxval, shape=_shape("uniform", shape, minval, maxval), dtype=wanted)


def _normal(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    return lax.mul(lax.erf_inv(_uniform(key, low, 1.0, shape=shape, dtype=dtype)), np.asarray(np.sqrt(2), dtype))


def normal(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the normal distribution of mean 0 and variance 1; float32 unless a dtype is given."""
    check_key("normal", key)
    return fused(_normal, key, shape=canonical_shape("normal", shape), dtype=_float_dtype("normal", dtype))


def _truncated_normal(key: Array, lower: Array, upper: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    lower, upper = cast(lower, dtype), cast(upper, dtype)
    root = np.asarray(np.sqrt(2), dtype)
    drawn = _uniform(key, lax.erf(lax.div(lower, root)), lax.erf(lax.div(upper, root)), shape=shape, dtype=dtype)
    out = lax.mul(lax.erf_inv(drawn), root)
    # Rounding must not push a number onto a bound or beyond it.
    inner = lax.nextafter(lax.stop_gradient(lower), np.inf), lax.nextafter(lax.stop_gradient(upper), -np.inf)
    return ufuncs.clip(out, *inner)


def truncated_normal(key: Array, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Numbers of the normal distribution, given that they lie between lower and upper."""
    check_key("truncated_normal", key)
    size = _shape("truncated_normal", shape, lower, upper)
    wanted = _float_dtype("truncated_normal", dtype)
    return fused(_truncated_normal, key, lower, upper, shape=size, dtype=wanted)


def _bernoulli(key: Array, p: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    return lax.lt(_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype), broadcast_to(cast(p, dtype), shape))


def bernoulli(key: Array, p: Any = 0.5, shape: Any = None) -> Array:
    """True with probability p."""
    check_key("bernoulli", key)
    size = _shape("bernoulli", shape, p)
    (p,) = promoted_inexact("bernoulli", p)
    return fused(_bernoulli, key, p, shape=size, dtype=get_aval(p).dtype)


def rademacher(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """-1 or 1, equally likely; int32 unless a dtype is given."""
    wanted = dtypes.canonicalize_requested(int if dtype is None else dtype, "rademacher")
    return ufuncs.where(bernoulli(key, 0.5, shape), cast(1, wanted), cast(-1, wanted))


def _exponential(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    return lax.neg(lax.log1p(lax.neg(_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype))))


def exponential(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the exponential distribution of mean 1."""
    check_key("exponential", key)
    wanted = _float_dtype("exponential", dtype)
    return fused(_exponential, key, shape=canonical_shape("exponential", shape), dtype=wanted)


def _gumbel(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    tiny = float(dtypes.finfo(dtype).tiny)
    return lax.neg(lax.log(lax.neg(lax.log(_uniform(key, tiny, 1.0, shape=shape, dtype=dtype)))))


def gumbel(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the Gumbel distribution, -log(-log(u))."""
    check_key("gumbel", key)
    return fused(_gumbel, key, shape=canonical_shape("gumbel", shape), dtype=_float_dtype("gumbel", dtype))


def _laplace(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    low = -1.0 + float(dtypes.finfo(dtype).epsneg)
    drawn = _uniform(key, low, 1.0, shape=shape, dtype=dtype)
    return lax.mul(lax.sign(drawn), lax.log1p(lax.neg(lax.abs(drawn))))


def laplace(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the Laplace distribution of mean 0 and scale 1."""
    check_key("laplace", key)
    return fused(_laplace, key, shape=canonical_shape("laplace", shape), dtype=_float_dtype("laplace", dtype))


def _logistic(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    drawn = _uniform(key, float(dtypes.finfo(dtype).tiny), 1.0, shape=shape, dtype=dtype)
    return lax.sub(lax.log(drawn), lax.log1p(lax.neg(drawn)))


def logistic(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the logistic distribution of mean 0 and scale 1."""
    check_key("logistic", key)
    return fused(_logistic, key, shape=canonical_shape("logistic", shape), dtype=_float_dtype("logistic", dtype))


def _cauchy(key: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    drawn = _uniform(key, float(dtypes.finfo(dtype).eps), 1.0, shape=shape, dtype=dtype)
    return lax.tan(lax.mul(lax.sub(drawn, 0.5), np.pi))


def cauchy(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Numbers of the Cauchy distribution of location 0 and scale 1."""
    check_key("cauchy", key)
    return fused(_cauchy, key, shape=canonical_shape("cauchy", shape), dtype=_float_dtype("cauchy", dtype))


def _clipped(x: Array, dtype: Dtype) -> Array:
    """An integer in another integer dtype, brought into its range instead of wrapped."""
    given, wanted = dtypes.iinfo(get_aval(x).dtype), dtypes.iinfo(dtype)
    low, high = max(int(given.min), int(wanted.min)), min(int(given.max), int(wanted.max))
    return cast(lax.clamp(low, x, high), dtype)


def _randint(key: Array, low: Array, high: Array, *, shape: tuple[int, ...], dtype: Dtype) -> Array:
    # Twice as many bits as the result has, reduced to the span: the bias is of the order of span / 2**(2 width).
    high_dtype = get_aval(high).dtype
    beyond = lax.gt(high, _clipped(np.asarray(dtypes.iinfo(dtype).max, dtype), high_dtype))
    low, high, beyond = (broadcast_to(x, shape) for x in (_clipped(low, dtype), _clipped(high, dtype), beyond))
    width = dtype.itemsize * 8
    unsigned = UINTS[width]
    keys = split_keys(key, (2,))
    upper, lower = (bits_of(movement.index_in_dim(keys, i, keepdims=False), width, shape) for i in (0, 1))
    span = lax.select(lax.le(high, low), 1, cast(lax.sub(high, low), unsigned))
    span = lax.select(lax.bitwise_and(beyond, lax.gt(high, low)), lax.add(span, 1), span)
    multiplier = lax.rem(broadcast_to(cast(2 ** (width // 2), unsigned), shape), span)
    multiplier = lax.rem(lax.mul(multiplier, multiplier), span)
    offset = lax.add(lax.mul(lax.rem(upper, span), multiplier), lax.rem(lower, span))
    return lax.add(low, cast(lax.rem(offset, span), dtype))


def randint(key: Array, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Array:
    """Integers from minval up to, not including, maxval; int32 unless a dtype is given. Of an empty range minval."""
    check_key("randint", key)
    wanted = dtypes.canonicalize_requested(int if dtype is None else dtype, "randint")
    if not dtypes.is_integer(wanted):
        raise TypeError(f"randint: the dtype must be an integer, got {wanted.name}")
    size = _shape("randint", shape, minval, maxval)
    default = dtypes.scalar_dtype(int)
    low, high = (x if dtypes.is_integer(get_aval(x).dtype) else cast(x, default) for x in (minval, maxval))
    if wanted.itemsize >= 4:
        return fused(_randint, key, low, high, shape=size, dtype=wanted)
    # Drawn with 32 bits, for which the bias is small, from bounds brought into the range of the dtype.
    limits = dtypes.iinfo(wanted)
    low, high = (
        lax.clamp(int(limits.min), cast(x, dtypes.int32), int(limits.max) + extra) for x, extra in ((low, 0), (high, 1))
    )
    return cast(fused(_randint, key, low, high, shape=size, dtype=dtypes.int32), wanted)


def _shuffle(key: Array, x: Array, *, axis: int) -> Array:
    """Sorted by random numbers, again and again until equal ones have become unlikely (as TensorFlow and JAX do)."""
    shape = get_aval(x).shape
    rounds = int(np.ceil(3 * scalar_log(max(1, prod(shape))) / scalar_log(2**32 - 1)))
    for _ in range(rounds):
        keys = split_keys(key, (2,))
        key, subkey = (movement.index_in_dim(keys, i, keepdims=False) for i in (0, 1))
        _, x = reduction.sort_key_val(bits_of(subkey, 32, shape), x, axis)
    return x


def _permuted(key: Array, x: Array, *, axis: int) -> Array:
    order = _shuffle(key, movement.iota(dtypes.int32, get_aval(x).shape[axis]), axis=0)
    return indexing.getitem(x, (*(slice(None),) * axis, order))


def _permuted_numbers(key: Array, *, count: int) -> Array:
    return _shuffle(key, movement.iota(dtypes.scalar_dtype(int), count), axis=0)


def permutation(key: Array, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """x shuffled along an axis: whole slices, or with `independent` each line for itself. Of an int 0..x-1 shuffled."""
    check_key("permutation", key)
    if isinstance(x, int | np.integer):
        return fused(_permuted_numbers, key, count=int(x))
    check_arrays("permutation", x)
    rank = len(get_aval(x).shape)
    if rank == 0:
        raise TypeError(
            f"permutation: takes a Python int or an array, got {x!r}, whose value is not known while tracing"
        )
    axis = canonical_axis("permutation", axis, rank)
    return fused(_shuffle if independent or rank == 1 else _permuted, key, x, axis=axis)


def _categorical(key: Array, logits: Array, *, axis: int, shape: tuple[int, ...], prefix: int) -> Array:
    sizes = list(shape[prefix:])
    sizes.insert(axis, get_aval(logits).shape[axis])
    dtype = get_aval(logits).dtype
    noise = _gumbel(key, shape=(*shape[:prefix], *sizes), dtype=dtype)
    total = lax.add(noise, broadcast_to(logits, get_aval(noise).shape))
    return reduction.argmax(total, prefix + axis, dtypes.scalar_dtype(int))


def categorical(key: Array, logits: Any, axis: int = -1, shape: Any = None) -> Array:
    """Indices along an axis of logits, each with a probability in proportion to exp(logit)."""
    check_key("categorical", key)
    (logits,) = promoted_inexact("categorical", logits)
    aval = get_aval(logits)
    axis = canonical_axis("categorical", axis, len(aval.shape))
    batch = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    size = batch if shape is None else canonical_shape("categorical", shape)
    prefix = len(size) - len(batch)
    if not broadcasts(batch, size):
        raise ValueError(f"categorical: {short(aval)} without axis {axis} does not broadcast to the shape {size}")
    return fused(_categorical, key, logits, axis=axis, shape=size, prefix=prefix)


def choice(key: Array, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Array:
    """Elements of a (of an int: of 0..a-1) along an axis, drawn with or without putting back; `p` are probabilities."""
    check_key("choice", key)
    check_arrays("choice", a)
    size = canonical_shape("choice", shape)
    scalar = get_aval(a).shape == ()
    axis = 0 if scalar else canonical_axis("choice", axis, len(get_aval(a).shape))
    population, draws = int(a) if scalar else get_aval(a).shape[axis], prod(size)
    if population <= 0 and draws:
        raise ValueError("choice: there is nothing to draw from")
    if not replace and draws > population:
        raise ValueError(f"choice: {draws} draws from {population} elements need replace=True")
    if p is None:
        if replace:
            places = randint(key, size, 0, population)
        else:
            places = movement.slice_in_dim(permutation(key, population), 0, draws)
    else:
        (p,) = promoted_inexact("choice", p)
        if get_aval(p).shape != (population,):
            raise ValueError(
                f"choice: the probabilities {short(get_aval(p))} are not one for each of {population} elements"
            )
        places = fused(_weighted if replace else _weighted_without, key, p, shape=size)
    places = movement.reshape(places, size)
    return places if scalar else indexing.getitem(a, (*(slice(None),) * axis, places))


def _weighted(key: Array, p: Array, *, shape: tuple[int, ...]) -> Array:
    total = sorting.cumsum(p)
    drawn = lax.sub(1.0, _uniform(key, 0.0, 1.0, shape=shape, dtype=get_aval(p).dtype))
    last = movement.index_in_dim(total, -1, keepdims=False)
    return sorting.searchsorted(total, lax.mul(drawn, last))


def _weighted_without(key: Array, p: Array, *, shape: tuple[int, ...]) -> Array:
    """The Gumbel top-k trick: the greatest of log(p) with noise."""
    aval = get_aval(p)
    noisy = lax.add(_gumbel(key, shape=aval.shape, dtype=aval.dtype), lax.log(p))
    return reduction.top_k(noisy, prod(shape))[1]
