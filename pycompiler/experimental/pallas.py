"""`pallas_call` and related names of JAX, for the kernels of `pycompiler.kernel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from typing import Any, ClassVar, Protocol

import numpy as np

from pycompiler.array.references import Ref, empty_ref
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.debug import print as debug_print
from pycompiler.kernel import (
    ANY,
    HOST,
    BlockDim,
    Blocked,
    BlockSpec,
    Buffered,
    CostEstimate,
    Element,
    GridSpec,
    MemoryRef,
    MemorySpace,
    RevisitMode,
    Slice,
    Squeezed,
    cdiv,
    debug_check,
    dot,
    ds,
    dslice,
    estimate_cost,
    kernel_call,
    loop,
    no_block_spec,
    num_programs,
    program_id,
    run_scoped,
    run_state,
    squeezed,
    when,
    with_scoped,
)
from pycompiler.lax.names import nearest_name
from pycompiler.numpy.creation import empty, empty_like
from pycompiler.numpy.movement import broadcast_to
from pycompiler.numpy.ufuncs import reciprocal as _reciprocal

__all__ = [
    "ANY",
    "HOST",
    "BlockDim",
    "BlockSpec",
    "Blocked",
    "Buffered",
    "CompilerParams",
    "CostEstimate",
    "Element",
    "GridSpec",
    "MemoryRef",
    "MemorySpace",
    "RevisitMode",
    "Slice",
    "Squeezed",
    "align_to",
    "broadcast_to",
    "cdiv",
    "debug_check",
    "debug_print",
    "dot",
    "ds",
    "dslice",
    "empty",
    "empty_like",
    "empty_ref_like",
    "estimate_cost",
    "loop",
    "multiple_of",
    "next_power_of_2",
    "no_block_spec",
    "num_programs",
    "pallas_call",
    "program_id",
    "reciprocal",
    "run_scoped",
    "run_state",
    "squeezed",
    "strides_from_shape",
    "when",
    "with_scoped",
]


class CompilerParams(Protocol):
    """The parameters of a compiler: a dataclass. Of its fields, only `dimension_semantics` has an effect."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@boundary
def pallas_call(
    kernel: Callable[..., None],
    out_shape: Any,
    *,
    grid_spec: GridSpec | None = None,
    grid: int | Sequence[int] = (),
    in_specs: Any = no_block_spec,
    out_specs: Any = no_block_spec,
    scratch_shapes: Any = (),
    input_output_aliases: Mapping[int, int] | None = None,
    debug: bool = False,
    interpret: Any = False,
    name: str | None = None,
    compiler_params: CompilerParams | Mapping[str, Any] | None = None,
    cost_estimate: CostEstimate | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Callable[..., Any]:
    """`kernel.kernel_call` with JAX's arguments.

    Of `compiler_params`, an object or a mapping, only `dimension_semantics` has an effect. Other parameters,
    `cost_estimate` and `metadata` are for other compilers. Raises ArgumentError for `debug`: `make_jaxpr` shows the
    kernel.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler.experimental import pallas as pl
    >>> def double(x, o):
    ...     o[...] = x[...] * 2
    >>> pl.pallas_call(double, pc.ShapeDtypeStruct((3,), "float32"))(pnp.arange(3.0))
    Array([0., 2., 4.], dtype=float32)
    """
    if debug:
        raise ArgumentError("pallas_call: debug is set. What to do: make_jaxpr of the call shows the kernel")
    if isinstance(compiler_params, Mapping):
        semantics = compiler_params.get("dimension_semantics")
    else:
        semantics = getattr(compiler_params, "dimension_semantics", None)
    return kernel_call(
        kernel,
        out_shape,
        grid_spec=grid_spec,
        grid=grid,
        in_specs=in_specs,
        out_specs=out_specs,
        scratch_shapes=scratch_shapes,
        input_output_aliases=input_output_aliases,
        dimension_semantics=semantics,
        interpret=bool(interpret),
        name=name,
    )


def multiple_of(x: Any, values: int | Sequence[int]) -> Any:
    """`x`. The caller states that these numbers divide it; the compiler does not need the statement.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.multiple_of(8, 4)
    8
    """
    return x


def reciprocal(x: Any, *, approx: bool = False, full_range: bool = True) -> Any:
    """`1 / x`, of full precision also with `approx`.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.reciprocal(4.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return _reciprocal(x)


def empty_ref_like(x: Any) -> Ref:
    """A new reference to zeros with the shape and dtype of `x`, a MemoryRef or a ShapeDtypeStruct.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.empty_ref_like(pl.ANY((2,), "float32"))
    Ref([0., 0.], dtype=float32)
    """
    return empty_ref(x)


def align_to(a: Any, alignment: Any) -> Any:
    """The least multiple of `alignment` that is not below `a`.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.align_to(10, 4)
    12
    """
    return cdiv(a, alignment) * alignment


def next_power_of_2(x: int) -> int:
    """The least power of two that is not below `x`. Raises ArgumentError for a negative number.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.next_power_of_2(10)
    16
    """
    if x < 0:
        raise ArgumentError(f"next_power_of_2: takes a number from 0, got {x}")
    return 1 << max(x - 1, 0).bit_length()


def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The distances, in elements, between neighbours along each dimension of an array in the order of rows.

    >>> from pycompiler.experimental import pallas as pl
    >>> pl.strides_from_shape((2, 3, 4))
    (12, 4, 1)
    """
    return tuple([int(np.prod(shape[dim + 1 :], dtype=np.int64)) for dim in range(len(shape))])


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
