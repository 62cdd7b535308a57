"""Primitives that users define: `UserPrimitive`, and the tables of their rules.

The rules have the conventions of the package's own primitives. They are looked up when they are needed, so they can be
registered at any time. Eager evaluation calls the `impl`. A compiled graph has the lowering in place of the equation
(`lowering`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn, cast

import numpy as np

from pycompiler._runtime import Array, ShapedArray, current_trace
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.effects import NONE, Effect, Effects
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.rules import Zero
from pycompiler.core.tracing.trace import Primitive, Tracer, newest
from pycompiler.core.tracing.wrapped import WrappedFun
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import for_rule, get_aval, shaped

Rule = Callable[..., Any]

# The rules of primitives of users. `interpreters` shows them beside the rules of the package's primitives.
jvps: dict[Primitive, Rule] = {}
transposes: dict[Primitive, Rule] = {}
batchers: dict[Primitive, Rule] = {}
# These take the mapped axis (an `AxisData`) first, and may be about the names of axes.
axis_batchers: dict[Primitive, Rule] = {}


class RuleTable(MutableMapping[Primitive, Rule]):
    """The rules of one kind: those of users' primitives, and for reading those of the package's (`own`)."""

    def __init__(self, kind: str, rules: dict[Primitive, Rule], own: Callable[[], Iterable[Primitive]]) -> None:
        self._kind = kind
        self._rules = rules
        self._own = own

    def __getitem__(self, prim: Primitive) -> Rule:
        rule = self._rules.get(prim) if prim.is_users else getattr(prim, self._kind)
        if rule is None:
            raise KeyError(prim)
        return rule

    def __setitem__(self, prim: Primitive, rule: Rule) -> None:
        if prim.is_users:
            self._rules[prim] = rule
        elif getattr(prim, self._kind) is None:
            # A user may add a rule that the package lacks. Otherwise the package's primitives are frozen.
            object.__setattr__(prim, self._kind, rule)
        else:
            raise TypeError(
                f"{prim.name} is the compiler's own operation, whose {self._kind} rule can't be replaced.\nWhat to do: "
                "wrap the function that uses it in custom_jvp, custom_vjp or custom_vmap, or define a primitive of "
                "your own"
            )

    def __delitem__(self, prim: Primitive) -> None:
        del self._rules[prim]

    def __iter__(self) -> Iterator[Primitive]:
        yield from self._rules
        yield from (prim for prim in self._own() if getattr(prim, self._kind) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class AxisData(NamedTuple):
    """The mapped axis, as rules of `axis_primitive_batchers` get it."""

    name: Any
    size: Any
    spmd_name: Any = None
    explicit_mesh_axis: Any = None


class TraceTag:
    """Identifies the tracers of a transformation. All tags are equal."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(TraceTag)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TraceTag)


# The types of values with elements that are no tracers, besides Python's scalars.
array_types: set[type] = {Array, np.ndarray, *(dtype.type for dtype in dtypes.DTYPES if not dtypes.is_key(dtype))}


def call_impl(f: WrappedFun, *args: Any, **params: Any) -> Any:
    """The results of a function; the parameters are about its call."""
    return f.call_wrapped(*args)


class UserPrimitive(Primitive):
    """An operation that a user defines: its name, then its rules.

    `def_impl` gives the eager evaluation, `def_abstract_eval` the types of the results. With `multiple_results`, the
    operation and its rules give sequences of results.
    """

    is_users: ClassVar[bool] = True
    # JAX's flags, for subclasses that set them.
    call_primitive: bool = False
    map_primitive: bool = False
    ref_primitive: bool = False
    skip_canonicalization: bool = False
    is_effectful: Callable[..., bool] | None = None

    multiple_results: bool = False  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__

    # Definitions.

    def def_impl(self, impl: Rule) -> Rule:
        """Set the eager evaluation: `impl(*args, **params)`. Returns it."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, abstract_eval: Rule) -> Rule:
        """Set the function from the types of the operands to those of the results. Returns it."""
        self.abstract_eval = lambda *avals, **params: (abstract_eval(*avals, **params), NONE)
        return abstract_eval

    def def_effectful_abstract_eval(self, effectful_abstract_eval: Rule) -> Rule:
        """Like `def_abstract_eval`, for a function that gives the types and a set of effects. Returns it."""
        self.abstract_eval = effectful_abstract_eval
        return effectful_abstract_eval

    def impl(self, *args: Any, **params: Any) -> Any:
        """The result (or the results) for values."""
        raise NotImplementedError(
            f"Evaluation rule for '{self.name}' not implemented: define one by {self.name}_p.def_impl(f)"
        )

    def abstract_eval(self, *avals: ShapedArray, **params: Any) -> Any:
        """The type (or types) of the results, and the effects."""
        raise NotImplementedError(
            f"Abstract evaluation for '{self.name}' not implemented: define one by {self.name}_p.def_abstract_eval(f)"
        )

    def get_bind_params(self, params: dict[str, Any]) -> Any:
        """The parameters of `bind` for those of an equation."""
        return params

    # Evaluation.

    def dispatch(self, args: Sequence[Any], params: dict[str, Any]) -> Any:
        trace = current_trace()
        for place, arg in enumerate(args):
            if isinstance(arg, Tracer):
                if trace is None or arg.owner.level > trace.level:
                    trace = arg.owner
            else:
                self._check(arg, place)
        trace = newest(self, params, trace)
        if trace is None:
            return self.impl(*args, **params)
        out = trace.process(self, args, params)
        # JAX's users compare and add the lists that `bind` returns.
        return list(cast("Sequence[Any]", out)) if self.multiple_results else out

    def _check(self, arg: Any, place: int) -> None:
        try:
            get_aval(arg)
        except TypeError as error:
            raise TypeError(
                f"Error interpreting argument to {self.name} as a value: it takes arrays and scalars, and the argument "
                f"at position {place} is of type {type(arg)}"
            ) from error

    # The rules, as the traces read them.

    @property
    def shape_rule(self) -> Rule:  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
        """The abstract evaluation, checked."""
        return self._shape

    def _evaluated(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> tuple[Any, Effects]:
        found = self.abstract_eval(*avals, **params)
        if not isinstance(found, tuple) or len(cast("tuple[Any, ...]", found)) != 2:
            raise TypeError(
                f"{self.name}: its abstract evaluation is to give the types of the results and a set of effects, got "
                f"{found!r}"
            )
        out, effects = cast("tuple[Any, Any]", found)
        for effect in effects:
            if not isinstance(effect, Effect):
                raise TypeError(f"{self.name}: its effects are to be of classes derived from Effect, got {effect!r}")
        return out, frozenset(effects)

    def _shape(self, *avals: ShapedArray, **params: Any) -> Any:
        out, _ = self._evaluated(avals, params)
        if not self.multiple_results:
            return self._aval(out)
        if isinstance(out, ShapedArray) or not isinstance(out, Sequence):
            raise TypeError(
                f"{self.name}: it has multiple_results, so its abstract evaluation is to give a list of types, got "
                f"{out!r}"
            )
        return tuple([self._aval(aval) for aval in cast("Sequence[Any]", out)])

    def _aval(self, aval: Any) -> ShapedArray:
        if not isinstance(aval, ShapedArray):
            raise TypeError(
                f"{self.name}: its abstract evaluation is to give a ShapedArray"
                f"{' for each result' * self.multiple_results}, got {aval!r} of type {type(aval).__name__}"
            )
        dtype = dtypes.canonicalize(aval.dtype)
        return aval if dtype == aval.dtype else shaped(aval.shape, dtype, aval.weak_type)

    def effects_of(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> Effects:
        return self._evaluated(avals, params)[1]

    @property
    def jvp(self) -> Rule:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rule of `primitive_jvps`, which gets tuples, as JAX's does."""
        rule = jvps.get(self)
        if rule is None:
            return self._lacks(f"Differentiation rule for '{self.name}' not implemented", "ad.primitive_jvps")

        def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
            out, tangent = rule(tuple(primals), tuple(tangents), **params)
            if not self.multiple_results:
                return out, _tangent(out, tangent)
            return out, [_tangent(x, t) for x, t in zip(out, tangent, strict=True)]

        return jvp

    @property
    def transpose(self) -> Rule:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rule of `primitive_transposes`."""
        what = f"Transpose rule (for reverse-mode differentiation) for '{self.name}' not implemented"
        rule = transposes.get(self)
        if rule is None:
            return self._lacks(what, "ad.primitive_transposes")

        def transpose(cotangents: Any, *args: Any, **params: Any) -> Any:
            given = tuple(map(for_rule, cotangents)) if self.multiple_results else for_rule(cotangents)
            return rule(given, *args, **params)

        return transpose

    @property
    def batch(self) -> Rule:  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride]
        """The rule of `primitive_batchers` or `axis_primitive_batchers`, which gets tuples, as JAX's does: rules
        compare the dimensions with those of trees."""
        rule = axis_batchers.get(self)
        if rule is not None:
            axis = axes.mapping()
            assert axis is not None
            # A name for code that asks for one, as JAX has it.
            given = AxisData(axis.name, axis.size, axis.spmd or None)

            def with_axis(args: Any, dims: Any, **params: Any) -> Any:
                return rule(given, tuple(args), tuple(dims), **params)

            return with_axis
        plain = batchers.get(self)
        if plain is None:
            return self._lacks(f"Batching rule for '{self.name}' not implemented", "batching.primitive_batchers")

        def with_tuples(args: Any, dims: Any, **params: Any) -> Any:
            return plain(tuple(args), tuple(dims), **params)

        return with_tuples

    def _lacks(self, what: str, table: str) -> Rule:
        def refuse(*_: Any, **__: Any) -> NoReturn:
            raise NotImplementedError(f"{what}: register one in interpreters.{table}")

        return refuse

    @property
    def axis_names(self) -> Rule | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The mapped axes that its parameter `axis_name` names, if a rule takes the axis."""
        return _named_axes if self in axis_batchers else None

    @property
    def linearize(self) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """None: the jvp rule serves."""
        return None

    @property
    def at_zero(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False: a transposition rule is not called for zero cotangents."""
        return False

    @property
    def effects(self) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """None: `effects_of` knows them."""
        return None

    @property
    def views(self) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """None: parameters have the user's names."""
        return None

    def __repr__(self) -> str:
        return self.name


def _tangent(out: Any, tangent: Any) -> Any:
    """A tangent of a user's rule. The tangent of integers may be an array of float0."""
    if type(tangent) is Zero or getattr(tangent, "dtype", None) == dtypes.float0:
        return Zero(get_aval(out))
    return tangent


def _named_axes(**params: Any) -> list[Any]:
    found: Any = params.get("axis_name", ())
    names = cast("tuple[Any, ...] | list[Any]", found if isinstance(found, (tuple, list)) else (found,))
    return [name for name in names if name in axes.in_scope()]


class Composition(UserPrimitive):
    """A primitive whose `bind` computes a function of other operations, so that no graph has equations of it."""

    def __init__(self, name: str, function: Rule, multiple_results: bool = False) -> None:
        super().__init__(name)
        self.impl = function
        self.multiple_results = multiple_results

    def bind(self, *args: Any, **params: Any) -> Any:
        return self.impl(*args, **params)


class CallPrimitive(Composition):
    """A primitive that calls a function, or a graph in its parameter `call_jaxpr`: the call is inlined."""

    def __init__(self, name: str) -> None:
        super().__init__(name, self._call, True)

    def _call(self, *args: Any, subfuns: Sequence[Any] = (), call_jaxpr: Any = None, **params: Any) -> Any:
        if call_jaxpr is not None:
            return call_graph(call_jaxpr, args)
        rest = args if subfuns else args[1:]
        fun = subfuns[0] if subfuns else args[0]
        return fun.call_wrapped(*rest) if isinstance(fun, WrappedFun) else fun(*rest)


def call_graph(jaxpr: Any, args: Sequence[Any]) -> list[Any]:
    """The results of a graph, with its constants or without any."""
    return evaluate(jaxpr if isinstance(jaxpr, ClosedGraph) else ClosedGraph(jaxpr, ()), args)
