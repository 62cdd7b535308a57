"""The distributions' numbers against their distribution functions (Kolmogorov and Smirnov) and moments. The keys are
fixed, so the tests are deterministic."""

import numpy as np
import pytest
from scipy import stats

from pycompiler import random

N = 20_000
# A right generator fails one key in ten thousand.
LEAST_P = 1e-4

CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, (N,), minval=-1.0, maxval=3.0), stats.uniform(-1, 4)),
    "normal": (lambda k: random.normal(k, (N,)), stats.norm()),
    "lognormal": (lambda k: random.lognormal(k, np.float32(0.5), (N,)), stats.lognorm(0.5)),
    "truncated_normal": (lambda k: random.truncated_normal(k, -1.0, 2.0, (N,)), stats.truncnorm(-1, 2)),
    "exponential": (lambda k: random.exponential(k, (N,)), stats.expon()),
    "laplace": (lambda k: random.laplace(k, (N,)), stats.laplace()),
    "logistic": (lambda k: random.logistic(k, (N,)), stats.logistic()),
    "cauchy": (lambda k: random.cauchy(k, (N,)), stats.cauchy()),
    "gumbel": (lambda k: random.gumbel(k, (N,)), stats.gumbel_r()),
    "gumbel high": (lambda k: random.gumbel(k, (N,), mode="high"), stats.gumbel_r()),
    "pareto": (lambda k: random.pareto(k, 3.0, (N,)), stats.pareto(3)),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), stats.rayleigh(scale=2)),
    "wald": (lambda k: random.wald(k, 2.0, (N,)), stats.invgauss(2)),
    "triangular": (lambda k: random.triangular(k, 1.0, 2.0, 5.0, (N,)), stats.triang(0.25, 1, 4)),
    "weibull_min": (lambda k: random.weibull_min(k, 2.0, 1.5, (N,)), stats.weibull_min(1.5, scale=2)),
    "maxwell": (lambda k: random.maxwell(k, (N,)), stats.maxwell()),
    "double_sided_maxwell": (
        lambda k: abs(random.double_sided_maxwell(k, 0.0, 2.0, (N,))),
        stats.maxwell(scale=2),
    ),
    "gamma below 1": (lambda k: random.gamma(k, 0.3, (N,)), stats.gamma(0.3)),
    "gamma": (lambda k: random.gamma(k, 3.0, (N,)), stats.gamma(3)),
    "loggamma": (lambda k: random.loggamma(k, 0.5, (N,)), stats.loggamma(0.5)),
    "beta": (lambda k: random.beta(k, 0.5, 2.0, (N,)), stats.beta(0.5, 2)),
    "chisquare": (lambda k: random.chisquare(k, 5.0, (N,)), stats.chi2(5)),
    "f": (lambda k: random.f(k, 3.0, 7.0, (N,)), stats.f(3, 7)),
    "t": (lambda k: random.t(k, 4.0, (N,)), stats.t(4)),
    "dirichlet": (lambda k: random.dirichlet(k, np.float32([1, 2, 4]), (N,))[:, 1], stats.beta(2, 5)),
    "generalized_normal": (lambda k: random.generalized_normal(k, 1.5, (N,)), stats.gennorm(1.5)),
    "ball": (lambda k: (random.ball(k, 3, shape=(N,)) ** 2).sum(-1) ** 1.5, stats.uniform()),
}
DISCRETE = {
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (N,)), stats.bernoulli(0.3)),
    "rademacher": (lambda k: (random.rademacher(k, (N,)) + 1) // 2, stats.bernoulli(0.5)),
    "randint": (lambda k: random.randint(k, (N,), -3, 9), stats.randint(-3, 9)),
    "geometric": (lambda k: random.geometric(k, 0.2, (N,)), stats.geom(0.2)),
    "binomial of few": (lambda k: random.binomial(k, 7.0, 0.4, (N,)), stats.binom(7, 0.4)),
    "binomial of many": (lambda k: random.binomial(k, 100.0, 0.7, (N,)), stats.binom(100, 0.7)),
    "poisson of few": (lambda k: random.poisson(k, 4.0, (N,)), stats.poisson(4)),
    "poisson of many": (lambda k: random.poisson(k, 50.0, (N,)), stats.poisson(50)),
    "multinomial": (
        lambda k: random.multinomial(k, 20.0, np.float32([0.2, 0.5, 0.3]), shape=(N, 3))[:, 1],
        stats.binom(20, 0.5),
    ),
    "categorical": (
        lambda k: random.categorical(k, np.log(np.float32([1, 2, 3, 4])), shape=(N,)),
        stats.rv_discrete(values=(range(4), [0.1, 0.2, 0.3, 0.4])),
    ),
    "choice": (
        lambda k: random.choice(k, 4, (N,), p=np.float32([0.1, 0.2, 0.3, 0.4])),
        stats.rv_discrete(values=(range(4), [0.1, 0.2, 0.3, 0.4])),
    ),
    "permutation": (
        lambda k: random.permutation(k, np.tile(np.arange(4), (N, 1)), axis=1, independent=True)[:, 2],
        stats.randint(0, 4),
    ),
}


@pytest.mark.parametrize("case", CONTINUOUS.values(), ids=CONTINUOUS)
def test_continuous(case):
    draw, distribution = case
    drawn = np.asarray(draw(random.key(20)), np.float64)
    assert stats.kstest(drawn, distribution.cdf).pvalue > LEAST_P


@pytest.mark.parametrize("case", DISCRETE.values(), ids=DISCRETE)
def test_discrete(case):
    draw, distribution = case
    drawn = np.asarray(draw(random.key(21)), np.int64)
    values = np.arange(drawn.min(), drawn.max() + 1)
    expected = N * distribution.pmf(values)
    often = expected >= 5
    counts = np.array([np.sum(drawn == v) for v in values])
    # Rare values are counted together.
    observed = np.append(counts[often], N - counts[often].sum())
    expected = np.append(expected[often], N - expected[often].sum())
    kept = expected > 1e-9
    assert observed[~kept].sum() == 0
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert stats.chi2.sf(statistic, max(kept.sum() - 1, 1)) > LEAST_P


def test_moments():
    drawn = np.asarray(random.normal(random.key(5), (100, 1000)), np.float64)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((drawn**power).mean() - moment) < 4 * (variance / drawn.size) ** 0.5
    # Rows and columns are independent.
    correlations = np.corrcoef(drawn)[~np.eye(100, dtype=bool)]
    assert abs(correlations).max() < 5 / 1000**0.5
