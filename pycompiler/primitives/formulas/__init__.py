"""Formulas: how special functions are computed, as graphs of simpler primitives.

`emit` calls a private function with the formula's graph in place of the op of the primitive's name, so the function is
fused with the surrounding operations, in vectors, on every device. The rules of the primitive (derivatives, batching)
stay those of its entry. A formula computes with `Lanes` of float32 or float64.

The coefficients are fits in the Chebyshev sense by mpmath with 50 digits (`tools/fit_formulas.py` prints them) unless a
source is named.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from pycompiler._runtime import ShapedArray
from pycompiler.core.config.config import enable_x64
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import shaped
from pycompiler.primitives import rules
from pycompiler.primitives.formulas import (
    bessel,
    beta,
    error,
    faddeeva,
    gamma,
    gamma_slopes,
    incomplete,
    integrals,
    zeta,
)
from pycompiler.primitives.formulas.lanes import Formula, Lanes

FORMULAS: Mapping[Primitive, Formula] = {
    **bessel.FORMULAS,
    **beta.FORMULAS,
    **error.FORMULAS,
    **faddeeva.FORMULAS,
    **gamma.FORMULAS,
    **gamma_slopes.FORMULAS,
    **incomplete.FORMULAS,
    **integrals.FORMULAS,
    **zeta.FORMULAS,
}


def has_formula(primitive: Primitive, dtype: rules.Dtype) -> bool:
    """Whether a formula computes the primitive of FORMULAS for arguments of this type."""
    return not (FORMULAS[primitive].only_narrow and dtype == rules.FLOAT64)


@functools.cache  # emission knows a graph by its address, so none is dropped
def formula_graph(primitive: Primitive, avals: tuple[ShapedArray, ...]) -> ClosedGraph:
    """The graph that computes a primitive of FORMULAS from arguments of these types. It has no lines of the user."""
    formula = FORMULAS[primitive]

    def function(*args: rules.Value) -> Sequence[rules.Value]:
        return (formula(*map(Lanes, args)).value,)

    strong = [shaped(aval.shape, aval.dtype) for aval in avals]
    with enable_x64(True):  # for the constants of formulas in float64
        graph = record(function, strong, DebugInfo("formula", formula.function))
    for equation in graph.graph.equations:
        equation.source = None
    return graph
