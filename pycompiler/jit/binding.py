"""Binding code with symbols to the sizes of a call, without tracing, emission or compilation.

Imports `compile`; `jit` and `stages`, which solve the sizes from the arguments, import this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pycompiler._runtime import Executable
from pycompiler.compile.compile import Compilation
from pycompiler.compile.targets import Target
from pycompiler.core.tracing.specialize import Sizes, graph_at
from pycompiler.primitives.control.host_calls import host_call, host_calls

# Compiles for another target.
_ForTarget = Callable[[Target], Compilation]


def bind_sizes(found: Compilation, sizes: Sizes, for_target: _ForTarget | None = None) -> Compilation:
    """The compilation for these sizes, cached by sizes. If the code is not for the device of a call, `for_target`
    compiles for it."""
    key = tuple(sizes.items())
    known = found.bindings.get(key)
    if known is not None:
        return known
    with found.bindings.making(key):
        known = found.bindings.get(key)
        if known is None:
            known = _bind(found, sizes, for_target)
            found.bindings.put(key, known)
        return known


def _bind(found: Compilation, sizes: Sizes, for_target: _ForTarget | None) -> Compilation:
    executable = found.executable
    if executable is not None and executable.is_unbound:
        executable = _executable(found, executable, sizes)
    arena_bytes = executable.arena_bytes if executable is not None else 0
    changed: dict[str, Any] = {"plan": found.plan.at(sizes), "executable": executable, "arena_bytes": arena_bytes}
    return replace(found, **changed, for_target=for_target or found.for_target)


def _executable(found: Compilation, unbound: Executable, sizes: Sizes) -> Executable:
    graph = found.plan.graph
    assert graph is not None
    calls = host_calls(graph)
    if calls:
        # Callbacks get the shapes of their operands and of their declared results.
        calls = host_calls(graph_at(graph, sizes))
    ordered = [sizes[name] for name in found.plan.symbols]
    return unbound.bind(ordered, callbacks=[host_call(equation) for equation in calls])
