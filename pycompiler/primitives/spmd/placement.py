"""`device_put` as a primitive: the identity, for every rule. The evaluation decides the placement of the array.

Eager evaluation moves the array (`eager`). A compiled function runs on one device, which must be the named one
(`compile`), so there the primitive is the identity. The dialect has no op for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.mesh.placement import Placement
from pycompiler.core.tracing.primitive import Primitive, Zero
from pycompiler.primitives.rules import Dims

# device_put(x, device, src): x on `device` (None: unchanged). `src` is the previous placement, if it is known.


def _shape(x: ShapedArray, *, device: Placement | None, src: Placement | None) -> ShapedArray:
    return x


def _source(x: Any) -> Placement | None:
    """The placement to which cotangents return."""
    return x.device if type(x) is Array else None


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, device: Placement | None, src: Placement | None) -> Any:
    (x,), (tangent,) = primals, tangents
    came = src if src is not None else _source(x)
    out = device_put.bind(x, device=device, src=src)
    return out, tangent if type(tangent) is Zero else device_put.bind(tangent, device=device, src=came)


def _transpose(cotangent: Any, x: Any, *, device: Placement | None, src: Placement | None) -> Sequence[Any]:
    return (cotangent if src is None else device_put.bind(cotangent, device=src, src=device),)


def _batch(args: Sequence[Any], dims: Dims, *, device: Placement | None, src: Placement | None) -> tuple[Any, Any]:
    return device_put.bind(args[0], device=device, src=src), dims[0]


device_put = Primitive(
    name="device_put",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
)
