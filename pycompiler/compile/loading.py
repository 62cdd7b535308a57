"""Loading of compiled code, with the functions of the host that it calls and the estimate of its time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from pycompiler._runtime import Executable
from pycompiler.cache import Artifact
from pycompiler.core.tracing.effects import is_ordered
from pycompiler.core.tracing.graph import Graph
from pycompiler.primitives.control.foreign_calls import ffi_call
from pycompiler.primitives.control.host_calls import HostCall, host_call, host_calls

# A rough rate of compiled code. With this rate, the runtime estimates times to distinguish short calls from long ones.
_OPERATIONS_PER_NS = 8.0
# More than the runtime runs in a thread that waits.
UNKNOWN_NS = 2e7


def _effects(graph: Graph, eager: bool) -> int:
    """The effects of a graph, as a code for the runtime: 0 none, 1 unordered ones, 2 ordered ones, 3 unordered ones of
    an eager operation, which happen in the order of its thread, like all that is outside of compiled functions."""
    if not graph.effects:
        return 0
    return 2 if is_ordered(graph.effects) else 3 if eager else 1


def callbacks_of(graph: Graph) -> list[HostCall]:
    """The functions of the host that the code calls, by slot. A program with symbols gets them when it is bound to
    sizes. Raises ExecutionError if a C function is missing."""
    if not all(var.aval.is_concrete for var in graph.inputs):
        return []
    return [host_call(equation) for equation in host_calls(graph)]


def _foreign_ns(graph: Graph) -> float:
    """The estimated time of C functions, which is unknown. Until a run is measured, it is too long to run in place."""
    return UNKNOWN_NS if any(equation.primitive is ffi_call for equation in host_calls(graph)) else 0


def load(
    artifact: Artifact,
    name: str,
    graph: Graph,
    callbacks: Sequence[HostCall],
    may_block: bool,
    milliseconds: dict[str, float],
    eager: bool = False,
) -> Executable:
    begin = time.perf_counter()
    executable = load_artifact(artifact, name, may_block, callbacks, _effects(graph, eager), _foreign_ns(graph))
    milliseconds["load"] = (time.perf_counter() - begin) * 1e3
    return executable


def load_artifact(
    artifact: Artifact,
    name: str,
    may_block: bool = False,
    callbacks: Sequence[HostCall] = (),
    effects: int = 0,
    least_ns: float = 0,
) -> Executable:
    """The loaded code of an artifact. `callbacks` are the functions of its host calls, by slot, and `effects` is the
    code of `_effects`. With `may_block`, a run may wait for other runs. `least_ns` is the least
    estimate of a run."""
    estimate = artifact.flops / _OPERATIONS_PER_NS
    return Executable.load(
        artifact.object,
        artifact.entry,
        artifact.arena_bytes,
        name,
        # A run of unknown length must not hold a lock, and signals must reach it. So it may only run speculatively,
        # within its loop budget.
        cost_ns=math.inf if artifact.is_unbounded else max(estimate, least_ns),
        speculative_ns=estimate if artifact.has_loop_budget else math.inf,
        may_block=may_block or artifact.waits,
        call_sites=artifact.sites,
        callbacks=callbacks,
        effects=effects,
        image=artifact.assembled or artifact.image,
        kernels=artifact.kernels,
    )
