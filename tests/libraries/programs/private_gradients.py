"""Differentially private gradient descent: a small convolutional network, its gradients clipped one by one."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers, stax

BATCH, STEPS, CLIP, NOISE, RATE = 64, 12, 1.0, 1.1, 0.15

init, predict = stax.serial(
    stax.Conv(8, (5, 5), strides=(2, 2), padding="SAME"),
    stax.Relu,
    stax.MaxPool((2, 2), (1, 1)),
    stax.Conv(16, (3, 3), strides=(2, 2), padding="VALID"),
    stax.Relu,
    stax.Flatten,
    stax.Dense(32),
    stax.Relu,
    stax.Dense(10),
)


def loss(params, images, labels):
    return -jnp.mean(jnp.sum(stax.logsoftmax(predict(params, images)) * labels, axis=1))


def clipped(params, image, label):
    """The gradient of one example, no longer than CLIP."""
    grads = jax.grad(loss)(params, image[None], label[None])
    return jax.tree.map(lambda g: g / jnp.maximum(1.0, optimizers.l2_norm(grads) / CLIP), grads)


start_of, update_of, params_of = optimizers.sgd(RATE)


@jax.jit
def step(i, state, key, images, labels):
    params = params_of(state)
    each = jax.vmap(clipped, in_axes=(None, 0, 0))(params, images, labels)
    leaves, tree = jax.tree.flatten(jax.tree.map(lambda g: g.sum(axis=0), each))
    keys = jax.random.split(jax.random.fold_in(key, i), len(leaves))
    noisy = [(g + CLIP * NOISE * jax.random.normal(k, g.shape)) / BATCH for g, k in zip(leaves, keys, strict=True)]
    return update_of(i, jax.tree.unflatten(tree, noisy), state), loss(params, images, labels)


random = np.random.default_rng(0)
patterns = random.random((10, 28, 28, 1)) > 0.6
labels = random.integers(0, 10, (STEPS, BATCH))
images = (patterns[labels] + 0.3 * random.normal(size=(STEPS, BATCH, 28, 28, 1))).astype(np.float32)
targets = np.eye(10, dtype=np.float32)[labels]
_, params = init(jax.random.key(0), (-1, 28, 28, 1))
state, key = start_of(params), jax.random.key(1)
state, value = step(0, state, key, images[0], targets[0])
value.block_until_ready()
losses, start = [value], time.perf_counter()
for i in range(1, STEPS):
    state, value = step(i, state, key, images[i], targets[i])
    losses.append(value)
value.block_until_ready()
seconds = (time.perf_counter() - start) / (STEPS - 1)
norms = jnp.stack([jnp.linalg.norm(leaf) for leaf in jax.tree.leaves(params_of(state))])
np.savez(sys.argv[1], losses=jnp.stack(losses), norms=norms, step_seconds=seconds)
