"""The advice in messages works in its context: inside of jit, under vmap, with 64-bit types off."""

import math
import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.scipy import special

X = pnp.arange(6.0).reshape(2, 3)
V = pnp.arange(4.0)


def traced(function, *args):
    return pc.jit(function)(*(args or (V,)))


# (the call, its message, the advised code and its result).
ADVICE = {
    "a number of Python by int": (
        lambda: traced(lambda x: int(x[0])),
        r"use `\.astype\(int\)`.*lax\.fori_loop",
        lambda: traced(lambda x: x[1].astype(int)) + traced(lambda n: lax.fori_loop(0, n, lambda i, s: s + i, 0), 4),
        7,
    ),
    "a function of math": (
        lambda: traced(lambda x: math.sin(x[1])),
        r"the function of pycompiler\.numpy in place of that of math",
        lambda: traced(lambda x: pnp.sin(x[1])),
        np.float32(math.sin(1)),
    ),
    "an array is not marked static": (
        lambda: traced(lambda x: x[x > 1]),
        r"What to do: use where",
        lambda: traced(lambda x: pnp.where(x > 1, x, 0)),
        [0, 0, 2, 3],
    ),
    "a number is": (
        lambda: traced(lambda n: pnp.zeros(n), 3),
        r"mark 'n' static",
        lambda: pc.jit(lambda n: pnp.zeros(n), static_argnums=0)(3),
        [0, 0, 0],
    ),
    "a key of a dict": (lambda: {V: 1}, r"tuple\(x\.tolist\(\)\)", lambda: {tuple(V.tolist()): 1}[0, 1, 2, 3], 1),
    "a key of a dict, a number": (lambda: {V[1]: 1}, r"x\.item\(\)", lambda: {V[1].item(): 1}[1.0], 1),
    "a key of a dict, a matrix": (
        lambda: {X: 1},
        r"\(x\.shape, x\.tobytes\(\)\)",
        lambda: {(X.shape, X.tobytes()): 1}[(2, 3), X.tobytes()],
        1,
    ),
    "a slice": (
        lambda: traced(lambda n: V[n:], 1),
        r"lax\.dynamic_slice, which takes the size",
        lambda: traced(lambda n: lax.dynamic_slice(V, (n,), (2,)), 1),
        [1, 2],
    ),
    "a slice that is set": (
        lambda: traced(lambda n: V.at[:n].set(7), 2),
        r"lax\.dynamic_update_slice, or where\(arange\(n\) < stop, new, x\)",
        lambda: traced(lambda n: pnp.where(pnp.arange(4) < n, 7, V), 2),
        [7, 7, 2, 3],
    ),
    "positions that int8 does not hold": (
        lambda: lax.argmax(pnp.zeros(300), 0, pnp.int8),
        r"; use int32$",
        lambda: lax.argmax(pnp.zeros(300), 0, pnp.int32),
        0,
    ),
    "shapes of lax that broadcast": (
        lambda: lax.add(pnp.ones(3), X),
        r"broadcast by lax\.broadcast_in_dim, or use pycompiler\.numpy",
        lambda: lax.add(lax.broadcast_in_dim(pnp.ones(3), (2, 3), (1,)), X),
        [[1, 2, 3], [4, 5, 6]],
    ),
    "dtypes of lax": (
        lambda: lax.add(V, pnp.arange(4)),
        r"convert one by lax\.convert_element_type",
        lambda: lax.add(V, lax.convert_element_type(pnp.arange(4), pnp.float32)),
        [0, 2, 4, 6],
    ),
    "an element that is set": (
        lambda: traced(lambda x: x.__setitem__(0, 1)),
        r"x\.at\[",
        lambda: traced(lambda x: x.at[0].set(1)),
        [1, 1, 2, 3],
    ),
    "a truth value": (
        lambda: traced(lambda x: x if x[0] > 0 else -x),
        r"write it with `where`",
        lambda: traced(lambda x: pnp.where(x[0] > 0, x, -x)),
        [0, -1, -2, -3],
    ),
    "a derivative by an integer": (
        lambda: pc.grad(lambda x: x * 2.0)(3),
        r"pass a float",
        lambda: pc.grad(lambda x: x * 2.0)(3.0),
        2,
    ),
    "a derivative of a vector": (
        lambda: pc.grad(lambda x: x * 2)(V),
        r"reduce it",
        lambda: pc.grad(lambda x: (x * 2).sum())(V),
        [2, 2, 2, 2],
    ),
    "a complex number's sign": (
        lambda: traced(lambda x: pnp.signbit(x * 1j)),
        r"ask for its real and imaginary parts",
        lambda: traced(lambda x: pnp.signbit((x * 1j).imag)),
        [False] * 4,
    ),
    "differences of bools": (
        lambda: pnp.ediff1d(V > 1),
        r"use diff, or convert them",
        lambda: pnp.diff(V > 1),
        [False, True, False],
    ),
    "where= of a ufunc": (
        lambda: traced(lambda x: pnp.add(x, 1, where=x > 1)),
        r"use pycompiler\.numpy\.where on the result",
        lambda: traced(lambda x: pnp.where(x > 1, pnp.add(x, 1), x)),
        [0, 1, 3, 4],
    ),
    "factorial": (
        lambda: special.factorial(5, exact=True),
        r"leave exact out, or use math\.factorial of an int",
        lambda: special.factorial(5),
        120,
    ),
    "bits of a float": (
        lambda: pnp.packbits(V),
        r"compare it with 0",
        lambda: pnp.packbits(V != 0),
        [0b01110000],
    ),
    "an integer too large": (
        lambda: pnp.asarray(2**40),
        r"use a float, or set enable_x64",
        lambda: pnp.asarray(2.0**40) / 2**40,
        1,
    ),
    "what a rule for one loop has": (
        lambda: pc.grad(lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, 1.0))[1])(2.0),
        r"use forward mode \(jvp, jacfwd\)",
        lambda: pc.jacfwd(
            lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x * 0 + 1))[1]
        )(2.0),
        12,
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_can_be_followed(name):
    wrong, says, right, want = ADVICE[name]
    with pytest.raises(Exception, match=says):
        wrong()
    np.testing.assert_allclose(np.asarray(right()), want, rtol=1e-5)


def test_shapes_that_do_not_broadcast_are_not_to_be_broadcast():
    for call in (lambda: lax.add(pnp.ones(3), pnp.ones((2, 4))), lambda: lax.clamp(pnp.ones(2), V, V)):
        with pytest.raises(ValueError, match="each dimension must be equal or 1"):
            call()


def test_an_array_among_the_arguments_is_not_to_be_marked_static():
    with pytest.raises(TypeError) as caught:
        pc.jit(lambda x, n: pnp.zeros(n + x.sum().astype(int)))(V, 2)
    assert not re.search("static_argnums", str(caught.value))
