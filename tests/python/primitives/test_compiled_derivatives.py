"""The derivatives of all primitives, compiled: to second order, and mapped, against those of the references.

test_second_order.py checks the rules. Here, their results must compile to the same values. In f64.
"""

import itertools

import numpy as np
import pytest
from numpy_evaluator import by_reference
from test_rules import WITH_JVP, direction
from test_second_order import defined_samples, finite

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.transforms import jvp, vjp, vmap

# The number of samples for a primitive. The first samples often have one dtype.
MOST = 2


# Their references are differences, or use factors of f32.
ROUGH = {"zeta", "igamma", "igammac", "hyp1f1", "hyp2f1", "linear_solve"}


def near(name, got, want):
    bound = 1e-5 if name in ROUGH else 1e-8
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound * (1 + np.max(np.abs(b), initial=0)))


@pytest.mark.parametrize("name", WITH_JVP)
def test_compiled_derivatives(name):
    rng = np.random.default_rng(6)
    with by_reference(), np.errstate(all="ignore"):
        chosen = list(itertools.islice(defined_samples(name), MOST))
    assert chosen
    compared = 0
    for function, held, ys, outs, _ in chosen:
        us, cs = [direction(rng, x) for x in (*held, *ys)], [direction(rng, out) for out in outs]

        def second(cs, us, *at, function=function, held=held):
            """The first derivative along us, and the gradient of its pairing with cs: reverse over forward."""
            slope, pull = vjp(lambda *at: jvp(function, (*held, *at), tuple(us))[1], *at)
            return slope, pull(tuple(cs))

        with by_reference(), np.errstate(all="ignore"):
            slope, pulled = second(cs, us, *ys)
        if not finite(pulled):
            continue
        with enable_x64(True):
            got_slope, got_pulled = pc.jit(second)(cs, us, *ys)
            near(name, got_slope, slope)
            near(name, got_pulled, pulled)
            # Two elements of the batch are equal; the one between them is their negative.
            signs = (1, -1, 1)
            many_cs, many_us = ([np.stack([s * x for s in signs]) for x in xs] for xs in (cs, us))
            axes = (0, 0, *(None for _ in ys))
            many_slope, many_pulled = pc.jit(vmap(second, in_axes=axes))(many_cs, many_us, *ys)
            compared += 1
            near(name, many_slope, [np.stack([s * np.asarray(x) for s in signs]) for x in slope])
            near(name, many_pulled, [np.stack([np.asarray(x)] * 3) for x in pulled])
    assert compared
