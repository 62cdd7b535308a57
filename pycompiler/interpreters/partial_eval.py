"""Graphs of flat functions: of all arguments, or of the unknown ones while the rest is computed. Also removal of dead
code.

>>> import pycompiler as pc
>>> from pycompiler.extend import linear_util as lu
>>> from pycompiler.interpreters import partial_eval as pe
>>> fun = lu.wrap_init(lambda x, y: [x + 1, x * y])
>>> known, unknown = pe.PartialVal.known(2.0), pe.PartialVal.unknown(pc.typeof(1.0))
>>> graph, results, consts = pe.trace_to_jaxpr_nounits(fun, [known, unknown])
>>> graph
{ lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
>>> [result.is_known() for result in results]
[True, False]
"""

from pycompiler.core.autodiff.partial import (
    PartialVal,
    dce_jaxpr,
    dce_jaxpr_consts,
    dce_rules,
    trace_to_jaxpr_dynamic,
    trace_to_jaxpr_nounits,
)
from pycompiler.core.tracing.interpretation import convert_constvars_jaxpr
from pycompiler.core.tracing.record import GraphTracer as DynamicJaxprTracer
from pycompiler.lax.names import nearest_name

__all__ = [
    "DynamicJaxprTracer",
    "PartialVal",
    "convert_constvars_jaxpr",
    "dce_jaxpr",
    "dce_jaxpr_consts",
    "dce_rules",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
]

__getattr__ = nearest_name(__name__, __all__)
