"""`await array` in asyncio: the event loop continues until the array is ready. Importing this attaches it to `Array`.

An event loop watches one file descriptor for all of its arrays. It becomes readable when an array is done. No thread
waits, and completing an array takes no lock of Python. Uses `_runtime.Notifier`; no other folder imports this module.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import weakref
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from pycompiler._runtime import Array, Notifier, shards_of

if TYPE_CHECKING:
    import asyncio


class _Waiting:
    """The awaited arrays of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.notifier = Notifier()
        self.keys = itertools.count()
        # A task holds the future that it awaits. A strong reference here would keep the future, and with it the loop.
        self.futures: dict[int, weakref.ref[asyncio.Future[None]]] = {}
        loop.add_reader(self.notifier.fileno(), self.wake)

    def wake(self) -> None:
        """The loop calls this: it resolves the futures of arrays that are done."""
        for key in self.notifier.take():
            future = self.futures.pop(key)()
            # A cancelled future does not wait any more.
            if future is not None and not future.done():
                future.set_result(None)

    def future(self, array: Array, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """A future that is resolved when the array is ready, or failed. None if it already is."""
        future = loop.create_future()
        key = next(self.keys)
        self.futures[key] = weakref.ref(future)
        if self.notifier.watch(array, key):
            return future
        del self.futures[key]
        return None


# A loop holds its `_Waiting`; this dict only finds it.
_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting] = weakref.WeakKeyDictionary()


@functools.cache
def _asyncio() -> Any:
    # Most programs do not need asyncio, and its import takes longer than that of this package.
    return importlib.import_module("asyncio")


def _await(array: Array) -> Generator[Any, None, Array]:
    """Wait in the running event loop, which continues meanwhile. Returns the array, or raises its error.

    Raises RuntimeError when no event loop of asyncio runs and the array is not ready.
    """
    for part in shards_of(array) or (array,):
        if not part.is_ready():
            loop = _asyncio().get_running_loop()
            waiting = _loops.get(loop)
            if waiting is None:
                waiting = _loops[loop] = _Waiting(loop)
            future = waiting.future(part, loop)
            if future is not None:
                yield from future
    return array.block_until_ready()


setattr(Array, "__await__", _await)  # noqa: B010
