"""Trains a network on handwritten digits in several processes. Each process has a part of the images.

    mpirun -n 2 python examples/train_digits_distributed.py [--steps N]

Without mpirun, it is a program of one process, with the same losses up to rounding. Each process reads all images and
keeps its part of the training set. The compiled step sums the gradients over the processes.
"""

import argparse
import pathlib
import time

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import nn, random
from pycompiler.sharding import AxisType, NamedSharding
from pycompiler.sharding import PartitionSpec as P

DIGITS = pathlib.Path(__file__).resolve().parent / "data" / "digits.csv.gz"
LAYERS = (64, 128, 10)
TRAINED, RATE = 1440, 0.5


def init_params(key):
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
    return -(nn.log_softmax(logits(params, images)) * nn.one_hot(digits, LAYERS[-1])).sum(axis=1).mean()


@pc.jit
def train_step(params, images, digits):
    value, grads = pc.value_and_grad(loss)(params, images, digits)
    return pc.tree.map(lambda p, g: p - RATE * g, params, grads), value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    steps = parser.parse_args().steps
    pc.distributed.initialize()
    table = np.loadtxt(DIGITS, delimiter=",", dtype=np.float32)
    images, digits = table[:, :64] / 16, table[:, 64].astype(np.int32)

    mesh = pc.make_mesh((pc.device_count(),), ("data",), (AxisType.Auto,))
    own = slice(pc.process_index(), TRAINED, pc.process_count())
    divided = NamedSharding(mesh, P("data"))
    x = pc.make_array_from_process_local_data(divided, images[:TRAINED][own])
    y = pc.make_array_from_process_local_data(divided, digits[:TRAINED][own])
    params = pc.device_put(init_params(random.key(0)), NamedSharding(mesh, P()))

    params, value = train_step(params, x, y)
    begin = time.perf_counter()
    for _ in range(steps - 1):
        params, value = train_step(params, x, y)
    value = float(value)
    each = (time.perf_counter() - begin) / max(steps - 1, 1)
    held = pnp.argmax(logits([(np.asarray(w), np.asarray(b)) for w, b in params], images[TRAINED:]), axis=1)
    if pc.process_index() == 0:
        accuracy = float((np.asarray(held) == digits[TRAINED:]).mean())
        print(f"{pc.process_count()} processes, {steps} steps of {1e3 * each:.2f} ms")
        print(f"loss {value:.4f}, accuracy on held-out images {accuracy:.3f}")
    pc.distributed.shutdown()


if __name__ == "__main__":
    main()
