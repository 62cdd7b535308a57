"""Running results, differences, partitions, products with every parameter, einsum and convolutions: NumPy's values,
jax's types, slopes by differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from slopes import gradient

import pycompiler as pc
import pycompiler.numpy as pnp

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 5)).astype(np.float32)
G = rng.normal(size=(5, 4)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
I8 = rng.integers(-99, 99, (3, 5)).astype(np.int8)
U8 = rng.integers(0, 255, (3, 5)).astype(np.uint8)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
NAN = np.array([[1, np.nan, -3, 0, np.inf], [2, 2, -np.inf, -0.0, 5]], np.float32)
V = rng.normal(size=7).astype(np.float32)
W = rng.normal(size=3).astype(np.float32)
HALF = F.astype(np.float16)

RUNNING = [
    lambda m, f: getattr(m, f)(F),
    lambda m, f: getattr(m, f)(F, axis=1),
    lambda m, f: getattr(m, f)(CUBE, axis=-2),
    lambda m, f: getattr(m, f)(INT, axis=0),
    lambda m, f: getattr(m, f)(I8, axis=1),
    lambda m, f: getattr(m, f)(U8, axis=1),
    lambda m, f: getattr(m, f)(BOOL, axis=1),
    lambda m, f: getattr(m, f)(INT, axis=1, dtype=np.float32),
    lambda m, f: getattr(m, f)(F, axis=1, dtype=bool),
    lambda m, f: getattr(m, f)(HALF, axis=1),
    lambda m, f: getattr(m, f)(F[:0], axis=0),
    lambda m, f: getattr(m, f)(np.float32(3)),
]
CASES = {
    name: [lambda m, f=name, case=case: case(m, f) for case in RUNNING]
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")
}
for name in ("nancumsum", "nancumprod"):
    CASES[name].append(lambda m, f=name: getattr(m, f)(NAN, 1))
CASES |= {
    name: [
        lambda m, f=name: getattr(m, f)(V),
        lambda m, f=name: getattr(m, f)(F, axis=1),
        lambda m, f=name: getattr(m, f)(BOOL, axis=0),
        lambda m, f=name: getattr(m, f)(F, axis=-1, include_initial=True),
        lambda m, f=name: getattr(m, f)(INT, axis=-1, dtype=np.float32, include_initial=True),
    ]
    for name in ("cumulative_sum", "cumulative_prod")
}
CASES["cumulative_sum"] += [lambda m: m.cumulative_sum(I8, axis=0), lambda m: m.cumulative_sum(U8, axis=0)]
CASES |= {
    "diff": [
        lambda m: m.diff(F),
        lambda m: m.diff(F, 2, 0),
        lambda m: m.diff(F, 0),
        lambda m: m.diff(F, 7),
        lambda m: m.diff(BOOL, axis=0),
        lambda m: m.diff(INT, prepend=2),
        lambda m: m.diff(INT, axis=0, prepend=INT[:1], append=np.int32(4)),
        lambda m: m.diff(F, append=F[:, :2]),
    ],
    "ediff1d": [lambda m: m.ediff1d(F), lambda m: m.ediff1d(V, to_end=W, to_begin=np.float32(-1)),
                lambda m: m.ediff1d(INT, -1, INT[0])],
    "matmul": [
        lambda m: m.matmul(F, G, precision="highest"),
        lambda m: m.matmul(I8, I8.T, preferred_element_type=np.int32),
        lambda m: m.matmul(HALF, HALF.T, preferred_element_type=np.float32),
        lambda m: m.matmul(CUBE, G[:4]),
        lambda m: m.matmul(BOOL, BOOL.T),
    ],
    "dot": [
        lambda m: m.dot(F, G, precision="highest"),
        lambda m: m.dot(I8, I8.T, preferred_element_type=np.int32),
        lambda m: m.dot(CUBE, G[:4]),
        lambda m: m.dot(2.0, F),
    ],
    "vdot": [lambda m: m.vdot(F, F, precision="highest", preferred_element_type=np.float32)],
    "inner": [lambda m: m.inner(F, F, precision="highest", preferred_element_type=np.float32)],
    "vecdot": [lambda m: m.vecdot(F, F, axis=0, precision="highest", preferred_element_type=np.float32)],
    "tensordot": [
        lambda m: m.tensordot(CUBE, CUBE, ((0, 2), (0, 2)), precision="highest"),
        lambda m: m.tensordot(CUBE, CUBE, axes=([2, 0], [2, 0])),
        lambda m: m.tensordot(CUBE, CUBE, axes=(1, 1)),
        lambda m: m.tensordot(I8, I8.T, 1, preferred_element_type=np.int32),
        lambda m: m.tensordot(F, G, 0),
    ],
    "einsum": [
        lambda m: m.einsum("ij,jk->ik", F, G),
        lambda m: m.einsum("ij,jk", F, G),
        lambda m: m.einsum("ij,jk,kl->il", F, G, G.T, optimize=True),
        lambda m: m.einsum("ij,jk,kl->il", F, G, G.T, optimize=False),
        lambda m: m.einsum("ij,jk,kl->il", F, G, G.T, optimize="greedy"),
        lambda m: m.einsum("ij,jk,kl->il", F, G, G.T, optimize=[(1, 2), (0, 1)]),
        lambda m: m.einsum("...ij,...jk->...ik", CUBE, CUBE.transpose(0, 2, 1)),
        lambda m: m.einsum("...j->...", CUBE),
        lambda m: m.einsum("i...->...i", CUBE),
        lambda m: m.einsum("...i,...i", CUBE, F[:, :4]),
        lambda m: m.einsum("ii->i", G[:4]),
        lambda m: m.einsum("ii", G[:4]),
        lambda m: m.einsum("ij->", INT),
        lambda m: m.einsum("ij,ij->ij", BOOL, BOOL),
        lambda m: m.einsum(F, [0, 1], G, [1, 2], [0, 2]),
        lambda m: m.einsum(F, [0, 1], G, [1, 2]),
        lambda m: m.einsum(CUBE, [Ellipsis, 0], F[:, :4], [1, 0], [Ellipsis, 1]),
        lambda m: m.einsum("ij,kj->ik", I8, I8, preferred_element_type=np.int32),
        lambda m: m.einsum("ij,kj->ik", HALF, HALF, preferred_element_type=np.float32, precision="highest"),
        lambda m: m.einsum("ij,i,j->", F, F[:, 0], F[0]),
    ],
    "convolve": [lambda m, mode=mode: m.convolve(V, W, mode) for mode in ("full", "same", "valid")] + [
        lambda m: m.convolve(W, V, "same"),
        lambda m: m.convolve(INT[0], INT[1, :2]),
        lambda m: m.convolve(INT[0], INT[1, :2], preferred_element_type=np.int32),
        lambda m: m.convolve(V, W, mode="full", precision="highest"),
    ],
    "correlate": [lambda m, mode=mode: m.correlate(V, W, mode) for mode in ("full", "same", "valid")] + [
        lambda m: m.correlate(W, V, "same"),
        lambda m: m.correlate(W, V, "full"),
        lambda m: m.correlate(V, W),
        lambda m: m.correlate(INT[0], INT[1, :2], preferred_element_type=np.int32, precision="highest"),
    ],
}  # fmt: skip


class OfNumpy:
    """NumPy's functions. They compute in the dtype of their operands, so these are converted first."""

    def __getattr__(self, name):
        function = getattr(np, name)

        def call(*args, precision=None, preferred_element_type=None, **kwargs):
            if preferred_element_type is not None:
                args = [x.astype(preferred_element_type) if isinstance(x, np.ndarray) else x for x in args]
            if isinstance(kwargs.get("optimize"), list):
                kwargs["optimize"] = ["einsum_path", *kwargs["optimize"]]
            return function(*args, **kwargs)

        return call


def assert_same(got, want, tolerance=1e-5):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if got.dtype == np.float16:
        tolerance = 5e-3
    if got.dtype.kind in "iu":
        np.testing.assert_array_equal(got, want.astype(got.dtype))
    else:
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "number"), [(n, i) for n, cases in sorted(CASES.items()) for i in range(len(cases))])
def test_function(name, number):
    case = CASES[name][number]
    got, kind = case(pnp), jax.eval_shape(lambda: case(jnp))
    assert (got.shape, got.dtype, got.weak_type) == (kind.shape, kind.dtype, kind.weak_type)
    assert_same(got, case(OfNumpy()))


@pytest.mark.parametrize("x", [F, INT, U8, NAN[:, [0, 2, 3, 4]]], ids=["float", "int", "uint8", "infinite"])
@pytest.mark.parametrize("kth", [0, 2, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_partition(x, kth, axis):
    size = x.shape[axis]
    kth = kth % size if kth < size else size - 1
    values = np.asarray(pnp.partition(x, kth, axis))
    places = np.asarray(pnp.argpartition(x, kth, axis=axis))
    assert places.dtype == np.int32
    np.testing.assert_array_equal(np.sort(values, axis), np.sort(x, axis))
    np.testing.assert_array_equal(np.take_along_axis(x, places, axis), values)
    np.testing.assert_array_equal(np.take(values, kth, axis), np.take(np.sort(x, axis), kth, axis))
    pivot = np.take(values, [kth], axis)
    assert (np.take(values, range(kth), axis) <= pivot).all()
    assert (np.take(values, range(kth, size), axis) >= pivot).all()
    np.testing.assert_array_equal(np.asarray(pnp.asarray(x).argpartition(kth, axis)), places)


def test_einsum_path():
    path, account = pnp.einsum_path("ij,jk,kl->il", F, G, G.T, optimize="greedy")
    assert path == [tuple(group) for group in np.einsum_path("ij,jk,kl->il", F, G, G.T, optimize="greedy")[0][1:]]
    assert "Complete contraction:  ij,jk,kl->il" in account
    whole, _ = pnp.einsum_path(F, [0, 1], G, [1, 2], optimize=False)
    assert whole == [(0, 1)]


def test_under_transformations():
    def total(m):
        return lambda x: (m.einsum("ij,jk,lk->il", x, G, m.cumsum(x @ G, 1)) * m.diff(x, axis=1)[:, :3]).sum()

    assert_same(pc.grad(total(pnp))(F), gradient(total(np), F), 2e-4)
    assert_same(pc.jit(total(pnp))(F), total(np)(F), 1e-4)
    stack = np.stack([F, 2 * F])
    assert_same(pc.vmap(total(pnp))(stack), [total(np)(x) for x in stack], 1e-4)
    assert_same(pc.grad(lambda v: pnp.convolve(v, W)[2])(V), [*W[::-1], 0, 0, 0, 0])


def test_errors():
    with pytest.raises(ValueError, match=r"cumulative_sum: f32\[3,5\] has 2 dimensions; name one by axis="):
        pnp.cumulative_sum(F)
    with pytest.raises(ValueError, match=r"cumsum: axis 2 is out of range"):
        pnp.cumsum(F, 2)
    with pytest.raises(TypeError, match="cumsum: arrays never change"):
        pnp.cumsum(F, out=F)
    with pytest.raises(ValueError, match="diff: n must not be negative, got -1"):
        pnp.diff(F, -1)
    with pytest.raises(ValueError, match=r"partition, kth: axis 9 is out of range|partition: kth"):
        pnp.partition(F, 9)
    with pytest.raises(ValueError, match=r"einsum: the index 'j' of 'ij,jk' has sizes 5 and 3"):
        pnp.einsum("ij,jk", F, F)
    with pytest.raises(ValueError, match=r"einsum: 'ij' of 'ij->i' does not name the 3 dimensions"):
        pnp.einsum("ij->i", CUBE)
    with pytest.raises(ValueError, match="einsum: optimize must be"):
        pnp.einsum("ij,jk", F, G, optimize="best")
    with pytest.raises(ValueError, match=r"convolve: takes vectors, got f32\[3,5\] and f32\[3\]"):
        pnp.convolve(F, W)
    with pytest.raises(ValueError, match="convolve: mode must be 'full', 'same' or 'valid', got 'half'"):
        pnp.convolve(V, W, "half")
    with pytest.raises(ValueError, match="matmul: precision must be None"):
        pnp.matmul(F, G, precision=3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, pnp.bfloat16.dtype, np.int32, np.complex64])
def test_products_of_scalars_that_broadcast(dtype):
    """Without summed indices, each element of a dependent value is the product itself."""
    x = np.array(3, dtype)
    for product in (
        pnp.dot,
        pnp.inner,
        pnp.vdot,
        lambda x, y: pnp.einsum(",->", x, y),
        lambda x, y: pnp.tensordot(x, y, 0),
    ):
        wide = pc.jit(lambda x, product=product: product(x, x) + pnp.zeros((2, 2), x.dtype))(x)
        np.testing.assert_array_equal(np.asarray(wide).astype(np.complex64), np.full((2, 2), 9))
        mapped = pc.jit(pc.vmap(lambda x, product=product: pnp.broadcast_to(product(x, x), (3,))))(np.stack([x, x + x]))
        np.testing.assert_array_equal(np.asarray(mapped).astype(np.complex64), [[9] * 3, [36] * 3])
    assert np.asarray(pc.jit(lambda x: pnp.einsum(",,->", x, x, x) + pnp.zeros(3, x.dtype))(x)).tolist() == [27] * 3


def test_powers_of_zero_are_arrays():
    for x in (pnp.asarray(3), pnp.int32(3), pnp.float32(2), pnp.asarray(2.0), pnp.ones(2)):
        for power in (x**0, pnp.power(x, 0), pc.jit(lambda x: x**0)(x)):
            assert type(power) is pc.Array
            assert (power.dtype, power.shape) == (x.dtype, x.shape)
            assert power.weak_type == x.weak_type
            np.testing.assert_array_equal(power, 1)
    assert type(pnp.bitwise_count(True)) is pc.Array


def test_einsum_takes_any_characters_as_indices():
    a, b = np.arange(24, dtype="f4").reshape(2, 3, 4), np.arange(8, dtype="f4").reshape(2, 1, 4)
    np.testing.assert_array_equal(pnp.einsum("...hd,...1d->...h1", a, b), np.einsum("bhd,bod->bho", a, b))
    np.testing.assert_array_equal(pnp.einsum("a1,1b", a[0], a[0].T), a[0] @ a[0].T)
