"""Functions of Python that JAX programs call: `pure_callback`, `io_callback`, `debug.print` and others.

`lowering` numbers each function, and puts the number into the module. `source` finds the functions by it when the
program is compiled, in the same process. A function lives as long as the program of JAX's or of ours that calls it.
"""

from __future__ import annotations

import copy
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray
from pycompiler.primitives.control.host_calls import HostCall
from pycompiler.primitives.control.host_functions import bytes_of

__all__ = ["CALLERS", "TARGET", "Callback", "callback_with"]

# The custom call's target in StableHLO. The importer translates it to `array.host_call`.
TARGET = "pycompiler_python_callback"

# The fingerprints of programs that call functions of Python: no cache on the disk can have them.
CALLERS: set[bytes] = set()


class Callback:
    """A function from arrays of NumPy to a sequence of them, with the avals of both."""

    _numbers = itertools.count(1)

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        in_avals: tuple[ShapedArray, ...],
        out_avals: tuple[ShapedArray, ...],
        name: str,
        ordered: bool,
        effectful: bool,
        partitioned: bool = False,
    ) -> None:
        self.function = function
        self.in_avals, self.out_avals = in_avals, out_avals
        self.name = name
        self.ordered, self.effectful = ordered, effectful
        # Each device calls it, with its parts.
        self.partitioned = partitioned
        self.number = next(self._numbers)
        _known[self.number] = self

    def serve(self, *arrays: Array) -> Sequence[Any]:
        """Call the function. The runtime reads the bytes of the results."""
        results = self.function(*[np.asarray(x) for x in arrays])
        return [bytes_of(x) for x in results]

    def of_parts(self, shapes: Sequence[Sequence[int]]) -> Callback:
        """The same function, for parts with these sizes."""
        made = copy.copy(self)
        made.in_avals = tuple(
            [ShapedArray(tuple(shape), aval.dtype) for shape, aval in zip(shapes, self.in_avals, strict=True)]
        )
        return made

    def call(self) -> HostCall:
        """The entry of the table of loaded code."""
        return HostCall(self.serve, self.in_avals, self.out_avals, False, False, self.name)


_known: weakref.WeakValueDictionary[int, Callback] = weakref.WeakValueDictionary()


def callback_with(number: int) -> Callback:
    """The function with a number in a module. Raises ValueError for a number of another process."""
    found = _known.get(number)
    if found is None:
        raise ValueError(
            "the program calls a function of Python that is gone, or belongs to another process.\nWhat to do: lower it "
            "again, with jax.jit(f).lower(...), in the process that compiles it"
        )
    return found
