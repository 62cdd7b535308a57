"""The operations of ATen that the table does not have, with reasons. They run in eager torch."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops.auto_functionalize import auto_functionalized, auto_functionalized_v2
from torch._library.utils import is_builtin
from torch._ops import OpOverload

from pycompiler.torch.recomputation import operation_of

__all__ = ["LEFT", "called", "is_check", "why_left"]

_UNKNOWN = "it is not in the table"
_CUSTOM = "it is a custom operation, whose code torch does not trace"
_DATA = "the size of its result depends on data"
_NUMBER = "its result is a number of Python, which depends on data"
_PYTHON = "it is an operation of torch's in Python, with its own loop"
_RANDOM = "its random operation is not in the table"
_SPARSE = "sparse tensors"
_MEMORY = "it changes the memory of a tensor, not its elements"

_CHECKS = ("aten._assert_async", "aten._assert_scalar", "aten._assert_tensor_metadata", "aten.sym_constrain_range")

# By names, for all overloads. If an entry accepts only some arguments of an operation, its error names them.
LEFT = {
    "aten::_ctc_loss": _DATA,
    "aten::_local_scalar_dense": _NUMBER,
    "aten::_native_batch_norm_legit": "traces have `_native_batch_norm_legit_functional` in its place",
    "aten::_to_dense": _SPARSE,
    "aten::_to_sparse": _SPARSE,
    "aten::_unique": _DATA,
    "aten::_unique2": _DATA,
    "aten::allclose": _NUMBER,
    "aten::batch_norm_update_stats": "it changes the running statistics, which its schema does not say",
    "aten::bincount": _DATA,
    "aten::equal": _NUMBER,
    "aten::linalg_lstsq": "its results' sizes depend on the rank",
    "aten::masked_select": _DATA,
    "aten::nonzero": _DATA,
    "aten::resize": _MEMORY,
    "aten::resize_": _MEMORY,
    "aten::unique_consecutive": _DATA,
    "aten::unique_dim": _DATA,
    "aten::unique_dim_consecutive": _DATA,
    "run_and_save_rng_state": _RANDOM,
    "run_with_rng_state": _RANDOM,
    "torch_nn::_linear_cross_entropy_batch_chunked": _PYTHON,
    "torch_nn::_linear_cross_entropy_batch_chunked_no_reduction": _PYTHON,
}


def why_left(target: Any) -> str:
    """Why an operation without an entry runs in eager torch."""
    is_custom = isinstance(target, OpOverload) and not is_builtin(target)
    return LEFT.get(getattr(target, "name", lambda: "")().partition(".")[0], _CUSTOM if is_custom else _UNKNOWN)


def is_check(node: torch.fx.Node) -> bool:
    """Whether an operation only raises errors, as eager torch does. It has no result, and costs almost nothing."""
    if str(node.target).startswith(_CHECKS):
        return True
    return str(node.target) == "with_effects" and "check_errors" in str(node.args[1:2])


def called(node: torch.fx.Node) -> Any:
    """The operation that a node calls, also of one that gives it copies of the arguments that it changes."""
    is_changing = node.target in (auto_functionalized, auto_functionalized_v2)
    return node.args[0] if is_changing else operation_of(node)
