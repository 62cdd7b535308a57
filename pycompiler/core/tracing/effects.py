"""Effects: what an operation does beside computing its results. An equation with one is never dead.

A primitive says which it has by its parameters (`Primitive.effects`); an equation that holds graphs has those of the
graphs (`graph.Equation.effects`). Ordered ones happen in the order of the program, the others once each time that the
equation is run.
"""

from __future__ import annotations


class Effect:
    """A kind of effect. Two of one kind are the same."""

    __slots__ = ("is_io", "name", "ordered")

    def __init__(self, name: str, *, ordered: bool, is_io: bool) -> None:
        self.name = name
        self.ordered = ordered
        # The program relies on it: unlike one of debugging, it may not happen more often than the program says.
        self.is_io = is_io

    def __repr__(self) -> str:
        return self.name


Effects = frozenset[Effect]
NONE: Effects = frozenset()


class DebugEffect(Effect):
    """Of `debug.print` and `debug.callback`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("Debug", ordered=False, is_io=False)


class OrderedDebugEffect(Effect):
    """Of `debug.print` and `debug.callback` with `ordered=True`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("OrderedDebug", ordered=True, is_io=False)


debug_effect = DebugEffect()
ordered_debug_effect = OrderedDebugEffect()
io_effect = Effect("IO", ordered=False, is_io=True)
ordered_io_effect = Effect("OrderedIO", ordered=True, is_io=True)


def of_debug(ordered: bool) -> Effects:
    """Of a function that looks at values."""
    return frozenset((ordered_debug_effect if ordered else debug_effect,))


def of_io(ordered: bool) -> Effects:
    """Of a function that does something in the world."""
    return frozenset((ordered_io_effect if ordered else io_effect,))


def is_ordered(effects: Effects) -> bool:
    """Whether one of them has a place in the order of the program."""
    return any(effect.ordered for effect in effects)


def does_io(effects: Effects) -> bool:
    """Whether the program relies on one of them."""
    return any(effect.is_io for effect in effects)


def is_waited_for(effects: Effects) -> bool:
    """Whether a call waits for one of them, whose failure is that of the call. Only unordered debugging does it not."""
    return any(effect is not debug_effect for effect in effects)
