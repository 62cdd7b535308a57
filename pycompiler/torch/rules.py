"""Rules of ours for operations whose rules in torch are wrong. Torch applies some of its own before the table sees an
operation: `corrected` puts ours there while a graph is traced."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._C import DispatchKey  # pyright: ignore[reportAttributeAccessIssue]
from torch._decomp import decompositions
from torch._decomp.decompositions import upsample_compute_output_size

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


def _resized(operation: Any) -> dict[Any, Callable[..., Any]]:
    """Images of bytes stay one operation, whose row rounds as torch does: its rule rounds the exact result."""
    torchs = {target: target.py_kernels[DispatchKey.Autograd] for target in (operation.default, operation.vec)}

    def default(x: torch.Tensor, *args: Any) -> torch.Tensor:
        if x.dtype != torch.uint8:
            return torchs[operation.default](x, *args)
        with torch._C._AutoDispatchBelowAutograd():  # pyright: ignore[reportAttributeAccessIssue]
            return operation.default(x, *args)

    def vec(x: torch.Tensor, size: Any, align_corners: bool, scales: Any = None) -> torch.Tensor:
        if x.dtype != torch.uint8:
            return torchs[operation.vec](x, size, align_corners, scales)
        size = upsample_compute_output_size(x.shape, size, scales)
        return default(x, size, align_corners, *(scales or (None, None)))

    return {operation.default: default, operation.vec: vec}


# By operation.
RULES: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss,
    **_resized(torch.ops.aten.upsample_bilinear2d),
    **_resized(torch.ops.aten.upsample_bicubic2d),
}


_torchs_layer = decompositions.select_one_layer_lstm_function


def _layer(x: torch.Tensor, states: Sequence[torch.Tensor], weights: Any) -> Callable[..., Any]:
    """The function of a layer of LSTM cells. Torch takes the layer as one operation without a gradient of the input
    only, and unrolls its steps otherwise, whose compilation takes seconds. The table has its gradient."""
    given = [x, *states, *itertools.chain.from_iterable(weights)]
    is_one = (
        torch._C._get_mkldnn_enabled()
        and all(one.dtype == torch.float32 and one.device.type == "cpu" for one in given)
        and states[0].shape[2] == states[1].shape[2]
    )
    return decompositions.mkldnn_one_layer_lstm if is_one else _torchs_layer(x, states, weights)


@contextlib.contextmanager
def corrected() -> Iterator[None]:
    """Within it, torch's traces use these rules where they use torch's own."""
    kept = {(target, key): target.py_kernels.get(key) for target in RULES for key in _keys(target)}
    decompositions.select_one_layer_lstm_function = _layer
    try:
        for target, key in kept:
            _enter(target, key, RULES[target])
        yield
    finally:
        decompositions.select_one_layer_lstm_function = _torchs_layer
        for (target, key), rule in kept.items():
            _enter(target, key, rule)


def _keys(target: Any) -> list[Any]:
    """Where torch may use its rule: in inference mode, too."""
    implicit = DispatchKey.CompositeImplicitAutograd
    return [DispatchKey.Autograd, *[key for key in (implicit,) if key in target.py_kernels]]


def _enter(target: Any, key: Any, rule: Callable[..., Any] | None) -> None:
    target.py_kernels.pop(key, None)
    if rule is not None:
        target.py_kernels[key] = rule
    # Torch keeps the kernel of each dispatch.
    target._dispatch_cache.clear()
