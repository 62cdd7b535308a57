"""Rules of ours for operations whose rules in torch are wrong. Torch applies some of its own before the table sees an
operation: `corrected` puts ours there while a graph is traced."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._C import DispatchKey  # pyright: ignore[reportAttributeAccessIssue]

__all__ = ["RULES", "corrected"]


def _multilabel_margin_loss(x: torch.Tensor, target: torch.Tensor, reduction: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Torch's rule counts the places after the first -1, too, as if each named class 0."""
    scores, classes = torch.atleast_2d(x), torch.atleast_2d(target)
    count = scores.shape[1]
    torch._check(classes.shape == scores.shape, lambda: f"target {list(target.shape)} for input {list(x.shape)}")
    places = torch.arange(count, device=x.device)
    end = torch.amin(torch.where(classes == -1, places, count), dim=-1, keepdim=True)
    counts = places < end
    named = torch.gather(scores, -1, torch.where(counts, classes, 0))
    is_target = torch.any(places == torch.where(counts, classes, -1).unsqueeze(-1), dim=1)
    # Rows, places of targets, classes.
    apart = (1 - named.unsqueeze(-1) + scores.unsqueeze(1)).clamp_min(0) / count
    apart = torch.where(counts.unsqueeze(-1) & ~is_target.unsqueeze(1), apart, 0)
    made = apart.sum(dim=(1, 2))
    if reduction == 1:
        made = made.mean()
    elif reduction == 2 or x.dim() < 2:
        made = made.sum()
    return made, is_target.to(x.dtype).reshape(target.shape)


# By operation.
RULES: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss,
}


@contextlib.contextmanager
def corrected() -> Iterator[None]:
    """Within it, torch's traces use these rules where they use torch's own."""
    kept = {target: target.py_kernels.get(DispatchKey.Autograd) for target in RULES}
    try:
        for target, rule in RULES.items():
            _enter(target, rule)
        yield
    finally:
        for target, rule in kept.items():
            _enter(target, rule)


def _enter(target: Any, rule: Callable[..., Any] | None) -> None:
    target.py_kernels.pop(DispatchKey.Autograd, None)
    if rule is not None:
        target.py_kernels[DispatchKey.Autograd] = rule
    # Torch keeps the kernel of each dispatch.
    target._dispatch_cache.clear()
