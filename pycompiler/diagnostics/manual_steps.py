"""Running a function for one device of a mesh step by step. `checks` inspects the results of each step on each device.

Between steps, a value is one array with the parts of all devices, along a first dimension that the devices divide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray, sharding_of, shards_of
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.spec import Layout
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, shaped
from pycompiler.core.types.dtype import is_key
from pycompiler.primitives.shape import reshaped
from pycompiler.primitives.spmd.shard_map import shard_map, within


class OnDevices:
    """Runs single equations on all devices of a mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.count = mesh.size

    def parts(self, values: Sequence[Any], layouts: Sequence[Layout], avals: Sequence[ShapedArray]) -> list[Any]:
        """The parts of arrays with these layouts. `avals` are the avals of one device's parts."""
        return self._bind(lambda *xs: xs, values, layouts, avals)

    def run(self, equation: Equation, values: Sequence[Any]) -> list[Any]:
        """The parts of the results of an equation, whose operands are parts or values that all devices have."""
        avals = [atom.aval for atom in equation.inputs]
        divided = [_is_divided(x, aval) for x, aval in zip(values, avals, strict=True)]

        def one(*xs: Any) -> Sequence[Any]:
            given = [reshaped(x, a.shape) if d else x for x, a, d in zip(xs, avals, divided, strict=True)]
            out = equation.primitive.bind(*given, **equation.params)
            return out if equation.primitive.multiple_results else (out,)

        layouts = [self._over(a) if d else ((),) * a.ndim for a, d in zip(avals, divided, strict=True)]
        local = [_with_device(a) if d else a for a, d in zip(avals, divided, strict=True)]
        return self._bind(one, values, layouts, local)

    def part(self, value: Any, number: int) -> Any:
        """The value on the device of this number."""
        if not isinstance(value, Array) or sharding_of(value) is None:
            return value
        part = shards_of(value)[number]
        return part if is_key(part.dtype) else np.asarray(part)[0]

    def _over(self, aval: ShapedArray) -> Layout:
        return (tuple(self.mesh.axis_names), *[()] * aval.ndim)

    def _bind(
        self,
        function: Callable[..., Sequence[Any]],
        values: Sequence[Any],
        layouts: Sequence[Layout],
        avals: Sequence[ShapedArray],
    ) -> list[Any]:
        def local(*xs: Any) -> list[Any]:
            return [reshaped(x, (1, *get_aval(x).shape)) for x in function(*xs)]

        with within(self.mesh, False):
            graph = record(local, avals, DebugInfo("shard_map", evaluate))
        return list(
            shard_map.bind(
                *values,
                jaxpr=graph,
                mesh=self.mesh,
                in_layouts=tuple(layouts),
                out_layouts=tuple([(tuple(self.mesh.axis_names), *layout) for layout in _whole(graph.out_avals)]),
                varying=False,
            )
        )


def _whole(avals: Sequence[ShapedArray]) -> list[Layout]:
    return [((),) * (aval.ndim - 1) for aval in avals]


def _with_device(aval: ShapedArray) -> ShapedArray:
    return shaped((1, *aval.shape), aval.dtype, aval.weak_type)


def _is_divided(value: Any, aval: ShapedArray) -> bool:
    """Whether a value has the parts of all devices, unlike a literal or a constant."""
    return get_aval(value).ndim == aval.ndim + 1
