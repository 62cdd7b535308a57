"""The lowering of users' primitives: a function of arrays, traced and put in place of the equation before compilation.

A rule has JAX's form, `rule(context, *operands, **params)`, and gives the results; `lower_fun` makes one of a function.
The operands are tracers. `lowered` replaces the equations of a graph, and of the graphs inside it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.config.config import trace_key
from pycompiler.core.tracing.effects import Effect
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Primitive, Tracer
from pycompiler.core.types.aval import is_array, same_type, short

Rule = Callable[..., Any]

_lowerings: dict[Primitive, Rule] = {}
_of_platform: dict[str, dict[Primitive, Rule]] = {}

# The names of a platform in JAX, by the name of the target.
_PLATFORMS = {"cpu": ("cpu",), "cuda": ("cuda", "gpu")}
# The names for which rules may be registered. No code is compiled for the last two.
_KNOWN_PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu")


class ModuleContext:
    """The data that the lowering rules of one graph share."""

    def __init__(self, platform: str) -> None:
        self.platforms = (platform,)
        self.keepalives: list[Any] = []

    def add_keepalive(self, keepalive: Any) -> None:
        """Keep an object: not needed, because graphs keep the functions that they call."""
        self.keepalives.append(keepalive)


class TokenSet:
    """A token for each ordered effect of an equation. Here tokens only tell that calls are ordered: ordered callbacks
    keep their order themselves."""

    def __init__(self, tokens: Mapping[Effect, Any] | None = None) -> None:
        self._tokens = dict(tokens or {})

    def effects(self) -> set[Effect]:
        """The effects."""
        return set(self._tokens)

    def get(self, effect: Effect) -> Any:
        """The token of an ordered effect of the equation. Raises KeyError for another effect."""
        return self._tokens[effect]

    def update_tokens(self, tokens: TokenSet) -> TokenSet:
        """The set with other tokens for some effects."""
        return TokenSet({**self._tokens, **tokens._tokens})

    def __len__(self) -> int:
        return len(self._tokens)


class LoweringContext:
    """A rule's information about the equation: the primitive, and the types of operands and results."""

    def __init__(
        self,
        primitive: Primitive,
        avals_in: Sequence[ShapedArray],
        avals_out: Sequence[ShapedArray],
        platform: str,
        effects: Iterable[Effect] = (),
    ) -> None:
        self.primitive = primitive
        self.avals_in = avals_in
        self.avals_out = avals_out
        self.platforms = (platform,)
        self.module_context = ModuleContext(platform)
        self.tokens_in = TokenSet({effect: object() for effect in effects if effect.ordered})
        self.tokens_out = self.tokens_in
        # The function of a `lower_fun` that runs, or that raised.
        self.running: Callable[..., Any] | None = None

    def set_tokens_out(self, tokens_out: TokenSet) -> None:
        """Tell that the ordered effects happened."""
        self.tokens_out = tokens_out

    def replace(self, **changes: Any) -> LoweringContext:
        """A copy with other fields."""
        made = copy.copy(self)
        for name, value in changes.items():
            setattr(made, name, value)
        return made


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Rule:
    """A lowering rule that computes `fun(*operands, **params)`, by operations of arrays.

    Without `multiple_results`, the function gives one array, otherwise a sequence.
    """

    def rule(ctx: LoweringContext, *args: Any, **params: Any) -> list[Any]:
        outside, ctx.running = ctx.running, fun
        out = fun(*args, **params)
        ctx.running = outside
        return list(out) if multiple_results else [out]

    return rule


def register_lowering(
    prim: Primitive, rule: Rule, platform: str | None = None, inline: bool = True, cacheable: bool = True
) -> Rule:
    """Set the lowering of a user's primitive, for all platforms or for one ("cpu", "gpu" or "cuda"). Returns the rule.

    `inline` and `cacheable` are hints of JAX: a lowering is always inlined, and traced for each equation. Raises
    TypeError for a primitive of the package, NotImplementedError for an unknown platform.
    """
    if platform is not None and platform not in _KNOWN_PLATFORMS:
        raise NotImplementedError(
            f"Registering an MLIR lowering rule for primitive {prim} for an unknown platform {platform}. Known "
            f"platforms are: {', '.join(_KNOWN_PLATFORMS)}"
        )
    if not prim.is_users:
        raise TypeError(
            f"register_lowering: {prim.name} is the compiler's own operation, whose lowering can't be replaced.\nWhat "
            "to do: define a primitive of your own"
        )
    table = _lowerings if platform is None else _of_platform.setdefault(platform, {})
    table[prim] = rule
    return rule


def _rule(equation: Equation, platform: str) -> Rule:
    primitive = equation.primitive
    for name in _PLATFORMS[platform]:
        rule = _of_platform.get(name, {}).get(primitive)
        if rule is not None:
            return rule
    rule = _lowerings.get(primitive)
    if rule is None:
        raise NotImplementedError(
            f"{_place(equation)}MLIR translation rule for primitive '{primitive.name}' not found for platform "
            f"{platform}: without a lowering it can't be compiled.\nWhat to do: register one by "
            f"mlir.register_lowering({primitive.name}_p, mlir.lower_fun(f, multiple_results="
            f"{primitive.multiple_results}))"
        )
    return rule


def _place(equation: Equation) -> str:
    return f"{equation.source.describe()}\n" if equation.source else ""


def _no_builder(equation: Equation, what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{_place(equation)}the lowering of {equation.primitive.name} {what}: a lowering here is a function of arrays, "
        "and no code that builds MLIR operations.\nWhat to do: write it with pycompiler.numpy or lax, and register "
        "mlir.lower_fun(f, multiple_results=...); such an f may also call a module of the array dialect "
        "(pycompiler.mlir)"
    )


def _graph_of(equation: Equation, platform: str) -> ClosedGraph:
    """The lowering of an equation as a graph of its own."""
    primitive = equation.primitive
    rule = _rule(equation, platform)
    wanted = [var.aval for var in equation.outputs]
    ctx = LoweringContext(primitive, [x.aval for x in equation.inputs], wanted, platform, equation.effects)

    def run(*operands: Any) -> list[Any]:
        try:
            outs = rule(ctx, *operands, **equation.params)
        except Exception as error:
            if ctx.running is not None:
                raise
            raise _no_builder(equation, f"raised {type(error).__name__} ({error})") from error
        found: list[Any] = []
        for out in cast("Sequence[Any]", outs) if isinstance(outs, (list, tuple)) else (outs,):
            # JAX allows a list of values for one result.
            parts: Sequence[Any] = cast("Sequence[Any]", out) if isinstance(out, (list, tuple)) else (out,)
            found.extend(parts)
        for out in found:
            if not is_array(out):
                raise _no_builder(equation, f"gives a {type(out).__name__}, which is no array")
        return found

    made = record(run, ctx.avals_in, DebugInfo("lowering", rule))
    given = made.out_avals
    if len(given) != len(wanted) or not all(map(same_type, given, wanted)):
        raise TypeError(
            f"{_place(equation)}the lowering of {primitive.name} gives ({', '.join(map(short, given))}), and its "
            f"abstract evaluation gives ({', '.join(map(short, wanted))})"
        )
    for const in made.consts:
        if isinstance(const, Tracer):
            raise TypeError(
                f"{_place(equation)}the lowering of {primitive.name} closes over {const!r}.\nWhat to do: make it an "
                "operand of the primitive"
            )
    return made


def lowered(closed: ClosedGraph, platform: str = "cpu") -> ClosedGraph:
    """The graph with the lowerings of users' primitives in place of their equations; the same graph if it has none.

    Raises NotImplementedError for a primitive without a lowering, and for one that builds MLIR operations.
    """
    if not closed.graph.has_users:
        return closed
    return closed.derive(("lowered", platform, trace_key()), lambda: _Lowering(platform).outermost(closed))


class _Lowering:
    """Rewrites one graph and the graphs inside it, each once, so that shared graphs stay shared."""

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self._done: dict[int, tuple[ClosedGraph, ClosedGraph]] = {}

    def outermost(self, closed: ClosedGraph) -> ClosedGraph:
        """The graph; constants of lowerings become constants of it."""
        constvars, consts = list(closed.graph.constvars), list(closed.consts)

        def constant(value: Any, aval: ShapedArray) -> Atom:
            constvars.append(Var(aval))
            consts.append(value)
            return constvars[-1]

        graph = closed.graph
        outputs, equations = self._body(graph, constant)
        return ClosedGraph(Graph(constvars, graph.inputs, outputs, equations, debug_info=graph.debug_info), consts)

    def inner(self, closed: ClosedGraph) -> ClosedGraph:
        """A graph in a parameter. It can't get constants, so those of lowerings are written into it."""
        known = self._done.get(id(closed))
        if known is None:
            made = closed
            if closed.graph.has_users:
                graph = closed.graph
                outputs, equations = self._body(graph, lambda value, aval: Literal(np.asarray(value), aval))
                made = ClosedGraph(Graph(graph.constvars, graph.inputs, outputs, equations), closed.consts)
            known = self._done[id(closed)] = (closed, made)
        return known[1]

    def _body(self, graph: Graph, constant: Callable[[Any, ShapedArray], Atom]) -> tuple[list[Atom], list[Equation]]:
        values: dict[Atom, Atom] = {}
        equations: list[Equation] = []

        def read(atom: Atom) -> Atom:
            return values.get(atom, atom)

        def add(equation: Equation) -> None:
            inputs = [read(atom) for atom in equation.inputs]
            if not equation.primitive.is_users:
                params = {name: self._parameter(value) for name, value in equation.params.items()}
                equations.append(Equation(equation.primitive, inputs, params, equation.outputs, equation.source))
                return
            made = _graph_of(equation, self.platform)
            for var, value in zip(made.graph.constvars, made.consts, strict=True):
                values[var] = constant(value, var.aval)
            values.update(zip(made.graph.inputs, inputs, strict=True))
            for part in made.graph.equations:
                part.source = equation.source
                add(part)
            values.update({var: read(out) for var, out in zip(equation.outputs, made.graph.outputs, strict=True)})

        for equation in graph.equations:
            add(equation)
        return [read(atom) for atom in graph.outputs], equations

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, ClosedGraph):
            return self.inner(value)
        if type(value) is tuple:
            return tuple([self._parameter(part) for part in cast("tuple[Any, ...]", value)])
        return value
