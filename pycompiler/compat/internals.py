"""Internal names of JAX that libraries use: the modules below `jax._src`, and `jaxlib`. One table.

Each row names the libraries that need it. Nearly all names are inert: a list without readers, a decorator that changes
nothing. Other internal names are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from pycompiler import dtypes, errors, flatten_util
from pycompiler.compat import colocated, hijax
from pycompiler.compat.version import __version__
from pycompiler.core.source import is_internal
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.trace import current_trace
from pycompiler.core.types import tree_keys
from pycompiler.core.types.aval import ShapedArray
from pycompiler.experimental import checkify
from pycompiler.extend.core import Primitive
from pycompiler.interpreters import ad, batching, mlir, partial_eval
from pycompiler.lax.callbacks import effects_barrier
from pycompiler.ref import AbstractRef

# The files that libraries exclude from tracebacks. `traceback_filtering` hides only our own frames, so a library's
# frames stay visible.
_excluded: list[str] = []


def _public(module: ModuleType) -> dict[str, Any]:
    """The names of a public module, which libraries also take from the internal module of its name."""
    return {name: getattr(module, name) for name in module.__all__}


def _same(function: Any = None, **_: Any) -> Any:
    """A decorator that changes nothing: each public function has our own boundary."""
    return function if function is not None else _same


def _include_frame(frame: FrameType) -> bool:
    """Whether a frame is the user's: neither ours nor that of an excluded library."""
    name = frame.f_code.co_filename
    return not is_internal(name) and name not in _excluded


def _state_is_clean() -> bool:
    """Whether nothing is traced in this thread, and no named axis is in scope."""
    return current_trace() is None and not axes.in_scope()


class _Nodes:
    """The classes of tree nodes, as the keys of a read-only mapping."""

    def __contains__(self, kind: object) -> bool:
        return kind in (tuple, list, dict, type(None)) or kind in tree_keys.registered()

    def __iter__(self) -> Iterator[type]:
        return iter((tuple, list, dict, type(None), *tree_keys.registered()))


class _NoState:
    """The state of a program of several processes, for a program of one process."""

    client = None
    service = None
    coordinator_address = None
    process_id = 0
    num_processes = 1
    preemption_sync_manager = None


class _Checkpoints:
    """JAX's earlier manager of checkpoints; there are no instances here."""


def _tensorstore_spec(*_: Any, **__: Any) -> NoReturn:
    """The place of an array of several processes in a checkpoint of JAX's earlier manager."""
    raise NotImplementedError(
        "get_tensorstore_spec: this is JAX's earlier manager of checkpoints; use orbax.checkpoint"
    )


class _TypedNdArray(np.ndarray):
    """NumPy's array with a weak dtype, which JAX makes from literals; there are no instances here."""


class _EArray:
    """An array of an extended dtype; there are no instances here, since only keys have such a dtype."""


# No function of JAX binds it any more; a library may give it rules.
_STOP_GRADIENT = Primitive("stop_gradient")


class _ExtendedDType:
    """The base of extended dtypes that users define; arrays here do not support them."""


def _supports_inf(dtype: Any) -> bool:
    return bool(np.isinf(np.asarray(np.inf).astype(dtype)))


def _physical_aval(aval: ShapedArray) -> ShapedArray:
    """The aval of the elements in memory. For keys, it is that of their words."""
    return aval


# jax._src.X -> its names. The comment of each row names the libraries that need it.
INTERNALS: dict[str, Callable[[], dict[str, Any]]] = {
    "jax.experimental.hijax": lambda: {name: getattr(hijax, name) for name in hijax.__all__},  # flax.nnx
    "jax.experimental.array_serialization": dict,  # orbax
    "jax.experimental.array_serialization.serialization": lambda: {
        "GlobalAsyncCheckpointManagerBase": _Checkpoints,  # orbax
        "GlobalAsyncCheckpointManager": _Checkpoints,  # flax.training.checkpoints, for arrays of several processes
        "get_tensorstore_spec": _tensorstore_spec,  # flax.training.checkpoints
    },
    "jax.extend.ifrt_programs": lambda: {"ifrt_programs": None},  # orbax, for Pathways
    "jax.interpreters.pxla": lambda: {"global_avals_to_results_handler": None},  # orbax, for Pathways
    # Orbax replaces functions of these inner modules, if the modules exist.
    "jax.experimental.colocated_python": lambda: {name: getattr(colocated, name) for name in colocated.__all__},
    "jax.experimental.colocated_python.func": dict,
    "jax.experimental.colocated_python.serialization": lambda: {"DeviceList": tuple},  # in annotations
    "jax._src": dict,  # chex, equinox, flax, jaxtyping, numpyro, orbax
    "jax._src.core": lambda: {
        "ShapedArray": ShapedArray,  # flax
        "physical_aval": _physical_aval,  # flax
        "trace_state_clean": _state_is_clean,  # numpyro
    },
    "jax._src.ad_util": lambda: {"stop_gradient_p": _STOP_GRADIENT},  # lineax
    "jax._src.checkify": lambda: {
        **{name: getattr(checkify, name) for name in ("Error", "checkify", "user_checks")},  # flax.nnx
        "JaxException": errors.JaxRuntimeError,  # flax.nnx, in annotations
        "Out": Any,  # flax.nnx, in annotations
    },
    "jax._src.compiler": dict,  # chex
    "jax._src.dispatch": lambda: {"wait_for_tokens": effects_barrier},  # equinox
    "jax._src.distributed": lambda: {"global_state": _NoState()},  # orbax
    "jax._src.dtypes": lambda: {
        "DType": np.dtype,  # flax
        "ExtendedDType": _ExtendedDType,  # flax
        "TypePromotionError": dtypes.TypePromotionError,  # equinox
        "extended": dtypes.extended,  # flax
        "finfo": dtypes.finfo,  # flax
        "supports_inf": _supports_inf,  # flax
    },
    "jax._src.earray": lambda: {"EArray": _EArray},  # flax
    "jax._src.flatten_util": lambda: {"ravel_pytree": flatten_util.ravel_pytree},  # blackjax
    "jax._src.interpreters": dict,  # flax
    "jax._src.interpreters.ad": lambda: {  # diffrax's tests
        **_public(ad),
        "CustomVJPException": errors.NotDifferentiableError,
    },
    "jax._src.interpreters.batching": lambda: _public(batching),
    "jax._src.interpreters.mlir": lambda: _public(mlir),
    "jax._src.interpreters.partial_eval": lambda: _public(partial_eval),
    "jax._src.interpreters.pxla": lambda: {"global_result_handlers": {}},  # flax
    "jax._src.literals": lambda: {"TypedNdArray": _TypedNdArray},  # equinox, jaxtyping
    "jax._src.state": dict,  # flax
    "jax._src.state.types": lambda: {"AbstractRef": AbstractRef},  # flax
    "jax._src.traceback_util": lambda: {
        "_exclude_paths": _excluded,  # flax
        "api_boundary": _same,  # flax
        "include_frame": _include_frame,  # equinox
        "register_exclusion": _excluded.append,  # equinox, flax, jaxtyping, lineax
    },
    "jax._src.tree_util": lambda: {
        "_registry": _Nodes(),  # flax
        "flatten_one_level": tree_keys.flatten_one_level,  # orbax
    },
    "jax._src.xla_bridge": lambda: {"_backends": {}},  # chex
    "jaxlib": lambda: {"__version__": __version__},  # chex, flax, and reports of bugs
    "jaxlib.version": lambda: {"__version__": __version__},
}
