"""The benchmark cases: all sizes, dtypes, variants and bars. The computations are in the files of the families.

A bar is the maximum ratio of our time to the better time of NumPy and jax; see library.py.
"""

from __future__ import annotations

from collections.abc import Callable

import loops
from library import Case, Library, Tree

from cases import contraction, dynamic, elementwise, linalg, programs, reduction, stencils, windows

MILLION = 1 << 20
SQUARE = (1024, 1024)
ROWS = (SQUARE, (1000, 1003), (32768, 128))
MLP = (784, 512, 512, 10)

# Bars for the geometric mean of a group's ratios, in addition to the bar of each case.
GROUPS = {programs.PROGRAMS: 0.8}
# With more than one thread, this is the only bar, for each case.
THREADS_BAR = 1.1

ELEMENTWISE = (
    elementwise.gelu(MILLION, bar=0.55),
    elementwise.black_scholes("Black-Scholes 1M f32", MILLION, bar=0.55),
    elementwise.waves("sin(x)*cos(y)+exp(-x*x) 1M f32", MILLION, bar=0.55),
    *(
        elementwise.function(name, 1 << 18, dtype)
        for name in ("exp", "log", "sin", "tanh")
        for dtype in ("float32", "float64")
    ),
)

REDUCTION = (
    *(reduction.softmax(shape, bar=0.65) for shape in ROWS),
    *(reduction.logsumexp(shape, bar=0.65) for shape in ROWS),
    *(reduction.layernorm(shape, bar=0.5) for shape in ROWS),
    reduction.reduction("sum", (MILLION,), None, bar=0.3),
    reduction.reduction("var", (MILLION,), None, bar=0.3),
    *(reduction.reduction("sum", SQUARE, axis, bar=0.6) for axis in (0, 1)),
    *(reduction.reduction("argmax", SQUARE, axis, bar=0.1) for axis in (0, 1)),
    reduction.product_sum(SQUARE),
    reduction.transpose_add(SQUARE, bar=0.75),
)

ORDER = (
    reduction.cumsum(MILLION, bar=1.03),
    *(
        reduction.sorting(name, 10**6, dtype, bar=1.03)
        for name in ("sort", "argsort")
        for dtype in ("float32", "int32")
    ),
    reduction.top_k(MILLION, 64, bar=1.03),
)

WINDOWS = (
    windows.pooling("NCHW", "max", 2, 2, bar=0.6),
    # Here jax reads at the speed of memory.
    windows.pooling("NHWC", "max", 2, 2, bar=0.85),
    windows.pooling("NHWC", "mean", 2, 2, bar=0.85),
    *(windows.pooling(layout, "max", 3, 2, "SAME", bar=0.6) for layout in windows.LAYOUTS),
    *(windows.pooling(layout, "mean", 3, 1, "SAME", bar=0.6) for layout in windows.LAYOUTS),
    windows.pooling("NHWC", "max", 5, 1, "SAME", bar=0.6),
    *(windows.pooling(layout, "max", 2, 2, gradient=True, bar=0.6) for layout in windows.LAYOUTS),
    windows.pooling("NHWC", "max", 3, 2, "SAME", gradient=True, bar=0.6),
    *(windows.pooling(layout, "mean", 2, 2, gradient=True, bar=0.6) for layout in windows.LAYOUTS),
    windows.moving("max", MILLION, 8, bar=0.6),
    windows.moving("sum", MILLION, 64, bar=0.6),
)

STENCILS = tuple(
    case
    for dtype in ("float64", "float32")
    for case in (
        stencils.averages(4000, 400, dtype, bar=0.6),
        stencils.averages(1001, 400, dtype, bar=0.6),
        stencils.five_points(150, 25, dtype, bar=0.6),
        stencils.fields(200, 220, 40, dtype, bar=0.6),
        stencils.diffusion((64, 64, 60), dtype, bar=0.6),
        stencils.diffusion((128, 128, 160), dtype, bar=0.6),
        stencils.rank_two(1000, dtype, bar=0.6),
        stencils.last_axis((60, 64, 70), dtype, bar=0.6),
        stencils.periodic((4001,), 100, dtype, bar=0.6),
        stencils.periodic((150, 150), 50, dtype, bar=0.6),
        stencils.periodic((32, 33, 35), 20, dtype, bar=0.6),
        stencils.padded((151, 150), 25, "constant", dtype, bar=0.6),
        stencils.padded((31, 33, 35), 10, "edge", dtype, bar=0.6),
        stencils.seawater((128, 128, 26), dtype, bar=0.6),
        stencils.gradient(301, dtype, bar=0.6),
        stencils.gradient_of_steps(151, 8, dtype, bar=0.6),
    )
)
# The same at 4 and 16 times the size.
LARGE_STENCILS = tuple(
    case
    for k in (2, 4)
    for case in (
        stencils.averages(4000 * k * k, 400 // k**2, bar=0.6),
        stencils.five_points(150 * k, 25, bar=0.6),
        stencils.fields(200 * k, 220 * k, 40 // k, bar=0.6),
        stencils.diffusion((64 * k, 64 * k, 60), bar=0.6),
        stencils.rank_two(1000 * k, bar=0.6),
        stencils.last_axis((60 * k, 64 * k, 70), bar=0.6),
        stencils.periodic((150 * k, 150 * k), 48 // k, bar=0.6),
        stencils.seawater((128 * k, 128 * k, 26), bar=0.6),
        stencils.gradient(301 * k, bar=0.6),
    )
)

# (m, k, n)
PRODUCTS = (*((n, n, n) for n in (64, 128, 256, 512, 1000, 1024)), (1, 4096, 4096), (4096, 64, 4096))
CONTRACTION = (
    *(contraction.matmul(m, k, n, bar=1.03) for m, k, n in PRODUCTS),
    *(contraction.matmul(n, n, n, bar=1.03, dtype="float64") for n in (512, 1024)),
    *(contraction.matmul(n, n, n, dtype="bfloat16") for n in (256, 1024)),
    contraction.batched(64, 64, bar=1.03),
    contraction.dense(64, bar=0.5),
    contraction.dense(1000, bar=0.99),
    contraction.convolution((8, 32, 56, 56), 64, bar=1.03),
    contraction.depthwise((8, 32, 56, 56), bar=1.03),
)
# Each run takes seconds, so these cases are last.
LARGE = tuple(contraction.matmul(n, n, n, bar=1.03) for n in (2048, 4096))

PROGRAMS = (
    programs.covariance(1000, bar=1.03),
    # This measures a call more than a program, so the mean excludes it.
    programs.covariance(10, bar=1.03, group=""),
    programs.mlp_step(MLP, batch=128, bar=1.03),
    programs.gpt_block(width=256, heads=8, length=256, batch=4, bar=1.03),
    programs.resnet_step((16, 32, 64), batch=32, size=32, bar=1.03),
    programs.k_means(points=8192, features=16, centers=64, steps=10, bar=1.03),
    programs.wave(512, steps=100, bar=1.03),
    *loops.programs(bar=1.03, group=programs.PROGRAMS),
    elementwise.drawing("normal", 10**6, newer=False, bar=1.03, group=programs.PROGRAMS),
)

RANDOM = (
    elementwise.drawing("normal", 10**6, newer=True, bar=1.1),
    *(elementwise.drawing("uniform", 10**6, newer, bar=1.1) for newer in (False, True)),
)

SMALL_MATRICES = (
    *(linalg.small(name, 10_000, 4, bar=0.3) for name in ("cholesky", "solve", "inv")),
    *(linalg.small(name, 10_000, 3, dtype, bar=0.3) for name in ("eigh", "qr") for dtype in ("float32", "float64")),
    *(linalg.small(name, 10_000, 16, bar=0.6) for name in ("cholesky", "solve", "eigh", "qr")),
)

CASES: tuple[Case, ...] = (
    *ELEMENTWISE,
    *REDUCTION,
    *ORDER,
    *WINDOWS,
    *STENCILS,
    *SMALL_MATRICES,
    *CONTRACTION,
    *PROGRAMS,
    *RANDOM,
    *loops.LOOPS,
    *LARGE_STENCILS,
    *LARGE,
)

# Programs whose compilation is timed. The last three have Python loops.
COMPILED = (
    elementwise.add_one("x+1 1024x1024 f32", SQUARE),
    reduction.product_sum(SQUARE),
    elementwise.gelu(MILLION),
    reduction.softmax(SQUARE),
    programs.mlp_step(MLP, batch=128),
    programs.chain("sin, 200 times", (1000,), 200, lambda lib, x: lib.numpy.sin(x)),
    programs.chain("tanh(x @ x), 100 times", (128, 128), 100, lambda lib, x: lib.numpy.tanh(x @ x)),
    programs.gpt_step(layers=12, width=256, heads=8, length=256, batch=4, tokens=1024),
)
# Bars for the geometric mean of these ratios, and for each ratio with the disk cache.
COMPILE_BAR, LOAD_BAR = 0.35, 0.15

# Programs whose temporaries are compared. The bar is a multiple of jax's bytes plus bytes for each thread.
_USING_MEMORY = (*PROGRAMS, *COMPILED, *REDUCTION, *ORDER, *WINDOWS, *CONTRACTION)
MEASURED_MEMORY = tuple({case.name: case for case in _USING_MEMORY}.values())
MEMORY_BAR, MEMORY_OF_A_THREAD = 1.2, 2 << 20

# Programs that run at fifty sizes; jax compiles for each.
DYNAMIC = (
    dynamic.mlp_steps(MLP, sizes=tuple(range(1, 51))),
    dynamic.gpt_blocks(width=256, heads=8, sizes=tuple(16 + round(496 * k / 49) for k in range(50))),
)
SMALL_CALLS = dynamic.small_calls(sizes=tuple(range(1, 51)))
# The bars, in order: for the whole run relative to jax's, for the compilations with given and with detected dimensions,
# for the geometric mean of warm calls relative to those for one size, and for a small call relative to one for one
# size.
WHOLE_BAR, TOLD_BAR, AUTO_BAR, WARM_BAR, SMALL_BAR = 0.2, 1, 2, 1.15, 1.3


def warming() -> Case:
    """The program to compile first, to warm the process."""
    return reduction.reduction("sum", (100, 100), 0)


def compile_case(_: Library) -> Callable[..., Tree]:
    """The function whose tracing, compilation and loading is timed. It is new in each run, so that no cache has it."""
    return lambda x, y: (x * y + 1).sum()
