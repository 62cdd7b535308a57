"""Black-box variational inference: a diagonal normal fitted to an unnormalized density by many samples a step."""

import sys
import time

import jax
import jax.numpy as jnp
import jax.scipy.stats.norm as norm
import numpy as np

SAMPLES, STEPS = 512, 200


def log_density(x):
    return norm.logpdf(x[0], 0.0, 1.35) + norm.logpdf(x[1], 0.0, jnp.exp(x[0]))


def log_gaussian(x, mean, log_std):
    return jnp.sum(norm.logpdf(x, mean, jnp.exp(log_std)))


def elbo(key, mean, log_std):
    sample = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    return log_density(sample) - log_gaussian(sample, mean, log_std)


def objective(params, key):
    keys = jax.random.split(key, SAMPLES)
    return -jnp.mean(jax.vmap(elbo, in_axes=(0, None, None))(keys, *params))


@jax.jit
def update(params, momentum, i):
    value, grads = jax.value_and_grad(objective)(params, jax.random.fold_in(jax.random.key(0), i))
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.01 * m, params, momentum), momentum, value


params = (jnp.array([-1.0, 0.5]), jnp.array([-2.0, -2.0]))
momentum = jax.tree.map(jnp.zeros_like, params)
params, momentum, value = update(params, momentum, 0)
value.block_until_ready()
values, start = [value], time.perf_counter()
for i in range(1, STEPS):
    params, momentum, value = update(params, momentum, i)
    values.append(value)
value.block_until_ready()
step = (time.perf_counter() - start) / (STEPS - 1)
np.savez(sys.argv[1], values=jnp.stack(values), mean=params[0], log_std=params[1], step_seconds=step)
