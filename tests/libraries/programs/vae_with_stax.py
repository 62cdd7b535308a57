"""A variational autoencoder built by example_libraries.stax, trained by its Adam, an epoch in one compiled loop."""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers, stax
from jax.example_libraries.stax import Dense, FanOut, Relu, Softplus

BATCH, BATCHES, EPOCHS = 64, 16, 6


def log_normal(z, mu, variance):
    return -0.5 * jnp.sum((z - mu) ** 2 / variance + jnp.log(2 * jnp.pi * variance))


def log_bernoulli(logits, x):
    return jnp.sum(jnp.where(x, -jnp.logaddexp(0.0, -logits), -jnp.logaddexp(0.0, logits)))


encoder_init, encode = stax.serial(
    Dense(128), Relu, FanOut(2), stax.parallel(Dense(8), stax.serial(Dense(8), Softplus))
)
decoder_init, decode = stax.serial(Dense(128), Relu, Dense(196))


def elbo(key, params, images):
    encoder, decoder = params
    mu, variance = encode(encoder, images)
    z = mu + jnp.sqrt(variance) * jax.random.normal(key, mu.shape)
    kl = -0.5 * jnp.sum(1.0 + jnp.log(variance) - mu**2 - variance)
    return (log_bernoulli(decode(decoder, z), images) - kl) / BATCH


key = jax.random.key(0)
data_key, encoder_key, decoder_key, epoch_key = jax.random.split(key, 4)
prototypes = jax.random.bernoulli(data_key, 0.4, (10, 196))
images = jnp.tile(prototypes, (BATCH * BATCHES // 10 + 1, 1))[: BATCH * BATCHES].astype(jnp.float32)
_, encoder = encoder_init(encoder_key, (BATCH, 196))
_, decoder = decoder_init(decoder_key, (BATCH, 8))
opt_init, opt_update, get_params = optimizers.adam(step_size=2e-3)


@jax.jit
def run_epoch(key, opt_state):
    def body(i, state):
        noise, data = jax.random.split(jax.random.fold_in(key, i))
        batch = jax.lax.dynamic_slice_in_dim(images, i * BATCH, BATCH)
        batch = jax.random.bernoulli(data, 0.05 + 0.9 * batch)
        grads = jax.grad(lambda params: -elbo(noise, params, batch))(get_params(state))
        return opt_update(i, grads, state)

    return jax.lax.fori_loop(0, BATCHES, body, opt_state)


@jax.jit
def evaluate(key, opt_state):
    return elbo(key, get_params(opt_state), images[:BATCH] > 0.5)


state = run_epoch(epoch_key, opt_init((encoder, decoder)))
scores = [evaluate(key, state)]
jax.block_until_ready(scores)
start = time.perf_counter()
for epoch in range(1, EPOCHS):
    state = run_epoch(jax.random.fold_in(epoch_key, epoch), state)
    scores.append(evaluate(key, state))
jax.block_until_ready(scores)
np.savez(sys.argv[1], scores=jnp.stack(scores), step_seconds=(time.perf_counter() - start) / (EPOCHS - 1))
