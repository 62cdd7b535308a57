"""Derivative rules of users' primitives.

A rule of `primitive_jvps`, `rule(primals, tangents, **params)`, returns the result and its tangent. Tangents, given or
returned, may be a `Zero`. A rule of `primitive_transposes`, `rule(cotangent, *args, **params)`, returns a cotangent or
None for each argument. The arguments in which the primitive is linear are `UndefinedPrimal`s. `deflinear`, `defjvp` and
`defbilinear` make rules.

>>> import pycompiler as pc
>>> from pycompiler.extend import core
>>> from pycompiler.interpreters import ad
>>> cube_p = core.Primitive("cube")
>>> _ = cube_p.def_impl(lambda x: x * x * x)
>>> ad.defjvp(cube_p, lambda t, x: 3 * x * x * t)
>>> pc.jvp(lambda x: cube_p.bind(x), (2.0,), (1.0,))
(8.0, 12.0)
"""

from pycompiler.core.autodiff.jvp import JvpTrace as JVPTrace
from pycompiler.core.autodiff.jvp import JvpTracer as JVPTracer
from pycompiler.core.autodiff.user_rules import (
    add_jaxvals,
    defbilinear,
    defjvp,
    defjvp2,
    deflinear,
    deflinear2,
    instantiate_zeros,
    jvp,
    zeros_like_aval,
)
from pycompiler.core.tracing.primitive import Primitive, UndefinedPrimal, Zero
from pycompiler.core.tracing.primitive import is_undefined as is_undefined_primal
from pycompiler.core.tracing.structural import add as add_jaxvals_p
from pycompiler.core.tracing.structural import add_tangents
from pycompiler.core.tracing.user_primitive import Rule, RuleTable, jvps, transposes
from pycompiler.extend.core.primitives import package_primitives
from pycompiler.lax.names import nearest_name

__all__ = [
    "JVPTrace",
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_jaxvals_p",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

primitive_jvps = RuleTable("jvp", jvps, package_primitives)
primitive_transposes = RuleTable("transpose", transposes, package_primitives)


def get_primitive_transpose(p: Primitive) -> Rule:
    """The transpose rule. Raises NotImplementedError if there is none."""
    rule = primitive_transposes.get(p)
    if rule is None:
        raise NotImplementedError(f"Transpose rule (for reverse-mode differentiation) for '{p}' not implemented")
    return rule


__getattr__ = nearest_name(__name__, __all__)
