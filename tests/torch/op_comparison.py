"""Results of a sample beside those of eager torch."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.utils import _pytree as pytree

__all__ = ["difference", "gradients", "is_nearer"]

# The relative and absolute difference that two correct results may have.
BOUNDS = {
    torch.float64: (1e-6, 1e-7),
    torch.float32: (2e-4, 2e-5),
    torch.bfloat16: (3e-2, 1e-2),
    torch.float16: (4e-3, 2e-3),
    torch.complex64: (2e-4, 2e-5),
    torch.complex128: (1e-6, 1e-7),
}


def gradients(results: tuple[torch.Tensor, ...], inputs: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """The gradients of a sum of the results with fixed weights."""
    wanted = [x for x in results if x.requires_grad]
    given = [x for x in inputs if x.requires_grad]
    if not wanted or not given:
        return []
    weights = [torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype) for x in wanted]
    return list(torch.autograd.grad(wanted, given, weights, allow_unused=True))


# The dtype that shows how far a result is from the exact one.
WIDER = {
    torch.float32: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float16: torch.float64,
    torch.complex64: torch.complex128,
}


def is_nearer(sample: Any, wanted: list[Any], made: list[Any]) -> bool:
    """Whether the results are no farther from those of a wider dtype than eager torch's."""
    if sample.dtype not in WIDER or len(wanted) != len(made):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            inputs = [_widened(x) for x in sample.tensors()]
            exact = sample.call(*inputs)
            exact = [*exact, *gradients(exact, inputs)]
        except Exception:
            return False
    return len(exact) == len(made) and all(
        _is_no_farther(*three) for three in zip(exact, map(_detached, wanted), map(_detached, made), strict=True)
    )


def _widened(x: torch.Tensor) -> torch.Tensor:
    return x.detach().to(WIDER.get(x.dtype, x.dtype)).requires_grad_(x.requires_grad)


def _detached(x: torch.Tensor | None) -> torch.Tensor | None:
    return None if x is None else x.detach()


def _is_no_farther(exact: Any, wanted: Any, made: Any) -> bool:
    if made is None or wanted is None or exact is None:
        return made is wanted
    if made.shape != wanted.shape or made.dtype != wanted.dtype or exact.shape != made.shape:
        return False
    if made.dtype not in WIDER:
        return torch.equal(made, wanted)
    exact, same = exact.detach(), (made == wanted) | (made.isnan() & wanted.isnan())
    ours, torchs = ((x.to(exact.dtype) - exact).abs() for x in (made, wanted))
    ours = torch.where(same, 0, ours)
    # An element that torch has at all bounds ours by the largest error of torch's; others are bounded by rounding.
    known = torchs.isfinite()
    largest = torchs[known].max() if bool(known.any()) else torchs.new_zeros(())
    rounding = 16 * torch.finfo(made.dtype).eps * exact.abs()
    return bool((ours <= torch.where(known, largest, rounding)).all())


# Which of equal elements they name is open.
PLACES = ("sort", "topk", "kthvalue", "msort", "mode", "median", "nanmedian")


def _named(x: torch.Tensor, places: torch.Tensor, axis: int) -> torch.Tensor:
    """The elements at the places of an axis, which the places may not have."""
    if places.ndim == x.ndim:
        return x.gather(axis, places)
    return x.gather(axis, places.unsqueeze(axis)).squeeze(axis)


def _over_equal(x: torch.Tensor, axis: int, slopes: torch.Tensor) -> torch.Tensor:
    """Of each element, the sum of the gradients of all that equal it."""
    x, slopes = x.movedim(axis, -1), slopes.detach().movedim(axis, -1)
    equal = x.unsqueeze(-1) == x.unsqueeze(-2)
    return (equal.to(slopes.dtype) @ slopes.unsqueeze(-1)).squeeze(-1).movedim(-1, axis)


def _is_sorted(x: torch.Tensor, axis: int) -> bool:
    return any(torch.equal(x.nan_to_num(), x.sort(axis, down)[0].nan_to_num()) for down in (False, True))


def _names_all_once(places: torch.Tensor, axis: int) -> bool:
    if places.ndim == 0:
        return torch.equal(places, torch.zeros_like(places))
    each = torch.arange(places.shape[axis]).expand(places.movedim(axis, -1).shape)
    return torch.equal(places.sort(axis)[0].movedim(axis, -1), each)


def _elements(sample: Any, wanted: list[Any], made: list[Any]) -> list[list[Any]]:
    """Both results, with the elements that they name in the place of places, and gradients over equal elements."""
    pair = [wanted, made]
    # A stable order is determined: its places are compared.
    is_argsort = sample.op.name == "argsort" and not pytree.tree_unflatten(sample.leaves, sample.tree)[2].get("stable")
    number = 0 if is_argsort else 1
    if not (is_argsort or sample.op.name in PLACES) or len(wanted) != len(made) or len(wanted) <= number:
        return pair
    places = [results[number] for results in pair]
    if any(x is None or x.dtype != torch.int64 or x.shape != wanted[0].shape for x in places):
        return pair
    x = sample.leaves[sample.places[0]].detach()
    for axis in range(x.ndim):
        try:
            named = [_named(x, x_places, axis) for x_places in places]
        except (RuntimeError, IndexError):
            continue
        # The axis of the sample is the one along which torch's own places name torch's elements.
        if is_argsort and _is_sorted(named[0], axis) and all(_names_all_once(one, axis) for one in places):
            return [[elements] for elements in named]
        if not is_argsort and torch.equal(named[0].nan_to_num(), wanted[0].detach().nan_to_num()):
            slopes = [[_over_equal(x, axis, one) for one in results[2:]] for results in pair]
            return [[results[0], part, *more] for results, part, more in zip(pair, named, slopes, strict=True)]
    return pair


def difference(sample: Any, wanted: list[Any], made: list[Any], random: bool = False) -> str:
    """How the results differ from torch's, or nothing. Of random ones, only shapes and dtypes are compared."""
    wanted, made = _elements(sample, wanted, made)
    if len(wanted) != len(made):
        return f"{len(made)} results, and torch has {len(wanted)}"
    for number, (one, other) in enumerate(zip(wanted, made, strict=True)):
        if one is None or other is None:
            if (one is None) != (other is None) and (one if other is None else other).count_nonzero() != 0:
                return f"result {number} is {other}, and torch's is {one}"
            continue
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {number} is {other.dtype}{list(other.shape)}, and torch's is {one.dtype}{list(one.shape)}"
        if random:
            continue
        rtol, atol = BOUNDS.get(sample.dtype, (2e-4, 2e-5))
        try:
            torch.testing.assert_close(
                other.detach(), one.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False
            )
        except AssertionError as error:
            return f"result {number}: " + " ".join(str(error).split())
    return ""
