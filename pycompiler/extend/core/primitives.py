"""The primitives of graphs under JAX's names: `sin_p`, `scan_p`, `jit_p`.

They are keys of tables of rules, and interpreters of graphs compare with them. This package composes some operations of
others. Their primitives (`integer_pow_p`) can be bound, but no graph has equations of them.
"""

from pycompiler.core.autodiff.call import call as jit_p
from pycompiler.core.autodiff.checkpoint import checkpoint as remat_p
from pycompiler.core.autodiff.checkpoint import name_value as name_p
from pycompiler.core.autodiff.custom import custom_jvp_call as custom_jvp_call_p
from pycompiler.core.autodiff.custom import custom_lin as custom_lin_p
from pycompiler.core.autodiff.custom import custom_vjp_call as custom_vjp_call_p
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import add as add_jaxvals_p
from pycompiler.core.tracing.user_primitive import CallPrimitive
from pycompiler.lax import handles
from pycompiler.lax.handles import *
from pycompiler.lax.names import nearest_name
from pycompiler.primitives import COLLECTIVES, PRIMITIVES

# The primitives of the package outside of the tables of families.
_CALLS = (jit_p, remat_p, name_p, custom_jvp_call_p, custom_lin_p, custom_vjp_call_p)


def package_primitives() -> list[Primitive]:
    """All primitives of the package that can be in equations of graphs."""
    return [*PRIMITIVES.values(), *COLLECTIVES.values(), *_CALLS]


call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")

__all__ = [
    "add_jaxvals_p",
    "call_p",
    "closed_call_p",
    "custom_jvp_call_p",
    "custom_lin_p",
    "custom_vjp_call_p",
    "jit_p",
    "name_p",
    "remat_p",
]
__all__ += handles.__all__

__getattr__ = nearest_name(__name__, __all__)
