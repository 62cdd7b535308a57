"""Messages about donated arrays that are given twice, or whose memory a call does not take.

Imports `plan`; `jit` calls it after compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.compile.plan import Plan, plan_outputs, taken
from pycompiler.core.hooks import set_donation_reporter
from pycompiler.core.source import warn
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.types.aval import short
from pycompiler.diagnostics import remarks


def taken_once(closed: ClosedGraph, name: str, leaves: Sequence[Any], donated: Iterable[int]) -> tuple[int, ...]:
    """The numbers of the donated inputs that a call of a graph takes, by `plan.taken`.

    Raises ValueError if an array that it takes is also another argument.
    """
    asked = tuple(donated)
    found = closed.derive(("taken", asked), lambda: taken(plan_outputs(closed), asked)) if asked else ()
    for number in found:
        places = [place for place, leaf in enumerate(leaves) if leaf is leaves[number]]
        if len(places) > 1:
            raise ValueError(
                f"{name}: the donated array {short(leaves[number])} is given twice, as leaves {places[0]} and "
                f"{places[1]} of the arguments, counted from 0: its memory becomes that of a result. What to do: give "
                "a copy for one of them, x.copy(), or do not donate it"
            )
    return found


def warn_of_kept_memory(
    name: str, closed: ClosedGraph, plan: Plan, donated: Iterable[int], names: Callable[[], Sequence[str]]
) -> None:
    """Warn of donated arrays whose memory no result can take, and say why."""
    in_avals, result_avals = closed.in_avals, plan.result_avals
    used = taken(plan, tuple(donated))
    unusable: list[str] = []
    for number in donated:
        if number in used:
            continue
        aval = in_avals[number]
        kind = (aval.shape, aval.dtype)
        if any((out.shape, out.dtype) == kind for out in result_avals):
            why = "another donated argument's memory is taken for each result of its shape and dtype"
            why = why if number in plan.used else "it is not used"
        elif any(out.shape == aval.shape for out in result_avals):
            why = "no result of its shape has its dtype"
        elif any((out.shape, out.dtype) == kind for out in closed.out_avals):
            why = "the results of its shape and dtype are arguments or constants"
        else:
            why = "no result has its shape and dtype"
        unusable.append(f"'{names()[number]}' {short(aval)}: {why}")
    if unusable:
        remarks.tell("donation-not-taken", f"{name}: {'; '.join(unusable)}")
        warn(
            # JAX's warning begins with these words, and programs filter by them.
            f"Some donated buffers were not usable: jit of {name}: no result can take the memory of the donated "
            f"{'; '.join(unusable)}; the results are ({', '.join(map(short, closed.out_avals))}), and each "
            "takes that of one argument of its shape and dtype. Such an argument is not deleted; donate only arrays "
            "that a result replaces"
        )


def _donation_was_copied(name: str, aval: ShapedArray, why: str) -> None:
    """The runtime calls this when it can't take the memory of a donated array."""
    remarks.tell("donation-not-taken", f"{name}: {short(aval)} was copied: {why}")
    warn(
        f"jit of {name}: the memory of the donated {short(aval)} was copied, and not taken for the result: {why}. The "
        "values are right; to save the memory, drop all other references to it before the call"
    )


set_donation_reporter(_donation_was_copied)
