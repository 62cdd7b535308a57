"""Families of functions with sizes that each call decides: the results of the same function with fixed sizes.

The bounds of the symbols leave the order of sizes open here: `x[:5]` of n elements, `m // n`, a window beside an array.
"""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend.tracing import max_dim
from pycompiler.scipy import fft as sfft
from pycompiler.scipy import signal

N, M, SQUARE, CHANNELS = ("n",), ("m",), ("n", "m"), (2, "n", 3)
LONG = (pc.Dim("n", min=2),)
# (n, m): equal, and each the larger one.
SIZES = ((1, 2), (2, 1), (5, 3), (8, 8), (3, 7), (4, 4))
DIMENSIONS = ("NWC", "WIO", "NWC")


def spread(x):
    """Complex numbers of real ones."""
    return x + 1j * x[..., ::-1]


def conv(stride, padding):
    return lambda x, k: lax.conv_general_dilated(x, k, (stride,), padding, dimension_numbers=DIMENSIONS)


def pool(stride, padding):
    return lambda x: (
        lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, stride), padding),
        lax.reduce_window(x, -np.inf, lax.max, (2, 2), (stride, stride), padding),
    )


# By name: the function, and the shapes of its arguments.
SLICES = {
    "head": (lambda x: x[:5], SQUARE),
    "tail": (lambda x: (x[3:], x[-3:], x[:, 2:5]), SQUARE),
    "steps": (lambda x: (x[1::3], x[:7:2], x[6:1:-2], x[5::-1]), SQUARE),
    "parts": (lambda x: pnp.concatenate([x[4:], x[:4]]), SQUARE),
    "halves": (lambda x: (x[: x.shape[0] // 2], x[x.shape[0] // 2 :]), SQUARE),
    "shorter": (lambda x, y: x[: y.shape[0]] * y.sum(), N, M),
    "set": (lambda x: x.at[2:5, :1].set(7.0).at[-2:].add(1.0), SQUARE),
    "gradient": (pc.grad(lambda x: (x[2:5] ** 2).sum() + x[:3].sum()), SQUARE),
    "mapped": (pc.vmap(lambda row: row[:3] * 2), SQUARE),
    "last": (lambda x: lax.dynamic_index_in_dim(x, -1, 0), SQUARE),
    "block": (lambda x: lax.dynamic_slice_in_dim(x, 1, x.shape[0] // 2), SQUARE),
    "differences": (lambda x: (pnp.diff(x, n=2, axis=0), pnp.diff(x, n=3)), SQUARE),
    "sums": (lambda x: (pnp.cumsum(x[1:4], axis=0), x[:4].sum(0), x[5:].max(0, initial=0.0)), SQUARE),
    "sorted": (lambda x: (pnp.sort(x[:4], axis=0), pnp.argsort(x[2:], axis=0)), SQUARE),
    "padded": (lambda x: pnp.pad(x, ((0, max_dim(x.shape[0], 4) - x.shape[0]), (1, 0))), SQUARE),
    "products": (lambda x, y: x[:4].T @ y[:4], SQUARE, ("n", 3)),
    "loop": (lambda x: lax.fori_loop(0, x[:3].shape[0], lambda i, c: c + x[i], pnp.zeros(x.shape[1])), SQUARE),
    "scan": (lambda x: lax.scan(lambda c, row: (c + row, c * row), pnp.ones(x.shape[1]), x[:3]), SQUARE),
}
QUOTIENTS = {
    "quotient": (lambda x, y: pnp.zeros(x.shape[0] // y.shape[0]), N, M),
    "rest": (lambda x, y: x[: x.shape[0] % y.shape[0]] + y.sum(), N, M),
    "groups": (
        lambda x, y: x[: x.shape[0] // y.shape[0] * y.shape[0]].reshape(-1, y.shape[0]).sum(1),
        N,
        M,
    ),
    "batches": (lambda x: lax.map(lambda row: row * row.sum(), x, batch_size=3), SQUARE),
    "beyond": (lambda x, y: pnp.arange((x.shape[0] - 1) // (y.shape[0] + 1)), N, M),
}
WINDOWS = {
    **{f"conv {padding} {stride}": (conv(stride, padding), CHANNELS, (2, 3, 4))
       for padding in ("SAME", "SAME_LOWER") for stride in (1, 2, 3)},
    **{f"pool {padding} {stride}": (pool(stride, padding), SQUARE)
       for padding in ("SAME", "SAME_LOWER") for stride in (1, 2, 3)},
    "conv of two sizes": (
        lambda x, k: conv(1, [(k.shape[0] - 1, k.shape[0] - 1)])(x, k), CHANNELS, ("m", 3, 4)
    ),
    "gradient": (pc.grad(lambda k, x: (conv(2, "SAME")(x, k) ** 2).sum()), (2, 3, 4), CHANNELS),
    **{f"{function.__name__} {mode}": (functools.partial(function, mode=mode), N, M)
       for function in (pnp.convolve, pnp.correlate) for mode in ("full", "same", "valid")},
    "three": (lambda x, y: (pnp.convolve(x, y, mode="same"), pnp.correlate(x, y, mode="valid")), N, (3,)),
    "signal": (lambda x, y: (signal.convolve(x, y), signal.correlate(x, y, mode="same")), N, M),
    "plane": (lambda x, y: signal.convolve2d(x, y, mode="same"), SQUARE, (2, 3)),
}  # fmt: skip
TRANSFORMS = {
    "fft": (lambda x: (pnp.fft.fft(spread(x)), pnp.fft.ifft(x), pnp.fft.fft(spread(x), axis=0)), SQUARE),
    "rfft": (lambda x: (pnp.fft.rfft(x), pnp.fft.ihfft(x), pnp.fft.irfft(pnp.fft.rfft(x), x.shape[-1])), SQUARE),
    "irfft": (lambda x: (pnp.fft.irfft(spread(x)), pnp.fft.hfft(spread(x))), LONG),
    "several": (
        lambda x: (pnp.fft.fft2(spread(x)), pnp.fft.rfftn(x), pnp.fft.irfft2(pnp.fft.rfft2(x), x.shape)), SQUARE
    ),
    "lengths": (
        lambda x: (pnp.fft.fft(spread(x), 4), pnp.fft.rfft(x, 6), pnp.fft.fft(x, 2 * x.shape[0], axis=0)), SQUARE
    ),
    "norms": (lambda x: [pnp.fft.rfft(x, norm=norm) for norm in ("ortho", "forward")], SQUARE),
    "inverse norms": (lambda x: [pnp.fft.ifft(x, norm=norm) for norm in ("ortho", "forward")], SQUARE),
    "frequencies": (lambda x: (pnp.fft.fftfreq(x.shape[0], 0.5), pnp.fft.rfftfreq(x.shape[0])), N),
    "shifts": (lambda x: (pnp.fft.fftshift(x), pnp.fft.ifftshift(x)), SQUARE),
    "gradient": (
        lambda x: (
            pc.grad(lambda x: abs(pnp.fft.rfft(x)).sum())(x),
            pc.grad(lambda x: (pnp.fft.irfft(pnp.fft.rfft(x) * 2, x.shape[-1]) ** 2).sum())(x),
            pc.grad(lambda x: abs(pnp.fft.fft(x)).sum())(x),
        ),
        SQUARE,
    ),
    "mapped": (pc.vmap(pnp.fft.rfft), SQUARE),
    "cosine": (lambda x: (sfft.dct(x), sfft.idct(x, norm="ortho"), sfft.dctn(x, norm="ortho")), SQUARE),
    "convolution": (lambda x, y: (signal.fftconvolve(x, y), signal.fftconvolve(x, y, mode="same")), N, M),
}  # fmt: skip
MATRICES = {
    "qr": (lambda x: abs(pnp.linalg.qr(x)[1]), SQUARE),
    "svd": (lambda x: pnp.linalg.svd(x, compute_uv=False), SQUARE),
    "lu": (lambda x: pc.scipy.linalg.lu(x), SQUARE),
    "diagonal": (lambda x: (pnp.diag(x), pnp.fill_diagonal(x, 3.0, inplace=False)), SQUARE),
}
FAMILIES = {
    "matrices": MATRICES,
    "slices": SLICES,
    "quotients": QUOTIENTS,
    "windows": WINDOWS,
    "transforms": TRANSFORMS,
}

CASES = [
    pytest.param(family, name, id=f"{family}-{name}") for family, functions in FAMILIES.items() for name in functions
]


def arrays(shapes, sizes):
    """Arrays of random numbers of these shapes."""
    rng = np.random.default_rng(0)
    known = [[size if isinstance(size, int) else sizes[str(size)] for size in shape] for shape in shapes]
    return [rng.standard_normal(shape).astype(np.float32) for shape in known]


@pytest.mark.parametrize(("family", "name"), CASES)
def test_results_are_those_of_fixed_sizes(family, name, counts):
    function, *shapes = FAMILIES[family][name]
    symbols = {
        place: tuple(None if isinstance(size, int) else size for size in shape) for place, shape in enumerate(shapes)
    }
    dynamic = pc.jit(function, dynamic=symbols)
    results = []
    for n, m in SIZES:
        if shapes[0] is LONG and n < 2:
            continue
        args = arrays(shapes, {"n": n, "m": m})
        results.append((args, dynamic(*args)))
    assert counts.compiled == 1
    assert len(results) >= len(SIZES) - 1
    for args, got in results:
        want = pc.jit(function)(*args)
        for one, other in zip(pc.tree.leaves(got), pc.tree.leaves(want), strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
