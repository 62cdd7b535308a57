"""Derivatives of compiled kernels in forward mode, beside the loop over the grid, composed functions, and JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.experimental import pallas as own

S = pc.ShapeDtypeStruct
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((2, 8, 12), np.float32)
ROWS = kernel.BlockSpec((2, 12), lambda i: (i, 0))
WHOLE = S((8, 12), "float32")
BY_ROWS = {"grid": 4, "in_specs": [ROWS], "out_specs": ROWS}
TWO_BY_ROWS = {"grid": 4, "in_specs": [ROWS, ROWS], "out_specs": ROWS}


def sines(x, o):
    o[...] = pnp.sin(x[...]) * x[...]


def two_outputs(x, y, o, count):
    o[...] = pnp.sin(x[...]) * y[...]
    count[...] = (x[...] > 0).astype("int32")


def matmul(x, w, o):
    @kernel.when(kernel.program_id(2) == 0)
    def _():
        o[...] = pnp.zeros(o.shape)

    o[...] += kernel.dot(x[...], w[...])


def running(x, o, total):
    total[...] = total[...] + x[...] ** 2
    o[...] = total[...] * x[...]


def scaled(x, y, o):
    o[...] = o[...] * y[...] + x[...]


def picked(i, x, o):
    o[...] = x[i[0]] ** 2


def partly(x, o):
    @kernel.when(kernel.program_id(0) > 1)
    def _():
        o[...] = x[...] ** 3


KERNELS = {
    "one program": (sines, WHOLE, (X,), {}),
    "rows": (sines, WHOLE, (X,), BY_ROWS),
    "an output of integers": (
        two_outputs,
        [WHOLE, S((8, 12), "int32")],
        (X, Y),
        TWO_BY_ROWS | {"out_specs": [ROWS] * 2},
    ),
    "visited again": (
        matmul,
        S((8, 8), "float32"),
        (X, Y.T.copy()),
        {
            "grid": (2, 2, 3),
            "in_specs": [
                kernel.BlockSpec((4, 4), lambda i, j, k: (i, k)),
                kernel.BlockSpec((4, 4), lambda i, j, k: (k, j)),
            ],
            "out_specs": kernel.BlockSpec((4, 4), lambda i, j, _: (i, j)),
        },
    ),
    "scratch": (running, WHOLE, (X,), BY_ROWS | {"scratch_shapes": [S((2, 12), "float32")]}),
    "alias": (scaled, WHOLE, (X, Y), {"input_output_aliases": {0: 0}}),
    "alias by rows": (scaled, WHOLE, (X, Y), TWO_BY_ROWS | {"input_output_aliases": {0: 0}}),
    "beyond the array": (
        sines,
        WHOLE,
        (X,),
        {
            "grid": (3, 3),
            "in_specs": [kernel.BlockSpec((3, 5), lambda i, j: (i, j))],
            "out_specs": kernel.BlockSpec((3, 5), lambda i, j: (i, j)),
        },
    ),
    "an index": (picked, S((12,), "float32"), (np.array([3], np.int32), X), {}),
    "blocks that are not written": (partly, WHOLE, (X,), BY_ROWS),
}


def slope_of(x):
    return np.cos(x).astype(x.dtype) if x.dtype == np.float32 else np.zeros(x.shape, pc.dtypes.float0)


DERIVATIVES = {
    "jvp": lambda f, args, place: pc.jvp(f, args, tuple(map(slope_of, args))),
    "jit": lambda f, args, place: pc.jit(lambda *xs: pc.jvp(f, xs, tuple(map(slope_of, args))))(*args),
    "one argument": lambda f, args, place: pc.jvp(
        lambda x: f(*args[:place], x, *args[place + 1 :]), (args[place],), (slope_of(args[place]),)
    ),
    "vmap": lambda f, args, place: pc.vmap(
        lambda t: pc.jvp(lambda x: f(*args[:place], x, *args[place + 1 :]), (args[place],), (t,))
    )(np.stack([args[place], args[place] + 1])),
    "second": lambda f, args, place: pc.jvp(
        lambda *xs: pc.jvp(f, xs, tuple(map(slope_of, args)))[1], args, tuple(map(slope_of, args))
    ),
}


@pytest.mark.parametrize("way", DERIVATIVES)
@pytest.mark.parametrize("name", KERNELS)
def test_beside_the_loop_over_the_grid(name, way):
    function, out, args, options = KERNELS[name]
    place = next(number for number, x in enumerate(args) if x.dtype == np.float32)
    found, want = (
        pc.tree.leaves(DERIVATIVES[way](kernel.kernel_call(function, out, interpret=loop, **options), args, place))
        for loop in (False, True)
    )
    assert len(found) == len(want)
    for x, y in zip(found, want, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if x.dtype != pc.dtypes.float0:
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_beside_the_composed_function():
    function, out, args, options = KERNELS["visited again"]
    product = kernel.kernel_call(function, out, **options)
    tangents = tuple(map(slope_of, args))
    for x, y in zip(pc.jvp(product, args, tangents), pc.jvp(pnp.matmul, args, tangents), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    rows = kernel.kernel_call(sines, WHOLE, **BY_ROWS)
    np.testing.assert_allclose(pc.jacfwd(rows)(X[:8]), pc.jacfwd(lambda x: pnp.sin(x) * x)(X[:8]), rtol=1e-5, atol=1e-6)


def test_beside_jax():
    def cubes(x, y, o):
        o[...] = x[...] ** 3 * y[...]

    def derivative(m, pl, struct, np_, **options):
        rows = pl.BlockSpec((2, 12), lambda i: (i, 0))
        call = pl.pallas_call(
            cubes, struct((8, 12), "float32"), grid=4, in_specs=[rows, rows], out_specs=rows, **options
        )
        return m.jvp(call, (np_.asarray(X), np_.asarray(Y)), (np_.asarray(Y), np_.asarray(X)))

    ours = derivative(pc, own, S, pnp)
    for x, y in zip(ours, derivative(jax, theirs, jax.ShapeDtypeStruct, jnp, interpret=True), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_a_value_in_the_closure():
    def called(w):
        def body(x, o):
            o[...] = x[...] * pnp.sin(w)

        return kernel.kernel_call(body, WHOLE, **BY_ROWS)(X)

    w = np.arange(12, dtype=np.float32)
    _, slope = pc.jvp(called, (w,), (np.ones_like(w),))
    np.testing.assert_allclose(slope, X * np.cos(w), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("derive", [pc.grad, lambda f: pc.jit(pc.grad(f)), pc.jacrev], ids=["grad", "jit", "jacrev"])
def test_reverse_mode_is_an_error_that_has_the_ways(derive):
    rows = kernel.kernel_call(sines, WHOLE, **BY_ROWS)
    with pytest.raises(NotDifferentiableError, match=r"reverse mode.*jvp, jacfwd.*custom_vjp.*interpret=True"):
        derive(lambda x: rows(x).sum())(X)
