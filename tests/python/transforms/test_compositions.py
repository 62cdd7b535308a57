"""Random programs, compiled, under transformations in all orders: the results do not depend on the order.

`test_transforms_compose.py` tests the rules alone, with the references of the primitives. These programs go through the
compiler. A result is compared with the references', or with another order's, within `BOUND` roundings of its dtype: a
program has at most six steps, and no step multiplies an error by more than ten.
"""

import zlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from programs import ALONE, REVERSE, SHAPE, SHORT, SHORT_ALONE, arrays, looped, programs

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES as P
from pycompiler.transforms import grad, jvp, linearize, value_and_grad, vjp, vmap

FEW = settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
MANY = settings(FEW, max_examples=300)
DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
# In units of the last place of the greatest number. bf16 is bounded by its programs' length, of three steps.
BOUND = {"f32": 4000, "f64": 4000, "bf16": 32}


def close(got, want, dtype):
    got, want = (np.asarray(x).astype(np.float64) for x in (got, want))
    assert got.shape == want.shape
    limit = BOUND[dtype] * float(ml_dtypes.finfo(DTYPES[dtype]).eps)
    scale = 1 + np.max(np.abs(want), initial=0)
    np.testing.assert_allclose(got / scale, want / scale, rtol=0, atol=limit)


def total(fun):
    return lambda *xs: P["reduce_sum"].bind(fun(*xs), axes=(0, 1))


def compiled_is_evaluated(fun, x, y, dtype):
    x, y = x.astype(DTYPES[dtype]), y.astype(DTYPES[dtype])
    with enable_x64(dtype == "f64"):
        got = pc.jit(fun)(x, y)
        assert got.dtype == x.dtype
        close(got, fun(x, y), dtype)


def a_batch_is_a_loop(fun, x, y, z, dtype):
    xs = np.stack([x, y, z]).astype(DTYPES[dtype])
    y = y.astype(DTYPES[dtype])
    with enable_x64(dtype == "f64"):
        loop = np.stack([np.asarray(fun(row, y)) for row in xs])
        close(pc.jit(vmap(fun, in_axes=(0, None)))(xs, y), loop, dtype)
        close(vmap(pc.jit(fun), in_axes=(0, None))(xs, y), loop, dtype)


def derivatives_agree(fun, x, y, t, dtype):
    x, y, t = (array.astype(DTYPES[dtype]) for array in (x, y, t))
    ct = np.cos(np.arange(6.0)).reshape(SHAPE).astype(DTYPES[dtype])
    with enable_x64(dtype == "f64"):
        forward = pc.jit(lambda x, y: jvp(fun, (x, y), (t, -t)))
        backward = pc.jit(lambda x, y: vjp(fun, x, y)[1](ct))
        _, derivative = forward(x, y)
        _, linear = linearize(pc.jit(fun), x, y)
        close(linear(t, -t), derivative, dtype)
        ct_x, ct_y = map(np.asarray, backward(x, y))
        pulled, pushed = np.sum((ct_x - ct_y) * t), np.sum(ct * np.asarray(derivative))
        scale = 1 + np.max(np.abs([ct_x, ct_y]))
        close(pulled / scale, pushed / scale, dtype)


def gradient_is_a_difference(fun, x, y, t):
    with enable_x64(True):
        run = pc.jit(total(fun))
        gradient = np.asarray(pc.jit(grad(total(fun)))(x, y))

        def quotient(step):
            return (np.asarray(run(x + step * t, y)) - np.asarray(run(x - step * t, y))) / (2 * step)

        # If a kink lies between, the quotient is no derivative: steps of two sizes show it.
        numeric, coarse = quotient(1e-6), quotient(2e-6)
        if abs(numeric - coarse) < 1e-6 * (1 + abs(numeric)):
            np.testing.assert_allclose(np.sum(gradient * t), numeric, rtol=1e-4, atol=1e-4)


def orders_agree(fun, x, y, z, dtype):
    xs = np.stack([x, y, z]).astype(DTYPES[dtype])
    y = y.astype(DTYPES[dtype])

    def of_batch(xs):
        return P["reduce_sum"].bind(vmap(fun, in_axes=(0, None))(xs, y), axes=(0, 1, 2))

    with enable_x64(dtype == "f64"):
        outside = pc.jit(grad(of_batch))(xs)
        inside = vmap(grad(pc.jit(total(fun))), in_axes=(0, None))(xs, y)
        close(outside, inside, dtype)
        value, both = pc.jit(vmap(value_and_grad(total(fun)), in_axes=(0, None)))(xs, y)
        close(both, outside, dtype)
        close(value, vmap(pc.jit(total(fun)), in_axes=(0, None))(xs, y), dtype)


def forward_through_a_while_loop(fun, x, y, t, dtype):
    x, y, t = (array.astype(DTYPES[dtype]) for array in (x, y, t))

    def program(x):
        return looped(fun(x, y))

    with enable_x64(dtype == "f64"):
        value, derivative = pc.jit(lambda x: jvp(program, (x,), (t,)))(x)
        close(value, program(x), dtype)
        close(derivative, jvp(program, (x,), (t,))[1], dtype)
        xs = np.stack([x, y, t])
        close(pc.jit(vmap(program))(xs), np.stack([np.asarray(program(row)) for row in xs]), dtype)


CASES = [
    (compiled_is_evaluated, (programs(), arrays(), arrays()), ("f32", "f64")),
    (compiled_is_evaluated, (programs(most=3, whole=SHORT), arrays(), arrays()), ("bf16",)),
    (a_batch_is_a_loop, (programs(), arrays(), arrays(), arrays()), ("f32", "f64")),
    (derivatives_agree, (programs(), arrays(), arrays(), arrays()), ("f32", "f64")),
    (gradient_is_a_difference, (programs(whole=REVERSE), arrays(), arrays(), arrays()), ()),
    (orders_agree, (programs(whole=REVERSE), arrays(), arrays(), arrays()), ("f32", "f64")),
    (forward_through_a_while_loop, (programs(most=3), arrays(), arrays(), arrays()), ("f32", "f64")),
]
EACH = [
    pytest.param(holds, strategies, {"dtype": dtype} if dtype else {}, id=f"{holds.__name__}-{dtype or 'f64'}")
    for holds, strategies, dtypes in CASES
    for dtype in dtypes or (None,)
]


def check(holds, strategies, options, profile):
    # The same programs in all runs, other programs for each property.
    @seed(zlib.crc32(f"{holds.__name__} {options}".encode()))
    @profile
    @given(st.tuples(*strategies))
    def property_of_programs(drawn):
        holds(*drawn, **options)

    property_of_programs()


@pytest.mark.parametrize("program", SHORT_ALONE)
def test_every_step_in_bf16(program):
    x, y = np.random.default_rng(3).uniform(-1.5, 1.5, (2, *SHAPE))
    compiled_is_evaluated(program, x, y, "bf16")


@pytest.mark.parametrize("program", ALONE)
def test_every_step_alone(program):
    x, y, z, t = np.random.default_rng(3).uniform(-1.5, 1.5, (4, *SHAPE))
    compiled_is_evaluated(program, x, y, "f32")
    orders_agree(program, x, y, z, "f64")
    gradient_is_a_difference(program, x, y, t)
    if "_pulled" not in program.__name__:
        derivatives_agree(program, x, y, t, "f64")


@pytest.mark.parametrize(("holds", "strategies", "options"), EACH)
def test_programs(holds, strategies, options):
    check(holds, strategies, options, FEW)


@pytest.mark.full
@pytest.mark.parametrize(("holds", "strategies", "options"), EACH)
def test_many_programs(holds, strategies, options):
    check(holds, strategies, options, MANY)
