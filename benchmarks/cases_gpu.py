"""The cases of `make bench-gpu`: cases of the families at sizes for a GPU, with their bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cases_contraction as contraction
import cases_elementwise as elementwise
import cases_programs as programs
import cases_reduction as reduction
import cases_scatter as scatter
from library import Case

# 256 MB of f32.
SQUARE = (8192, 8192)
BYTES = 4.0 * SQUARE[0] * SQUARE[1]


@dataclass(frozen=True)
class Row:
    """A case and its bar.

    `share` is the minimum share of the bandwidth of a copy, for at least `moved` bytes. `bar` is the maximum ratio to
    the time of `against`, a library. `torch` creates torch's function, for tensors on the GPU.
    """

    case: Case
    moved: float = 0.0
    share: float | None = None
    against: str = "jax"
    bar: float | None = None
    torch: Callable[[Any], Callable[..., Any]] | None = None


def _layernorm(torch: Any) -> Callable[..., Any]:
    return lambda x, scale, shift: torch.nn.functional.layer_norm(x, x.shape[-1:], scale, shift)


BOUND_BY_MEMORY = (
    Row(
        replace(elementwise.gelu(SQUARE[0] * SQUARE[1]), name="gelu (tanh) 64M f32"),
        2 * BYTES,
        0.85,
        torch=lambda torch: lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    ),
    Row(reduction.softmax(SQUARE), 2 * BYTES, 0.85, torch=lambda torch: lambda x: torch.softmax(x, -1)),
    Row(reduction.layernorm(SQUARE), 2 * BYTES, 0.85, torch=_layernorm),
    *(
        Row(
            reduction.reduction("sum", SQUARE, axis),
            BYTES,
            0.85,
            torch=lambda torch, axis=axis: lambda x: torch.sum(x) if axis is None else torch.sum(x, axis),
        )
        for axis in (None, 0, 1)
    ),
    Row(reduction.transpose_add(SQUARE), 3 * BYTES),
)

PRODUCTS = (
    # 70% of cuBLAS, which torch calls.
    Row(
        contraction.matmul(8192, 8192, 8192, dtype="bfloat16"),
        against="torch",
        bar=1 / 0.7,
        torch=lambda torch: torch.matmul,
    ),
    Row(contraction.matmul(4096, 4096, 4096), torch=lambda torch: torch.matmul),
)

SCATTERS = (
    Row(scatter.embedding_gradient(32_768, 512, 65_536)),
    Row(scatter.bincount(1000, 1 << 24)),
    Row(scatter.replaced_rows(1 << 17, 256, 1 << 16)),
)

PROGRAMS = (
    Row(programs.covariance(1000), bar=1.05),
    Row(programs.mlp_step((784, 512, 512, 10), batch=128), bar=1.05),
    Row(programs.gpt_block(width=256, heads=8, length=256, batch=4), bar=1.05),
)

ROWS = (*BOUND_BY_MEMORY, *PRODUCTS, *SCATTERS, *PROGRAMS)
# The maximum share of the time in which jax returns from a small jitted call, before the call is done.
ENQUEUE_BAR = 0.5
