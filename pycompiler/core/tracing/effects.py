"""Effects: actions of an operation besides its results. An equation with an effect is never dead.

A primitive states its effects by its parameters (`Primitive.effects`). An equation with graphs has the effects of the
graphs (`graph.Equation.effects`). Ordered effects happen in the order of the program. Other effects happen once for
each run of the equation.
"""

from __future__ import annotations


class Effect:
    """A kind of effect. Users derive classes from it, with or without a constructor of their own."""

    name = ""
    ordered = False
    # The program relies on it: unlike a debug effect, it may not happen more often than the program states.
    is_io = False

    def __init__(self, name: str = "", *, ordered: bool = False, is_io: bool = False) -> None:
        self.name = name
        self.ordered = ordered
        self.is_io = is_io

    def __repr__(self) -> str:
        return self.name or type(self).__name__


Effects = frozenset[Effect]
NONE: Effects = frozenset()


class DebugEffect(Effect):
    """The effect of `debug.print` and `debug.callback`."""

    def __init__(self) -> None:
        super().__init__("Debug", ordered=False, is_io=False)


class OrderedDebugEffect(Effect):
    """The effect of `debug.print` and `debug.callback` with `ordered=True`."""

    def __init__(self) -> None:
        super().__init__("OrderedDebug", ordered=True, is_io=False)


debug_effect = DebugEffect()
# Unlike after a print, compiled code waits, and a failure fails the call.
breakpoint_effect = Effect("Breakpoint", ordered=False, is_io=False)
ordered_debug_effect = OrderedDebugEffect()
io_effect = Effect("IO", ordered=False, is_io=True)
ordered_io_effect = Effect("OrderedIO", ordered=True, is_io=True)


def of_debug(ordered: bool) -> Effects:
    """The effects of a function that inspects values."""
    return frozenset((ordered_debug_effect if ordered else debug_effect,))


def of_io(ordered: bool) -> Effects:
    """The effects of a function that changes the outside world."""
    return frozenset((ordered_io_effect if ordered else io_effect,))


def is_ordered(effects: Effects) -> bool:
    """Whether one of the effects follows the order of the program."""
    return any(effect.ordered for effect in effects)


def does_io(effects: Effects) -> bool:
    """Whether the program relies on one of the effects."""
    return any(effect.is_io for effect in effects)


def is_waited_for(effects: Effects) -> bool:
    """Whether a call waits for one of the effects; its failure then fails the call. Unordered debug effects: no."""
    return any(effect is not debug_effect for effect in effects)
