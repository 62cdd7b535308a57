"""Haiku: a transformed network with state and dropout, and an LSTM, trained with Optax."""

import sys

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def network(x, is_training):
    x = hk.Linear(24, with_bias=False)(x)
    x = hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9)(x, is_training)
    x = jax.nn.relu(x)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.nets.MLP([16, 1])(x)[:, 0]


def recurrent(sequence):
    core = hk.LSTM(7)
    outputs, _ = hk.dynamic_unroll(core, sequence, core.initial_state(sequence.shape[1]))
    return outputs


net = hk.transform_with_state(network)
x = jax.random.normal(jax.random.PRNGKey(1), (40, 5))
y = jnp.sin(x[:, 0]) + x[:, 1] * x[:, 2]
params, state = net.init(jax.random.PRNGKey(0), x, True)
optimizer = optax.adam(1e-2)
optimizer_state = optimizer.init(params)


@jax.jit
def step(params, state, optimizer_state, key):
    def loss(params):
        predicted, new = net.apply(params, state, key, x, True)
        return jnp.mean((predicted - y) ** 2), new

    (value, new), grads = jax.value_and_grad(loss, has_aux=True)(params)
    updates, optimizer_state = optimizer.update(grads, optimizer_state)
    return optax.apply_updates(params, updates), new, optimizer_state, value


keys = hk.PRNGSequence(2)
losses = []
for _ in range(30):
    params, state, optimizer_state, value = step(params, state, optimizer_state, next(keys))
    losses.append(value)
predicted, _ = net.apply(params, state, None, x, False)
lstm = hk.without_apply_rng(hk.transform(recurrent))
sequence = jax.random.normal(jax.random.PRNGKey(3), (6, 4, 5))
outputs = lstm.apply(lstm.init(jax.random.PRNGKey(4), sequence), sequence)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, {hk.data_structures.tree_size(params)} parameters")
np.savez(sys.argv[1], losses=jnp.stack(losses), predicted=predicted, outputs=outputs)
