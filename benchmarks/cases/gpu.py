"""The cases of `make bench-gpu`: cases of the families at sizes for a GPU, with their bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from library import Case, normal, uniform

from cases import contraction, elementwise, programs, reduction, scatter

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
    precision: str = "highest"
    libraries: str = "auto"


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


def _products() -> Iterator[Row]:
    """Square matmuls: generated kernels have 70% of the speed of cuBLAS, which torch calls; the library itself 97%."""
    tf32 = "tensorfloat32"
    for n in (4096, 8192):
        for name, dtype, precision in (
            ("f32", "float32", "highest"),
            ("tf32", "float32", tf32),
            ("bf16", "bfloat16", "highest"),
        ):
            case = replace(
                contraction.matmul(n, n, n, dtype=dtype),
                name=f"matmul {n} {name}",
                tolerance=2e-3 if name == "tf32" else 1e-2,
            )
            row = Row(case, against="torch", torch=lambda torch: torch.matmul, precision=precision)
            yield replace(row, case=replace(case, name=f"{case.name}, generated"), libraries="none", bar=1 / 0.7)
            yield replace(row, bar=1 / 0.97)


def _of_dtype(case: Case, dtype: str) -> Case:
    """The case with its f32 inputs in another type."""

    def inputs(rng: np.random.Generator) -> tuple[Any, ...]:
        cast = lambda x: x.astype(dtype) if x.dtype == np.float32 else x  # noqa: E731
        return jax.tree.map(cast, case.inputs(rng))

    return replace(case, name=case.name.replace(" f32", "") + f" {dtype}", inputs=inputs, tolerance=5e-2)


def _attention(torch: Any) -> Callable[..., Any]:
    def call(*heads: Any) -> Any:
        q, k, v = (x.transpose(1, 2) for x in heads)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2)

    return call


SCANS = (
    Row(
        replace(reduction.cumsum(1 << 26), name="cumsum 64M f32"),
        bar=1.0,
        torch=lambda torch: lambda x: torch.cumsum(x, 0),
    ),
    Row(
        Case(
            "cumsum of rows 8192x8192 f32",
            uniform(SQUARE),
            lambda lib: lambda x: lib.numpy.cumsum(x, axis=1),
            tolerance=1e-3,
        ),
        bar=1.0,
        torch=lambda torch: lambda x: torch.cumsum(x, 1),
    ),
    Row(
        replace(reduction.sorting("sort", 1 << 24, "float32"), name="sort 16M f32"),
        bar=1.0,
        torch=lambda torch: lambda x: torch.sort(x).values,
    ),
    Row(replace(reduction.sorting("argsort", 1 << 22, "int32"), name="argsort 4M i32"), bar=1.0),
    Row(replace(reduction.top_k(1 << 22, 64), name="top_k (64) 4M f32"), bar=1.0),
)

FFTS = tuple(
    row
    for name, shape, function in (
        ("fft 4096 x 4096", (4096, 4096), "fft"),
        ("fft2 4096 x 4096", (4096, 4096), "fft2"),
        ("fft 16M", (1 << 24,), "fft"),
    )
    for libraries in ("none", "auto")
    for row in [
        Row(
            Case(
                f"{name} c64" + (", generated" if libraries == "none" else ""),
                normal(shape, dtype="complex64"),
                lambda lib, function=function: lambda x: getattr(lib.numpy.fft, function)(x),
            ),
            bar=1.0,
            libraries=libraries,
        )
    ]
)

SCATTERS = tuple(
    Row(case, bar=1.0)
    for case in (
        scatter.embedding_gradient(32_768, 512, 65_536),
        scatter.bincount(1000, 1 << 24),
        scatter.replaced_rows(1 << 17, 256, 1 << 16),
    )
)

MLP = (784, 512, 512, 10)
PROGRAMS = (
    Row(programs.attention((8, 2048, 16, 64)), bar=1.0, precision="tensorfloat32", torch=_attention),
    Row(_of_dtype(programs.attention((8, 2048, 16, 64)), "bfloat16"), bar=1.0, torch=_attention),
    Row(programs.covariance(1000), bar=1.0),
    Row(programs.mlp_step(MLP, batch=128), bar=1.0),
    Row(programs.mlp_step((4096, 4096, 4096, 1024), batch=8192), bar=1.0, precision="tensorfloat32"),
    Row(programs.gpt_block(width=256, heads=8, length=256, batch=4), bar=1.0),
    Row(programs.gpt_block(width=1024, heads=16, length=1024, batch=8), bar=1.0, precision="tensorfloat32"),
    Row(_of_dtype(programs.gpt_block(width=1024, heads=16, length=1024, batch=8), "bfloat16"), bar=1.0),
    Row(programs.resnet_step((16, 32, 64), batch=32, size=32), bar=1.0),
    Row(programs.resnet_step((64, 128, 256), batch=128, size=32), bar=1.0, precision="tensorfloat32"),
)

ROWS = (*BOUND_BY_MEMORY, *_products(), *SCANS, *FFTS, *SCATTERS, *PROGRAMS)
# The maximum share of the time in which jax returns from a small jitted call, before the call is done.
ENQUEUE_BAR = 0.3
