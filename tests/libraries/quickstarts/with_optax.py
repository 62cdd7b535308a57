"""Optax: a network by hand, trained with AdamW under a schedule, with clipping; L-BFGS on Rosenbrock's valley."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "hidden": {"w": jax.random.normal(k1, (2, 16)) * 0.7, "b": jnp.zeros(16)},
        "out": {"w": jax.random.normal(k2, (16, 3)) * 0.25, "b": jnp.zeros(3)},
    }


def logits(params, x):
    x = jnp.tanh(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return x @ params["out"]["w"] + params["out"]["b"]


def loss(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits(params, x), y).mean()


x = jax.random.normal(jax.random.key(1), (96, 2))
y = (x[:, 0] > 0).astype(jnp.int32) + (x[:, 1] > 0.5)
schedule = optax.warmup_cosine_decay_schedule(0.0, 0.05, warmup_steps=5, decay_steps=40)
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-3))
params = init(jax.random.key(0))
state = optimizer.init(params)


@jax.jit
def step(params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


losses = []
for _ in range(40):
    params, state, value = step(params, state, x, y)
    losses.append(value)


def valley(p):
    return jnp.sum(100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2)


solver = optax.lbfgs()
value_and_grad = optax.value_and_grad_from_state(valley)
point = jnp.array([-1.0, 1.5, 0.5])
state = solver.init(point)
for _ in range(12):
    value, grad = value_and_grad(point, state=state)
    updates, state = solver.update(grad, state, point, value=value, grad=grad, value_fn=valley)
    point = optax.apply_updates(point, updates)

predicted = jnp.argmax(logits(params, x), axis=1)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, accuracy {jnp.mean(predicted == y):.2f}, valley {valley(point):.2e}")
np.savez(
    sys.argv[1],
    losses=jnp.stack(losses),
    out=params["out"]["w"],
    predicted=predicted,
    rates=jnp.stack([schedule(i) for i in range(0, 40, 5)]),
    value=value,
)
