"""Flat functions with transformations around them, as JAX's interpreters pass them: `WrappedFun`.

A transformation is a function that gets the function inside of it first. Auxiliary results go into a `Store`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any, cast

from pycompiler.core.config.config import trace_key
from pycompiler.core.source import function_location
from pycompiler.core.tracing.source_info import GraphInfo


class StoreException(Exception):  # noqa: N818 (JAX's name)
    """A store is read before it is filled, or filled twice."""


class Store:
    """A place for one value, which is written once."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: list[Any] = []

    def store(self, val: Any) -> None:
        """Write the value. Raises StoreException if there is one."""
        if self._values:
            raise StoreException("Store occupied")
        self._values.append(val)

    def reset(self) -> None:
        """Remove the value."""
        self._values.clear()

    @property
    def val(self) -> Any:
        """The value. Raises StoreException if there is none."""
        if not self._values:
            raise StoreException("Store empty")
        return self._values[0]

    def __bool__(self) -> bool:
        return bool(self._values)


class EqualStore(Store):
    """A store that may be written again, with an equal value."""

    __slots__ = ()

    def store(self, val: Any) -> None:
        if not self:
            super().store(val)
        elif self.val != val:
            raise StoreException("Store occupied with not-equal value")


class WrappedFun:
    """A function, the transformations around it, the stores of their auxiliary results, and keyword parameters.

    Two are equal if they compute the same.
    """

    __slots__ = ("debug_info", "f", "f_transformed", "params", "stores", "transforms")

    def __init__(
        self,
        f: Callable[..., Any],
        f_transformed: Callable[..., Any],
        transforms: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...],
        stores: tuple[Store | None, ...],
        params: tuple[tuple[str, Any], ...],
        debug_info: GraphInfo,
    ) -> None:
        self.f = f
        self.f_transformed = f_transformed
        self.transforms = transforms
        self.stores = stores
        self.params = params
        self.debug_info = debug_info

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def wrap(self, gen: Callable[..., Any], gen_static_args: tuple[Any, ...], out_store: Store | None) -> WrappedFun:
        """The function within one more transformation."""
        first = (self.f_transformed,) if out_store is None else (self.f_transformed, out_store)
        return WrappedFun(
            self.f,
            functools.partial(gen, *first, *gen_static_args),
            ((gen, gen_static_args), *self.transforms),
            (out_store, *self.stores),
            self.params,
            self.debug_info,
        )

    def populate_stores(self, stores: Sequence[Store | None]) -> None:
        """Fill the stores from those of an equal function that was called."""
        for own, other in zip(self.stores, stores, strict=True):
            if own is not None and other is not None:
                own.store(other.val)

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """The results of the transformed function."""
        return self.f_transformed(*args, **kwargs)

    def replace_debug_info(self, dbg: GraphInfo) -> WrappedFun:
        """A copy with another origin."""
        return WrappedFun(self.f, self.f_transformed, self.transforms, self.stores, self.params, dbg)

    def with_unknown_names(self) -> WrappedFun:
        """A copy without the names of arguments and results."""
        return self.replace_debug_info(self.debug_info.with_unknown_names())

    def _key(self) -> tuple[Any, ...]:
        return self.f, self.transforms, self.params

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedFun) and self._key() == other._key()

    def __repr__(self) -> str:
        lines = [f"{number}   : {gen}   {args}" for number, (gen, args) in enumerate(self.transforms)]
        return "\n".join(["Wrapped function:", *lines, f"Core: {self.__name__}"])


def origin_of(transform: str, fun: object) -> GraphInfo:
    """The origin of what a transformation makes of a function."""
    name, _, place = function_location(fun).partition(" (")
    return GraphInfo(transform, f"{name} at {place[:-1]}" if place else name)


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: GraphInfo | None = None
) -> WrappedFun:
    """`f`, with keyword parameters, as a function to be transformed."""
    given = {} if params is None else params
    info = origin_of("wrap_init", f) if debug_info is None else debug_info
    return WrappedFun(f, functools.partial(f, **given), (), (), tuple(sorted(given.items())), info)


def transformation2(gen: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """A decorator: the transformation `gen(f, *static, *args)`, to be applied as `gen(fun, *static)`."""

    @functools.wraps(gen)
    def apply(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
        return fun.wrap(gen, gen_static_args, None)

    return apply


def transformation_with_aux2(
    gen: Callable[..., Any], use_eq_store: bool = False, unk_names: bool = False
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """A decorator: the transformation `gen(f, store, *static, *args)`, which stores an auxiliary result. Applied to a
    function, it gives the new one, and a function that gives the auxiliary result after the call."""

    @functools.wraps(gen)
    def apply(fun: WrappedFun, *gen_static_args: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = EqualStore() if use_eq_store else Store()
        made = fun.wrap(gen, gen_static_args, store)
        return (made.with_unknown_names() if unk_names else made), lambda: store.val

    return apply


def transformation(gen: Callable[..., Generator[Any, Any, None]]) -> Callable[..., WrappedFun]:
    """A decorator: a transformation by a generator, which yields `(args, kwargs)`, gets the results, and yields its
    own."""

    def run(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        inner, named = next(steps)
        return steps.send(f(*inner, **named))

    @functools.wraps(gen)
    def apply(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
        return fun.wrap(_Equal(run, gen), gen_static_args, None)

    return apply


def transformation_with_aux(
    gen: Callable[..., Generator[Any, Any, None]],
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """A decorator: like `transformation`, for a generator that yields its results and an auxiliary one."""

    def run(f: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        inner, named = next(steps)
        out, aux = steps.send(f(*inner, **named))
        store.store(aux)
        return out

    @functools.wraps(gen)
    def apply(fun: WrappedFun, *gen_static_args: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = Store()
        return fun.wrap(_Equal(run, gen), gen_static_args, store), lambda: store.val

    return apply


class _Equal:
    """A callable that equals others of the same generator."""

    __slots__ = ("gen", "run")

    def __init__(self, run: Callable[..., Any], gen: Callable[..., Any]) -> None:
        self.run = run
        self.gen = gen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Equal) and self.gen is other.gen

    def __hash__(self) -> int:
        return hash(self.gen)


def merge_linear_aux(aux1: Callable[[], Any], aux2: Callable[[], Any]) -> tuple[bool, Any]:
    """Of two auxiliary results, the one that was stored, and whether it is the first. Raises StoreException unless
    exactly one was."""
    try:
        out1 = aux1()
    except StoreException:
        return False, aux2()
    try:
        aux2()
    except StoreException:
        return True, out1
    raise StoreException("both stores occupied")


def cache(call: Callable[..., Any], *, explain: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A decorator: a function of a `WrappedFun` and hashable arguments that remembers its results, for as long as the
    innermost function lives. A kept result fills the stores of the function. `explain` is called for a miss, with
    `(fun, is_first, *args)`."""
    kept: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def memoized(fun: WrappedFun, *args: Any) -> Any:
        results = kept.setdefault(fun.f, {})
        key = (fun.transforms, fun.params, args, trace_key())
        found = results.get(key)
        if found is not None:
            out, stores = found
            fun.populate_stores(stores)
            return out
        if explain is not None:
            explain(fun, not results, *args)
        out = call(fun, *args)
        results[key] = (out, fun.stores)
        return out

    cast(Any, memoized).cache_clear = kept.clear
    return memoized
