"""Caches that keep recently used values. Each value is made once, also if several threads request it."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Generator, Hashable
from typing import Any, Generic, TypeVar

_V = TypeVar("_V")


class Cache(Generic[_V]):
    """At most `limit()` values by key. A value that nothing requested during the last `limit() / 2` additions is
    dropped first.

    The cache has two generations. A value found in the old one moves to the young one. When the young one has half the
    limit, the old one is dropped and the young one becomes the old one. So a hit in the young one is one dict lookup.
    """

    __slots__ = ("__weakref__", "_limit", "_lock", "_old", "_pending", "_young")

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._young: dict[Hashable, _V] = {}
        self._old: dict[Hashable, _V] = {}
        # Reentrant: comparing keys and destroying values may run code of the user.
        self._lock = threading.RLock()
        self._pending: dict[Hashable, list[Any]] = {}
        _caches.add(self)

    def get(self, key: Hashable) -> _V | None:
        """The value, or None."""
        value = self._young.get(key)
        if value is not None or not self._old:
            return value
        with self._lock:
            value = self._old.pop(key, None)
        if value is not None:
            self.put(key, value)
        return value

    def put(self, key: Hashable, value: _V) -> None:
        """Keep a value. It must not be None."""
        with self._lock:
            dropped = self._old
            if len(self._young) >= max(self._limit() // 2, 1) and key not in self._young:
                self._old, self._young = self._young, {}
            else:
                dropped = None
            self._young[key] = value
        # Outside of the lock: destroying a dropped value may run code of the user.
        del dropped

    @contextlib.contextmanager
    def making(self, key: Hashable) -> Generator[None]:
        """A context for the one thread that makes the value of this key. Other threads wait, then find the value."""
        with self._lock:
            entry = self._pending.setdefault(key, [threading.RLock(), 0])
            entry[1] += 1
        try:
            with entry[0]:
                yield
        finally:
            with self._lock:
                entry[1] -= 1
                if not entry[1]:
                    self._pending.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            dropped = (self._young, self._old)
            self._young, self._old = {}, {}
        del dropped

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def forget_threads(self) -> None:
        """Reset locks and pending keys in a forked process: their threads do not exist there."""
        self._lock = threading.RLock()
        self._pending = {}


_caches: weakref.WeakSet[Cache[Any]] = weakref.WeakSet()


def _after_fork() -> None:
    for cache in list(_caches):
        cache.forget_threads()


os.register_at_fork(after_in_child=_after_fork)
