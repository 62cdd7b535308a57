"""The settings, one table: name, type, default, environment variable, one line.

Each is set by its environment variable, by `config.update(name, value)` for the process, and by the context manager of
its name (`with enable_x64(): ...`) for the thread. Those that change what a function compiles to are part of every key
of the cache: they are handed to `_runtime` whenever they change.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass

from pycompiler._runtime import set_context_key, swap_context_key

Value = bool | int | str | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table; `keyed` when compiled functions depend on it."""

    name: str
    type: type
    default: Value
    environment: str
    summary: str
    choices: tuple[str, ...] = ()
    keyed: bool = False

    def parse(self, value: object) -> Value:
        """`value`, as a person or the environment wrote it, in this setting's type."""
        if value is None and self.default is None:
            return None
        if self.type is bool:
            if isinstance(value, (bool, int)):
                return bool(value)
            text = str(value).strip().lower()
            if text in ("1", "true", "on", "yes"):
                return True
            if text in ("0", "false", "off", "no", ""):
                return False
        elif self.type is int:
            with contextlib.suppress(ValueError):
                return int(str(value))
        elif isinstance(value, str) and (not self.choices or value in self.choices):
            return value
        wanted = " or ".join(map(repr, self.choices)) if self.choices else f"a value of type {self.type.__name__}"
        raise ValueError(f"config: {self.name} must be {wanted}, got {value!r}")


TABLE: tuple[Setting, ...] = (
    Setting("enable_x64", bool, False, "PYCOMPILER_ENABLE_X64", "keep 64-bit types instead of narrowing", keyed=True),
    Setting(
        "threefry_partitionable",
        bool,
        False,
        "PYCOMPILER_THREEFRY_PARTITIONABLE",
        "the newer stream of random bits, which can be made in parts",
        keyed=True,
    ),
    Setting(
        "platform_name",
        str,
        None,
        "PYCOMPILER_PLATFORM",
        "where arrays are put by default",
        choices=("cpu",),  # a platform that is not there is refused, and never replaced silently
        keyed=True,
    ),
    Setting("debug", int, 0, "PYCOMPILER_DEBUG", "what is told on stderr: 1 compilations, 2 graphs too, 3 IR too"),
    Setting("traceback_filtering", bool, True, "PYCOMPILER_TRACEBACK_FILTERING", "hide the package's own frames"),
)


class _Local(threading.local):
    def __init__(self) -> None:
        self.overrides: dict[str, Value] = {}
        # What else compiled functions depend on in this thread: the axis names in scope (core.axes).
        self.scope: tuple[Hashable, ...] = ()


class Config:
    """The current values, read as attributes: `config.enable_x64`."""

    def __init__(self, table: tuple[Setting, ...]) -> None:
        self._table = {setting.name: setting for setting in table}
        self._values: dict[str, Value] = {}
        self._local = _Local()
        for setting in table:
            text = os.environ.get(setting.environment)
            self._values[setting.name] = setting.default if text is None else setting.parse(text)
        set_context_key(self._key())

    @property
    def enable_x64(self) -> bool:
        # Asked for with every scalar that is met: without the calls.
        overrides = self._local.overrides
        return overrides["enable_x64"] if "enable_x64" in overrides else self._values["enable_x64"]  # type: ignore[return-value]

    @property
    def threefry_partitionable(self) -> bool:
        return bool(self._read("threefry_partitionable"))

    @property
    def platform_name(self) -> str | None:
        value = self._read("platform_name")
        return None if value is None else str(value)

    @property
    def debug(self) -> int:
        return int(self._read("debug") or 0)

    @property
    def traceback_filtering(self) -> bool:
        return bool(self._read("traceback_filtering"))

    def update(self, name: str, value: object) -> None:
        """Set `name` for the whole process. Raises ValueError for an unknown name or a value of another type."""
        self._values[name] = self._setting(name).parse(value)
        set_context_key(self._key())

    def read(self, name: str) -> Value:
        """The value of `name` in this thread."""
        self._setting(name)
        return self._read(name)

    def settings(self) -> tuple[Setting, ...]:
        """The rows of the table."""
        return tuple(self._table.values())

    @contextlib.contextmanager
    def override(self, name: str, value: object) -> Generator[None]:
        """Set `name` in this thread while the `with` block runs."""
        parsed = self._setting(name).parse(value)
        overrides = self._local.overrides
        before = dict(overrides)
        overrides[name] = parsed
        key = swap_context_key(self._key())
        try:
            yield
        finally:
            overrides.clear()
            overrides.update(before)
            swap_context_key(key)

    @contextlib.contextmanager
    def scope(self, names: tuple[Hashable, ...]) -> Generator[None]:
        """Make `names` part of this thread's key while the `with` block runs."""
        before, self._local.scope = self._local.scope, names
        key = swap_context_key(self._key())
        try:
            yield
        finally:
            self._local.scope = before
            swap_context_key(key)

    def _setting(self, name: str) -> Setting:
        setting = self._table.get(name)
        if setting is None:
            raise ValueError(f"config: there is no setting {name!r}; there are {', '.join(self._table)}")
        return setting

    def _read(self, name: str) -> Value:
        overrides = self._local.overrides
        return overrides[name] if name in overrides else self._values[name]

    def _key(self) -> tuple[Hashable, ...]:
        key = tuple(self._read(name) for name, setting in self._table.items() if setting.keyed)
        return (*key, self._local.scope) if self._local.scope else key


config = Config(TABLE)


def _context(name: str) -> Callable[[object], contextlib.AbstractContextManager[None]]:
    def manager(value: object = True) -> contextlib.AbstractContextManager[None]:
        return config.override(name, value)

    manager.__name__ = manager.__qualname__ = name
    manager.__doc__ = f"A context in which `{name}` has another value, in this thread."
    return manager


enable_x64 = _context("enable_x64")
threefry_partitionable = _context("threefry_partitionable")
