"""The streams of random numbers against jax's, bit for bit if nothing is rounded, for both settings."""

import jax
import numpy as np
import pytest
from jax import random as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import random as ours
from pycompiler.core.config.config import enable_x64, threefry_partitionable

SHAPES = [(), (1,), (7,), (3, 5), (0,), (2, 3, 4)]


@pytest.fixture(params=[False, True], ids=["original", "partitionable"], autouse=True)
def partitionable(request):
    with threefry_partitionable(request.param), jax.threefry_partitionable(request.param):
        yield request.param


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


def close(a, b, tolerance=2e-6):
    a, b = np.asarray(a), np.asarray(b)
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", [0, 1, 42, -1, 2**31 - 1, 2**40 + 3, np.int32(7), np.uint8(200)])
def test_keys(seed):
    same(ours.key_data(ours.key(seed)), theirs.PRNGKey(seed))
    same(ours.PRNGKey(seed), theirs.PRNGKey(seed))
    if not isinstance(seed, int):
        same(ours.key_data(pc.jit(ours.key)(seed)), theirs.PRNGKey(seed))


def test_keys_of_64_bits():
    with enable_x64(True), jax.enable_x64(True):
        for seed in (2**40 + 3, -1, 5):
            same(ours.PRNGKey(seed), theirs.PRNGKey(seed))
            same(pc.jit(ours.PRNGKey)(seed), theirs.PRNGKey(seed))
            same(ours.key_data(ours.key(seed)), theirs.PRNGKey(seed))


@pytest.mark.parametrize("num", [1, 2, 3, 10, (2, 3)])
def test_split(num):
    same(ours.split(ours.PRNGKey(5), num), theirs.split(theirs.PRNGKey(5), num))
    same(ours.key_data(ours.split(ours.key(5), num)), theirs.split(theirs.PRNGKey(5), num))


@pytest.mark.parametrize("data", [0, 1, 43, 2**32 - 1, np.int32(9)])
def test_fold_in(data):
    same(ours.fold_in(ours.PRNGKey(42), data), theirs.fold_in(theirs.PRNGKey(42), data))
    same(ours.key_data(ours.fold_in(ours.key(42), data)), theirs.fold_in(theirs.PRNGKey(42), data))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["uint32", "uint16", "uint8"])
def test_bits(shape, dtype):
    same(ours.bits(ours.key(3), shape, dtype), theirs.bits(theirs.PRNGKey(3), shape, dtype))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bits_of_64(shape):
    with enable_x64(True), jax.enable_x64(True):
        same(ours.bits(ours.key(3), shape, "uint64"), theirs.bits(theirs.PRNGKey(3), shape, "uint64"))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_uniform(shape, dtype):
    same(ours.uniform(ours.key(3), shape, dtype), theirs.uniform(theirs.PRNGKey(3), shape, dtype))
    a, b = ours.uniform(ours.key(3), shape, dtype, -2, 5), theirs.uniform(theirs.PRNGKey(3), shape, dtype, -2, 5)
    close(a, b, {"float32": 1e-6, "float16": 1e-2, "bfloat16": 5e-2}[dtype])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_normal(shape):
    close(ours.normal(ours.key(42), shape), theirs.normal(theirs.PRNGKey(42), shape))


CASES = {
    "normal float16": (lambda r, k: r.normal(k, (33,), "float16"), 2e-2),
    "uniform of arrays": lambda r, k: r.uniform(k, (2, 3), minval=np.float32([1, 2, 3]), maxval=np.float32(9)),
    "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 2.0, (33,)),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (33,)),
    "bernoulli of p": lambda r, k: r.bernoulli(k, np.linspace(0, 1, 33, dtype=np.float32)),
    "rademacher": lambda r, k: r.rademacher(k, (33,)),
    "exponential": lambda r, k: r.exponential(k, (33,)),
    "gumbel": lambda r, k: r.gumbel(k, (33,)),
    "laplace": lambda r, k: r.laplace(k, (33,)),
    "logistic": lambda r, k: r.logistic(k, (33,)),
    "cauchy": (lambda r, k: r.cauchy(k, (33,)), 1e-4),
    "randint": lambda r, k: r.randint(k, (33,), -5, 17),
    "randint of bytes": lambda r, k: r.randint(k, (33,), 0, 256, "uint8"),
    "randint of shorts": lambda r, k: r.randint(k, (7, 3), -300, 1000, "int16"),
    "randint of arrays": lambda r, k: r.randint(k, (2, 3), np.array([0, 5, 9]), np.array([1, 50, 9])),
    "randint far": lambda r, k: r.randint(k, (33,), -(2**31), 2**31 - 1),
    "permutation": lambda r, k: r.permutation(k, 100),
    "permutation of one": lambda r, k: r.permutation(k, 1),
    "permutation of rows": lambda r, k: r.permutation(k, np.arange(24).reshape(8, 3)),
    "permutation of columns": lambda r, k: r.permutation(k, np.arange(24.0).reshape(3, 8), axis=1),
    "permutation independent": lambda r, k: r.permutation(k, np.arange(24).reshape(3, 8), axis=1, independent=True),
    "permutation in rounds": lambda r, k: r.permutation(k, 3000),
    "categorical": lambda r, k: r.categorical(k, np.log(np.float32([0.1, 0.2, 0.7])), shape=(33,)),
    "categorical of rows": lambda r, k: r.categorical(k, np.float32([[0, 1, 2], [3, 1, 0]])),
    "categorical of columns": lambda r, k: r.categorical(k, np.float32([[0, 1, 2], [3, 1, 0]]), axis=0, shape=(5, 3)),
    "choice": lambda r, k: r.choice(k, 10, (33,)),
    "choice of rows": lambda r, k: r.choice(k, np.arange(12.0).reshape(4, 3), (5,)),
    "choice without replacement": lambda r, k: r.choice(k, np.arange(20), (7,), replace=False),
    "choice with p": lambda r, k: r.choice(k, 4, (33,), p=np.float32([0.1, 0.2, 0.3, 0.4])),
    "choice with p without replacement": lambda r, k: r.choice(k, 4, (3,), False, np.float32([0.1, 0.2, 0.3, 0.4])),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_distribution(case):
    case, tolerance = case if isinstance(case, tuple) else (case, 3e-6)
    close(case(ours, ours.key(17)), case(theirs, theirs.PRNGKey(17)), tolerance)
    traced = pc.jit(lambda key: case(ours, key))(ours.key(17))
    close(traced, case(theirs, theirs.PRNGKey(17)), tolerance)


def test_vmap_of_keys():
    keys = ours.split(ours.key(0), 4)
    drawn = pc.vmap(lambda key: ours.normal(key, (3,)))(keys)
    for key, row in zip(keys, drawn, strict=True):
        close(row, ours.normal(key, (3,)))


def test_derivative_of_the_bounds():
    key = ours.key(0)
    slope = pc.grad(lambda low: ours.uniform(key, (), minval=low, maxval=2.0))(1.0)
    close(slope, 1 - np.asarray(ours.uniform(key)))


def test_errors():
    with pytest.raises(TypeError, match=r"normal: takes one key, such as random.key\(seed\), .*, got i32"):
        ours.normal(3)
    with pytest.raises(TypeError, match=r"got key<fry>\[3\]; for several, use vmap"):
        ours.uniform(ours.split(ours.key(0), 3))
    with pytest.raises(TypeError, match=r"key: the seed must be one integer, got f32\[\]"):
        ours.key(1.5)
    with pytest.raises(TypeError, match="uniform: the dtype must be a floating-point one, got int32"):
        ours.uniform(ours.key(0), dtype=int)
    with pytest.raises(ValueError, match=r"parameters of shape \(3,\) do not broadcast to the shape \(2,\)"):
        ours.uniform(ours.key(0), (2,), minval=pnp.zeros(3))
    with pytest.raises(ValueError, match="7 draws from 3 elements need replace=True"):
        ours.choice(ours.key(0), 3, (7,), replace=False)
    with pytest.raises(AttributeError, match="has no attribute noraml; the nearest name is normal"):
        ours.noraml  # noqa: B018
