"""A Flax model trained with Optax on the UCI handwritten digits: an ordinary JAX program.

    python examples/flax_digits.py                         # on JAX
    python -m pycompiler.jax examples/flax_digits.py       # on pycompiler

`make demo-jax` runs both and shows their times side by side (demo_jax.py).
"""

import argparse
import json
import pathlib
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

HERE = pathlib.Path(__file__).resolve().parent


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, images):
        x = nn.gelu(nn.Conv(16, (3, 3))(images.reshape(-1, 8, 8, 1)))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = nn.gelu(nn.Dense(128)(x.reshape(x.shape[0], -1)))
        return nn.Dense(10)(nn.LayerNorm()(x))


def loss_of(params, state, images, digits):
    logits = state.apply_fn({"params": params}, images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, digits).mean()


@jax.jit
def train_step(state, images, digits):
    loss, grads = jax.value_and_grad(loss_of)(state.params, state, images, digits)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def predict(state, images):
    return jnp.argmax(state.apply_fn({"params": state.params}, images), axis=1)


def main():
    start = time.perf_counter()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--json", action="store_true", help="print the figures for demo_jax.py")
    options = parser.parse_args()

    table = np.loadtxt(HERE / "data" / "digits.csv.gz", delimiter=",", dtype=np.float32)
    images, digits = table[:, :64] / 16, table[:, 64].astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    held_out, train = order[: len(order) // 5], order[len(order) // 5 :]

    model = Classifier()
    schedule = optax.cosine_decay_schedule(3e-3, options.epochs * (len(train) // options.batch))
    state = TrainState.create(
        apply_fn=model.apply, params=model.init(jax.random.key(0), images[:1])["params"], tx=optax.adamw(schedule)
    )
    losses, first = [], None
    for epoch in range(options.epochs):
        order = np.random.default_rng(epoch).permutation(train)
        for i in range(0, len(train) - options.batch + 1, options.batch):
            batch = order[i : i + options.batch]
            state, loss = train_step(state, images[batch], digits[batch])
            losses.append(loss)
            if first is None:
                loss.block_until_ready()
                first = time.perf_counter()
    losses[-1].block_until_ready()
    step = (time.perf_counter() - first) / (len(losses) - 1)
    accuracy = float(np.mean(np.asarray(predict(state, images[held_out])) == digits[held_out]))
    figures = {
        "until the first step is done": f"{first - start:.2f} s",
        f"a step of {options.batch} images": f"{step * 1e6:.0f} us",
        "whole training": f"{time.perf_counter() - start:.2f} s",
        "last loss": f"{float(losses[-1]):.5f}",
        "held-out accuracy": f"{100 * accuracy:.2f}%",
    }
    print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
