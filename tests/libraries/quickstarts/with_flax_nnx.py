"""Flax (nnx): modules that hold their state: a classifier with dropout, trained with nnx.Optimizer, and a GRU."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, size: int, rngs: nnx.Rngs):
        self.linear = nnx.Linear(size, size, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(size, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x):
        return x + self.dropout(nnx.relu(self.norm(self.linear(x))))


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.enter = nnx.Linear(6, 16, rngs=rngs)
        self.blocks = nnx.List([Block(16, rngs) for _ in range(2)])
        self.leave = nnx.Linear(16, 3, rngs=rngs)

    def __call__(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.leave(x)


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    def loss_of(model):
        logits = model(x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), logits

    (loss, logits), grads = nnx.value_and_grad(loss_of, has_aux=True)(model)
    metrics.update(loss=loss, logits=logits, labels=y)
    optimizer.update(model, grads)
    return loss


x = jax.random.normal(jax.random.key(1), (48, 6))
y = jnp.argmax(x[:, :3] + x[:, 3:], axis=1)
losses = jnp.stack([train_step(model, optimizer, metrics, x, y) for _ in range(25)])
model.eval()
graph, params, rest = nnx.split(model, nnx.Param, ...)
logits = nnx.merge(graph, params, rest)(x)
cell = nnx.GRUCell(6, 5, rngs=nnx.Rngs(3))
outputs = nnx.RNN(cell)(jnp.stack([x[:4], x[4:8]]))
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, mean accuracy {metrics.compute()['accuracy']:.2f}")
np.savez(
    sys.argv[1],
    losses=losses,
    logits=logits,
    variance=model.blocks[0].norm.var[...],
    accuracy=metrics.compute()["accuracy"],
    recurrent=outputs,
)
