"""Lowering of users' primitives, by a function of arrays.

`register_lowering(p, lower_fun(f, multiple_results=False))` makes compiled code compute `f(*args, **params)` for
`p.bind(*args, **params)`. A rule may also be a function `rule(ctx, *args, **params)` that calls such a `lower_fun` with
the same `ctx`. Rules that build MLIR operations can't be run: the compiler has its own dialect, whose operations are
those of `pycompiler.lax`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pycompiler._runtime import ShapedArray
from pycompiler.core.mesh.shape_struct import shapes_of
from pycompiler.core.tracing.lowering import LoweringContext as LoweringRuleContext
from pycompiler.core.tracing.lowering import Rule as LoweringRule
from pycompiler.core.tracing.lowering import TokenSet, lower_fun, register_lowering
from pycompiler.lax.callbacks import io_callback, pure_callback
from pycompiler.lax.names import nearest_name

__all__ = [
    "LoweringRule",
    "LoweringRuleContext",
    "TokenSet",
    "emit_python_callback",
    "lower_fun",
    "register_lowering",
]


def emit_python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Any],
    token: Any | None,
    operands: Sequence[Any],
    operand_avals: Sequence[ShapedArray],
    result_avals: Sequence[ShapedArray],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any | None = None,
) -> tuple[Sequence[Any], Any, Any]:
    """A call of a Python function of the operands, in a lowering rule. The function returns a tuple of arrays. This
    returns the results, the token, and the function, which compiled code keeps. With a token (of `ctx.tokens_in`),
    calls with side effects follow program order.

    Raises NotImplementedError for a sharding.
    """
    shapes = tuple(shapes_of(result_avals))
    ctx.running = callback
    if has_side_effect:
        results = io_callback(callback, shapes, *operands, sharding=sharding, ordered=token is not None)
    else:
        results = pure_callback(callback, shapes, *operands, sharding=sharding)
    ctx.running = None
    return list(results), token, callback


_missing = nearest_name(__name__, __all__)
# JAX's module has these names for code that builds operations.
_BUILDERS = frozenset(
    (
        "aval_to_ir_type",
        "aval_to_ir_types",
        "cache_lowering",
        "core_call_lowering",
        "custom_call",
        "dense_bool_elements",
        "dense_int_array",
        "dense_int_elements",
        "dtype_to_ir_type",
        "flatten_ir_types",
        "flatten_ir_values",
        "func_dialect",
        "hlo",
        "i32_attr",
        "i64_attr",
        "ir",
        "ir_attribute",
        "ir_constant",
        "ir_constants",
        "ir_type_handlers",
        "jaxpr_subcomp",
        "lower_jaxpr_to_fun",
        "lower_jaxpr_to_module",
        "make_ir_context",
        "merge_mlir_modules",
        "module_to_bytecode",
        "module_to_string",
        "register_constant_handler",
        "shape_tensor",
        "token_type",
        "unflatten_ir_values_like_types",
    )
)


def __getattr__(name: str) -> NoReturn:
    if name in _BUILDERS:
        raise AttributeError(
            f"module {__name__} has no attribute {name}, for code that builds MLIR operations.\nWhat to do: write the "
            "lowering as a function of arrays, and register mlir.lower_fun(f, multiple_results=...); pycompiler.mlir "
            "has the operations of the array dialect",
            name=name,
        )
    _missing(name)
