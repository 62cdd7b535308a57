"""Trains a network with two hidden layers on the UCI handwritten digits; pycompiler computes all numbers.

    python examples/train_digits.py [--epochs N] [--batch N] [--seed N] [--picture FILE]

Softmax cross-entropy, Adam, minibatches shuffled in each epoch; a fifth of the images is held out. Prints the time of
compilation and of a step and the held-out accuracy, and saves a picture: the loss curve and predictions on test images.
"""

import argparse
import pathlib
import time

import matplotlib
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn, random

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = (64, 256, 128, 10)
LEARNING_RATE, BETA1, BETA2, EPSILON = 2e-3, 0.9, 0.999, 1e-8


def load_digits(path: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Images as float32[n, 64] in [0, 1] and their digits as int32[n]."""
    table = np.loadtxt(path, delimiter=",", dtype=np.float32)
    return table[:, :64] / 16, table[:, 64].astype(np.int32)


def init_params(key):
    """He-initialized weights and zero biases, a (w, b) pair for each layer."""
    keys = random.split(key, len(LAYERS) - 1)
    return [
        (random.normal(k, (m, n)) * (2 / m) ** 0.5, pnp.zeros(n))
        for k, m, n in zip(keys, LAYERS[:-1], LAYERS[1:], strict=True)
    ]


def logits(params, images):
    for w, b in params[:-1]:
        images = nn.relu(images @ w + b)
    w, b = params[-1]
    return images @ w + b


def loss(params, images, digits):
    log_p = nn.log_softmax(logits(params, images))
    return -(log_p * nn.one_hot(digits, LAYERS[-1])).sum(axis=1).mean()


def adam(params, grads, state):
    """One step of Adam (Kingma and Ba, 2015, algorithm 1)."""
    t, m, v = state
    t = t + 1
    m = pc.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, m, grads)
    v = pc.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, v, grads)
    scale = LEARNING_RATE * pnp.sqrt(1 - BETA2**t) / (1 - BETA1**t)
    params = pc.tree.map(lambda p, m, v: p - scale * m / (pnp.sqrt(v) + EPSILON), params, m, v)
    return params, (t, m, v)


@pc.jit
def train_step(params, state, images, digits, order, start):
    """From the minibatch `order[start : start + batch]`: the updated parameters, Adam's state, the loss."""
    index = lax.dynamic_slice_in_dim(order, start, train_step.batch)
    value, grads = pc.value_and_grad(loss)(params, images[index], digits[index])
    params, state = adam(params, grads, state)
    return params, state, value


@pc.jit
def predict(params, images):
    return pnp.argmax(logits(params, images), axis=1)


def save_picture(path, losses, images, digits, predictions):
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(losses, linewidth=0.6)
    axes.set(title="training loss", xlabel="step", ylabel="cross-entropy")
    for i, cell in enumerate(right.subplots(4, 8).flat):
        cell.imshow(images[i].reshape(8, 8), cmap="gray_r")
        cell.set_title(f"{predictions[i]}", fontsize=9, color="black" if predictions[i] == digits[i] else "red", pad=2)
        cell.axis("off")
    right.suptitle("held-out images with predictions (red: wrong)")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "data" / "digits.csv.gz")
    parser.add_argument("--picture", type=pathlib.Path, default=HERE / "digits.png")
    options = parser.parse_args()

    images, digits = load_digits(options.data)
    key, split_key, init_key = random.split(random.key(options.seed), 3)
    mixed = np.asarray(random.permutation(split_key, len(images)))
    held_out, train = mixed[: len(images) // 5], mixed[len(images) // 5 :]
    x, y = pnp.asarray(images[train]), pnp.asarray(digits[train])

    params = init_params(init_key)
    zeros = pc.tree.map(pnp.zeros_like, params)
    state = (pnp.zeros((), pnp.float32), zeros, zeros)
    steps_per_epoch = len(train) // options.batch
    train_step.batch = options.batch

    order = random.permutation(key, len(train))
    start = time.perf_counter()
    pc.block_until_ready(train_step(params, state, x, y, order, 0))
    compile_seconds = time.perf_counter() - start

    losses = []
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]}"))
    with Progress(*columns, TimeElapsedColumn()) as progress:
        bar = progress.add_task("", total=options.epochs * steps_per_epoch, loss="-")
        start = time.perf_counter()
        for epoch in range(options.epochs):
            order = random.permutation(random.fold_in(key, epoch), len(train))
            for i in range(steps_per_epoch):
                params, state, value = train_step(params, state, x, y, order, i * options.batch)
                losses.append(value)  # a future: the loop runs ahead of the device
            progress.update(bar, advance=steps_per_epoch, loss=f"{float(value):.4f}")
        step_seconds = (time.perf_counter() - start) / len(losses)

    predictions = np.asarray(predict(params, images[held_out]))
    accuracy = 100 * np.mean(predictions == digits[held_out])
    save_picture(
        options.picture, np.asarray([float(v) for v in losses]), images[held_out], digits[held_out], predictions
    )
    print(f"compilation of the step: {compile_seconds * 1e3:.0f} ms")
    print(f"a step of {options.batch} images: {step_seconds * 1e6:.0f} us")
    print(f"picture: {options.picture}")
    print(f"held-out accuracy: {accuracy:.2f}%")


if __name__ == "__main__":
    main()
