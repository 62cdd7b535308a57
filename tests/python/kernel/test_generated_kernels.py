"""Generated kernels: blocks that permute, reverse, do not divide and are visited again, with aliases and scratch
memory; compiled, by the loop over the grid, and by JAX's interpreter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import pallas as ours


class Plan:
    """A kernel of a random form."""

    def __init__(self, seed):
        r = np.random.default_rng(seed)
        self.rank = int(r.integers(1, 4))
        self.shape = tuple(int(n) for n in r.integers(1, 9, self.rank))
        self.dtype = str(r.choice(["float32", "int32", "bfloat16", "int8"]))
        self.blocks = tuple(None if r.random() < 0.2 else int(r.integers(1, n + 1)) for n in self.shape)
        self.counts = [n if b is None else -(-n // b) for n, b in zip(self.shape, self.blocks, strict=True)]
        order = list(r.permutation(self.rank))
        self.place = [order.index(dim) for dim in range(self.rank)]
        self.again, self.reverse, self.alias, self.same, self.whole, self.scratch, self.mapped = (
            bool(x) for x in r.random(7) < [0.3, 0.3, 0.5, 0.6, 0.5, 0.3, 0.25]
        )
        self.grid = tuple(self.counts[dim] for dim in order) + (2,) * self.again
        self.kind = int(r.integers(5))
        self.x, self.y = (r.integers(-9, 9, self.shape) for _ in range(2))

    def forwards(self, *index):
        return tuple(index[place] for place in self.place)

    def backwards(self, *index):
        return tuple(n - 1 - index[place] for n, place in zip(self.counts, self.place, strict=True))

    def call(self, pl, struct, np_, lax_, **options):
        def kernel(x, y, o, *scratch):
            value = x[...]
            for memory in scratch:
                memory[...] = value + value
                value = memory[...]
            if self.kind == 0:
                o[...] = value + y[...]
            elif self.kind == 1:
                is_first = pl.program_id(len(self.grid) - 1) == 0
                pl.when(is_first)(lambda: o.__setitem__(..., value))
                pl.when(~is_first)(lambda: o.__setitem__(..., o[...] + value if self.again else value * 2))
            elif self.kind == 2:
                o[...] = lax_.fori_loop(0, 3, lambda i, c: c + x[...], value)
            elif self.kind == 3 and o.shape:
                o[...] = value
                o[(0,) * len(o.shape)] = value[(0,) * len(o.shape)] * 2
            else:
                o[...] = o[...] + value if self.alias else np_.where(value > 0, value, value * 2)

        index = self.backwards if self.reverse else self.forwards
        out = pl.BlockSpec(self.blocks, index)
        # The body adds blocks of one shape alone.
        y = pl.BlockSpec(self.blocks, self.backwards)
        return pl.pallas_call(
            kernel,
            struct(self.shape, np_.dtype(self.dtype)),
            grid=self.grid,
            in_specs=[pl.BlockSpec(self.blocks, index if self.same else self.forwards), y],
            out_specs=out,
            scratch_shapes=[pl.ANY(tuple(b for b in self.blocks if b), np_.dtype(self.dtype))] if self.scratch else [],
            input_output_aliases={0: 0} if self.alias else {},
            **options,
        )

    def result(self, pl, package, np_, lax_, **options):
        call = self.call(pl, package.ShapeDtypeStruct, np_, lax_, **options)
        x, y = (np_.asarray(value.astype("int32")).astype(self.dtype) for value in (self.x, self.y))
        found = package.vmap(call)(np_.stack([x, y]), np_.stack([y, x])) if self.mapped else call(x, y)
        return np.asarray(found.astype("float32"))


@pytest.mark.parametrize("seed", range(24))
def test_a_generated_kernel(seed):
    plan = Plan(seed)
    found, want = (plan.result(ours, pc, pnp, lax, interpret=interpret) for interpret in (False, True))
    np.testing.assert_allclose(found, want, rtol=1e-2)
    # Elements beyond an array are zeros here, and anything there: compare where they meet no others.
    if all(n % (b or 1) == 0 for n, b in zip(plan.shape, plan.blocks, strict=True)) or (plan.same and plan.kind):
        np.testing.assert_allclose(found, plan.result(theirs, jax, jnp, jax.lax, interpret=True), rtol=1e-2)
