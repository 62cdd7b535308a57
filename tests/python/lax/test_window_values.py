"""Running results, windows, convolutions, products and top_k of lax: values and slopes of plain loops, jax's types."""

import jax
import numpy as np
import plain
import pytest
from beside_plain import check, leaves
from jax import lax as theirs
from slopes import gradient

import pycompiler as pc
from pycompiler import lax as ours
from pycompiler import numpy as pnp

rng = np.random.default_rng(0)
F = rng.normal(size=(3, 5)).astype(np.float32)
INT = rng.integers(-9, 9, (3, 5)).astype(np.int32)
I8 = rng.integers(-99, 99, (3, 5)).astype(np.int8)
Z = (F + 1j * rng.normal(size=(3, 5))).astype(np.complex64)
BOOL = rng.integers(0, 2, (3, 5)).astype(bool)
CUBE = rng.normal(size=(2, 3, 4)).astype(np.float32)
TIES = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.int32)
IMAGES = rng.normal(size=(2, 4, 7, 6)).astype(np.float32)  # batch, features, height, width
KERNEL = rng.normal(size=(6, 4, 3, 2)).astype(np.float32)
LAST = np.ascontiguousarray(IMAGES.transpose(0, 2, 3, 1))
KERNEL_LAST = np.ascontiguousarray(KERNEL.transpose(2, 3, 1, 0))
SIGNALS = rng.normal(size=(2, 4, 9)).astype(np.float32)
FILTER = rng.normal(size=(6, 4, 3)).astype(np.float32)
LOCAL = rng.normal(size=(6, 12, 7)).astype(np.float32)
VOLUME = rng.normal(size=(1, 2, 4, 3, 5)).astype(np.float32)
CUBES = rng.normal(size=(3, 2, 2, 2, 3)).astype(np.float32)
NHWC = ("NHWC", "HWIO", "NHWC")
EXAMPLES = rng.normal(size=(6, 4)).astype(np.float32)
EXPERTS = rng.normal(size=(3, 4, 5)).astype(np.float32)
GROUPS = np.array([2, 0, 3], np.int32)


def absmax(m):
    """A monoid that is no known operation of lax: the greater number by magnitude."""
    return lambda x, y: m.select(m.gt(m.abs(x), m.abs(y)), x, y)


def argmax_pair(m):
    """A monoid of pairs: the greater value and its place."""

    def combine(x, y):
        ahead = m.ge(x[0], y[0])
        return m.select(ahead, x[0], y[0]), m.select(ahead, x[1], y[1])

    return combine


def pooled(m, name, *args, **kwargs):
    init = {"add": np.float32(0), "max": np.float32(-np.inf), "min": np.float32(np.inf), "mul": np.float32(1)}[name]
    return m.reduce_window(IMAGES, init, getattr(m, name), *args, **kwargs)


CASES = {
    name: [
        lambda m, f=name: getattr(m, f)(F),
        lambda m, f=name: getattr(m, f)(F, 1, True),
        lambda m, f=name: getattr(m, f)(CUBE, axis=1),
    ]
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
}
for name in ("cumsum", "cumprod", "cummax", "cummin"):
    CASES[name].append(lambda m, f=name: getattr(m, f)(INT, 1))
CASES["cumsum"] += [lambda m: m.cumsum(I8, 1), lambda m: m.cumsum(Z, 1)]
CASES["cumprod"].append(lambda m: m.cumprod(Z, 1, True))
CASES |= {
    "reduce": [
        lambda m: m.reduce(F, np.float32(0), m.add, (0,)),
        lambda m: m.reduce(F, np.float32(1), m.mul, (1,)),
        lambda m: m.reduce(F, np.float32(-np.inf), m.max, (0, 1)),
        lambda m: m.reduce(INT, np.int32(0), lambda x, y: m.bitwise_xor(x, y), (0,)),
        lambda m: m.reduce(BOOL, np.bool_(False), m.bitwise_or, (1,)),
        lambda m: m.reduce(BOOL, np.bool_(False), m.bitwise_and, (1,)),
        lambda m: m.reduce(INT, np.int32(-1), m.bitwise_and, (1,)),
        lambda m: m.reduce(INT, np.int32(12), m.bitwise_or, (0, 1)),
        lambda m: m.reduce(F, np.float32(2), m.add, (1,)),
        lambda m: m.reduce(F, np.float32(0), absmax(m), (1,)),
        lambda m: m.reduce(CUBE, np.float32(0), absmax(m), (0, 2)),
        lambda m: m.reduce((F, INT), (np.float32(-np.inf), np.int32(-1)), argmax_pair(m), (1,)),
        lambda m: m.reduce(F[:, :0], np.float32(3), absmax(m), (1,)),
    ],
    "reduce_xor": [lambda m: m.reduce_xor(INT, (0,)), lambda m: m.reduce_xor(BOOL, (1,))],
    "reduce_window": [
        *(lambda m, f=name: pooled(m, f, (1, 1, 2, 2), (1, 1, 2, 2)) for name in ("add", "mul", "max", "min")),
        *(lambda m, f=name: pooled(m, f, (1, 1, 3, 3), (1, 1, 2, 1), "SAME") for name in ("add", "max")),
        lambda m: pooled(m, "max", (1, 1, 3, 2), (1, 1, 2, 2), "SAME_LOWER"),
        lambda m: pooled(m, "add", (1, 1, 2, 3), None, ((0, 0), (0, 0), (-1, 2), (1, 0)), (1, 1, 2, 1), (1, 1, 1, 2)),
        lambda m: m.reduce_window(F, np.float32(1), m.add, (2, 2), (1, 1), "SAME"),
        lambda m: m.reduce_window(F, np.float32(0), absmax(m), (2, 3), (1, 2), "SAME"),
        lambda m: m.reduce_window(
            (F, INT), (np.float32(-np.inf), np.int32(-1)), argmax_pair(m), (1, 2), (1, 2), ((0, 0), (1, 0))
        ),
        lambda m: m.reduce_window(INT, np.int32(np.iinfo(np.int32).min), m.max, (2, 2)),
        lambda m: m.reduce_window(Z, np.complex64(0), m.add, (2, 2)),
        *(lambda m, f=name: m.reduce_window(F, np.float32(0.3), getattr(m, f), (2, 2), (1, 2), "SAME")
          for name in ("mul", "max", "min")),
        lambda m: m.reduce_window(BOOL, np.bool_(False), m.bitwise_or, (2, 3), (1, 2), "SAME"),
        lambda m: m.reduce_window(BOOL, np.bool_(True), m.bitwise_and, (2, 3), (1, 2), "SAME"),
        lambda m: m.reduce_window(BOOL, np.bool_(True), m.bitwise_or, (2, 3)),
        lambda m: m.reduce_window(INT, np.int32(-1), m.bitwise_and, (2, 3), (1, 2), ((1, 0), (0, 1))),
        lambda m: m.reduce_window(IMAGES, np.float32(0), absmax(m), (1, 1, 3, 2), (1, 1, 2, 1), "SAME"),
        lambda m: m.reduce_window(LAST, np.float32(0), absmax(m), (1, 2, 2, 1), (1, 2, 2, 1)),
    ],
    "reduce_window_shape_tuple": [
        lambda m: np.array(m.reduce_window_shape_tuple((7, 6), (3, 2), (2, 1), ((1, 0), (0, 2)), (1, 2), (2, 1))),
    ],
    "padtype_to_pads": [
        lambda m, p=p: np.array(m.padtype_to_pads((7, 6), (3, 2), (2, 2), p)) for p in ("SAME", "SAME_LOWER", "VALID")
    ],
    "conv": [lambda m: m.conv(IMAGES, KERNEL, (1, 2), "SAME"), lambda m: m.conv(SIGNALS, FILTER, (1,), "VALID")],
    "conv_with_general_padding": [
        lambda m: m.conv_with_general_padding(IMAGES, KERNEL, (1, 1), ((1, 2), (-1, 0)), (2, 1), (1, 2))
    ],
    "conv_general_dilated": [
        lambda m: m.conv_general_dilated(LAST, KERNEL_LAST, (1, 1), "SAME", dimension_numbers=NHWC),
        lambda m: m.conv_general_dilated(
            LAST, KERNEL_LAST, (2, 1), "VALID", rhs_dilation=(2, 1), dimension_numbers=NHWC
        ),
        lambda m: m.conv_general_dilated(SIGNALS, FILTER[:, :2], (1,), "SAME", feature_group_count=2),
        lambda m: m.conv_general_dilated(SIGNALS, FILTER, (1,), [(0, 3)], batch_group_count=2),
        lambda m: m.conv_general_dilated(IMAGES, KERNEL[:4, :1], (1, 1), "SAME", feature_group_count=4),
        lambda m: m.conv_general_dilated(VOLUME, CUBES, (1, 2, 1), "SAME"),
        lambda m: m.conv_general_dilated(LAST, KERNEL, (1, 1), "SAME", dimension_numbers=("NHWC", "OIHW", "CWHN")),
        lambda m: m.conv_general_dilated(LAST, KERNEL, (1, 2), "SAME", dimension_numbers=("NHWC", "OIWH", "NWHC")),
        lambda m: m.conv_general_dilated(
            I8[None], I8[None, :, :2], (1,), "VALID", preferred_element_type=np.int32, precision="highest"
        ),
        lambda m: m.conv_general_dilated(F, F[:2], (), ()),
        lambda m: m.conv_general_dilated(Z[None], Z[None, :, :2], (1,), "SAME"),
    ],
    "conv_general_dilated_patches": [
        lambda m: m.conv_general_dilated_patches(IMAGES, (3, 2), (2, 1), "SAME"),
        lambda m: m.conv_general_dilated_patches(LAST, (3, 2), (1, 1), "VALID", dimension_numbers=NHWC),
    ],
    "conv_general_dilated_local": [
        lambda m: m.conv_general_dilated_local(SIGNALS, LOCAL, (1,), "VALID", (3,)),
        lambda m: m.conv_general_dilated_local(
            LAST, np.linspace(0, 1, 5 * 5 * 24 * 2, dtype=np.float32).reshape(5, 5, 24, 2), (1, 1), "VALID", (3, 2),
            dimension_numbers=NHWC,
        ),
    ],
    "conv_transpose": [
        lambda m: m.conv_transpose(LAST, KERNEL_LAST, (2, 2), "SAME"),
        lambda m: m.conv_transpose(LAST, KERNEL_LAST, (2, 1), "VALID", rhs_dilation=(1, 2)),
        lambda m: m.conv_transpose(LAST, KERNEL_LAST, (1, 3), ((1, 2), (0, 1))),
        lambda m: m.conv_transpose(LAST, KERNEL_LAST, (2, 2), ((1, 1), (0, 1)), use_consistent_padding=True),
        lambda m: m.conv_transpose(
            LAST, KERNEL_LAST.transpose(0, 1, 3, 2).copy(), (2, 2), "SAME", transpose_kernel=True
        ),
        lambda m: m.conv_transpose(SIGNALS, FILTER, (2,), "SAME", dimension_numbers=("NCH", "OIH", "NCH")),
    ],
    "conv_dimension_numbers": [
        lambda m: np.array(m.conv_dimension_numbers(LAST.shape, KERNEL_LAST.shape, NHWC)),
        lambda m: np.array(m.conv_dimension_numbers(LAST.shape, KERNEL_LAST.shape, None)),
    ],
    "conv_general_permutations": [lambda m: np.array(m.conv_general_permutations(("NHWC", "WHIO", "CHWN")))],
    "conv_shape_tuple": [lambda m: np.array(m.conv_shape_tuple(IMAGES.shape, KERNEL.shape, (1, 2), "SAME"))],
    "conv_general_shape_tuple": [
        lambda m: np.array(m.conv_general_shape_tuple(LAST.shape, KERNEL_LAST.shape, (2, 1), ((0, 1), (2, 2)), NHWC))
    ],
    "conv_transpose_shape_tuple": [
        lambda m, p=p: np.array(m.conv_transpose_shape_tuple(LAST.shape, KERNEL_LAST.shape, (2, 3), p, NHWC))
        for p in ("SAME", "VALID", ((1, 2), (0, 1)))
    ],
    "dot_general": [
        lambda m: m.dot_general(CUBE, CUBE, (((0, 2), (0, 2)), ((), ()))),
        lambda m: m.dot_general(CUBE, CUBE, (((2,), (2,)), ((1, 0), (1, 0)))),
        lambda m: m.dot_general(I8, I8, (((1,), (1,)), ((), ())), preferred_element_type=np.int32),
        lambda m: m.dot_general(I8, I8, (((1,), (1,)), ((), ())), preferred_element_type=np.float32),
        lambda m: m.dot_general(F, F, (((1,), (1,)), ((), ())), precision=m.Precision.HIGHEST),
        lambda m: m.dot_general(F, F, (((1,), (1,)), ((), ())), precision=(m.Precision.HIGH, m.Precision.DEFAULT)),
        lambda m: m.dot_general(F, F, (((1,), (1,)), ((), ())), precision="float32"),
    ],
    "dot": [
        lambda m: m.dot(F, F.T),
        lambda m: m.dot(CUBE, CUBE, dimension_numbers=(((2,), (2,)), ((0,), (0,)))),
        lambda m: m.dot(F[0], F[1], preferred_element_type=np.float32),
    ],
    "batch_matmul": [lambda m: m.batch_matmul(CUBE, CUBE.transpose(0, 2, 1))],
    "ragged_dot": [lambda m: m.ragged_dot(EXAMPLES, EXPERTS, GROUPS)],
    "ragged_dot_general": [
        lambda m: m.ragged_dot_general(
            EXAMPLES, EXPERTS, GROUPS, m.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
        ),
        lambda m: m.ragged_dot_general(
            EXAMPLES, EXAMPLES, GROUPS, m.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
        ),
    ],
    "top_k": [
        lambda m: m.top_k(F, 3),
        lambda m: m.top_k(TIES, 2),
        lambda m: m.top_k(F, 2, axis=0),
        lambda m: m.top_k(np.float32([1, np.nan, np.inf, -np.inf, 3]), 4),
        lambda m: m.top_k(np.arange(900, dtype=np.float32) % 31, 40),
    ],
    "approx_max_k": [lambda m: m.approx_max_k(F, 2), lambda m: m.approx_max_k(F, 2, reduction_dimension=0)],
    "approx_min_k": [lambda m: m.approx_min_k(F, 2), lambda m: m.approx_min_k(F, 5, recall_target=0.9)],
}  # fmt: skip


# jax's conventions of padding, shapes and names, and what is composed of them: no other package has these.
OF_JAX = {
    *("conv_dimension_numbers", "conv_general_permutations", "conv_general_shape_tuple", "conv_general_dilated_local"),
    *("conv_shape_tuple", "conv_transpose", "conv_transpose_shape_tuple", "padtype_to_pads", "ragged_dot_general"),
    "reduce_window_shape_tuple",
}


@pytest.mark.parametrize(("name", "number"), [(n, i) for n, cases in sorted(CASES.items()) for i in range(len(cases))])
def test_function(name, number):
    case = CASES[name][number]
    if name not in OF_JAX:
        check(case, 1e-5, 1e-5)
        return
    for a, b in zip(leaves(case(ours)), leaves(case(theirs)), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_traced_initial_values():
    """An initial value that is known only in a call, and its derivative."""

    def pooled(init):
        return ours.reduce_window(F, init, ours.add, (1, 5)).sum() + 2 * ours.reduce(F, init, ours.add, (0,)).sum()

    value, slope = pc.jit(pc.value_and_grad(pooled))(np.float32(3))
    np.testing.assert_allclose(value, 3 * F.sum() + 39, rtol=1e-5)
    assert slope == 13


def test_reductions_are_recognized():
    """Known operations are one primitive, whatever the initial value."""
    for init in (np.bool_(False), np.bool_(True)):
        assert "reduce_or" in str(pc.make_jaxpr(lambda x, i=init: ours.reduce(x, i, ours.bitwise_or, (0,)))(BOOL))
    window = str(pc.make_jaxpr(lambda x: ours.reduce_window(x, np.float32(0), ours.max, (2, 2)))(F))
    assert "reduce_window_max" in window
    assert window.count(" max ") == 1


def test_scaled_dot():
    left, right = rng.normal(size=(4, 8)).astype(np.float32), rng.normal(size=(8, 6)).astype(np.float32)
    scales = np.float32([[1, 2]] * 4), np.float32([[1] * 6, [3] * 6, [2] * 6, [1] * 6])
    got = ours.scaled_dot(left, right, lhs_scale=scales[0], rhs_scale=scales[1], preferred_element_type=np.float32)
    want = (left * np.repeat(scales[0], 4, 1)) @ (right * np.repeat(scales[1], 2, 0))
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)
    assert ours.scaled_dot(left, right).dtype == pc.numpy.bfloat16
    with pytest.raises(TypeError, match=r"the scale f32\[4,3\] does not fit axis 1 of lhs f32\[4,8\]"):
        ours.scaled_dot(left, right, lhs_scale=np.ones((4, 3), np.float32))


# Derivatives, in both modes, of functions that are not linear or have special transposes.

X = np.float32([[1, 3, 3, -2, 0, 4], [2, 2, 2, 0, 0, 1]])
TILT = np.linspace(0, 0.1, 6, dtype=np.float32)  # so that the order of equal elements does not matter
DIFFERENTIATED = {
    "cumsum": lambda m, x: m.cumsum(x, 1, True),
    "cumprod": lambda m, x: m.cumprod(x, 1),
    "cumprod reversed": lambda m, x: m.cumprod(x, 1, True),
    "cummax": lambda m, x: m.cummax(x, 1),
    "cummin": lambda m, x: m.cummin(x, 1, True),
    "cumlogsumexp": lambda m, x: m.cumlogsumexp(x, 1),
    "max pool": lambda m, x: m.reduce_window(x, np.float32(-np.inf), m.max, (2, 2), (1, 2), "SAME"),
    "min pool": lambda m, x: m.reduce_window(x, np.float32(np.inf), m.min, (1, 3)),
    "sum pool": lambda m, x: m.reduce_window(
        x, np.float32(0), m.add, (2, 2), (1, 2), ((1, 0), (-1, 1)), (1, 2), (1, 2)
    ),
    "top_k": lambda m, x: m.top_k(x, 2)[0],
    "reduce": lambda m, x: m.reduce(x + TILT, np.float32(0), absmax(m), (1,)),
    "image": lambda m, x: m.conv_general_dilated(
        IMAGES * x[0, 0], KERNEL, (2, 1), ((1, 0), (-1, 2)), (1, 2), (2, 1)
    ),
    "kernel": lambda m, x: m.conv_general_dilated(LAST, KERNEL_LAST * x[1, 1], (2, 1), "SAME", dimension_numbers=NHWC),
    "groups": lambda m, x: m.conv_general_dilated(
        SIGNALS * x[0, 1], FILTER[:, :2] * x[0, 2], (2,), "SAME", feature_group_count=2
    ),
    "batch groups": lambda m, x: m.conv_general_dilated(
        SIGNALS * x[0, 1], FILTER * x[0, 2], (2,), "SAME", batch_group_count=2
    ),
}  # fmt: skip


# Where elements are equal there is no slope: how they share it is jax's.
HAVE_TIES = {"cummax", "cummin", "max pool", "min pool", "top_k"}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradient(name):
    function = DIFFERENTIATED[name]
    weights = np.cos(np.arange(np.asarray(function(plain.lax, X)).size, dtype=np.float32))

    def total(m):
        return lambda x: (function(m, x).reshape(-1) * weights).sum()

    want = jax.grad(total(theirs))(X) if name in HAVE_TIES else gradient(total(plain.lax), X)
    np.testing.assert_allclose(np.asarray(pc.grad(total(ours))(X)), np.asarray(want), rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("which", [(0, None), (None, 0), (0, 0)], ids=str)
@pytest.mark.parametrize("groups", [{}, {"feature_group_count": 2}, {"batch_group_count": 2}], ids=str)
def test_convolutions_of_a_batch(which, groups):
    left, right = SIGNALS[:, :4], FILTER[:, : 2 if "feature_group_count" in groups else 4]
    args = [np.stack([x, 2 * x, x - 1]) if d == 0 else x for x, d in zip((left, right), which, strict=True)]

    def convolve(m):
        return lambda x, w: m.conv_general_dilated(x, w, (1,), "SAME", **groups)

    want = [convolve(plain.lax)(*(x[i] if d == 0 else x for x, d in zip(args, which, strict=True))) for i in range(3)]
    np.testing.assert_allclose(np.asarray(pc.vmap(convolve(ours), which)(*args)), want, rtol=1e-5, atol=1e-5)


def test_vocabulary():
    assert ours.Precision("highest") is ours.Precision.HIGHEST
    assert repr(ours.Precision.HIGH) == repr(theirs.Precision.HIGH)
    assert [p.name for p in ours.DotAlgorithmPreset] == [p.name for p in theirs.DotAlgorithmPreset]
    assert [r.name for r in ours.RoundingMethod] == [r.name for r in theirs.RoundingMethod]
    assert [a.name for a in ours.AccuracyMode] == [a.name for a in theirs.AccuracyMode]
    assert ours.DotAlgorithm._fields == theirs.DotAlgorithm._fields
    assert ours.ConvDimensionNumbers._fields == theirs.ConvDimensionNumbers._fields
    assert ours.Tolerance(rtol=1e-3).rtol == 1e-3
    assert ours.DotDimensionNumbers
    assert ours.PrecisionLike
    assert ours.ConvGeneralDilatedDimensionNumbers
    with pytest.raises(ValueError, match="one of atol, rtol and ulps"):
        ours.Tolerance()
    half = F.astype(np.float16)
    algorithm = ours.DotAlgorithm(np.float16, np.float16, np.float32)
    for precision in (algorithm, ours.DotAlgorithmPreset.F16_F16_F32, "F16_F16_F32"):
        assert ours.dot(half, half.T, precision=precision).dtype == np.float16


def test_errors():
    with pytest.raises(ValueError, match=r"dot: precision must be None, .* got 'sloppy'"):
        ours.dot(F, F.T, precision="sloppy")
    with pytest.raises(
        ValueError, match=r"dot_general: contracting dimensions differ: f32\[3,5\] @ f32\[3,5\] \(5 vs 3\)"
    ):
        ours.dot_general(F, F, (((1,), (0,)), ((), ())))
    with pytest.raises(TypeError, match="preferred_element_type int8 is narrower than int32"):
        ours.dot_general(INT, INT, (((1,), (1,)), ((), ())), preferred_element_type=np.int8)
    with pytest.raises(TypeError, match="products of float32 can't be given as int32"):
        ours.dot_general(F, F, (((1,), (1,)), ((), ())), preferred_element_type=np.int32)
    with pytest.raises(ValueError, match=r"cumsum: axis 2 is out of range for an array of 2 dimensions"):
        ours.cumsum(F, 2)
    with pytest.raises(TypeError, match=r"cumlogsumexp: takes float arrays, got i32\[3,5\]"):
        ours.cumlogsumexp(INT)
    with pytest.raises(ValueError, match=r"top_k: k = 6 is not in 0..5, the size of axis 1 of f32\[3,5\]"):
        ours.top_k(F, 6)
    with pytest.raises(
        ValueError, match=r"features differ: lhs f32\[2,4,9\] has 4 in 1 group\(s\), rhs f32\[6,2,3\] takes 2"
    ):
        ours.conv(SIGNALS, FILTER[:, :2], (1,), "SAME")
    with pytest.raises(ValueError, match="padding must be VALID, SAME, SAME_LOWER or a sequence"):
        ours.conv_general_dilated(SIGNALS, FILTER, (1,), [3])
    with pytest.raises(RuntimeError, match="padding must be VALID, SAME or SAME_LOWER, got 'FULL'"):
        ours.conv(SIGNALS, FILTER, (1,), "FULL")
    with pytest.raises(ValueError, match="does not define a transposed convolution"):
        ours.conv_general_dilated(SIGNALS, FILTER, (1,), "SAME", (2,))
    np.testing.assert_allclose(ours.reduce(F, np.int32(0), ours.add, (0,)), F.sum(0), rtol=1e-6)
    with pytest.raises(TypeError, match=r"needs as many entries as dimensions: got window_dimensions \(2,\)"):
        ours.reduce_window(F, np.float32(0), ours.add, (2,))
    with pytest.raises(TypeError, match=r"dimension_numbers\[1\] must have 'O' and 'I' once"):
        ours.conv_dimension_numbers(LAST.shape, KERNEL.shape, ("NHWC", "HWIX", "NHWC"))


def test_top_k_of_nans_and_zeros():
    x = np.float32([1, np.nan, -np.nan, np.inf, -0.0, 0.0])
    for values, places in (ours.top_k(x, 6), pc.jit(lambda x: ours.top_k(x, 6))(x)):
        np.testing.assert_array_equal(places, [1, 2, 3, 0, 4, 5])
        np.testing.assert_array_equal(values, x[np.asarray(places)])


def test_denormals_are_kept():
    x = np.float32([1e-40, -3e-45])
    for out in (pnp.asarray(x) * 2, pc.jit(lambda x: x * 2)(x)):
        np.testing.assert_array_equal(out, x * 2)
    np.testing.assert_allclose(pnp.exp(np.float32(-95)), np.exp(np.float32(-95)), rtol=0.1)


@pytest.mark.parametrize(
    ("shapes", "contracted", "ragged", "groups", "text"),
    [
        (((3, 4), (2, 4, 5), (2,)), ([1], [1]), 2, [0], "the ragged dimension 2 is not one of"),
        (((11, 3), (3, 3, 7), (3,)), ([1], [1]), 0, [1], "neither contracted nor a batch dimension, got 1"),
        (((11, 5), (3, 5, 7), (2,)), ([1], [1]), 0, [0], "rhs has 3 groups, and group_sizes 2"),
        (((11, 5), (3, 5, 7), (3,)), ([1], [1]), 1, [0], "is a contracting one, rhs has 0 group dimensions"),
        (((11, 5), (5, 7), (3,)), ([1], [0]), 0, [], "is a free one, rhs has 1 group dimensions"),
    ],
)
def test_groups_that_do_not_fit(shapes, contracted, ragged, groups, text):
    numbers = ours.RaggedDotDimensionNumbers((contracted, ([], [])), [ragged], groups)
    lhs, rhs, sizes = np.ones(shapes[0], "f"), np.ones(shapes[1], "f"), np.ones(shapes[2], np.int32)
    with pytest.raises(TypeError, match=text):
        ours.ragged_dot_general(lhs, rhs, sizes, numbers)
