"""The NVIDIA libraries that a graph on a GPU may call. `compile` imports this module.

The setting `gpu_libraries` selects them. A library is loaded when the first graph with one of its operations is
compiled. The pass `array-map-to-gpu-libraries` decides by the sizes which operations it computes. NCCL, which moves
arrays between processes, is loaded for the first program of several.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
from collections.abc import Callable, Collection

from pycompiler._runtime import load_gpu_library
from pycompiler.compile.targets import Target
from pycompiler.core.config.config import config
from pycompiler.core.tracing.graph import Graph
from pycompiler.core.tracing.nested import graphs_in
from pycompiler.diagnostics import remarks
from pycompiler.primitives.module_call import ModuleCode

# The primitives that each library can compute.
PRIMITIVES: dict[str, frozenset[str]] = {
    "cublaslt": frozenset({"dot_general"}),
    "cufft": frozenset({"fft"}),
    "cusolver": frozenset({"cholesky", "lu", "eigh", "svd"}),
}


def holds_any(graph: Graph, names: Collection[str]) -> bool:
    """Whether a graph, or a graph or a module inside it, has an operation of one of these primitives."""
    for inner in graphs_in(graph):
        for equation in inner.equations:
            if equation.primitive.name in names:
                return True
            for value in equation.params.values():
                if isinstance(value, ModuleCode) and not value.operations.isdisjoint(names):
                    return True
    return False


def libraries_for(graph: Graph, target: Target) -> tuple[str, ...]:
    """The loaded libraries that the code of a graph may call.

    Raises ImportError, with the searched names, for a library that the setting names and that can't be loaded.
    """
    return _libraries(target, lambda primitives: holds_any(graph, primitives))


def libraries_for_operations(operations: Collection[str], target: Target) -> tuple[str, ...]:
    """The same for the code of a module with these operations."""
    return _libraries(target, lambda primitives: not primitives.isdisjoint(operations))


def _libraries(target: Target, holds: Callable[[frozenset[str]], bool]) -> tuple[str, ...]:
    setting = config.gpu_libraries
    if target.is_host or setting == "none":
        return ()
    found: list[str] = []
    for name, primitives in PRIMITIVES.items():
        if (setting == "auto" or name in setting.split(",")) and holds(primitives) and _load(name, target):
            found.append(name)
    return tuple(found)


def load_nccl(target: Target) -> None:
    """Load NCCL, if the setting allows it, before a program of several processes runs on GPUs. If a process lacks NCCL,
    arrays move between processes through the host's memory.

    Raises ImportError, with the searched names, if the setting names it and it can't be loaded.
    """
    setting = config.gpu_libraries
    if not target.is_host and (setting == "auto" or "nccl" in setting.split(",")):
        _load("nccl", target)


def _load(name: str, target: Target) -> bool:
    failure = _failure(name, target.is_emulated)
    if failure is not None and config.gpu_libraries != "auto":
        raise ImportError(f"the setting gpu_libraries asks for {name!r}: {failure}")
    if failure is not None:
        remarks.tell("library-not-used", f"{name}: {failure}")
    return failure is None


@functools.cache
def _failure(name: str, is_emulated: bool) -> str | None:
    # The machine's libraries use the machine's driver, not the emulated one.
    return load_gpu_library(name, _folders(), not is_emulated)


def _folders() -> list[str]:
    """The folders of the libraries in NVIDIA's packages from PyPI."""
    spec = importlib.util.find_spec("nvidia")
    places = spec.submodule_search_locations if spec else None
    return [folder for place in places or () for folder in sorted(glob.glob(f"{glob.escape(place)}/*/lib"))]
