"""All functions of random under vmap: mapped keys give the numbers of each key alone."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import random

THREE = np.float32([1, 2, 5])
ROWS = np.float32([[0, 1, 2, 3], [3, 1, 0, 5]])
COVARIANCE = np.float32([[2, 0.5], [0.5, 1]])

# A function of a key and of a positive number, for each function of the module.
DRAWS = {
    "ball": lambda k, a: random.ball(k, 3, 2.0, (2,)) * a,
    "bernoulli": lambda k, a: random.bernoulli(k, a / 4, (9,)),
    "beta": lambda k, a: random.beta(k, a, THREE),
    "binomial": lambda k, a: random.binomial(k, 20 * a, 0.3, (4,)),
    "bits": lambda k, a: random.bits(k, (3,), "uint8"),
    "categorical": lambda k, a: random.categorical(k, a * ROWS, shape=(3, 2)),
    "cauchy": lambda k, a: a * random.cauchy(k, (3,)),
    "chisquare": lambda k, a: random.chisquare(k, a, shape=(3,)),
    "choice": lambda k, a: random.choice(k, a * THREE, (2,), replace=False),
    "clone": lambda k, a: a * random.uniform(random.clone(k), (2,)),
    "dirichlet": lambda k, a: random.dirichlet(k, a * THREE, (2,)),
    "double_sided_maxwell": lambda k, a: random.double_sided_maxwell(k, a, THREE),
    "exponential": lambda k, a: a * random.exponential(k, (3,)),
    "f": lambda k, a: random.f(k, a, THREE),
    "fold_in": lambda k, a: random.key_data(random.fold_in(k, a.astype(int))),
    "gamma": lambda k, a: random.gamma(k, a, (4,)),
    "generalized_normal": lambda k, a: random.generalized_normal(k, a, (4,)),
    "geometric": lambda k, a: random.geometric(k, a / 4, (4,)),
    "gumbel": lambda k, a: a * random.gumbel(k, (3,)),
    "key": lambda k, a: random.key_data(random.key(a.astype(int))),
    "PRNGKey": lambda k, a: random.PRNGKey(a.astype(int)),
    "key_data": lambda k, a: random.key_data(k),
    "laplace": lambda k, a: a * random.laplace(k, (3,)),
    "loggamma": lambda k, a: random.loggamma(k, a, (4,)),
    "logistic": lambda k, a: a * random.logistic(k, (3,)),
    "lognormal": lambda k, a: random.lognormal(k, a, (3,)),
    "maxwell": lambda k, a: a * random.maxwell(k, (3,)),
    "multinomial": lambda k, a: random.multinomial(k, 20 * a, THREE / 8),
    "multivariate_normal": lambda k, a: random.multivariate_normal(k, a * THREE[:2], a * COVARIANCE, (3,)),
    "normal": lambda k, a: a * random.normal(k, (3,)),
    "orthogonal": lambda k, a: a * random.orthogonal(k, 3),
    "pareto": lambda k, a: random.pareto(k, a, (3,)),
    "permutation": lambda k, a: random.permutation(k, a * ROWS, axis=1),
    "permutation of each row": lambda k, a: random.permutation(k, a * ROWS, axis=1, independent=True),
    "poisson": lambda k, a: random.poisson(k, a * THREE),
    "rademacher": lambda k, a: random.rademacher(k, (5,)),
    "randint": lambda k, a: random.randint(k, (5,), 0, 10 * a.astype(int)),
    "rayleigh": lambda k, a: random.rayleigh(k, a, (3,)),
    "split": lambda k, a: random.key_data(random.split(k, 3)),
    "t": lambda k, a: random.t(k, a, (3,)),
    "triangular": lambda k, a: random.triangular(k, 0.0, a, 6.0, (3,)),
    "truncated_normal": lambda k, a: random.truncated_normal(k, -a, a, (3,)),
    "uniform": lambda k, a: random.uniform(k, (3,), maxval=a),
    "wald": lambda k, a: random.wald(k, a, (3,)),
    "weibull_min": lambda k, a: random.weibull_min(k, a, 2.0, (3,)),
    "wrap_key_data": lambda k, a: random.uniform(random.wrap_key_data(random.key_data(k)), (2,)),
}


def test_every_function_is_here():
    assert {name.partition(" ")[0] for name in DRAWS} == set(random.__all__) - {"key_dtype", "key_impl"}


@pytest.mark.parametrize("name", DRAWS)
def test_mapped_keys_are_a_loop(name):
    draw = DRAWS[name]
    keys = random.split(random.key(7), 3)
    parameters = np.float32([0.5, 1.0, 3.0])
    together = np.asarray(pc.jit(pc.vmap(draw))(keys, parameters))
    alone = pc.jit(draw)
    for i in range(3):
        want = np.asarray(alone(keys[i], parameters[i]))
        assert (together[i].shape, together[i].dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(together[i], want, rtol=2e-5, atol=1e-6)


def test_one_key_for_all_and_all_keys_for_one():
    key, keys = random.key(3), random.split(random.key(3), 4)
    parameters = np.float32([0.5, 1.0, 3.0])
    same = pc.vmap(lambda a: random.gamma(key, a, (5,)))(parameters)
    np.testing.assert_allclose(same, np.stack([random.gamma(key, a, (5,)) for a in parameters]), rtol=2e-5)
    grid = pc.vmap(pc.vmap(lambda k, a: a * random.normal(k, (2,)), (None, 0)), (0, None), 1)(keys, parameters)
    want = np.stack([np.stack([a * random.normal(k, (2,)) for a in parameters]) for k in keys], 1)
    np.testing.assert_allclose(grid, want, rtol=1e-6)


def test_keys_by_the_index_along_the_axis():
    draw = pc.vmap(lambda x: x + random.uniform(random.fold_in(random.key(0), pc.lax.axis_index("i"))), axis_name="i")
    want = [random.uniform(random.fold_in(random.key(0), i)) for i in range(3)]
    np.testing.assert_allclose(draw(np.zeros(3, np.float32)), np.stack(want), rtol=1e-6)
