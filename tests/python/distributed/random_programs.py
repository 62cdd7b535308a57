"""Prints a hash of the result of each of some random programs on four devices, divided among any number of processes.

The arguments are the first number and the number of programs. A program is made of its number alone: sharded
operations, loops, gradients, and collectives of shard_map.
"""

import hashlib
import sys

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import multihost_utils
from pycompiler.sharding import AxisType, NamedSharding
from pycompiler.sharding import PartitionSpec as P

pc.distributed.initialize(initialization_timeout=60)
mesh = pc.make_mesh((2, 2), ("a", "b"), (AxisType.Auto,) * 2)
SPECS = [P("a", "b"), P(("a", "b")), P("b"), P(None, "a"), P("b", "a"), P()]
SIDE = 8


def constrained(x, spec):
    return pc.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))


def collective(kind, axes, x):
    """A collective on blocks of rows, one for each device."""

    def each(x):
        if kind == "sum":
            return pc.lax.psum(x, axes) / 4
        if kind == "gather":
            return x + pc.lax.all_gather(x, axes, tiled=True).mean(0, keepdims=True)
        if kind == "scatter":
            return x * pc.lax.psum_scatter(x, axes, scatter_dimension=1, tiled=True).sum() / 16
        if kind == "exchange":
            return x + pc.lax.all_to_all(x, axes, 1, 0, tiled=True).sum() / 16
        return pc.lax.ppermute(x, ("a", "b"), [(i, (i + 1) % 4) for i in range(4)])

    rows = P(("a", "b"))
    return pc.shard_map(each, mesh=mesh, in_specs=rows, out_specs=rows, check_vma=False)(x)


def step(rng):
    """One random operation, of a square matrix and another one."""
    which = rng.integers(9)
    spec = SPECS[rng.integers(len(SPECS))]
    axes = [("a",), ("b",), ("a", "b")][rng.integers(3)]
    kind = ("sum", "gather", "scatter", "exchange", "shift")[rng.integers(5)]
    axis, count = int(rng.integers(2)), int(rng.integers(1, 4))
    return [
        lambda x, y: constrained(pnp.tanh(x @ y), spec),
        lambda x, y: x + y.sum(axis, keepdims=True) / SIDE,
        lambda x, y: pnp.cumsum(x, axis) / SIDE - y,
        lambda x, y: constrained(pnp.sort(x, axis), spec) * y,
        lambda x, y: pnp.roll(x, count, axis) + y.T,
        lambda x, y: pc.lax.fori_loop(0, count, lambda i, x: pnp.sin(x @ y) + i * x.mean(), x),
        lambda x, y: pc.grad(lambda x: (pnp.tanh(x @ y) ** 2).mean())(x) * SIDE,
        lambda x, y: collective(kind, axes, x),
        lambda x, y: pc.lax.scan(lambda c, row: (c * 0.5 + row, c.max()), x[0], y)[0] + x,
    ][which]


def program(number):
    rng = np.random.default_rng(number)
    steps = [step(rng) for _ in range(int(rng.integers(2, 6)))]
    of_gradient = bool(rng.integers(2))
    values = rng.normal(size=(2, SIDE, SIDE)).astype(np.float32)
    specs = [SPECS[rng.integers(len(SPECS))] for _ in range(2)]

    def f(x, y):
        for each in steps:
            x = each(x, y)
        return x

    x, y = (pc.device_put(value, NamedSharding(mesh, spec)) for value, spec in zip(values, specs, strict=True))
    if of_gradient:
        # A gradient of it all.
        return pc.jit(pc.grad(lambda x, y: (f(x, y) ** 2).mean()))(x, y)
    return pc.jit(f)(x, y)


for number in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    found = np.ascontiguousarray(multihost_utils.process_allgather(program(number), tiled=True))
    if pc.process_index() == 0:
        print("program", number, hashlib.blake2b(found.tobytes(), digest_size=8).hexdigest(), flush=True)
pc.distributed.shutdown()
