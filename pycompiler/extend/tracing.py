"""Tracers, traces and types of values: the names of `jax.core`.

These are the public names of JAX 0.10, and those of its deprecated names that exist here. `pycompiler.core` is another,
internal package. An interpreter may be a `Trace` with its own `Tracer`s:

>>> import pycompiler as pc, pycompiler.numpy as pnp
>>> from pycompiler.extend import tracing
>>> isinstance(pc.typeof(pnp.ones(3)), tracing.AbstractValue)
True
>>> closed = pc.make_jaxpr(lambda x: x + 1)(1)
>>> tracing.eval_jaxpr(closed.jaxpr, closed.consts, 2)
[Array(3, dtype=int32, weak_type=True)]
"""

import abc
import contextlib
from collections.abc import Generator, Iterable
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.ranges import larger as max_dim
from pycompiler.core.dims.ranges import smaller as min_dim
from pycompiler.core.tracing.graph import Atom
from pycompiler.core.tracing.interpretation import (
    concrete_or_error,
    eval_jaxpr,
    is_concrete,
    mapped_aval,
    unmapped_aval,
    valid_jaxtype,
)
from pycompiler.core.tracing.states import (
    evaluation_trace,
    find_top_trace,
    get_opaque_trace_state,
    set_current_trace,
    take_current_trace,
)
from pycompiler.core.tracing.trace import Trace, Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.extend.core import (
    CallPrimitive,
    DebugInfo,
    DropVar,
    Effect,
    Effects,
    InconclusiveDimensionOperation,
    JaxprTypeError,
    check_jaxpr,
    gensym,
    jaxprs_in_params,
    new_jaxpr_eqn,
    no_effects,
    nonempty_axis_env_DO_NOT_USE,
    primal_dtype_to_tangent_dtype,
    unsafe_am_i_under_a_jit_DO_NOT_USE,
    unsafe_am_i_under_a_vmap_DO_NOT_USE,
    unsafe_get_axis_names_DO_NOT_USE,
)
from pycompiler.extend.core.primitives import call_p
from pycompiler.lax.names import nearest_name
from pycompiler.transforms.inspection import ensure_compile_time_eval

__all__ = [
    "AbstractValue",
    "Atom",
    "CallPrimitive",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "JaxprTypeError",
    "ParamDict",
    "ShapedArray",
    "Trace",
    "Tracer",
    "Value",
    "call",
    "check_jaxpr",
    "concrete_or_error",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_jaxpr",
    "find_top_trace",
    "gensym",
    "get_aval",
    "get_opaque_trace_state",
    "is_concrete",
    "is_constant_dim",
    "is_constant_shape",
    "jaxprs_in_params",
    "mapped_aval",
    "max_dim",
    "min_dim",
    "new_jaxpr_eqn",
    "no_axis_name",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype",
    "set_current_trace",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]

# The types of operands of operations, and of the parameters of an equation.
Value = Any
ParamDict = dict[str, Any]
# The primitive that calls a function of flat arguments: `call(*args, subfuns=(f,))`.
call = call_p.bind
# The name of a mapped axis without a given name.
no_axis_name = None


class AbstractValue(abc.ABC):  # noqa: B024 (it has no methods of its own)
    """The type of a value, with its shape and dtype: `ShapedArray` is one."""


AbstractValue.register(ShapedArray)


@contextlib.contextmanager
def eval_context() -> Generator[None]:
    """A context in which operations on values run at once, also while a function is traced."""
    with set_current_trace(evaluation_trace):
        yield


def is_constant_dim(d: Any) -> bool:
    """Whether a size is a fixed number."""
    return isinstance(d, (int, np.integer))


def is_constant_shape(s: Iterable[Any]) -> bool:
    """Whether all sizes are fixed numbers."""
    return all(map(is_constant_dim, s))


__getattr__ = nearest_name(__name__, __all__)
