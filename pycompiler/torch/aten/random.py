"""Random numbers. Each call of a program draws one key from torch's generator, and each operation folds its number
into it: `torch.manual_seed` makes a run repeatable. The numbers differ from torch's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vmap

ops = Family()


def _uniform(out: Out, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers from 0 to below 1. Those of 16 bits have as many possible values as torch's."""
    dtype = out.dtype if dtype is None else dtype
    shape = out.shape if shape is None else shape
    if dtype.itemsize == 2:
        # Rounding of wider numbers could give 1.
        bits = 8 if dtype != np.float16 else 11
        numbers = random.bits(out.key(), shape, np.uint32) >> (32 - bits)
        return cast(cast(numbers, np.dtype(np.float32)) * 2.0**-bits, dtype)
    if dtype.kind == "c":
        # Both parts of a complex number.
        parts = random.uniform(out.key(), (*shape, 2), np.float32 if dtype == np.complex64 else np.float64)
        return lax.complex(parts[..., 0], parts[..., 1])
    return random.uniform(out.key(), shape, dtype)


def _own(generator: Any) -> None:
    if generator is not None:
        raise NotImplementedError("a generator of its own")


@ops("rand", "rand_like")
def _rand(out: Out, x: Any, generator: Any = None, **options: Any) -> Any:
    _own(generator)
    return _uniform(out)


@ops("randn", "randn_like", "normal.float_float")
def _randn(out: Out, *given: Any, generator: Any = None, **options: Any) -> Any:
    _own(generator)
    made = random.normal(out.key(), out.shape, out.compute)
    if len(given) == 3:
        made = made * given[1] + given[0]
    return cast(made, out.dtype)


@ops("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor")
def _normal(out: Out, mean: Any, std: Any = 1.0, *, generator: Any = None) -> Any:
    _own(generator)
    if hasattr(std, "dtype"):
        out.require(std >= 0, "a standard deviation is negative")
    made = random.normal(out.key(), out.shape, out.compute)
    return cast(made * cast(std, out.compute) + cast(mean, out.compute), out.dtype)


@ops("normal_functional")
def _normal_functional(out: Out, x: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    return _normal(out, mean, std, generator=generator)


@ops("uniform")
def _uniform_between(out: Out, x: Any, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
    _own(generator)
    if low > high:
        raise NotImplementedError(f"numbers from {low} to {high}")
    start = complex(low, low) if out.dtype.kind == "c" else low
    return cast(cast(_uniform(out), out.compute) * (high - low) + start, out.dtype)


@ops("randint", "randint_like")
def _randint(out: Out, *given: Any, generator: Any = None, **options: Any) -> Any:
    _own(generator)
    numbers = [value for value in given if not isinstance(value, (list, tuple)) and not hasattr(value, "dtype")]
    low, high = (0, numbers[0]) if len(numbers) == 1 else numbers
    made = random.randint(out.key(), out.shape, low, high, np.int64)
    return cast(made, out.dtype)


@ops("randperm")
def _randperm(out: Out, n: Any, generator: Any = None, **options: Any) -> Any:
    _own(generator)
    return cast(random.permutation(out.key(), lax.iota(np.int64, n)), out.dtype)


@ops("bernoulli")
def _bernoulli(out: Out, x: Any, p: Any = None, *, generator: Any = None) -> Any:
    _own(generator)
    p = x if p is None else p
    if hasattr(p, "dtype"):
        out.require((p >= 0) & (p <= 1), "a probability is not between 0 and 1")
    elif not 0 <= p <= 1:
        raise NotImplementedError(f"the probability {p}, which is not between 0 and 1")
    made = random.uniform(out.key(), out.shape, np.float32 if out.dtype.itemsize < 8 else np.float64)
    return cast(made < cast(p, made.dtype), out.dtype)


@ops("native_dropout")
def _native_dropout(out: Out, x: Any, p: float, train: bool | None) -> Any:
    if train is False or p == 0:
        return x, pnp.ones(x.shape, bool)
    if p == 1:
        return pnp.zeros_like(x), pnp.zeros(x.shape, bool)
    kept = random.uniform(out.key(), x.shape, np.float32) >= p
    return cast(pnp.where(kept, cast(x, out.compute) * (1 / (1 - p)), 0), x.dtype), kept


@ops("rrelu_with_noise_functional")
def _rrelu(
    out: Out,
    x: Any,
    noise: Any,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    _own(generator)
    if not training:
        return pnp.where(x > 0, x, x * ((lower + upper) / 2)), noise
    slopes = cast(random.uniform(out.key(), x.shape, out.compute, lower, upper), x.dtype)
    factor = pnp.where(x <= 0, slopes, 1)
    return x * factor, factor


@ops("exponential")
def _exponential(out: Out, x: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
    _own(generator)
    made = cast(-lax.log1p(-random.uniform(out.key(), out.shape, out.compute)) / lambd, out.dtype)
    # Never 0, as in torch: samplers divide by the numbers, and take their logarithms.
    return pnp.maximum(made, cast(float(pnp.finfo(out.dtype).tiny), out.dtype))


@ops("cauchy")
def _cauchy(out: Out, x: Any, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
    _own(generator)
    made = lax.tan(math.pi * (random.uniform(out.key(), out.shape, out.compute) - 0.5))
    return cast(made * sigma + median, out.dtype)


@ops("log_normal")
def _log_normal(out: Out, x: Any, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
    _own(generator)
    return cast(lax.exp(random.normal(out.key(), out.shape, out.compute) * std + mean), out.dtype)


@ops("geometric")
def _geometric(out: Out, x: Any, p: float, *, generator: Any = None) -> Any:
    _own(generator)
    made = random.uniform(out.key(), out.shape, np.float32)
    # The least number of trials is 1, also for the uniform number 0.
    return cast(pnp.maximum(lax.ceil(lax.log1p(-made) / math.log1p(-p)), 1), out.dtype)


def _drawn(out: Out, weights: Any, count: int) -> Any:
    """Places in the running sums of the weights. One with the weight 0 has no numbers."""
    sums = lax.cumsum(weights, weights.ndim - 1)
    total = sums[..., -1:]
    numbers = random.uniform(out.key(), (*weights.shape[:-1], count), np.float64) * total
    numbers = pnp.minimum(numbers, pnp.nextafter(total, pnp.zeros_like(total)))

    def search(sums: Any, numbers: Any) -> Any:
        return pnp.searchsorted(sums, numbers, side="right")

    search = search if weights.ndim == 1 else vmap(search)
    return search(sums, numbers).astype(np.int64)


@ops("multinomial")
def _multinomial(out: Out, weights: Any, count: int, replacement: bool = False, *, generator: Any = None) -> Any:
    _own(generator)
    out.require((weights >= 0) & (weights < math.inf), "a weight is negative, infinite or nan")
    wide = cast(weights, np.dtype(np.float64))
    out.require(pnp.sum(wide, axis=-1) > 0, "all weights of a distribution are 0")
    if replacement:
        return _drawn(out, wide, count)
    # The largest of noisy logarithms are a sample without replacement (Gumbel's trick).
    return lax.top_k(lax.log(wide) + random.gumbel(out.key(), weights.shape, np.float64), count)[1].astype(np.int64)


@ops("poisson")
def _poisson(out: Out, mean: Any, generator: Any = None) -> Any:
    _own(generator)
    out.require(mean >= 0, "a rate is negative or nan")
    return cast(random.poisson(out.key(), cast(mean, out.compute), dtype=np.int64), out.dtype)


@ops("binomial")
def _binomial(out: Out, count: Any, probability: Any, generator: Any = None) -> Any:
    _own(generator)
    count, probability = pnp.maximum(cast(count, out.compute), 0), pnp.clip(cast(probability, out.compute), 0, 1)
    return cast(random.binomial(out.key(), count, probability, dtype=out.compute), out.dtype)


@ops("_standard_gamma")
def _standard_gamma(out: Out, alpha: Any, generator: Any = None) -> Any:
    _own(generator)
    made = random.gamma(out.key(), cast(alpha, out.compute), dtype=out.compute)
    # Where alpha is no positive number, too.
    least = pnp.finfo(out.dtype).tiny
    return cast(pnp.where(made > least, made, least), out.dtype)


@ops("_standard_gamma_grad")
def _standard_gamma_grad(out: Out, alpha: Any, drawn: Any) -> Any:
    return cast(lax.random_gamma_grad(cast(alpha, out.compute), cast(drawn, out.compute)), out.dtype)


@ops("_sample_dirichlet")
def _sample_dirichlet(out: Out, alpha: Any, generator: Any = None) -> Any:
    _own(generator)
    return cast(random.dirichlet(out.key(), cast(alpha, out.compute), dtype=out.compute), out.dtype)
