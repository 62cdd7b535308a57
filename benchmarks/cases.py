"""The benchmark cases: every size, dtype, variant and bar. What is computed stands in the files of the families.

A bar is the greatest ratio of our time and the better one of NumPy and jax that is asked for; library.py says more.
"""

from __future__ import annotations

from collections.abc import Callable

import cases_contraction as contraction
import cases_dynamic as dynamic
import cases_elementwise as elementwise
import cases_programs as programs
import cases_reduction as reduction
import loops
from library import Case, Library, Tree

MILLION = 1 << 20
SQUARE = (1024, 1024)
ROWS = (SQUARE, (1000, 1003), (32768, 128))
MLP = (784, 512, 512, 10)

# What is asked of the geometric mean of a group's ratios, besides the bar of each.
GROUPS = {programs.PROGRAMS: 0.8}
# With more than one thread nothing is asked but that no case is slower than this.
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
# Seconds a run; at the end.
LARGE = tuple(contraction.matmul(n, n, n, bar=1.03) for n in (2048, 4096))

PROGRAMS = (
    programs.covariance(1000, bar=1.03),
    # A call more than a program: no part of the mean.
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

CASES: tuple[Case, ...] = (*ELEMENTWISE, *REDUCTION, *ORDER, *CONTRACTION, *PROGRAMS, *RANDOM, *loops.LOOPS, *LARGE)

# Programs whose compilation is timed. The loops of the last three are Python's.
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
# What is asked of the geometric mean of these ratios, and of each where the disk cache has it.
COMPILE_BAR, LOAD_BAR = 0.35, 0.15

# Programs whose temporaries are compared: at most so many times jax's and so many bytes for each thread.
_USING_MEMORY = (*PROGRAMS, *COMPILED, *REDUCTION, *ORDER, *CONTRACTION)
MEASURED_MEMORY = tuple({case.name: case for case in _USING_MEMORY}.values())
MEMORY_BAR, MEMORY_OF_A_THREAD = 1.2, 2 << 20

# Programs that run at fifty sizes, each a compilation of jax's.
DYNAMIC = (
    dynamic.mlp_steps(MLP, sizes=tuple(range(1, 51))),
    dynamic.gpt_blocks(width=256, heads=8, sizes=tuple(16 + round(496 * k / 49) for k in range(50))),
)
SMALL_CALLS = dynamic.small_calls(sizes=tuple(range(1, 51)))
# What is asked of the whole run beside jax's, of the compilations told and found out, of the geometric mean of the
# warm calls beside those of one size, and of a small call beside one of one size.
WHOLE_BAR, TOLD_BAR, AUTO_BAR, WARM_BAR, SMALL_BAR = 0.2, 1, 2, 1.15, 1.3


def warming() -> Case:
    """What is compiled first, so that the process is warm."""
    return reduction.reduction("sum", (100, 100), 0)


def compile_case(_: Library) -> Callable[..., Tree]:
    """The function whose tracing, compilation and loading is timed; a new one each time, so that no cache knows it."""
    return lambda x, y: (x * y + 1).sum()
