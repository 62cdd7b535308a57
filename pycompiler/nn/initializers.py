"""Initial weights: each function returns an initializer, which takes a key, a shape and a dtype."""

from collections.abc import Callable, Sequence
from math import expm1, pi, prod
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import canonical_axis, canonical_shape, cast
from pycompiler.lax.shardings import divided
from pycompiler.numpy import creation, ufuncs
from pycompiler.primitives.complex import complex_
from pycompiler.random import continuous as distributions
from pycompiler.random.arguments import check_key, inexact_dtype
from pycompiler.random.containers import for_keys
from pycompiler.random.matrices import orthonormal
from pycompiler.random.streams import subkeys, uniform_of

Initializer = Callable[..., Array]


def _initializer(draw: Callable[..., Array]) -> Initializer:
    """The initializer from a function of a key, a shape and a dtype. `out_sharding` divides the weights over
    devices."""

    def init(key: Array, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
        return divided("initializer", draw(key, shape, dtype), out_sharding)

    return boundary(init)


def zeros(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Zeros; the key is not used."""
    return creation.zeros(shape, dtype, out_sharding=out_sharding)


def ones(key: Any, shape: Any, dtype: Any = None, out_sharding: Any = None) -> Array:
    """Ones; the key is not used."""
    return creation.ones(shape, dtype, out_sharding=out_sharding)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """One value in all elements.

    >>> from pycompiler import nn, random
    >>> nn.initializers.constant(3.0)(random.key(0), (2,))
    Array([3., 3.], dtype=float32)
    """
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        return creation.full(shape, value, float if dtype is None and given is None else dtype or given)

    return _initializer(draw)


def _scaled(drawn: Array, scale: Any) -> Array:
    """Drawn numbers times a scale, in their dtype."""
    return ufuncs.multiply(drawn, creation.asarray(scale, get_aval(drawn).dtype))


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Uniformly distributed numbers in 0..scale."""
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        return _scaled(distributions.uniform(key, shape, dtype or given), scale)

    return _initializer(draw)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Normal numbers with a standard deviation.

    >>> from pycompiler import nn, random
    >>> nn.initializers.normal(0.01)(random.key(0), (2, 3)).shape
    (2, 3)
    """
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        return _scaled(distributions.normal(key, shape, dtype or given), stddev)

    return _initializer(draw)


def truncated_normal(stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Normal numbers between two bounds, times stddev."""
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        return _scaled(distributions.truncated_normal(key, lower, upper, shape, dtype or given), stddev)

    return _initializer(draw)


def _fans(shape: Sequence[int], in_axis: Any, out_axis: Any, batch_axis: Any) -> tuple[float, float]:
    """The number of inputs of an output, and of outputs of an input."""

    def axes(spec: Any) -> list[int]:
        given = list(spec) if isinstance(spec, Sequence) else [spec]
        if any(not -len(shape) <= axis < len(shape) for axis in given):
            raise ValueError(
                f"variance_scaling: the shape {tuple(shape)} has no axis {spec!r}; name the axes by in_axis, "
                "out_axis and batch_axis"
            )
        return [axis % len(shape) for axis in given]

    inputs, outputs = (prod(shape[axis] for axis in axes(spec)) for spec in (in_axis, out_axis))
    field = prod(shape) / inputs / outputs / prod(shape[axis] for axis in axes(batch_axis))
    return inputs * field, outputs * field


def _disk(key: Array, *, shape: tuple[int, ...], dtype: Any, radius: float | None) -> Array:
    """Complex numbers of mean 0 in a disk. Without a radius, they are uniform with variance 1. With a radius, they are
    normal, with variance 1 before the cut at the radius."""
    part = dtypes.real_part(dtype)
    of_size, of_angle = subkeys(key, 2)
    drawn = uniform_of(of_size, shape, part)
    if radius is None:
        size = lax.sqrt(lax.mul(drawn, 2.0))
    else:
        size = lax.sqrt(lax.neg(lax.log1p(lax.mul(drawn, float(expm1(-(radius**2)))))))
    angle = lax.mul(uniform_of(of_angle, shape, part), 2 * pi)
    return complex_.bind(lax.mul(size, lax.cos(angle)), lax.mul(size, lax.sin(angle)))


@for_keys
def _in_disk(key: Any, shape: Any, dtype: Any, radius: float | None = None) -> Array:
    check_key("variance_scaling", key)
    return eager_jit(_disk, key, shape=canonical_shape("variance_scaling", shape), dtype=dtype, radius=radius)


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: Any = -2,
    out_axis: Any = -1,
    batch_axis: Any = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers with the variance scale / fan. `mode` selects fan: 'fan_in', 'fan_out', their mean 'fan_avg', or their
    geometric mean 'fan_geo_avg'.

    `distribution` is 'normal', 'truncated_normal' or 'uniform'. Complex numbers of the last two are within a disk.
    ValueError for another word.

    >>> from pycompiler import nn, random
    >>> nn.initializers.variance_scaling(2.0, "fan_in", "normal")(random.key(0), (2, 3)).shape
    (2, 3)
    """
    if mode not in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
        raise ValueError(f"variance_scaling: mode is 'fan_in', 'fan_out', 'fan_avg' or 'fan_geo_avg', got {mode!r}")
    if distribution not in ("normal", "truncated_normal", "uniform"):
        raise ValueError(
            f"variance_scaling: distribution is 'normal', 'truncated_normal' or 'uniform', got {distribution!r}"
        )
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        fan = fans[mode] if mode in fans else (fan_in * fan_out) ** 0.5
        variance = scale / fan
        wanted = inexact_dtype("variance_scaling", dtype or given)
        if dtypes.is_complex(wanted) and distribution != "normal":
            if distribution == "uniform":
                return ufuncs.multiply(_in_disk(key, shape, wanted), variance**0.5)
            # The constant is the standard deviation of a complex normal distribution cut off at 2.
            return ufuncs.multiply(_in_disk(key, shape, wanted, 2.0), variance**0.5 / 0.95311164380491208)
        if distribution == "normal":
            return ufuncs.multiply(distributions.normal(key, shape, wanted), variance**0.5)
        if distribution == "uniform":
            return ufuncs.multiply(distributions.uniform(key, shape, wanted, -1.0), (3 * variance) ** 0.5)
        # The constant is the standard deviation of a normal distribution cut off at -2 and 2.
        drawn = distributions.truncated_normal(key, -2.0, 2.0, shape, wanted)
        return ufuncs.multiply(drawn, variance**0.5 / 0.87962566103423978)

    return _initializer(draw)


def _family(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def initializer(in_axis: Any = -2, out_axis: Any = -1, batch_axis: Any = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    initializer.__name__ = initializer.__qualname__ = name
    initializer.__doc__ = f"variance_scaling({scale}, {mode!r}, {distribution!r})."
    return initializer


glorot_uniform = xavier_uniform = _family("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _family("glorot_normal", 1.0, "fan_avg", "truncated_normal")
he_uniform = kaiming_uniform = _family("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _family("he_normal", 2.0, "fan_in", "truncated_normal")
lecun_uniform = _family("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _family("lecun_normal", 1.0, "fan_in", "truncated_normal")


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """scale times a matrix with orthonormal columns (or rows, if there are fewer), uniformly distributed.

    The rows are all axes but column_axis. ValueError for fewer than two dimensions.

    >>> from pycompiler import nn, random
    >>> nn.initializers.orthogonal()(random.key(0), (3, 3)).shape
    (3, 3)
    """
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        if len(shape) < 2:
            raise ValueError(f"orthogonal: needs at least two dimensions, got the shape {tuple(shape)}")
        wanted = dtype or given
        if 0 in shape:
            return creation.zeros(shape, wanted)
        axis = canonical_axis("orthogonal", column_axis, len(shape))
        columns = shape[axis]
        rows = prod(shape) // columns
        drawn = distributions.normal(key, (max(rows, columns), min(rows, columns)), wanted)
        matrix = eager_jit(orthonormal, drawn)
        if rows < columns:
            matrix = movement.transpose(matrix, (1, 0))
        others = [i for i in range(len(shape)) if i != axis]
        whole = movement.reshape(matrix, (*(shape[i] for i in others), columns))
        order = [*others, axis]
        return ufuncs.multiply(movement.transpose(whole, [order.index(i) for i in range(len(shape))]), scale)

    return _initializer(draw)


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """For kernels [..., inputs, outputs] of 1 to 3 spatial dimensions: an orthogonal matrix in the middle, else zeros.

    ValueError for another number of dimensions, and for more inputs than outputs.
    """
    given = dtype

    def draw(key: Array, shape: Any, dtype: Any = None) -> Array:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"delta_orthogonal: needs three to five dimensions, got the shape {tuple(shape)}")
        if shape[-1] < shape[-2]:
            raise ValueError(f"delta_orthogonal: {shape[-2]} inputs are more than the {shape[-1]} outputs")
        matrix = orthogonal(scale, column_axis, dtype or given)(key, shape[-2:])
        middle = [((size - 1) // 2, size - 1 - (size - 1) // 2, 0) for size in shape[:-2]]
        centre = movement.expand_dims(matrix, range(len(shape) - 2))
        zero = cast(0, get_aval(matrix).dtype)
        return movement.pad(centre, zero, [*middle, (0, 0, 0), (0, 0, 0)])

    return _initializer(draw)


__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
