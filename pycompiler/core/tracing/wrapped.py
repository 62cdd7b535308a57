"""Functions with transformations around them, as JAX's libraries write them: `WrappedFun` and its `transformation`s.

Such a library flattens a function's arguments with `api_util.flatten_fun`, and reads a result besides the function's
own, such as the structure of its result, from a `Store` after the call. The package itself uses `flat.FlatFunction`.
"""

from __future__ import annotations

import functools
import inspect
import re
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from pycompiler.core.config.config import trace_key
from pycompiler.core.types.tree_keys import keystr, tree_flatten_with_path

Thunk = Callable[[], Any]


class FunctionInfo(NamedTuple):
    """What is known about a traced function: the transformation, the function and its place in the source, and the
    names of its arguments and results. None: the names are not known."""

    traced_for: str
    # "name at file:line", or the name alone.
    func_src_info: str
    arg_names: tuple[str, ...] | None
    result_paths: Any

    @property
    def func_name(self) -> str:
        """The name of the function."""
        return self.func_src_info.split(" ")[0]

    @property
    def func_filename(self) -> str | None:
        """The file of the function."""
        found = _PLACE.match(self.func_src_info)
        return found[3] if found else None

    @property
    def func_lineno(self) -> int | None:
        """The first line of the function."""
        found = _PLACE.match(self.func_src_info)
        return int(found[4]) if found and found[4] else None

    def replace_func_name(self, name: str) -> FunctionInfo:
        """The same information under another name of the function."""
        return self._replace(func_src_info=" ".join([name, *self.func_src_info.split(" ")[1:]]))

    def resolve_result_paths(self) -> FunctionInfo:
        """The information with the names of the results, after the function has run."""
        paths: Any = self.result_paths
        if not callable(paths):
            return self
        found: Any = paths()
        return self._replace(result_paths=tuple(found))

    def set_result_paths(self, ans: Any) -> FunctionInfo:
        """The information with the names of the parts of a result."""
        paths = [f"result{_path(path)}" for path, _ in tree_flatten_with_path(ans)[0]]
        return self._replace(result_paths=tuple(paths))

    def safe_arg_names(self, expected_count: int) -> tuple[str, ...]:
        """The names of the arguments; empty ones if they are not known. AssertionError for another number of them."""
        return _counted(self.arg_names, expected_count)

    def safe_result_paths(self, expected_count: int) -> tuple[str, ...]:
        """The names of the results; empty ones if they are not known. AssertionError for another number of them."""
        return _counted(self.result_paths, expected_count)

    def filter_arg_names(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The names of the arguments to keep."""
        return _chosen(self.arg_names, keep)

    def filter_result_paths(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
        """The names of the results to keep."""
        return _chosen(self.result_paths, keep)

    def with_unknown_names(self) -> FunctionInfo:
        """The information without names of arguments and results."""
        return self._replace(arg_names=None, result_paths=None)


_PLACE = re.compile(r"([^ ]+)( at (.+):(\d+))?$")


def _counted(names: tuple[str, ...] | None, count: int) -> tuple[str, ...]:
    assert names is None or len(names) == count, f"{count} names are expected, there are {names}"
    return ("",) * count if names is None else names


def _chosen(names: tuple[str, ...] | None, keep: Sequence[bool]) -> tuple[str, ...] | None:
    if names is None:
        return None
    return tuple([name for name, kept in zip(_counted(names, len(keep)), keep, strict=True) if kept])


def _path(path: Any) -> str:
    return re.sub(r"<flat index ([^>]+)>", r"\1", keystr(path))


def function_info(
    traced_for: str,
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths: Any = None,
    place: str | None = None,
    signature: inspect.Signature | None = None,
) -> FunctionInfo:
    """The information about a function that is called with these arguments. Static ones have no names."""
    if place is None:
        place = _place_of(fun)
    if signature is None:
        try:
            signature = inspect.signature(fun)
        except (TypeError, ValueError):
            signature = None
    named = _named_arguments(signature, args, kwargs, static_argnums, frozenset(static_argnames))
    names = [f"{name}{_path(path)}" for name, x in named for path, _ in tree_flatten_with_path(x)[0]]
    return FunctionInfo(traced_for, place, tuple(names), result_paths)


def _place_of(fun: Any) -> str:
    while isinstance(fun, functools.partial):
        fun = fun.func  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    fun = inspect.unwrap(fun)
    code: Any = getattr(fun, "__code__", None)
    name = getattr(fun, "__name__", None) or type(fun).__name__
    return f"{name} at {code.co_filename}:{code.co_firstlineno}" if code else name


def _named_arguments(
    signature: inspect.Signature | None,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    static_argnums: Sequence[int],
    static_argnames: frozenset[str],
) -> list[tuple[str, Any]]:
    """The arguments that are not static, with their names: positional ones, then keyword arguments in the order of
    their names."""
    static = {number % len(args) for number in static_argnums if -len(args) <= number < len(args)}
    given = [None if place in static else x for place, x in enumerate(args)]
    moving = {name: x for name, x in sorted(kwargs.items()) if name not in static_argnames}
    try:
        bound = None if signature is None else signature.bind(*args, **kwargs)
    except TypeError:
        bound = None
    if bound is None or signature is None:
        return [("args", given), *((f"kwargs['{name}']", x) for name, x in moving.items())]
    rest = next((name for name, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD), None)
    named: list[tuple[str, Any]] = []
    count = 0
    for name in bound.arguments:
        if name in kwargs or name == rest:
            continue
        if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            named.append((name, tuple(given[count:])))
        else:
            named.append((name, given[count]))
            count += 1
    return named + [(name if name in bound.arguments else f"{rest}['{name}']", x) for name, x in moving.items()]


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
    info = debug_info or FunctionInfo("wrap_init", _place_of(f), None, None)
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

    `explain` is taken for jax's sake: misses of `jit` explain themselves (the setting explain_cache_misses).
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
