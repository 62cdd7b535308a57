"""The transformations: the public face of the interpreters in `core`. Imports `primitives`; `lax` and `numpy` import
this folder."""

from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.transforms.custom_rules import closure_convert, custom_gradient, custom_jvp, custom_vjp
from pycompiler.transforms.derivative import grad, jvp, linearize, value_and_grad, vjp
from pycompiler.transforms.inspection import ensure_compile_time_eval, eval_shape, make_jaxpr, typeof
from pycompiler.transforms.jacobian import hessian, jacfwd, jacrev
from pycompiler.transforms.mapping import vmap
from pycompiler.transforms.policies import checkpoint_name, checkpoint_policies
from pycompiler.transforms.recomputation import checkpoint, remat
from pycompiler.transforms.scopes import named_call, named_scope
from pycompiler.transforms.transposition import linear_transpose

__all__ = [
    "ShapeDtypeStruct",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "ensure_compile_time_eval",
    "eval_shape",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "named_call",
    "named_scope",
    "remat",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]
