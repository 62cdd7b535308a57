"""What is said of donated arrays whose memory is not taken. After `compile`; `jit` asks when it has compiled."""

from __future__ import annotations

from pycompiler.compile import Compilation
from pycompiler.core.aval import short
from pycompiler.core.source import warn
from pycompiler.stages import Signature


def warn_of_kept_memory(name: str, signature: Signature, found: Compilation) -> None:
    """Warn of donated arrays whose memory no result can take, and say why."""
    # Those that are returned keep theirs.
    donated = [number for number in signature.donated if number not in found.plan.returned]
    results = [(aval.shape, aval.dtype) for aval in found.plan.result_avals]
    unusable: list[str] = []
    for number in donated:
        aval = signature.graph.in_avals[number]
        kind = (aval.shape, aval.dtype)
        if kind in results:
            results.remove(kind)
            continue
        if any((out.shape, out.dtype) == kind for out in found.plan.result_avals):
            why = "another donated argument's memory is taken for each result of its shape and dtype"
        elif any(out.shape == aval.shape for out in found.plan.result_avals):
            why = "no result of its shape has its dtype"
        elif any((out.shape, out.dtype) == kind for out in signature.graph.out_avals):
            why = "what is returned of its shape and dtype is not computed, but an argument or a constant"
        else:
            why = "no result has its shape and dtype"
        unusable.append(f"'{signature.names()[number]}' {short(aval)}: {why}")
    if unusable:
        warn(
            f"jit of {name}: no result can take the memory of the donated {'; '.join(unusable)}; the results "
            f"are ({', '.join(map(short, signature.graph.out_avals))}), and each takes that of one argument of its "
            "shape and dtype. The memory is given back once the call has read it; donate only what is replaced"
        )
