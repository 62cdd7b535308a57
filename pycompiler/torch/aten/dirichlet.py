"""The slope of a sample of Dirichlet's distribution by its parameter, in torch's approximations."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# Coefficients of the rational correction: [numerator or denominator, power of log x, power of a, power of b].
_RATIONAL = np.array(
    [
        [
            [
                [1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
                [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
                [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013],
            ],
            [
                [0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
                [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
                [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05],
            ],
            [
                [-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
                [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
                [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05],
            ],
        ],
        [
            [
                [1, -0.02924021934, -0.04438342661, 0.007285809825],
                [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
                [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149],
            ],
            [
                [0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
                [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
                [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05],
            ],
            [
                [0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
                [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
                [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06],
            ],
        ],
    ]
)


def _or_zero(x: Any) -> Any:
    return pnp.where(x != x, 0, x)


def _near_zero(x: Any, alpha: Any, beta: Any) -> Any:
    """A series in x."""
    factor = lax.digamma(alpha) - lax.digamma(alpha + beta) - lax.log(x)
    term: Any = 1.0
    series = (factor + 1 / alpha) / alpha
    for i in range(1, 11):
        term = term * (i - beta) * x / i
        series = series + term / (alpha + i) * (factor + 1 / (alpha + i))
    return _or_zero(x * (1 - x) ** -beta * series)


def _near_one(x: Any, alpha: Any, beta: Any) -> Any:
    """A series in 1 - x, of the distribution whose parameters are exchanged."""
    x, alpha, beta = 1 - x, beta, alpha
    factor = lax.digamma(alpha + beta) - lax.digamma(beta)
    term: Any = 1.0
    product: Any = 1.0
    slope: Any = 0.0
    series = factor / alpha
    for i in range(1, 9):
        term = term * -x / i
        slope = slope * (beta - i) + product
        product = product * (beta - i)
        series = series + term / (alpha + i) * (slope + factor * product)
    return _or_zero((1 - x) ** (1 - beta) * series)


def _at_mean(x: Any, alpha: Any, beta: Any) -> Any:
    """A polynomial where the next approximation is singular."""
    total = alpha + beta
    inner = (453 + 1620 * beta * (1 - x) - 455 * x) * beta + alpha * (8 * (1 - x) * (135 * beta - 11))
    inner = 3 * (59 + 180 * beta - 90 * x) * beta**2 + alpha * inner
    inner = (43 + 20 * (16 + 27 * beta) * x) * beta**3 + alpha * inner
    numerator = (1 + 12 * alpha) * (1 + 12 * beta) / total**2
    denominator = 12960 * alpha**3 * beta**2 * (1 + 12 * total)
    return numerator / (1 - x) * (47 * x * beta**4 + alpha * inner) / denominator


def _of_large(x: Any, alpha: Any, beta: Any) -> Any:
    """Stirling's formula, for parameters over 6."""
    total = alpha + beta

    def stirling(y: Any) -> Any:
        return 1 + 1 / (12 * y) + 1 / (288 * y**2)

    apart = alpha * (x - 1) + beta * x
    first = 2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2
    first = first / (lax.sqrt(2 * alpha / beta) * total**1.5 * apart**2)
    second = 0.5 * lax.log(alpha / (total * x))
    third = lax.sqrt(8 * alpha * beta / total) / apart
    fourth = (beta * lax.log(beta / (total * (1 - x))) + alpha * lax.log(alpha / (total * x))) ** -1.5
    mean = alpha / total
    made = first + second * (third + pnp.where(x < mean, fourth, -fourth))
    made = made * stirling(alpha) * stirling(beta) / stirling(total) * -x / lax.sqrt(2 * alpha * beta / total)
    deviation = lax.sqrt(alpha * beta / (total + 1)) / total
    is_near = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return pnp.where(is_near, _at_mean(x, alpha, beta), made)


def _rational(x: Any, alpha: Any, beta: Any) -> Any:
    total = alpha + beta
    u = lax.log(x)
    a = lax.log(alpha) - u
    b = lax.log(total) - a
    sums: list[Any] = []
    for part in _RATIONAL:
        made: Any = 0.0
        for i, by_u in enumerate(part):
            for j, (c0, c1, c2, c3) in enumerate(by_u.tolist()):
                made = made + u**i * a**j * (c0 + b * (c1 + b * (c2 + b * c3)))
        sums.append(made)
    return sums[0] / sums[1] * x * (lax.digamma(total) - lax.digamma(alpha)) / beta


@ops("_dirichlet_grad")
def _dirichlet_grad(out: Out, x: Any, alpha: Any, total: Any) -> Any:
    given = pnp.broadcast_arrays(*[cast(one, np.dtype(np.float64)) for one in (x, alpha, total)])
    x, alpha, total = given
    beta = total - alpha
    boundary = total * x * (1 - x)
    made = pnp.where((alpha > 6) & (beta > 6), _of_large(x, alpha, beta), _rational(x, alpha, beta))
    made = pnp.where((x >= 0.5) & (boundary < 0.75), _near_one(x, alpha, beta), made)
    made = pnp.where((x <= 0.5) & (boundary < 2.5), _near_zero(x, alpha, beta), made)
    return cast(made, out.dtype)
