"""Graphs of AOTAutograd in the disk cache: a new process compiles the graphs of an earlier one, without their trace.

An entry is the one of torch's own cache: the wrappers of a call, and for each graph an `OutputCode`, which is `Kept`
here. The key and the folder are ours: torch's key has a digest of all its sources, which takes longer than the load of
an entry, and its folder may be another user's. The key has Dynamo's graph with the lines of its program, the properties
of its inputs, and the state of torch that the trace reads. A graph with anything else in it has no key, and is traced
in each process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import io
import logging
import operator
import os
import pickle
import platform
import time
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType
from typing import Any

import torch
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd.aot_autograd_result import GenericCompiledBackward, InductorOutput
from torch._functorch._aot_autograd.autograd_cache import (
    AOTAutogradCache,
    BypassAOTAutogradCache,
    check_node_safe,
    should_use_local_autograd_cache,
)
from torch._functorch._aot_autograd.schemas import AOTAutogradCacheInfo, AOTConfig, AOTGraphCapture, AOTState
from torch._inductor.output_code import OutputCode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, extract_tensor_metadata
from torch.fx._graph_pickler import GraphPickler, Options
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import _disable_current_modes

from pycompiler.cache import TraceKey, find_trace, keep_trace, trace_key
from pycompiler.torch.calls import Boxed
from pycompiler.version import __version__

__all__ = ["Kept", "entry_of_inference", "find", "keep", "key_of", "note_of"]

_log = logging.getLogger("pycompiler.torch")

# What compiled graphs read of their nodes.
_META = ("val", "stack_trace")
_OPTIONS = Options(ops_filter=None, node_metadata_key_filter=_META.__contains__)


class Kept(OutputCode):
    """A graph that AOTAutograd made, as bytes."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__()
        self.graph: bytes | None = None
        if all(map(_is_kept, module.graph.nodes)):
            # The pickler knows torch's values only. It raises many errors.
            with contextlib.suppress(Exception):
                self.graph = GraphPickler.dumps(torch.fx.GraphModule({}, module.graph), _OPTIONS)

    def prepare_for_serialization(self) -> None:
        raise BypassAOTAutogradCache("pycompiler keeps the entry itself")

    def restored(self) -> torch.fx.GraphModule:
        assert self.graph is not None
        # The pickler would overwrite the sizes of a mode that is in use.
        made: Any = GraphPickler.loads(self.graph, FakeTensorMode(shape_env=ShapeEnv()))
        return made


def _is_kept(node: torch.fx.Node) -> bool:
    """Modules and constants of a graph stay in the process. Operations on graphs may need wrappers that an entry does
    not have (tokens of effects)."""
    return node.op not in ("get_attr", "call_module") and not isinstance(node.target, torch._ops.HigherOrderOperator)


class _UnkeepableError(Exception):
    """A graph that has no key, and why."""


def key_of(module: Any, inputs: Sequence[Any], given: AOTConfig) -> TraceKey | None:
    """The key of a graph of Dynamo, None if it has none or caches are off."""
    if not should_use_local_autograd_cache() or torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        return None
    try:
        contents = (("nodes", _graph(module)), ("inputs", _inputs(inputs)))
        graph, given_inputs = [f"{len(lines)} {name}, {_digest(lines)}" for name, lines in contents]
    except Exception as error:
        # Torch's check of a node raises many errors.
        _log.debug("not kept: %s", error)
        return None
    return trace_key(graph, given_inputs, _settings(given), _versions())


def keep(key: TraceKey, entry: Any, began: float) -> None:
    """Keep torch's entry of a call, if its graphs have bytes."""
    codes = [part.result for part in (entry.compiled_fw, entry.compiled_bw) if part is not None]
    if any(code.graph is None for code in codes):
        return
    about = {
        "name": "torch.compile",
        "for": f"({key.inputs.partition(',')[0]})",
        "operations": int(key.graph.partition(" ")[0]),
        "milliseconds": (time.perf_counter() - began) * 1e3,
    }
    try:
        with _disable_current_modes():
            data = pickle.dumps(entry)
    except Exception as error:
        # Wrappers may hold anything. The call does not depend on its entry.
        _log.debug("not kept, as an entry has no bytes: %s", error)
        return
    keep_trace(key, data, about)


def entry_of_inference(call: Boxed, state: AOTState, captured: AOTGraphCapture) -> Any:
    """The entry of a call without a gradient. Torch makes the same, and puts it into the call."""
    return AOTAutogradCache.make_entry(
        compiled_fw_func=call,  # pyright: ignore[reportArgumentType]
        compiled_bw_func=None,
        aot_joint_graph_str=None,
        aot_forward_graph_str=None,
        aot_backward_graph_str=None,
        runtime_metadata=state.fw_metadata,
        dispatch_wrappers=captured.wrappers,
        maybe_subclass_meta=captured.maybe_subclass_meta,
        num_fw_outs_saved_for_bw=None,
        indices_of_inps_to_detach=[],
        forward_time_taken_ns=0,
        backward_time_taken_ns=0,
        sanitized_aot_config=state.aot_config.to_cacheable(),
        guards_expr=None,
        backward_state_indices=None,
        num_symints_saved_for_bw=None,
        serialized_bw_module=None,
        min_cut_info_str=None,
    )


def note_of(key: TraceKey) -> AOTAutogradCacheInfo:
    """The note for torch to make the entry of a call with a gradient."""
    return AOTAutogradCacheInfo(key.digest, time.time_ns(), [])


def find(
    key: TraceKey, inputs: list[Any], given: AOTConfig, compiled: Callable[[torch.fx.GraphModule], Boxed]
) -> Callable[[list[Any]], Any] | None:
    """The call of a kept entry, None if there is none."""
    data = find_trace(key)
    if data is None:
        return None
    entry: Any = pickle.loads(data)
    entry.compiled_fw = _Forward(compiled(entry.compiled_fw.result.restored()))
    if entry.compiled_bw is not None:
        kept = entry.compiled_bw
        call = compiled(kept.result.restored())
        entry.compiled_bw = _Backward(kept.backward_state_indices, kept.num_symints_saved_for_bw_, call)
    return entry.wrap_post_compile(inputs, given, {})


class _Loaded(InductorOutput[Any]):
    call: Any

    def pre_save(self) -> None:
        pass

    def load(self, example_inputs: Sequence[Any]) -> Any:
        return self.call

    def post_compile(self, result: Any, fx_config: Any) -> Any:
        return result


@dataclasses.dataclass
class _Forward(_Loaded):
    call: Any


@dataclasses.dataclass
class _Backward(GenericCompiledBackward[Any], _Loaded):
    call: Any


def _digest(lines: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=20).hexdigest()


@functools.cache
def _versions() -> str:
    """The versions, and the digest of the sources here, by which graphs become operations of the table."""
    digest = hashlib.blake2b(digest_size=16)
    above = os.path.dirname(__file__)
    for folder in (above, os.path.join(above, "aten")):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py"):
                with io.FileIO(os.path.join(folder, name)) as file:
                    digest.update(name.encode() + b"\0" + file.readall())
    torchs = f"torch {torch.__version__} {torch.version.git_version}"
    return f"{__version__} {digest.hexdigest()}, {torchs}, Python {platform.python_version()}"


def _settings(given: AOTConfig) -> str:
    """The settings that torch's trace reads."""
    devices = [name for name in torch._C._autocast_supported_devices() if torch.is_autocast_enabled(name)]
    values = {
        "gradients": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "autocast": [(name, torch.get_autocast_dtype(name)) for name in devices],
        "dtype": torch.get_default_dtype(),
        "device": torch.get_default_device(),
        "deterministic": (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        "mkldnn": torch._C._get_mkldnn_enabled(),
        "attention": (
            torch._C._get_flash_sdp_enabled(),
            torch._C._get_math_sdp_enabled(),
            torch._C._get_mem_efficient_sdp_enabled(),
        ),
        "functorch": hashlib.blake2b(functorch_config.save_config(), digest_size=8).hexdigest(),
        "trace": (
            given.num_params_buffers,
            given.keep_inference_input_mutations,
            given.is_export,
            given.no_tangents,
            given.dynamic_shapes,
            given.static_input_indices,
            given.pre_dispatch,
        ),
    }
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _inputs(inputs: Sequence[Any]) -> list[str]:
    """The properties of the inputs. Inputs of one memory have none: guards of theirs would be lost."""
    texts, storages = [], set()
    for value in inputs:
        if type(value) is not FakeTensor or value._has_symbolic_sizes_strides:
            raise _UnkeepableError("an input that is no tensor of known sizes")
        if value.layout == torch.strided:
            storage = StorageWeakRef(value.untyped_storage())
            if storage in storages:
                raise _UnkeepableError("inputs of one memory")
            storages.add(storage)
        kind = (value.is_leaf, value._is_view(), isinstance(value, torch.nn.Parameter))
        texts.append(f"{extract_tensor_metadata(value)} {kind}")
    return texts


def _graph(module: Any) -> list[str]:
    """The lines of a graph's nodes."""
    if not isinstance(module, torch.fx.GraphModule):
        raise _UnkeepableError("a graph with lists of inputs")
    lines = []
    for node in module.graph.nodes:
        if node.op not in ("placeholder", "call_function", "call_method", "output") or node.meta.get("custom"):
            raise _UnkeepableError(f"{node.op} {node.target}")
        check_node_safe(node)
        # A placeholder's name is of its source, and stands for a place.
        name = "" if node.op == "placeholder" else _target(node)
        lines.append(f"{node.name} {node.op} {name} {_text(node.args)} {_text(node.kwargs)} {node.stack_trace}")
    return lines


def _target(node: torch.fx.Node) -> str:
    target = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        text = str(target)
        if not text.startswith(("aten.", "prims.", "aten::", "prims::")):
            raise _UnkeepableError(f"the operation {text}")
        return text
    if isinstance(target, torch._ops.OperatorBase):
        raise _UnkeepableError(f"the operation {target}")
    if isinstance(target, BuiltinFunctionType) and getattr(operator, target.__name__, None) is not target:
        # Torch's functions in C have no other name.
        return f"{target.__module__} {getattr(target, '__self__', None).__class__} {target.__name__}"
    return f"{target.__module__} {getattr(target, '__qualname__', target.__name__)}"


# Values whose texts distinguish them.
_PLAIN = (
    bool, int, float, complex, str, type(None), type(...), torch.dtype, torch.device, torch.layout, torch.memory_format,
)  # fmt: skip


def _text(value: Any) -> str:
    if isinstance(value, torch.fx.Node):
        return f"%{value.name}"
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_text, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{_text(name)}: {_text(one)}" for name, one in value.items())
    if type(value) is slice:
        return f"slice({_text(value.start)}, {_text(value.stop)}, {_text(value.step)})"
    raise _UnkeepableError(f"the constant {value!r}")
