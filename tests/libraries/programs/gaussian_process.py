"""A Gaussian process with a squared exponential kernel: its parameters by gradients of the evidence, predictions."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

POINTS, STEPS = 150, 100


def kernel(params, a, b):
    scale, length = jax.nn.softplus(params["scale"]), jax.nn.softplus(params["length"])
    pair = lambda x, y: scale * jnp.exp(-0.5 * jnp.sum(((x - y) / length) ** 2))  # noqa: E731
    return jax.vmap(lambda x: jax.vmap(lambda y: pair(x, y))(b))(a)


def factor(params, x):
    noise = jax.nn.softplus(params["noise"])
    return jnp.linalg.cholesky(kernel(params, x, x) + (noise + 1e-4) * jnp.eye(len(x)))


def negative_evidence(params, x, y):
    low = factor(params, x)
    alpha = jax.scipy.linalg.solve_triangular(low, y, lower=True)
    return 0.5 * alpha @ alpha + jnp.sum(jnp.log(jnp.diag(low))) + 0.5 * len(x) * jnp.log(2 * jnp.pi)


@jax.jit
def step(params, velocity, x, y):
    value, grads = jax.value_and_grad(negative_evidence)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.8 * v - 5e-4 * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity, value


@jax.jit
def predict(params, x, y, new):
    low, cross = factor(params, x), kernel(params, x, new)
    mean = cross.T @ jax.scipy.linalg.cho_solve((low, True), y)
    inner = jax.scipy.linalg.solve_triangular(low, cross, lower=True)
    return mean, jnp.diag(kernel(params, new, new)) - jnp.sum(inner**2, axis=0)


x = jnp.linspace(-3, 3, POINTS)[:, None]
y = jnp.sin(2 * x[:, 0]) + 0.2 * jax.random.normal(jax.random.key(0), (POINTS,))
params = {"scale": jnp.zeros(()), "length": jnp.zeros(1), "noise": jnp.array(-1.0)}
params, velocity, value = step(params, jax.tree.map(jnp.zeros_like, params), x, y)
value.block_until_ready()
values, start = [value], time.perf_counter()
for _ in range(STEPS - 1):
    params, velocity, value = step(params, velocity, x, y)
    values.append(value)
value.block_until_ready()
seconds = (time.perf_counter() - start) / (STEPS - 1)
mean, variance = predict(params, x, y, jnp.linspace(-4, 4, 33)[:, None])
np.savez(sys.argv[1], values=jnp.stack(values), mean=mean, variance=variance, step_seconds=seconds)
