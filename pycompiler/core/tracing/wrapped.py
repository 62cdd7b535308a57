"""Functions with transformations around them, as JAX's libraries write them: `WrappedFun` and its `transformation`s.

Such a library flattens a function's arguments with `api_util.flatten_fun`, and reads a result besides the function's
own, such as the structure of its result, from a `Store` after the call. The package itself uses `flat.FlatFunction`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pycompiler.core.config.config import trace_key
from pycompiler.core.tracing.function_info import FunctionInfo, origin_of

Thunk = Callable[[], Any]


class StoreException(Exception):  # noqa: N818 (JAX's name)
    """A store is written a second time, or read before it is written."""


_EMPTY: Any = object()


class Store:
    """A value that is written once, by the function that computes it, and read afterwards."""

    __slots__ = ("_value",)

    def __init__(self) -> None:
        self._value = _EMPTY

    def store(self, val: Any) -> None:
        """Write the value. StoreException if there is one."""
        if self:
            raise StoreException("Store occupied")
        self._value = val

    def reset(self) -> None:
        """Forget the value."""
        self._value = _EMPTY

    @property
    def val(self) -> Any:
        """The value. StoreException if there is none."""
        if not self:
            raise StoreException("Store empty")
        return self._value

    def __bool__(self) -> bool:
        return self._value is not _EMPTY


class EqualStore(Store):
    """A store that may be written again with an equal value."""

    __slots__ = ()

    def store(self, val: Any) -> None:
        if self and not self._value == val:
            raise StoreException("Store occupied with not-equal value")
        self._value = val


class WrappedFun:
    """A function `f` inside transformations. `call_wrapped` calls all of it.

    Two are equal if their functions, transformations and parameters are, so that they can be keys.
    """

    __slots__ = ("__weakref__", "debug_info", "f", "f_transformed", "in_type", "params", "stores", "transforms")

    def __init__(
        self,
        f: Callable[..., Any],
        f_transformed: Callable[..., Any],
        transforms: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...],
        stores: tuple[Store | None, ...],
        params: tuple[tuple[str, Hashable], ...],
        in_type: Any,
        debug_info: FunctionInfo,
    ) -> None:
        self.f = f
        self.f_transformed = f_transformed
        self.transforms = transforms
        self.stores = stores
        self.params = params
        self.in_type = in_type
        self.debug_info = debug_info

    @property
    def __name__(self) -> str:
        return str(getattr(self.f, "__name__", "<unnamed wrapped function>"))

    def wrap(self, gen: Callable[..., Any], gen_static_args: tuple[Any, ...], out_store: Store | None) -> WrappedFun:
        """The function inside one more transformation: `gen(function, [store,] *static, *args)`."""
        held = (self.f_transformed,) if out_store is None else (self.f_transformed, out_store)
        return WrappedFun(
            self.f,
            functools.partial(gen, *held, *gen_static_args),
            ((gen, gen_static_args), *self.transforms),
            (out_store, *self.stores),
            self.params,
            None,
            self.debug_info,
        )

    def populate_stores(self, stores: Sequence[Store | None]) -> None:
        """Write the values of other stores into this function's."""
        for own, other in zip(self.stores, stores, strict=True):
            if own is not None and other is not None:
                own.store(other.val)

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the transformed function."""
        return self.f_transformed(*args, **kwargs)

    def replace_debug_info(self, dbg: FunctionInfo) -> WrappedFun:
        """The same function with other information."""
        return WrappedFun(self.f, self.f_transformed, self.transforms, self.stores, self.params, self.in_type, dbg)

    def with_unknown_names(self) -> WrappedFun:
        """The same function without the names of its arguments and results."""
        return self.replace_debug_info(self.debug_info.with_unknown_names())

    def _key(self) -> tuple[Any, ...]:
        return self.f, self.transforms, self.params, self.in_type, self.debug_info

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrappedFun) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = [getattr(gen, "__name__", repr(gen)) for gen, _ in self.transforms]
        return f"WrappedFun({self.__name__}, in {', '.join(names) or 'nothing'})"


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: FunctionInfo | None = None
) -> WrappedFun:
    """A function that can be transformed; `params` are keyword arguments of every call."""
    info = debug_info or origin_of("wrap_init", f)
    held = functools.partial(f, **(params or {}))
    return WrappedFun(f, held, (), (), tuple(sorted((params or {}).items())), None, info._replace(result_paths=None))


def transformation2(gen: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """A decorator: `gen(function, *static, *args, **kwargs)` becomes a transformation, which `(wrapped, *static)`
    applies."""

    @functools.wraps(gen)
    def apply(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
        return fun.wrap(gen, gen_static_args, None)

    return apply


def transformation_with_aux2(
    gen: Callable[..., Any], use_eq_store: bool = False, unk_names: bool = False
) -> Callable[..., tuple[WrappedFun, Thunk]]:
    """`transformation2` with a second result: `gen(function, store, *static, *args)` writes it, and the transformed
    function comes with a function that reads it."""

    @functools.wraps(gen)
    def apply(
        fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = use_eq_store, unk_names: bool = unk_names
    ) -> tuple[WrappedFun, Thunk]:
        store = EqualStore() if use_eq_store else Store()
        made = fun.wrap(gen, gen_static_args, store)
        return made.with_unknown_names() if unk_names else made, lambda: store.val

    return apply


def transformation(gen: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """`transformation2` for a generator: it yields the arguments of the function, is sent its result, and yields its
    own."""

    def called(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        given, given_kwargs = next(steps)
        return steps.send(f(*given, **given_kwargs))

    return transformation2(functools.wraps(gen)(called))


def transformation_with_aux(gen: Callable[..., Any]) -> Callable[..., tuple[WrappedFun, Thunk]]:
    """`transformation_with_aux2` for a generator: it yields the arguments, is sent the result, and yields its own
    result and the second one."""

    def called(f: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        given, given_kwargs = next(steps)
        result, aux = steps.send(f(*given, **given_kwargs))
        store.store(aux)
        return result

    return transformation_with_aux2(functools.wraps(gen)(called))


def cache(call: Callable[..., Any], *, explain: Any = None) -> Callable[..., Any]:
    """Keep the results of `call(wrapped_function, *args)`: by function, transformations, arguments and settings.

    `explain` is accepted as in JAX and has no effect: the setting explain_cache_misses explains misses of `jit`.
    """
    kept: weakref.WeakKeyDictionary[Any, dict[Any, tuple[Any, tuple[Store | None, ...]]]] = weakref.WeakKeyDictionary()

    @functools.wraps(call)
    def known(fun: WrappedFun, *args: Any) -> Any:
        own = kept.setdefault(fun.f, {})
        key = (fun.transforms, fun.params, fun.in_type, args, trace_key())
        if key in own:
            result, stores = own[key]
            fun.populate_stores(stores)
        else:
            result = call(fun, *args)
            own[key] = (result, fun.stores)
        return result

    setattr(known, "cache_clear", kept.clear)  # noqa: B010
    setattr(known, "evict_function", lambda f: kept.pop(f, None))  # pyright: ignore  # noqa: B010
    return known


def merge_linear_aux(aux1: Thunk, aux2: Thunk) -> tuple[bool, Any]:
    """The value of the one of two stores that was written, and whether it is the first. StoreException if both or
    neither was."""
    found: list[tuple[bool, Any]] = []
    for first, read in ((True, aux1), (False, aux2)):
        try:
            found.append((first, read()))
        except StoreException:
            continue
    if len(found) != 1:
        raise StoreException("both stores occupied" if found else "neither store occupied")
    return found[0]
