"""Loops and branches that carry arrays without elements: their computations are no operation, or a constant."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def empty_axis(x):
    return x.shape.index(0)


BODIES = {
    "concatenate": lambda x: pnp.concatenate([x * 2, x], axis=empty_axis(x)),
    "zeros": pnp.zeros_like,
    "constants": lambda x: pnp.full(x.shape, 2.0, x.dtype),
    "sums": lambda x: x + 1,
    "pad": lambda x: lax.pad(x, x.dtype.type(0), [(0, 0, 0)] * x.ndim),
    "sort": lambda x: pnp.sort(x, axis=0),
    "running sums": lambda x: pnp.cumsum(x, axis=-1),
    "set": lambda x: x.at[...].set(1.0),
    "update a slice": lambda x: lax.dynamic_update_slice(x, x + 1, (0,) * x.ndim),
    "slice": lambda x: lax.dynamic_slice(x, (0,) * x.ndim, x.shape),
    "product": lambda x: (x.reshape(0, 4) @ pnp.ones((4, 4), x.dtype)).reshape(x.shape),
    "transposed": lambda x: x.reshape(x.shape[::-1]).T,
    "the same": lambda x: x,
    "a branch": lambda x: lax.cond(x.sum() > 0, lambda x: x * 2, pnp.zeros_like, x),
    "a loop": lambda x: lax.fori_loop(0, 2, lambda i, c: pnp.concatenate([c, c], axis=empty_axis(x)), x),
    "a barrier": lambda x: lax.optimization_barrier(pnp.zeros_like(x)),
}
FORMS = {
    "while": lambda f: lambda x: lax.while_loop(lambda c: c[1] < 2, lambda c: (f(c[0]), c[1] + 1), (x, 0)),
    "for": lambda f: lambda x: lax.fori_loop(0, 3, lambda i, c: f(c), x),
    "turns": lambda f: lambda x: lax.fori_loop(0, 3, lambda i, c: (c[1], f(c[0]), c[2] + 1), (x, x * 1, x)),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), f(c)), x, None, 3),
    "over it": lambda f: lambda x: lax.scan(lambda c, v: (c + v.sum(), f(v)), np.float32(0), pnp.stack([x, x])),
    "cond": lambda f: lambda x: lax.cond(x.sum() > -1, f, lambda x: x, x),
    "switch": lambda f: lambda x: lax.switch(1, [lambda x: x, f, lambda x: x * 3], x),
    "counted": lambda f: lambda x: lax.fori_loop(0, 3 + x.sum().astype("int32"), lambda i, c: f(c), x),
    "derivative": lambda f: lambda x: pc.grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 3)[0].sum())(x),
    "mapped": lambda f: lambda x: pc.vmap(FORMS["while"](f))(pnp.stack([x, x])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "shape", [(0, 3), *(pytest.param(shape, marks=pytest.mark.full) for shape in ((0,), (3, 0), (2, 0, 2)))]
)
def test_results_of_all_bodies(shape, form):
    x = np.zeros(shape, np.float32)
    for name, body in BODIES.items():
        once = [np.asarray(leaf) for leaf in pc.tree.leaves(pc.jit(FORMS[form](body))(x))]
        wanted = pc.tree.leaves(pc.eval_shape(FORMS[form](body), x))
        assert [(leaf.shape, leaf.dtype) for leaf in once] == [(leaf.shape, leaf.dtype) for leaf in wanted], name
        # The number of iterations is right next to arrays without elements.
        scalars = [leaf.tolist() for leaf in once if leaf.size]
        assert scalars in ([], [0.0], [2], [[2, 2]]), name
