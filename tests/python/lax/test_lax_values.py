"""All functions of lax: values of NumPy and SciPy (`plain.lax`), shapes and dtypes of jax; refused arguments."""

import numpy as np
import pytest
from beside_plain import check
from jax.lax import RoundingMethod

import pycompiler as pc
from pycompiler import lax as ours

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 5)).astype(np.float32)
G = rng.normal(size=(3, 5)).astype(np.float32)
P = rng.uniform(0.1, 0.9, (3, 5)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
POS = rng.integers(1, 7, (3, 5)).astype(np.int32)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
TIES = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.int32)

CASES = {name: [lambda m, f=name: getattr(m, f)(P)] for name in ("acos", "asin", "atanh", "erf_inv", "log", "rsqrt")}
for name in ("abs", "asinh", "atan", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(F)]
for name in ("is_finite", "logistic", "neg", "reciprocal", "sign", "sin", "sinh", "square", "tan", "tanh"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(F)]
for name in ("add", "sub", "mul", "div", "rem", "max", "min", "eq", "ne", "lt", "le", "gt", "ge"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(F, G), lambda m, f=name: getattr(m, f)(INT, POS)]
    CASES[name].append(lambda m, f=name: getattr(m, f)(F, 2.0))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(INT, POS), lambda m, f=name: getattr(m, f)(BOOL, BOOL[::-1])]
for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(INT, POS)]
for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(CUBE, (0, 2)), lambda m, f=name: getattr(m, f)(INT, (1,))]
for name in ("reduce_and", "reduce_or"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(BOOL, (1,))]
for name in ("argmax", "argmin"):
    CASES[name] = [lambda m, f=name: getattr(m, f)(F, 1, np.int32), lambda m, f=name: getattr(m, f)(TIES, 1, np.int32)]

AWAY = RoundingMethod.AWAY_FROM_ZERO
NUMBERS = (((2,), (1,)), ((0,), (0,)))
CASES |= {
    "acosh": [lambda m: m.acosh(P + 1)],
    "atan2": [lambda m: m.atan2(F, G)],
    "batch_matmul": [lambda m: m.batch_matmul(CUBE, CUBE.transpose(0, 2, 1))],
    "bitcast_convert_type": [lambda m: m.bitcast_convert_type(F, np.int32)],
    "bitwise_not": [lambda m: m.bitwise_not(INT), lambda m: m.bitwise_not(BOOL)],
    "broadcast": [lambda m: m.broadcast(F, (2, 1))],
    "broadcast_in_dim": [lambda m: m.broadcast_in_dim(F, (3, 2, 5), (0, 2))],
    "broadcast_shapes": [lambda m: np.array(m.broadcast_shapes((3, 1), (1, 4)))],
    "broadcast_to_rank": [lambda m: m.broadcast_to_rank(F, 4)],
    "broadcasted_iota": [lambda m: m.broadcasted_iota(np.int32, (3, 4), 1)],
    "clamp": [lambda m: m.clamp(-0.5, F, 0.5), lambda m: m.clamp(F - 1, G, F + 1)],
    "collapse": [lambda m: m.collapse(CUBE, 1), lambda m: m.collapse(CUBE, 0, 2)],
    "concatenate": [lambda m: m.concatenate([F, G], 1)],
    "convert_element_type": [lambda m: m.convert_element_type(F, np.int32)],
    "dot": [lambda m: m.dot(F, G.T), lambda m: m.dot(F[0], G[1])],
    "dot_general": [lambda m: m.dot_general(CUBE, CUBE.transpose(0, 2, 1), NUMBERS)],
    "dynamic_index_in_dim": [lambda m, i=i: m.dynamic_index_in_dim(F, i, 1, False) for i in (0, 9, -1)],
    "dynamic_slice": [lambda m, s=s: m.dynamic_slice(CUBE, s, (1, 2, 3)) for s in ((0, 1, 1), (5, -1, -9))],
    "dynamic_slice_in_dim": [lambda m: m.dynamic_slice_in_dim(F, np.int32(3), 3, axis=1)],
    "dynamic_update_index_in_dim": [lambda m: m.dynamic_update_index_in_dim(F, G[0], 1, 0)],
    "dynamic_update_slice": [lambda m: m.dynamic_update_slice(F, G[:2, :2], (2, -1))],
    "dynamic_update_slice_in_dim": [lambda m: m.dynamic_update_slice_in_dim(F, G[:, :2], 1, 1)],
    "expand_dims": [lambda m: m.expand_dims(F, (0, 2))],
    "full": [lambda m: m.full((2, 3), 4.0), lambda m: m.full((), 1, np.int8)],
    "full_like": [lambda m: m.full_like(INT, 4), lambda m: m.full_like(F, 4, np.int32, (2,))],
    "index_in_dim": [lambda m: m.index_in_dim(F, -1, 1), lambda m: m.index_in_dim(F, 0, 0, False)],
    "integer_pow": [lambda m, y=y: m.integer_pow(F, y) for y in (0, 1, 2, 5, -3)],
    "iota": [lambda m: m.iota(np.float32, 5)],
    "log1p": [lambda m: m.log1p(P)],
    "nextafter": [lambda m: m.nextafter(F, G)],
    "pad": [lambda m: m.pad(F, np.float32(7), ((1, -1, 0), (0, 2, 1)))],
    "pow": [lambda m: m.pow(P, F), lambda m: m.pow(F, 3)],
    "reshape": [lambda m: m.reshape(F, (5, 3)), lambda m: m.reshape(F, (15,), (1, 0))],
    "rev": [lambda m: m.rev(CUBE, (0, 2))],
    "round": [lambda m: m.round(F * 4 + 0.5), lambda m: m.round(np.float32([0.5, 1.5, -2.5]), AWAY)],
    "select": [lambda m: m.select(BOOL, F, G)],
    "select_n": [lambda m: m.select_n(BOOL, F, G), lambda m: m.select_n(POS % 3, INT, POS, TIES[0, 0] + INT)],
    "slice": [lambda m: m.slice(CUBE, (0, 1, 0), (2, 3, 4), (1, 1, 2))],
    "slice_in_dim": [lambda m: m.slice_in_dim(F, 1, -1, 2, 1)],
    "sort": [lambda m: m.sort(F), lambda m: m.sort((TIES, TIES * 2), 1, num_keys=1)],
    "sort_key_val": [lambda m: m.sort_key_val(TIES, np.arange(8, dtype=np.int32).reshape(2, 4))],
    "sqrt": [lambda m: m.sqrt(P)],
    "squeeze": [lambda m: m.squeeze(F[None], (0,))],
    "stop_gradient": [lambda m: m.stop_gradient(F)],
    "top_k": [lambda m: m.top_k(F, 3), lambda m: m.top_k(TIES, 2)],
    "transpose": [lambda m: m.transpose(CUBE, (2, 0, 1))],
}  # fmt: skip


@pytest.mark.parametrize(("name", "number"), [(n, i) for n, cases in sorted(CASES.items()) for i in range(len(cases))])
def test_function(name, number):
    check(CASES[name][number], 3e-6, 3e-6)


def test_every_case_is_a_function():
    # tools/count_names.py finds the names that no file compares.
    assert set(CASES) <= set(ours.__all__)


def test_derivative_of_stop_gradient():
    assert float(pc.grad(lambda x: ours.stop_gradient(x) * x)(3.0)) == 3


def test_errors():
    with pytest.raises(
        ValueError, match=r"add: shapes differ: f32\[3,5\] and f32\[5,3\]; each dimension must be equal or 1"
    ):
        ours.add(F, F.T)
    with pytest.raises(TypeError, match=r"add: dtypes differ: f32\[3,5\] and i32\[3,5\]; convert one"):
        ours.add(F, INT)
    with pytest.raises(TypeError, match=r"add: takes arrays and scalars, got \[1, 2\] of type list"):
        ours.add([1, 2], F)
    with pytest.raises(ValueError, match=r"dot: contracting dimensions differ: f32\[3,5\] @ f32\[3,5\] \(5 vs 3\)"):
        ours.dot(F, G)
    with pytest.raises(ValueError, match=r"reshape array f32\[3,5\] \(15 elements\) to \(4, 4\) \(16 elements\)"):
        ours.reshape(F, (4, 4))
    with pytest.raises(ValueError, match=r"axis 2 is out of range for an array of 2 dimensions"):
        ours.reduce_sum(F, (2,))
    with pytest.raises(AttributeError, match="has no attribute dot_generl; the nearest name is dot_general"):
        ours.dot_generl  # noqa: B018
