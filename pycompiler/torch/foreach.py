"""Rules for operations on lists of tensors (`torch._foreach_add`), which optimizers and clipping use: the operation of
the same name on each tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["foreach_rules"]

_PREFIX = "_foreach_"
# The types of arguments with one item for each tensor.
_LISTS = ("List[Tensor]", "List[number]")
# Operations whose counterpart on one tensor has another name, or does not take numbers.
_OTHERS: dict[str, Callable[..., torch.Tensor]] = {
    "max": torch.amax,
    "maximum": lambda x, y: torch.maximum(x, y) if isinstance(y, torch.Tensor) else torch.clamp_min(x, y),
    "minimum": lambda x, y: torch.minimum(x, y) if isinstance(y, torch.Tensor) else torch.clamp_max(x, y),
    "norm": lambda x, ord=2, dtype=None: torch.linalg.vector_norm(x, ord, dtype=dtype),
    "powsum": lambda x, ord=2, dtype=None: torch.ops.aten.linalg__powsum(x, ord, dtype=dtype),
}
# These take the last argument by its name.
_WITH_VALUE = ("addcdiv", "addcmul")


def _rule(target: Any, name: str) -> Callable[..., list[torch.Tensor]]:
    arguments = target._schema.arguments
    listed = [str(argument.type) in _LISTS for argument in arguments]
    one = _OTHERS.get(name) or getattr(torch.ops.aten, name)

    def each(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        count = len(next(value for value, is_list in zip(args, listed, strict=False) if is_list))
        made = []
        for number in range(count):
            given = [value[number] if is_list else value for value, is_list in zip(args, listed, strict=False)]
            value = {"value": given.pop()} if name in _WITH_VALUE and len(given) == 4 else {}
            made.append(one(*given, **value, **kwargs))
        return made

    return each


def foreach_rules() -> dict[Any, Callable[..., Any]]:
    """The rules by operation, for those that give new tensors. Torch itself does not trace scalars in a tensor."""
    rules = {}
    for full in torch._C._dispatch_get_all_op_names():
        operation, _, overload = full.partition(".")
        name = operation.removeprefix(f"aten::{_PREFIX}")
        if name == operation or name.endswith("_") or overload.endswith("out"):
            continue
        target = getattr(getattr(torch.ops.aten, _PREFIX + name), overload or "default")
        by_tensor = any(a.name == "scalars" and str(a.type) == "Tensor" for a in target._schema.arguments)
        if not by_tensor and (name in _OTHERS or hasattr(torch.ops.aten, name)):
            rules[target] = _rule(target, name)
    return rules
