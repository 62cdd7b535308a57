"""Graphs and their parts under JAX's names, own primitives, and functions for interpreters of graphs.

`make_jaxpr` gives a `ClosedJaxpr`. Its `jaxpr` has `invars`, `constvars`, `outvars` and `eqns`; an equation has a
`primitive`, `params`, `invars`, `outvars` and `effects`. An interpreter goes through the equations:

>>> import pycompiler as pc, pycompiler.numpy as pnp
>>> from pycompiler.extend import core
>>> closed = pc.make_jaxpr(lambda x: pnp.sin(x) * 2)(1.0)
>>> [(eqn.primitive.name, [str(var.aval) for var in eqn.outvars]) for eqn in closed.jaxpr.eqns]
[('sin', ['f32[]']), ('mul', ['f32[]'])]
>>> core.jaxpr_as_fun(closed)(0.0)
[Array(0., dtype=float32, weak_type=True)]

A `Primitive` gets its evaluation and types by decorators, and its rules by `pycompiler.interpreters`:

>>> from pycompiler.interpreters import ad, mlir
>>> twice_p = core.Primitive("twice")
>>> @twice_p.def_impl
... def twice(x):
...     return x + x
>>> @twice_p.def_abstract_eval
... def twice_type(x):
...     return x
>>> ad.deflinear(twice_p, lambda cotangent: [twice_p.bind(cotangent)])
>>> _ = mlir.register_lowering(twice_p, mlir.lower_fun(twice, multiple_results=False))
>>> pc.jit(pc.grad(lambda x: twice_p.bind(x) ** 2))(3.0)
Array(24., dtype=float32, weak_type=True)
"""

from typing import Any

from pycompiler.core.errors import InconclusiveDimensionError as InconclusiveDimensionOperation
from pycompiler.core.tracing.effects import NONE as no_effects  # noqa: N811
from pycompiler.core.tracing.effects import Effect, Effects
from pycompiler.core.tracing.function_info import FunctionInfo as DebugInfo
from pycompiler.core.tracing.graph import ClosedGraph as ClosedJaxpr
from pycompiler.core.tracing.graph import DropVar, Literal, Var
from pycompiler.core.tracing.graph import Equation as JaxprEqn
from pycompiler.core.tracing.graph import Graph as Jaxpr
from pycompiler.core.tracing.interpretation import (
    JaxprTypeError,
    check_jaxpr,
    concrete_or_error,
    eval_jaxpr,
    jaxpr_as_fun,
    jaxprs_in_params,
    mapped_aval,
    new_jaxpr_eqn,
    subjaxprs,
    unmapped_aval,
    valid_jaxtype,
)
from pycompiler.core.tracing.states import (
    axis_names,
    find_top_trace,
    get_opaque_trace_state,
    is_mapping,
    is_recording,
    set_current_trace,
    take_current_trace,
)
from pycompiler.core.tracing.user_primitive import CallPrimitive, TraceTag, array_types, call_impl
from pycompiler.core.tracing.user_primitive import UserPrimitive as Primitive
from pycompiler.core.types.dtype import float0, is_inexact
from pycompiler.extend.core import primitives
from pycompiler.lax.names import nearest_name

__all__ = [
    "CallPrimitive",
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "Primitive",
    "TraceTag",
    "Var",
    "array_types",
    "call_impl",
    "check_jaxpr",
    "concrete_or_error",
    "eval_jaxpr",
    "find_top_trace",
    "gensym",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "new_jaxpr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype",
    "primitives",
    "set_current_trace",
    "subjaxprs",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]

unsafe_am_i_under_a_jit_DO_NOT_USE = is_recording  # noqa: N816
unsafe_am_i_under_a_vmap_DO_NOT_USE = is_mapping  # noqa: N816
unsafe_get_axis_names_DO_NOT_USE = axis_names  # noqa: N816


def gensym() -> type[Var]:
    """The maker of variables of a type."""
    return Var


def nonempty_axis_env_DO_NOT_USE() -> bool:  # noqa: N802
    """Whether an axis with a name is in scope."""
    return bool(axis_names())


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> Any:
    """The dtype of tangents: float0 for integers and bools."""
    return primal_dtype if is_inexact(primal_dtype) else float0


__getattr__ = nearest_name(__name__, __all__)
