"""Flax (linen): a convolutional network with batch statistics and dropout, trained with Optax and a TrainState."""

import sys
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    classes: int = 4

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(8, (3, 3), use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.avg_pool(nn.relu(x), (2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(32)(x)
        x = nn.Dropout(0.2, deterministic=not train)(nn.gelu(x))
        return nn.Dense(self.classes)(nn.LayerNorm()(x))


class TrainState(train_state.TrainState):
    batch_stats: Any


images = jax.random.uniform(jax.random.key(1), (32, 8, 8, 1))
labels = jnp.argmax(images[:, :4, 0, 0], axis=1)
model = Net()
print(model.tabulate(jax.random.key(0), images, train=False, console_kwargs={"width": 100}).splitlines()[1])
variables = model.init(jax.random.key(0), images, train=False)
state = TrainState.create(
    apply_fn=model.apply, params=variables["params"], tx=optax.adam(3e-3), batch_stats=variables["batch_stats"]
)


@jax.jit
def step(state, images, labels, key):
    def loss(params):
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            images,
            train=True,
            rngs={"dropout": jax.random.fold_in(key, state.step)},
            mutable=["batch_stats"],
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), updates

    (value, updates), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"]), value


losses = []
for _ in range(20):
    state, value = step(state, images, labels, jax.random.key(2))
    losses.append(value)
logits = model.apply({"params": state.params, "batch_stats": state.batch_stats}, images, train=False)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
np.savez(
    sys.argv[1],
    losses=jnp.stack(losses),
    logits=logits,
    mean=state.batch_stats["BatchNorm_0"]["mean"],
    kernel=state.params["Conv_0"]["kernel"],
    step=state.step,
)
