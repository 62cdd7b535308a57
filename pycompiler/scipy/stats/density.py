"""The estimate of a density as a sum of Gaussian kernels."""

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import with_boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg
from pycompiler.lax import movement as lax_movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, canonical_shape, cast, check_arrays
from pycompiler.numpy import contraction, indexing, movement, reductions, statistics, ufuncs
from pycompiler.numpy.arithmetic import power
from pycompiler.numpy.diagonals import diagonal, eye
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.random import choice, normal, split
from pycompiler.scipy.special.error import ndtr
from pycompiler.scipy.special.exponentials import logsumexp

_STATE = ("neff", "dataset", "weights", "covariance", "inv_cov")


@register_pytree_node_class
@with_boundary
class gaussian_kde:  # noqa: N801 (SciPy's name)
    """The density of d-dimensional points as the sum of Gaussians around each of n points, a pytree of arrays.

    dataset: f[d, n], or f[n] for d = 1. bw_method: 'scott' (the default), 'silverman', a factor, or a function from
    this object to a factor. weights: f[n], with any sum. Raises ValueError for other shapes, TypeError for complex
    data.
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any
    __slots__ = _STATE

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        dataset = _points("gaussian_kde", dataset)
        d, n = get_aval(dataset).shape
        if d * n < 2:
            raise ValueError(f"gaussian_kde: needs at least two numbers, got {short(get_aval(dataset))}")
        if weights is None:
            (dataset,) = promoted_inexact("gaussian_kde", dataset)
            weights = broadcast_to(cast(1 / n, get_aval(dataset).dtype), (n,))
        else:
            check_arrays("gaussian_kde", weights)
            dtype = dtypes.wider(dataset, weights, np.float16(0))
            weights, dataset = cast(movement.atleast_1d(weights), dtype), cast(dataset, dtype)
            if get_aval(weights).shape != (n,):
                raise ValueError(
                    f"gaussian_kde: weights must have one number for each of {n} points, got {short(get_aval(weights))}"
                )
            weights = lax.div(weights, broadcast_to(reductions.sum(weights), (n,)))
        self._set(dataset=dataset, weights=weights, neff=lax.reciprocal(reductions.sum(lax.square(weights))))
        factor = self._factor(bw_method)
        covariance = movement.atleast_2d(statistics.cov(dataset, aweights=weights))
        inverse = eager_jit(_inverse, covariance)
        squared = ufuncs.square(factor)
        self._set(covariance=ufuncs.multiply(covariance, squared), inv_cov=ufuncs.divide(inverse, squared))

    def _set(self, **state: Any) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"gaussian_kde: {name} is fixed; make a new object")

    def _factor(self, method: str | Callable[[Any], Any] | Any) -> Any:
        if method is None or method in ("scott", "silverman"):
            count = self.neff if method != "silverman" else ufuncs.multiply(self.neff, (self.d + 2) / 4)
            return power(count, -1.0 / (self.d + 4))
        if callable(method):
            return method(self)
        if is_array(method) and get_aval(method).shape == ():
            return method
        raise ValueError(f"gaussian_kde: bw_method is 'scott', 'silverman', a scalar or a function, got {method!r}")

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """The arrays."""
        return tuple(getattr(self, name) for name in _STATE), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Any) -> "gaussian_kde":
        """The object with these arrays."""
        made = cls.__new__(cls)
        made._set(**dict(zip(_STATE, children, strict=True)))
        return made

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return get_aval(self.dataset).shape[0]

    @property
    def n(self) -> int:
        """The number of points of the dataset."""
        return get_aval(self.dataset).shape[1]

    def evaluate(self, points: Any) -> Array:
        """The density at points, f[d, m] -> f[m]."""
        points = self._matched("evaluate", points)
        return eager_jit(_density, self.dataset, self.weights, points, self.inv_cov, logarithm=False)

    def __call__(self, points: Any) -> Array:
        """The density at points."""
        return self.evaluate(points)

    def pdf(self, x: Any) -> Array:
        """The density at points."""
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Array:
        """The logarithm of the density at points, without underflow."""
        points = self._matched("logpdf", x)
        return eager_jit(_density, self.dataset, self.weights, points, self.inv_cov, logarithm=True)

    def integrate_gaussian(self, mean: Any, cov: Any) -> Array:
        """The integral of the product of the density and a normal density."""
        mean = movement.atleast_1d(movement.squeeze(mean))
        cov = movement.atleast_2d(cov)
        for what, given, shape in (("mean", mean, (self.d,)), ("covariance", cov, (self.d, self.d))):
            if get_aval(given).shape != shape:
                raise ValueError(
                    f"integrate_gaussian: the {what} must have the shape {shape}, got {short(get_aval(given))}"
                )
        return self._overlap(ufuncs.add(self.covariance, cov), movement.reshape(mean, (self.d, 1)), None)

    def integrate_kde(self, other: "gaussian_kde") -> Array:
        """The integral of the product with another density of the same number of dimensions."""
        if other.d != self.d:
            raise ValueError(f"integrate_kde: the densities have {self.d} and {other.d} dimensions; both need the same")
        return self._overlap(ufuncs.add(self.covariance, other.covariance), other.dataset, other.weights)

    def _overlap(self, covariance: Array, points: Array, weights: Array | None) -> Array:
        density = eager_jit(
            _density, self.dataset, self.weights, points, eager_jit(_inverse, covariance), logarithm=False
        )
        return reductions.sum(density if weights is None else ufuncs.multiply(density, weights))

    def integrate_box_1d(self, low: Any, high: Any) -> Array:
        """The integral of a one-dimensional density between two scalars."""
        if self.d != 1:
            raise ValueError(f"integrate_box_1d: the density has {self.d} dimensions, it takes one of 1")
        if np.ndim(low) != 0 or np.ndim(high) != 0:
            raise ValueError("integrate_box_1d: the limits must be scalars")
        return eager_jit(
            _box, self.dataset, self.weights, self.covariance, *promoted_inexact("integrate_box_1d", low, high)
        )

    def resample(self, key: Any, shape: Any = ()) -> Array:
        """Points drawn from the density, f[d, *shape]."""
        shape = canonical_shape("resample", shape)
        index_key, noise_key = split(key)
        chosen = choice(index_key, self.n, shape, p=self.weights)
        dtype = get_aval(self.dataset).dtype
        noise = normal(noise_key, (*shape, self.d), dtype)
        spread = contraction.matmul(noise, movement.transpose(linalg.cholesky(self.covariance)))
        return ufuncs.add(indexing.getitem(self.dataset, (slice(None), chosen)), movement.moveaxis(spread, -1, 0))

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: int | None = None) -> Array:
        """Raises NotImplementedError: integration in several dimensions is not supported."""
        raise NotImplementedError("integrate_box: is supported in one dimension only; use integrate_box_1d")

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Raises NotImplementedError: the object does not change."""
        raise NotImplementedError("set_bandwidth: the bandwidth is fixed; make a new object with bw_method=")

    def _matched(self, name: str, points: Any) -> Array:
        points = _points(name, points)
        d, m = get_aval(points).shape
        if d == self.d:
            return points
        if d == 1 and m == self.d:
            return movement.reshape(points, (self.d, 1))
        raise ValueError(f"{name}: the points have {d} dimensions, the dataset has {self.d}")


def _points(name: str, points: Any) -> Array:
    check_arrays(name, points)
    points = movement.atleast_2d(points)
    if get_aval(points).dtype.kind == "c":
        raise TypeError(
            f"{name}: takes real points, got {short(get_aval(points))}; take their real and imaginary parts"
        )
    if len(get_aval(points).shape) != 2:
        raise ValueError(f"{name}: takes points of shape (d, n), got {short(get_aval(points))}")
    return points


def _inverse(matrix: Array) -> Array:
    """The inverse of a symmetric positive definite matrix."""
    lower = linalg.cholesky(matrix)
    identity = eye(get_aval(matrix).shape[0], dtype=get_aval(matrix).dtype)
    half = linalg.triangular_solve(lower, identity, left_side=True, lower=True)
    return contraction.matmul(movement.transpose(half), half)


def _density(dataset: Array, weights: Array, points: Array, precision: Array, *, logarithm: bool) -> Array:
    dtype = dtypes.result_type(dataset, points)[0]
    dataset, weights, points, precision = (cast(x, dtype) for x in (dataset, weights, points, precision))
    d = get_aval(dataset).shape[0]
    whitening = linalg.cholesky(precision)
    centers = contraction.matmul(movement.transpose(dataset), whitening)
    targets = contraction.matmul(movement.transpose(points), whitening)
    difference = ufuncs.subtract(lax_movement.expand_dims(targets, (1,)), lax_movement.expand_dims(centers, (0,)))
    norm = lax.sub(reductions.sum(lax.log(diagonal(whitening))), 0.5 * d * log(2 * pi))
    exponent = ufuncs.subtract(norm, ufuncs.multiply(0.5, reductions.sum(lax.square(difference), -1)))
    if logarithm:
        return logsumexp(ufuncs.add(exponent, lax.log(weights)), 1)
    return reductions.sum(ufuncs.multiply(lax.exp(exponent), weights), 1)


def _box(dataset: Array, weights: Array, covariance: Array, low: Array, high: Array) -> Array:
    scale = lax.sqrt(movement.reshape(covariance, ()))
    low, high = (ufuncs.divide(ufuncs.subtract(x, movement.reshape(dataset, -1)), scale) for x in (low, high))
    return reductions.sum(ufuncs.multiply(weights, lax.sub(ndtr(high), ndtr(low))))
