"""`await array` in asyncio: the event loop goes on until the array is ready. Attached to `Array` by importing this.

An event loop watches one file descriptor for all of its arrays, which becomes readable when one of them is done; no
thread waits, and what completes an array takes no lock of Python's. Before it: `_runtime.Notifier`; stands at the top.
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
    """What is awaited in one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.notifier = Notifier()
        self.keys = itertools.count()
        # A task holds the future that it awaits. Were it held here, the loop, which the future holds, would be too.
        self.futures: dict[int, weakref.ref[asyncio.Future[None]]] = {}
        loop.add_reader(self.notifier.fileno(), self.wake)

    def wake(self) -> None:
        """Called by the loop: resolves what is done."""
        for key in self.notifier.take():
            future = self.futures.pop(key)()
            # Who was cancelled does not wait any more.
            if future is not None and not future.done():
                future.set_result(None)

    def future(self, array: Array, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None] | None:
        """What is resolved when the array is ready, or failed; None when it is already."""
        future = loop.create_future()
        key = next(self.keys)
        self.futures[key] = weakref.ref(future)
        if self.notifier.watch(array, key):
            return future
        del self.futures[key]
        return None


# A loop holds what it watches; this only finds it again.
_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting] = weakref.WeakKeyDictionary()


@functools.cache
def _asyncio() -> Any:
    # Most programs need none of it, and it takes longer to import than this package.
    return importlib.import_module("asyncio")


def _await(array: Array) -> Generator[Any, None, Array]:
    """Wait in the running event loop, which goes on meanwhile; gives the array, or raises what went wrong.

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
