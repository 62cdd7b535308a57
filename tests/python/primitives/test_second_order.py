"""Second derivatives of all primitives: forward and reverse mode over each other, against differences of the first.

Evaluated by the references, in f64. For a direction u, another v and a cotangent c, four ways give c . D2f[u, v]:
forward over forward, reverse over forward, forward over reverse, reverse over reverse.
"""

import numpy as np
import pytest
from numpy_evaluator import by_reference
from test_rules import FIXED, WITH_JVP, direction, is_inexact, outputs, samples

from pycompiler.core.config.config import enable_x64
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES
from pycompiler.transforms import jvp, vjp

# Arguments with only a first derivative: parameters of special functions.
ONCE = {"igamma": (0,), "igammac": (0,), "zeta": (0,), "hyp1f1": (0, 1), "hyp2f1": (0, 1, 2)}


# If a sample gives a nan or an infinity, its numbers are moved into a range in which most functions are defined.
RANGES = (
    lambda x: x,
    lambda x: 0.05 + 0.9 * np.abs(x) / (1 + np.abs(x)),
    lambda x: 1.1 + np.abs(x),
)


def defined_samples(name):
    """For each sample of a primitive with elements: its function, the arguments for first derivatives, and those for
    second derivatives, chosen so that the result and its derivative are finite."""
    for args, params in samples(name, floats=True):
        for moved_into in RANGES:
            given = [moved_into(arg) if is_inexact(arg) else arg for arg in args]
            function, xs = function_of(name, given, params)
            outs = [np.asarray(out) for out in function(*xs)]
            if not outs or not any(x.size for x in xs):
                break
            _, slope = jvp(function, xs, tuple(np.ones_like(x) for x in xs))
            if finite(outs) and finite(slope):
                fixed = len(ONCE.get(name, ()))
                yield function, xs[:fixed], xs[fixed:], outs, params
                break


def function_of(name, args, params):
    """The primitive as a function of its floating-point arguments with floating-point results, and these arguments."""
    primitive = PRIMITIVES[name]
    moving = [i for i, arg in enumerate(args) if is_inexact(arg) and i not in FIXED.get(name, ())]

    def function(*floats):
        every = list(args)
        for i, value in zip(moving, floats, strict=True):
            every[i] = value
        outs = outputs(primitive, primitive.bind(*every, **params))
        return tuple(out for out in outs if is_inexact(get_aval(out)))

    return function, tuple(args[i] for i in moving)


def inner(left, right):
    """The pairing of cotangents with tangents: real, also of complex numbers."""
    return sum(np.sum(np.real(np.asarray(a) * np.asarray(b))) for a, b in zip(left, right, strict=True))


def finite(tree):
    return all(np.all(np.isfinite(np.asarray(leaf))) for leaf in tree)


def moved(xs, step, vs):
    return tuple(np.asarray(x + step * v) for x, v in zip(xs, vs, strict=True))


def difference(function, xs, vs, step):
    ahead, behind = function(*moved(xs, step, vs)), function(*moved(xs, -step, vs))
    return [(np.asarray(a) - np.asarray(b)) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


@pytest.mark.parametrize("name", WITH_JVP)
def test_second_derivatives(name):
    rng = np.random.default_rng(5)
    compared = 0
    with by_reference(), enable_x64(True), np.errstate(all="ignore"):
        for function, held, ys, outs, params in defined_samples(name):
            us, vs = [direction(rng, x) for x in (*held, *ys)], [direction(rng, x) for x in ys]

            def forward(*at, function=function, us=us, held=held):
                return jvp(function, (*held, *at), tuple(us))[1]

            cs = [direction(rng, out) for out in outs]

            def backward(*at, function=function, cs=cs, held=held):
                return vjp(function, *held, *at)[1](tuple(cs))

            slope, pulled = forward(*ys), backward(*ys)
            if not (finite(slope) and finite(pulled)):
                continue
            twice = jvp(forward, ys, tuple(vs))[1]
            # If differences of two steps agree, the first derivative is smooth, and they are the second.
            coarse, fine = (difference(forward, ys, vs, step) for step in (1e-5, 2.5e-6))
            if not all(np.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(coarse, fine, strict=True)):
                continue
            for got, want in zip(twice, fine, strict=True):
                np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-4, err_msg=f"{params}")
            scale = 1 + sum(np.sum(np.abs(c * np.asarray(t))) for c, t in zip(cs, twice, strict=True))
            first = inner(cs, slope)
            np.testing.assert_allclose(inner(pulled, us), first, rtol=1e-9, atol=1e-9 * (1 + abs(first)))
            ways = {
                "reverse over forward": inner(vjp(forward, *ys)[1](tuple(cs)), vs),
                "forward over reverse": inner(jvp(backward, ys, tuple(vs))[1], us),
                "reverse over reverse": inner(vjp(backward, *ys)[1](tuple(us)), vs),
            }
            for way, got in ways.items():
                np.testing.assert_allclose(
                    got, inner(cs, twice), rtol=1e-7, atol=1e-8 * scale, err_msg=f"{way} {params}"
                )
            compared += 1
    assert compared > 0
