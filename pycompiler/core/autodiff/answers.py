"""The answers of policies of `checkpoint`, besides True and False, under jax's names."""

from __future__ import annotations

from typing import Any, NamedTuple


class RecomputeType:
    """The type of `Recompute`."""

    def __repr__(self) -> str:
        return "Recompute"


class SaveableType:
    """The type of `Saveable`."""

    def __repr__(self) -> str:
        return "Saveable"


class Offloadable(NamedTuple):
    """The answer of a policy for a value that is kept in another memory: from `src` to `dst`, names of memories.

    Here each device has one memory, so the value is kept there.
    """

    src: str
    dst: str


# The answers of a policy, besides True and False.
Recompute = RecomputeType()
Saveable = SaveableType()


def keeps_it(answer: Any) -> bool:
    """Whether a policy keeps a value. Raises TypeError for another answer."""
    if answer is True or answer is False:
        return answer
    if isinstance(answer, (SaveableType, Offloadable)):
        return True
    if isinstance(answer, RecomputeType):
        return False
    made = " What to do: make one, Offloadable(src=..., dst=...)" if answer is Offloadable else ""
    raise TypeError(
        f"checkpoint: the policy answered {answer!r} of type {type(answer).__name__}, expected True or False, or "
        f"Saveable, Recompute or an Offloadable of ad_checkpoint.{made}"
    )
