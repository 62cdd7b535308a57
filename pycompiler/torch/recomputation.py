"""Random operations that a gradient computes again (`torch.utils.checkpoint`): both times they draw the same numbers.

Torch's partitioner saves the state of its generator in the forward graph (`run_and_save_rng_state`), and the gradient's
graph runs the operation with it (`run_with_rng_state`). Our numbers come from a key: the saved state has the bytes of
the key, and a mark. So torch refuses the state for its generator, and we refuse a state of torch's.
"""

from __future__ import annotations

import contextlib
import copy
import types
from typing import Any

import numpy as np
import torch
from torch._guards import detect_fake_mode
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

import pycompiler.numpy as pnp
from pycompiler import lax

__all__ = ["completed", "fresh_state", "key_of", "operation_of", "origin_of", "run_of", "state_of", "with_keys"]

_MARK = np.frombuffer(b"pycompiler key..", np.uint8)


def fresh_state() -> torch.Tensor:
    """The target of nodes of ours: a new key, as a state. No graph calls it in eager torch."""
    raise AssertionError("a new key is computed by compiled code only")


def origin_of(node: torch.fx.Node) -> str | None:
    """For a new key, and a random operation with it: the name of the operation's node in torch's graph."""
    return node.meta.get("saves")


def operation_of(node: torch.fx.Node) -> Any:
    """The operation of a node, also of one that runs it with a state."""
    return node.args[1] if node.target is run_with_rng_state else node.target


def run_of(node: torch.fx.Node) -> Any:
    """The node of the operation that a node runs with a state."""
    return types.SimpleNamespace(
        target=node.args[1], args=node.args[2:], kwargs=node.kwargs, meta=node.meta, stack_trace=node.stack_trace
    )


def completed(graph: torch.fx.Graph) -> None:
    """Give the nodes of these operations their values, which torch does not, and states their size: torch has a symbol
    for it."""
    given = [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]
    for node in graph.nodes:
        if node.target is run_and_save_rng_state:
            items = {user.args[1]: user for user in node.users}
            items[0].meta["val"] = _state(given)
            node.meta["val"] = (items[0].meta["val"], items[1].meta["val"])
        elif node.target is run_with_rng_state:
            node.args[0].meta["val"] = _state(given)
            args, kwargs = torch.fx.map_arg((node.args[2:], node.kwargs), lambda one: one.meta["val"])
            with _fake(given):
                node.meta["val"] = node.args[1](*args, **kwargs)


def _fake(given: list[Any]) -> Any:
    return detect_fake_mode(given) or contextlib.nullcontext()


def _state(given: list[Any]) -> torch.Tensor:
    size = torch.get_rng_state().numel()
    with _fake(given):
        return torch.empty(size, dtype=torch.uint8)


def with_keys(module: torch.fx.GraphModule, without: set[str]) -> torch.fx.GraphModule:
    """The graph with keys of ours in place of the states that it saves, except those of nodes with the names
    `without`."""
    graph = copy.deepcopy(module.graph)
    saving = [node for node in graph.nodes if node.target is run_and_save_rng_state and node.name not in without]
    for node in saving:
        with graph.inserting_before(node):
            state = graph.call_function(fresh_state)
            made = graph.call_function(run_with_rng_state, (state, *node.args), dict(node.kwargs))
        for item in list(node.users):
            if item.args[1] == 1:
                made.meta = dict(item.meta)
            item.replace_all_uses_with(made if item.args[1] else state)
            graph.erase_node(item)
        state.meta["val"], made.meta["val"] = node.meta["val"]
        state.meta["saves"] = made.meta["saves"] = node.name
        graph.erase_node(node)
    return torch.fx.GraphModule(module, graph) if saving else module


def state_of(key: Any, size: int) -> Any:
    """A state with the bytes of a key."""
    key = lax.bitcast_convert_type(key, np.dtype(np.uint8)).reshape(-1)
    rest = pnp.zeros((size - key.shape[0] - len(_MARK),), np.uint8)
    return lax.concatenate([key, pnp.asarray(_MARK), rest], 0)


def key_of(state: Any) -> tuple[Any, Any]:
    """The key in a state, and whether it is a state of ours."""
    key = lax.bitcast_convert_type(state[:8].reshape(2, 4), np.dtype(np.uint32))
    return key, state[8 : 8 + len(_MARK)] == pnp.asarray(_MARK)
