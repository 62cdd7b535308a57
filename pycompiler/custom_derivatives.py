"""Functions with custom derivative rules, and the arguments of their rules, as in `jax.custom_derivatives`.

`custom_jvp_call_p` and `custom_vjp_call_p` are the operations that graphs record for such functions.
"""

from pycompiler.core.autodiff.custom import custom_jvp_call as custom_jvp_call_p
from pycompiler.core.autodiff.custom import custom_vjp_call as custom_vjp_call_p
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name
from pycompiler.transforms.custom_rules import closure_convert, custom_gradient, custom_jvp, custom_vjp
from pycompiler.transforms.linear_calls import linear_call
from pycompiler.transforms.symbolic_zeros import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
