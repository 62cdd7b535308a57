"""Resampling of images of any number of dimensions, by a matrix of weights for each axis."""

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axis, canonical_shape, check_arrays
from pycompiler.lax.precision import Precision
from pycompiler.numpy.promotion import promoted_inexact_each

Array = Any
Kernel = Callable[[Array], Array]


class ResizeMethod(enum.Enum):
    """The method of resampling an image. Functions with a parameter `method` also accept its names as strings.

    NEAREST ("nearest"): the nearest element. LINEAR ("linear", "bilinear", "trilinear", "triangle"). CUBIC ("cubic",
    "bicubic", "tricubic"): the kernel of Keys. CUBIC_PYTORCH ("cubic-pytorch", "bicubic-pytorch"): without
    antialiasing, PyTorch's kernel and repeated edges; with antialiasing, the same as CUBIC. LANCZOS3 ("lanczos3"),
    LANCZOS5 ("lanczos5"). AREA ("area"): the mean over the area of the new element.
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> "ResizeMethod":
        """The method with a name. ValueError for an unknown name."""
        if s not in _NAMES:
            raise ValueError(f"ResizeMethod: there is no method {s!r}; there are {', '.join(_NAMES)}")
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    **dict.fromkeys(["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """The image in another shape of the same number of dimensions; dimensions of equal size stay.

    method: a ResizeMethod or its name. antialias: if a dimension shrinks, the kernel covers all elements; without
    antialias, it covers only the neighbours of each sample. Integers become floats, except with "nearest". ValueError
    for another number of dimensions, and for an unknown method.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import image
    >>> image.resize(pnp.array([0.0, 4.0]), (4,), "linear")
    Array([0., 1., 3., 4.], dtype=float32)
    """
    check_arrays("resize", image)
    shape, method = _checked("resize", image, shape, method)
    given = get_aval(image).shape
    axes = tuple(axis for axis, (old, new) in enumerate(zip(given, shape, strict=True)) if old != new)
    if any(given[axis] == 0 for axis in axes):
        raise ValueError(f"resize: an axis without elements cannot grow: {short(get_aval(image))} to {shape}")
    if method is ResizeMethod.NEAREST:
        return eager_jit(_nearest, image, shape=shape)
    (image,) = promoted_inexact_each("resize", image)
    scales = [1.0 if shape[axis] == 0 else shape[axis] / given[axis] for axis in axes]
    settings = {"shape": shape, "axes": axes, "method": method, "antialias": bool(antialias), "precision": precision}
    return eager_jit(_resampled, image, *scales, *[0.0] * len(axes), **settings)


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = Precision.HIGHEST,
) -> Array:
    """The image in the given shape, scaled and translated. In each of spatial_dims, the place y of the result shows the
    place (y - translation) / scale of the given image. Places outside of the given image are 0.

    The centre of element i is at i + 0.5. scale and translation: f[k] for k spatial dimensions. They may be traced, and
    have derivatives. Other parameters as in `resize`; "nearest" is not supported.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import image
    >>> one = pnp.ones(1)
    >>> image.scale_and_translate(pnp.array([1.0, 2.0, 3.0]), (3,), (0,), one, one, "linear")
    Array([0., 1., 2.], dtype=float32)
    """
    check_arrays("scale_and_translate", image, scale, translation)
    shape, method = _checked("scale_and_translate", image, shape, method)
    if method is ResizeMethod.NEAREST:
        raise ValueError("scale_and_translate: the method 'nearest' is not supported; use resize, or 'linear'")
    axes = tuple(canonical_axis("scale_and_translate", axis, len(shape)) for axis in spatial_dims)
    if len(set(axes)) != len(axes):
        raise ValueError(f"scale_and_translate: a dimension is named twice in {tuple(spatial_dims)}")
    (image,) = promoted_inexact_each("scale_and_translate", image)
    scale, translation = promoted_inexact_each("scale_and_translate", scale, translation)
    for what, x in (("scale", scale), ("translation", translation)):
        if get_aval(x).shape != (len(axes),):
            raise ValueError(
                f"scale_and_translate: {what} must have one number for each of {len(axes)} spatial dimensions, got "
                f"{short(get_aval(x))}"
            )
        if dtypes.is_complex(get_aval(x).dtype):
            raise TypeError(f"scale_and_translate: {what} must be real, got {short(get_aval(x))}")
    given = get_aval(image).shape
    for axis in range(len(shape)):
        if axis not in axes and given[axis] != shape[axis]:
            raise ValueError(
                f"scale_and_translate: dimension {axis} is not in spatial_dims, so it stays {given[axis]}; got {shape}"
            )
    places = [pnp.asarray(x)[i] for x in (scale, translation) for i in range(len(axes))]
    settings = {"shape": shape, "axes": axes, "method": method, "antialias": bool(antialias), "precision": precision}
    return eager_jit(_resampled, image, *places, **settings)


def _checked(name: str, image: Any, shape: Any, method: Any) -> tuple[tuple[int, ...], ResizeMethod]:
    shape = canonical_shape(name, shape)
    if len(shape) != len(get_aval(image).shape):
        raise ValueError(f"{name}: shape must have a size for each dimension of {short(get_aval(image))}, got {shape}")
    if isinstance(method, str):
        if method not in _NAMES:
            raise ValueError(f"{name}: there is no method {method!r}; there are {', '.join(_NAMES)}")
        method = _NAMES[method]
    if not isinstance(method, ResizeMethod):
        raise TypeError(f"{name}: method is a ResizeMethod or its name, got {method!r}")
    return shape, method


def _nearest(image: Array, *, shape: tuple[int, ...]) -> Array:
    image = pnp.asarray(image)
    for axis, (old, new) in enumerate(zip(image.shape, shape, strict=True)):
        if old != new:
            # The floor of (i + 0.5) old / new.
            places = (2 * np.arange(new, dtype=np.int64) + 1) * old // (2 * new)
            image = pnp.take(image, places.astype(np.int32), axis)
    return image


def _resampled(
    image: Array,
    *places: Array,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    method: ResizeMethod,
    antialias: bool,
    precision: Any,
) -> Array:
    dtype = get_aval(image).dtype
    image = pnp.asarray(image)
    if dtype.itemsize < 4:
        image = image.astype(np.float32)
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    for i, axis in enumerate(axes):
        scale, translation = pnp.asarray(places[i]), pnp.asarray(places[len(axes) + i])
        if scale.dtype.itemsize < 4:
            scale, translation = scale.astype(np.float32), translation.astype(np.float32)
        weights = _weights(image.shape[axis], shape[axis], scale, translation, method, antialias)
        image = pnp.tensordot(image, weights.astype(image.dtype), ((axis,), (0,)), precision=precision)
        image = pnp.moveaxis(image, -1, axis)
    return image.astype(dtype)


def _weights(old: int, new: int, scale: Array, translation: Array, method: ResizeMethod, antialias: bool) -> Array:
    """f[old, new]: the weight of each element in each new element."""
    dtype = scale.dtype
    step = 1 / scale
    # The place of each new centre, counted in elements.
    # In this order of operations, a centre on the edge of the array is exact.
    centers = (pnp.arange(new, dtype=dtype) + (0.5 - translation)) * step - 0.5
    if method is ResizeMethod.AREA:
        left = pnp.arange(new, dtype=dtype) * step - translation * step
        begin = pnp.arange(old, dtype=dtype)[:, None]
        shares = pnp.maximum(0, pnp.minimum((left + step)[None, :], begin + 1) - pnp.maximum(left[None, :], begin))
        return _inside(_normalized(shares), centers, old)
    radius, kernel = _KERNELS[method]
    repeats = method is ResizeMethod.CUBIC_PYTORCH
    margin = radius if repeats else 0
    indices = pnp.arange(-margin, old + margin, dtype=dtype)
    distances = pnp.abs(centers[None, :] - indices[:, None])
    if antialias:
        distances = distances / pnp.maximum(step, 1)
    shares = kernel(distances)
    if repeats:
        # Elements beyond an edge equal the element at the edge.
        inner = shares[margin : margin + old]
        inner = inner.at[0].add(shares[:margin].sum(0)).at[-1].add(shares[margin + old :].sum(0))
        return _normalized(inner)
    return _inside(_normalized(shares), centers, old)


def _normalized(shares: Array) -> Array:
    """Weights that add up to 1, or zeros if their sum is 0."""
    total = shares.sum(0, keepdims=True)
    usable = pnp.abs(total) > 1000 * float(np.finfo(np.float32).eps)
    return pnp.where(usable, shares / pnp.where(usable, total, 1), 0)


def _inside(shares: Array, centers: Array, old: int) -> Array:
    """Set the weights of places outside of the image to 0."""
    return pnp.where(((centers >= -0.5) & (centers <= old - 0.5))[None, :], shares, 0)


def _triangle(x: Array) -> Array:
    return pnp.maximum(0, 1 - x)


def _cubic(a: float) -> Kernel:
    """The cubic convolution kernel with the parameter a (Keys, 1981)."""

    def kernel(x: Array) -> Array:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return pnp.where(x < 1, near, pnp.where(x < 2, far, 0))

    return kernel


def _lanczos(radius: int) -> Kernel:
    def kernel(x: Array) -> Array:
        inside = x <= radius
        x = pnp.where(inside, x, 0)
        return pnp.where(inside, pnp.sinc(x) * pnp.sinc(x / radius), 0)

    return kernel


_KERNELS: dict[ResizeMethod, tuple[int, Kernel]] = {
    ResizeMethod.LINEAR: (1, _triangle),
    ResizeMethod.LANCZOS3: (3, _lanczos(3)),
    ResizeMethod.LANCZOS5: (5, _lanczos(5)),
    ResizeMethod.CUBIC: (2, _cubic(-0.5)),
    ResizeMethod.CUBIC_PYTORCH: (2, _cubic(-0.75)),
}
