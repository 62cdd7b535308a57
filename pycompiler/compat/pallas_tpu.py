"""Names of `jax.experimental.pallas.tpu` with a meaning on a CPU, for kernels that JAX's users run with `interpret`.

A CPU has one memory and runs a kernel's program from its start to its end. So all memories are one, a copy between
memories is complete when it starts, and its semaphore has nothing to count.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pycompiler import kernel
from pycompiler.array import ref_forms
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.kernel import PrefetchScalarGridSpec
from pycompiler.kernel.blocks import Memory, MemoryRef
from pycompiler.lax.movement import broadcasted_iota
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import canonical_axis
from pycompiler.numpy import roll as _roll
from pycompiler.numpy import take_along_axis

__all__ = [
    "ARBITRARY",
    "CMEM",
    "CORE_PARALLEL",
    "HBM",
    "HOST",
    "PARALLEL",
    "SMEM",
    "SUBCORE_PARALLEL",
    "VMEM",
    "VMEM_SHARED",
    "CompilerParams",
    "GridDimensionSemantics",
    "InterpretParams",
    "MemorySpace",
    "PrefetchScalarGridSpec",
    "SemaphoreType",
    "async_copy",
    "bitcast",
    "force_tpu_interpret_mode",
    "load",
    "make_async_copy",
    "roll",
    "store",
    "sync_copy",
    "touch",
]


class MemorySpace(Memory, enum.Enum):
    """The memories of a TPU."""

    ANY = "any"
    CMEM = "cmem"
    HBM = "hbm"
    HOST = "host"
    SMEM = "smem"
    VMEM = "vmem"
    VMEM_SHARED = "vmem_shared"


CMEM, HBM, SMEM = MemorySpace.CMEM, MemorySpace.HBM, MemorySpace.SMEM
VMEM, VMEM_SHARED = MemorySpace.VMEM, MemorySpace.VMEM_SHARED
HOST = kernel.HOST


class GridDimensionSemantics(enum.Enum):
    """Whether programs along a dimension of the grid are independent. Cores of a CPU are threads."""

    PARALLEL = "parallel"
    CORE_PARALLEL = "core_parallel"
    SUBCORE_PARALLEL = "subcore_parallel"
    ARBITRARY = "arbitrary"


PARALLEL, ARBITRARY = GridDimensionSemantics.PARALLEL, GridDimensionSemantics.ARBITRARY
CORE_PARALLEL, SUBCORE_PARALLEL = GridDimensionSemantics.CORE_PARALLEL, GridDimensionSemantics.SUBCORE_PARALLEL


@dataclass(frozen=True, init=False)
class CompilerParams:
    """Parameters of a TPU's compiler. `dimension_semantics` has an effect on a CPU."""

    dimension_semantics: tuple[str, ...] | None

    def __init__(self, dimension_semantics: Sequence[Any] | None = None, **_: Any) -> None:
        names = None if dimension_semantics is None else tuple([_shared(each) for each in dimension_semantics])
        object.__setattr__(self, "dimension_semantics", names)


def _shared(semantics: Any) -> str:
    """The semantics of a dimension for the threads of a CPU."""
    name = getattr(semantics, "value", semantics)
    return "parallel" if name in ("core_parallel", "subcore_parallel") else name


class InterpretParams:
    """Parameters of JAX's interpreter of kernels: memory, copies and races of a TPU, which a CPU does not have. As the
    argument `interpret`, it means True."""

    def __init__(self, **_: Any) -> None:
        pass


def force_tpu_interpret_mode(params: InterpretParams | None = None) -> contextlib.AbstractContextManager[None]:
    """A context for kernels for TPUs, which run on the CPU. They do so without it, too."""
    return contextlib.nullcontext()


class SemaphoreType(enum.Enum):
    """The types of semaphores, as scratch memory: counters."""

    REGULAR = "regular"
    DMA = "dma"
    BARRIER = "barrier"

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def dtype(self) -> Any:
        return dtypes.int32

    def __call__(self, shape: Sequence[int]) -> MemoryRef:
        return MemoryRef(ShapeDtypeStruct(shape, dtypes.int32), MemorySpace.SMEM)


@dataclass(frozen=True)
class _Copy:
    """A copy between references. `start` copies, and the copy is complete."""

    source: Any
    target: Any

    def start(self, *_: Any, **__: Any) -> None:
        kernel.store(self.target, ..., kernel.load(self.source, ...))

    def wait(self) -> None:
        """The copy is complete."""

    wait_send = wait_recv = wait


def make_async_copy(src_ref: Any, dst_ref: Any, sem: Any = None) -> _Copy:
    """A copy of the elements of one reference to another. Its method `start` copies."""
    return _Copy(src_ref, dst_ref)


def async_copy(src_ref: Any, dst_ref: Any, sem: Any = None, **_: Any) -> _Copy:
    """A copy, which has started."""
    copy = make_async_copy(src_ref, dst_ref, sem)
    copy.start()
    return copy


def sync_copy(src_ref: Any, dst_ref: Any) -> None:
    """Copy the elements of one reference to another."""
    make_async_copy(src_ref, dst_ref).start()


def load(ref: Any, *, mask: Any = None) -> Any:
    """The elements of a reference; zeros where the mask does not hold."""
    return kernel.load(ref, ..., mask=mask)


def store(ref: Any, val: Any, *, mask: Any = None) -> None:
    """Write the elements of a reference where the mask holds."""
    kernel.store(ref, ..., val, mask=mask)


def touch(ref: Any) -> None:
    """Keep a reference that has no other use. Here, a kernel keeps all."""


def bitcast(x: Any, ty: Any) -> Any:
    """The bits of an array as another dtype, as `Ref.bitcast` has them."""
    return ref_forms.bitcast(get_aval(x), ty).read(x)


def roll(x: Any, shift: Any, axis: int, *, stride: int | None = None, stride_axis: int | None = None) -> Any:
    """`numpy.roll`. With a stride, each next slice along `stride_axis` moves by so much more."""
    if (stride is None) != (stride_axis is None):
        raise ValueError("roll: give both stride and stride_axis, or neither")
    if stride is None:
        return _roll(x, shift, axis)
    aval = get_aval(x)
    dim, other = (canonical_axis("roll", each, aval.ndim) for each in (axis, stride_axis))
    if dim == other:
        raise ValueError(f"roll: axis and stride_axis are both {axis}, expected different axes")
    places, slices = (broadcasted_iota(dtypes.int32, aval.shape, each) for each in (dim, other))
    return take_along_axis(x, (places - shift - stride * slices) % aval.shape[dim], dim)


__getattr__ = nearest_name(__name__, __all__)
