"""Dtypes of torch beside ours, and torch's rules of promotion."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

from pycompiler.core.types import dtype as dtypes

__all__ = ["opmath", "ours", "result_dtype"]

_OURS: dict[torch.dtype, np.dtype[Any]] = {
    torch.bool: np.dtype(np.bool_),
    torch.uint8: np.dtype(np.uint8),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(dtypes.bfloat16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
}
_HALVES = (_OURS[torch.float16], _OURS[torch.bfloat16])


def ours(dtype: torch.dtype) -> np.dtype[Any]:
    """Our dtype for one of torch. Raises NotImplementedError for a dtype that this backend does not have."""
    if dtype not in _OURS:
        raise NotImplementedError(f"the dtype {dtype}")
    return _OURS[dtype]


def opmath(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which torch computes an operation: float32 for the floats of 16 bits."""
    return np.dtype(np.float32) if dtype in _HALVES else dtype


def result_dtype(*operands: Any) -> np.dtype[Any]:
    """The common dtype of fake tensors and numbers under torch's promotion: tensors with axes decide before 0-d
    tensors, and those before numbers, within one kind of numbers."""
    kind = ELEMENTWISE_TYPE_PROMOTION_KIND.NO_OPMATH
    return ours(elementwise_dtypes(*map(_number, operands), type_promotion_kind=kind)[1])


def _number(x: Any) -> Any:
    if isinstance(x, torch.SymInt):
        return 1
    if isinstance(x, torch.SymFloat):
        return 1.0
    return True if isinstance(x, torch.SymBool) else x
