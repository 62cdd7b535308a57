"""A network 784-1024-1024-10 without libraries: gradient descent on synthetic images, one jitted step."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, BATCH, STEPS = (784, 1024, 1024, 10), 128, 60


def init(key):
    keys = jax.random.split(key, len(LAYERS) - 1)
    return [
        (0.05 * jax.random.normal(k, (m, n)), jnp.zeros(n))
        for k, m, n in zip(keys, LAYERS[:-1], LAYERS[1:], strict=True)
    ]


def predict(params, inputs):
    for w, b in params[:-1]:
        inputs = jnp.tanh(inputs @ w + b)
    w, b = params[-1]
    logits = inputs @ w + b
    return logits - jax.scipy.special.logsumexp(logits, axis=1, keepdims=True)


def loss(params, batch):
    inputs, targets = batch
    return -jnp.mean(jnp.sum(predict(params, inputs) * targets, axis=1))


@jax.jit
def update(params, batch):
    value, grads = jax.value_and_grad(loss)(params, batch)
    return [(w - 0.05 * dw, b - 0.05 * db) for (w, b), (dw, db) in zip(params, grads, strict=True)], value


random = np.random.default_rng(0)
centers = random.normal(size=(10, 784)).astype(np.float32)
labels = random.integers(0, 10, (STEPS, BATCH))
batches = [
    (centers[y] + random.normal(size=(BATCH, 784)).astype(np.float32), np.eye(10, dtype=np.float32)[y]) for y in labels
]
params = init(jax.random.key(0))
params, value = update(params, batches[0])
value.block_until_ready()
losses, start = [value], time.perf_counter()
for batch in batches[1:]:
    params, value = update(params, batch)
    losses.append(value)
value.block_until_ready()
step = (time.perf_counter() - start) / (STEPS - 1)
np.savez(sys.argv[1], losses=jnp.stack(losses), step_seconds=step)
