"""AOTAutograd: a graph of Dynamo becomes a forward and a backward graph, which run within torch's wrappers.

These are the steps of `torch._functorch.aot_autograd.aot_module_simplified`, with two differences: `graph_cache` keeps
the graphs, and nothing of inductor's compiler is imported, which takes as long as Dynamo's trace of a small program.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo import compiled_autograd, disable
from torch._dynamo.utils import GmWrapper, counters, flatten_graph_inputs
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.runtime_wrappers import SerializableCompiledFunction
from torch._functorch.aot_autograd import (
    aot_stage1_graph_capture,
    aot_stage2_compile,
    create_aot_state,
    prepare_aot_module_simplified,
)
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._logging._internal import log_state, trace_log

from pycompiler.torch import graph_cache
from pycompiler.torch.calls import Boxed

__all__ = ["with_autograd"]

Compiler = Callable[[torch.fx.GraphModule], Boxed]


def with_autograd(
    module: Any, inputs: Sequence[Any], compiled: Compiler, decompositions: dict[Any, Any]
) -> Callable[..., Any]:
    """The function of a graph of Dynamo. `compiled` makes the calls of functional graphs of ATen's operations."""
    if any(isinstance(one, list | tuple | dict) for one in inputs):
        return flatten_graph_inputs(
            module, inputs, lambda flat, args: with_autograd(flat, args, compiled, decompositions)
        )
    counters["aot_autograd"]["total"] += 1
    try:
        call, parameters = _call(module, inputs, compiled, decompositions)
    except Exception:
        counters["aot_autograd"]["not_ok"] += 1
        raise
    counters["aot_autograd"]["ok"] += 1
    if isinstance(module, GmWrapper):

        def function(args: list[Any]) -> Any:
            given = [*parameters, *args]
            args.clear()
            return call(given)

    else:

        def function(*args: Any) -> Any:
            return call([*parameters, *args])

    return disable(function, reason="a compiled graph")


# The logs of torch (TORCH_LOGS) with texts of graphs. Torch writes them to files, too (TORCH_TRACE).
_LOGS = ("aot", "aot_graphs", "aot_joint_graph", "aot_graphs_effects")


def _is_logged() -> bool:
    files = any(getattr(handler, "root_dir", None) for handler in trace_log.handlers)
    return files or any(log_state.is_artifact_enabled(name) for name in _LOGS)


def _call(
    module: Any, inputs: Sequence[Any], compiled: Compiler, decompositions: dict[Any, Any]
) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """The call of a list of the module's parameters and of the inputs, and these parameters."""
    with contextlib.ExitStack() as stack:
        prepared = prepare_aot_module_simplified(
            module,
            inputs,
            None,
            decompositions,
            # Updates of inputs end the graph. Torch takes `x.data = y`, and updates in a gradient, in this way only.
            True,
            False,
            flatten=False,
            force_non_lazy_backward_lowering=functorch_config.force_non_lazy_backward_lowering,
        )
        function, parameters, _, _, flat, descriptions, config, mode, sizes, _, _, active = prepared
        # Torch writes the texts of all graphs for its log; an entry has none.
        config = dataclasses.replace(config, enable_log=_is_logged())
        key = None if config.enable_log else graph_cache.key_of(module, flat, config)
        if key is not None:
            found = graph_cache.find(key, flat, config, compiled)
            if found is not None:
                return found, parameters
        began = time.perf_counter()
        stack.enter_context(compiled_autograd._disable())
        # Programs find common subexpressions themselves.
        stack.enter_context(functorch_config.patch(cse=False, bundled_autograd_cache=True, strict_autograd_cache=False))
        state = create_aot_state(stack, function, flat, descriptions, config, mode, sizes)
        state.fw_metadata.act_input_indices = active
        if key is not None and state.needs_autograd:
            # The entry has both graphs.
            state.aot_config = dataclasses.replace(
                config, cache_info=graph_cache.note_of(key), force_non_lazy_backward_lowering=True
            )
        captured = aot_stage1_graph_capture(state, function)
        calls: list[Any] = []

        def compiler(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Boxed:
            # The graph as it is before it is compiled.
            kept = graph_cache.Kept(graph) if key is not None else None
            call = compiled(graph)
            if kept is not None:
                # Torch looks for the code of an entry here.
                call.__wrapped__ = kept  # pyright: ignore[reportFunctionMemberAccess]
            calls.append(call)
            return call

        def backward(graph: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Boxed:
            call = disable(compiler, reason="the compiler of gradients")(graph, example_inputs)
            return disable(call, reason="a compiled gradient")

        made, _ = aot_stage2_compile(state, captured, min_cut_rematerialization_partition, compiler, backward, compiler)
        entry = None
        if isinstance(made, SerializableCompiledFunction):
            entry, made = made.serialize(), made.compiled_fn
        elif key is not None and not state.needs_autograd:
            entry = graph_cache.entry_of_inference(calls[0], state, captured)
        if key is not None and entry is not None:
            graph_cache.keep(key, entry, began)
        return made, parameters
