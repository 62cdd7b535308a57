"""Equinox: an MLP, a GRU over sequences by lax.scan, and a stateful layer, trained with filtered transformations."""

import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Classifier(eqx.Module):
    cell: eqx.nn.GRUCell
    head: eqx.nn.MLP
    size: int = eqx.field(static=True)

    def __init__(self, size, key):
        k1, k2 = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(2, size, key=k1)
        self.head = eqx.nn.MLP(size, "scalar", 16, 1, activation=jax.nn.silu, key=k2)
        self.size = size

    def __call__(self, xs):
        hidden, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(self.size), xs)
        return self.head(hidden)


t = jnp.linspace(0, 6, 24)
phase = jax.random.uniform(jax.random.key(1), (40, 1)) * 6
sign = jnp.where(jnp.arange(40) % 2 == 0, 1.0, -1.0)
spirals = jnp.stack([jnp.cos(t + phase), sign[:, None] * jnp.sin(t + phase)], axis=-1)
labels = (sign > 0).astype(jnp.float32)
model = Classifier(8, jax.random.key(0))
optimizer = optax.adam(1e-2)
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_value_and_grad
def loss(model, xs, ys):
    return optax.sigmoid_binary_cross_entropy(jax.vmap(model)(xs), ys).mean()


@eqx.filter_jit
def step(model, state, xs, ys):
    value, grads = loss(model, xs, ys)
    updates, state = optimizer.update(grads, state, model)
    return eqx.apply_updates(model, updates), state, value


losses = []
for _ in range(25):
    model, state, value = step(model, state, spirals, labels)
    losses.append(value)

norm, norm_state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, "batch", mode="ema")
normed, norm_state = eqx.filter_vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(
    jax.random.normal(jax.random.key(2), (12, 3)), norm_state
)
frozen = eqx.tree_at(lambda m: m.head.layers[-1].bias, model, replace_fn=jnp.zeros_like)
attention = eqx.nn.MultiheadAttention(2, 6, key=jax.random.key(4))
attended = attention(*[jax.random.normal(jax.random.key(5), (5, 6))] * 3)
print(
    f"loss {losses[0]:.3f} -> {losses[-1]:.3f}; {sum(x.size for x in jax.tree.leaves(eqx.filter(model, eqx.is_array)))}"
)
np.savez(
    sys.argv[1],
    losses=jnp.stack(losses),
    weights=model.cell.weight_ih,
    normed=normed,
    frozen=jax.vmap(frozen)(spirals),
    attended=attended,
)
