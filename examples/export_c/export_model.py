"""Trains a small network on points in two rings, and exports its prediction as a library for C.

    python export_model.py libmodel.so

writes libmodel.so and model.h. CMakeLists.txt links a C program with them.
"""

import sys

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import export


def points(rng, count):
    """Points, and whether each is in the outer ring."""
    outer = rng.integers(0, 2, count)
    radius = 0.5 + outer + 0.1 * rng.standard_normal(count)
    angle = rng.uniform(0, 2 * np.pi, count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32), outer


def predict(params, x):
    """The probability that a point is in the outer ring."""
    (w1, b1), (w2, b2) = params
    return pc.nn.sigmoid(pnp.tanh(x @ w1 + b1) @ w2 + b2)[:, 0]


@pc.jit
def step(params, x, outer):
    def loss(params):
        p = predict(params, x)
        return -pnp.where(outer == 1, pnp.log(p), pnp.log1p(-p)).mean()

    value, gradient = pc.value_and_grad(loss)(params)
    return value, pc.tree.map(lambda p, g: p - 0.5 * g, params, gradient)


def main():
    rng = np.random.default_rng(0)
    params = [
        (rng.standard_normal((2, 16)).astype(np.float32), np.zeros(16, np.float32)),
        (rng.standard_normal((16, 1)).astype(np.float32) / 4, np.zeros(1, np.float32)),
    ]
    for _ in range(300):
        value, params = step(params, *points(rng, 256))
    print(f"loss {float(value):.3f}")

    # The library contains the weights. A call takes four points.
    written = export.to_shared_object(
        lambda x: predict(params, x), sys.argv[1], pc.ShapeDtypeStruct((4, 2), pnp.float32), name="model"
    )
    print(f"wrote {written.path.name} and {written.header.name}")


if __name__ == "__main__":
    main()
