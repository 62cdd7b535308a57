"""Values over the axes of a mesh: which of them are equal on all devices, while a function for one is traced.

In a function for one device of a mesh (`shard_map`) a value may differ over some of the mesh's axes. `Differing`
follows that while the user's function is traced: an operation's operands are made to differ over the same axes, by
`pvary`, whose transpose is the sum over these axes. So the derivative with respect to a value that is equal
everywhere is the sum of what all devices contribute, and is equal everywhere itself.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pycompiler._runtime import current_trace
from pycompiler.core import axes
from pycompiler.core.axes import Name
from pycompiler.core.batch import BatchTracer
from pycompiler.core.graph import Var
from pycompiler.core.jvp import JvpTracer
from pycompiler.core.primitive import Primitive
from pycompiler.core.record import GraphTracer
from pycompiler.core.trace import Tracer
from pycompiler.ops.collective import axis_index, pmax, pmin, psum, pvary

Names = frozenset[Name]
NONE: Names = frozenset()


_REDUCTIONS = (psum, pmax, pmin)


class Differing(axes.Typing):
    """Over which of a mesh's axes the values of one traced function may differ."""

    __slots__ = ("_known", "axes", "level")

    def __init__(self, names: Iterable[Name], level: int) -> None:
        self.axes = frozenset(names)
        # That of the trace of the function.
        self.level = level
        self._known: dict[Var, Names] = {}

    def of(self, x: Any) -> Names:
        """The axes over which a value may differ. In graphs inside the function every input may, over all."""
        while not isinstance(x, GraphTracer):
            if isinstance(x, JvpTracer):
                x = x.primal
            elif isinstance(x, BatchTracer):
                x = x.value
            else:
                return NONE
        level, now = x.owner.level, current_trace()
        if now is not None and now.level > self.level and level < now.level:
            # It becomes an input of the graph that is being recorded.
            return self.axes
        return NONE if level < self.level else self._known.get(x.variable, self.axes)

    def put(self, x: Any, names: Names) -> None:
        """A tracer of a graph differs over these axes."""
        if isinstance(x, GraphTracer):
            self._known[x.variable] = names

    def same(self, x: Any, as_: Any) -> None:
        self.put(x, self.of(as_))

    def aligned(self, x: Any, names: Names) -> Any:
        """x, which differs over these axes at least."""
        missing = names - self.of(x)
        return pvary.bind(x, axes=tuple(sorted(missing, key=str))) if missing and isinstance(x, Tracer) else x

    def bind(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        own = axes.names_of(primitive, params) & self.axes
        if primitive is pvary:
            wanted = self.of(args[0]) | own
        elif primitive is axis_index:
            wanted = own
        else:
            # Graphs inside are traced for inputs that differ alike, over the axes that they are over at least.
            wanted = own.union(*map(self.of, args))
            args = [self.aligned(arg, wanted) for arg in args]
        out = primitive.dispatch(args, params)
        if primitive in _REDUCTIONS:
            wanted = wanted - own
        for result in out if primitive.multiple_results else (out,):
            self.put(result, wanted)
        return out
