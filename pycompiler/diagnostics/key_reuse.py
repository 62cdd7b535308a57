"""`debug_key_reuse`: using a random key twice is an error, in eager evaluation and in graphs.

A key is represented by a token: that of an array, of an input of a graph, or of a slice of another key. A graph is read
once, for three facts: the inputs that it consumes, the places, and the results that are its inputs or slices of them.
Imports `core.tracing.key_use`, which marks the uses of keys; `eager` and `jit` import this module.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.cache import Cache
from pycompiler.core.errors import KeyReuseError
from pycompiler.core.source import Source, user_source
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Literal
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_leaves

# ("input", number), ("array", serial number), ("part", primitive, parameters, token of the whole, those of the rest...)
# or a unique object.
Token = Any

# Primitives that give a part of keys. Consuming the part consumes the whole, and conversely.
_PARTS = frozenset(("slice", "dynamic_slice", "reshape", "squeeze", "transpose", "rev", "gather", "copy"))
# The gradient recomputes these graphs: that is no second use.
_AGAIN = frozenset(("checkpoint",))


class Use(NamedTuple):
    """The use of a key: the function, and the place."""

    token: Token
    name: str
    source: Source | None


class Summary(NamedTuple):
    """The inputs that a graph consumes, and the tokens of its results."""

    uses: tuple[Use, ...]
    outputs: tuple[Token, ...]


def _whole(token: Token) -> Token | None:
    return token[3] if isinstance(token, tuple) and token[0] == "part" else None


def _wholes(token: Token) -> list[Token]:
    """The token, and the wholes that it is a part of, from inner to outer."""
    found: list[Token] = []
    while token is not None:
        found.append(token)
        token = _whole(token)
    return found


class _Uses:
    """The consumed keys."""

    def __init__(self) -> None:
        # By the token of the outermost whole.
        self.uses: Cache[list[Use]] = Cache(lambda: 1 << 14)

    def add(self, use: Use) -> None:
        """Raise KeyReuseError if this key, a whole that it is part of, or a part of it is already consumed."""
        wholes = _wholes(use.token)
        earlier = self.uses.get(wholes[-1])
        if earlier is None:
            earlier = []
            self.uses.put(wholes[-1], earlier)
        for other in earlier:
            if other.token in wholes or use.token in _wholes(other.token):
                raise KeyReuseError(_message(use, other))
        earlier.append(use)


def _call_site(source: Source | None) -> str:
    return source.describe() if source else "an unknown place"


def _message(use: Use, other: Use) -> str:
    return (
        f"{_call_site(use.source)}\n{use.name}: the random key was consumed before, by {other.name} at\n"
        f"{_call_site(other.source)}\nThe same key gives the same numbers.\n"
        "What to do: key, subkey = random.split(key), and use each key once; random.clone(key) allows the reuse."
    )


def summary(closed: ClosedGraph) -> Summary:
    """The effect of a graph on its keys. Raises KeyReuseError when it consumes one twice."""
    return closed.derive("key uses", lambda: _summary(closed))


def _summary(closed: ClosedGraph) -> Summary:
    graph = closed.graph
    tokens: dict[Atom, Token] = {var: ("input", number) for number, var in enumerate(graph.inputs)}
    tokens.update((var, token_of(const)) for var, const in zip(graph.constvars, closed.consts, strict=True))
    found: list[Use] = []
    seen = _Uses()

    def consume(use: Use) -> None:
        seen.add(use)
        found.append(use)

    def token(atom: Atom) -> Token:
        if isinstance(atom, Literal):
            return ("value", str(atom.value))
        return tokens.setdefault(atom, object())

    for equation in graph.equations:
        operands = [token(atom) for atom in equation.inputs]
        if equation.primitive is key_use:
            consume(Use(operands[0], equation.params["name"], equation.source))
        elif equation.primitive.name in _PARTS and dtypes.is_key(equation.inputs[0].aval.dtype):
            part = ("part", equation.primitive.name, tuple(equation.params.items()), *operands)
            tokens[equation.outputs[0]] = part
        elif equation.primitive.name not in _AGAIN:
            _inner(equation, operands, tokens, consume)
    return Summary(tuple(found), tuple([token(atom) for atom in graph.outputs]))


def _inner(
    equation: Equation, operands: list[Token], tokens: dict[Atom, Token], consume: Callable[[Use], None]
) -> None:
    """The keys that the graphs among the parameters of an equation consume."""
    params, name = equation.params, equation.primitive.name
    if name == "while":
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        _loop(params["body_jaxpr"], operands[first:], second - first, len(operands) - second, True, equation, consume)
    elif name == "scan":
        counts = params["num_consts"], params["num_carry"]
        _loop(params["jaxpr"], operands, *counts, params["length"] > 1, equation, consume)
    elif name == "cond":
        uses = [use for branch in params["branches"] for use in _uses(branch, operands[1:])]
        # Branches are alternatives: a key consumed by several is consumed once.
        for use in {use.token: use for use in uses}.values():
            consume(use)
    else:
        for value in params.values():
            if isinstance(value, ClosedGraph) and len(value.in_avals) == len(operands):
                for use in _uses(value, operands):
                    consume(use)
                outputs = [substituted(token, operands) for token in summary(value).outputs]
                if len(outputs) == len(equation.outputs):
                    tokens.update(zip(equation.outputs, outputs, strict=True))
                return


def _uses(closed: ClosedGraph, operands: Sequence[Token]) -> list[Use]:
    return [use._replace(token=substituted(use.token, operands)) for use in summary(closed).uses]


def _loop(
    body: ClosedGraph,
    operands: list[Token],
    consts: int,
    carry: int,
    repeats: bool,
    equation: Equation,
    consume: Callable[[Use], None],
) -> None:
    outputs = summary(body).outputs
    for use in summary(body).uses:
        whole = _wholes(use.token)[-1]
        kind, number = whole[:2] if isinstance(whole, tuple) else ("own", 0)
        stays = kind == "array" or (
            kind == "input"
            and (number < consts or (number < consts + carry and outputs[number - consts] == ("input", number)))
        )
        if stays and repeats:
            raise KeyReuseError(
                f"{_call_site(use.source)}\n{use.name}: the random key is the same in every iteration of "
                f"{equation.primitive.name}, so that each gives the same numbers.\n"
                "What to do: carry the key, and split it in each iteration, or fold_in the number of the iteration."
            )
        # The slice of a scanned array differs in each iteration: the whole is consumed.
        token = whole if kind == "input" and number >= consts + carry else use.token
        consume(use._replace(token=substituted(token, operands)))


def substituted(token: Token, operands: Sequence[Token]) -> Token:
    """A token of a graph, with the tokens of its arguments for its inputs."""
    if not isinstance(token, tuple):
        return token
    if token[0] == "input":
        return operands[token[1]]
    if token[0] == "part":
        return (*token[:3], *(substituted(part, operands) for part in token[3:]))
    return token


# Arrays.

_consumed = _Uses()
_tokens: dict[int, tuple[weakref.ref[Array], Token]] = {}
_serial = iter(range(1 << 62))


def token_of(x: Any) -> Token:
    """The token of an array while it lives. For a small array that is no key, its value."""
    if type(x) is not Array:
        return ("value", str(x)) if isinstance(x, (int, np.generic)) else object()
    if not dtypes.is_key(x.dtype):
        return ("value", x.dtype.name, np.asarray(x).tobytes()) if x.nbytes <= 64 else object()
    known = _tokens.get(id(x))
    if known is None or known[0]() is not x:
        known = _name(x, ("array", next(_serial)))
    return known[1]


def _name(x: Array, token: Token) -> tuple[weakref.ref[Array], Token]:
    number = id(x)

    def forget(reference: object) -> None:
        if number in _tokens and _tokens[number][0] is reference:
            del _tokens[number]

    _tokens[number] = (weakref.ref(x, forget), token)
    return _tokens[number]


def consume(key: Any, name: str) -> None:
    """Consume a key in eager evaluation."""
    if type(key) is Array:
        _consumed.add(Use(token_of(key), name, user_source()))


def run(graph: ClosedGraph, call: Callable[..., Any], leaves: Sequence[Any]) -> Any:
    """The results of a compiled graph. Its keys become consumed, and the tokens of slices of keys are recorded."""
    if not any(dtypes.is_key(aval.dtype) for aval in graph.in_avals) and not summary(graph).uses:
        return call(*leaves)
    tokens = list(map(token_of, leaves))
    for use in summary(graph).uses:
        _consumed.add(use._replace(token=substituted(use.token, tokens), source=use.source or user_source()))
    results = call(*leaves)
    for result, token in zip(tree_leaves(results), summary(graph).outputs, strict=True):
        if isinstance(token, tuple) and dtypes.is_key(get_aval(result).dtype):
            _name(result, substituted(token, tokens))
    return results
