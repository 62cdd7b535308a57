"""References among the arguments of a transformed function. The function gets references that hold the values of the
trace. The last values of the references are further results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.tracing.references import Ref, hide
from pycompiler.core.types.tree import tree_flatten
from pycompiler.transforms.tangents import float0, varies


def referring(flat: FlatFunction, places: Collection[int]) -> Callable[..., list[Any]]:
    """The function of values at these places, which it gets as references. Its first results are the last values of the
    references, in the order of `places`."""

    def run(*leaves: Any) -> list[Any]:
        names = flat.names()
        given = [Ref(x, of=names[i]) if i in places else x for i, x in enumerate(leaves)]
        outs = flat(*given)
        return [*(given[i].read() for i in places), *outs]

    return run


def tangent_references(
    flat: FlatFunction, refs: dict[int, Ref], tangents: Sequence[Any]
) -> tuple[dict[int, Ref], tuple[Any, ...]]:
    """The references that hold the tangents of the values in `refs`, and the tangents with values in place of
    references. The value of a reference in the place of the tangent of integers does not matter.

    Raises TypeError for a tangent of a reference that is no reference, ValueError for one that is used twice.
    """
    leaves, tree = hide(*tree_flatten((tuple(tangents), {})), but_references=True)
    if tree != flat.in_tree:
        return {}, tuple(tangents)
    found: dict[int, Ref] = {}
    values = list(leaves)
    known = {id(ref): place for place, ref in refs.items()}
    for place, ref in refs.items():
        tangent, what = leaves[place], f"jvp of {flat.debug_info().name}: the tangent for {flat.names()[place]}"
        if type(tangent) is not Ref:
            raise TypeError(
                f"{what} must be a reference, as {ref.aval} is, got {tangent!r}. What to do: new_ref makes one"
            )
        if id(tangent) in known:
            raise ValueError(
                f"{what} must be a reference of its own, got that of {flat.names()[known[id(tangent)]]}. What to do: "
                "give each reference and each tangent another new_ref"
            )
        known[id(tangent)] = place
        if varies(ref.aval.inner_aval):
            found[place] = tangent
        values[place] = tangent.read() if place in found else float0(ref.aval.inner_aval)
    args, _ = tree.unflatten(values)
    return found, args
