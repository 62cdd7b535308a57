"""The C versions of the stencils: loops by hand, compiled by gcc for this machine, on one thread.

They are a limit: the time of the loops without a call of a library, a dispatch or a check. Each is a peer of a case
(library.py). The sources are in stencils.c. The parameters of each function are the pointers of the arguments, then
those of the results.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

SOURCE = pathlib.Path(__file__).with_name("stencils.c")
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-shared", "-fPIC")


@functools.cache
def _library(defines: tuple[str, ...]) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/stencils.so"
        subprocess.run(["gcc", *FLAGS, *defines, "-o", path, str(SOURCE), "-lm"], check=True)
        return ctypes.CDLL(path)


def _empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A new array, aligned as ours and jax's are."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def function(
    name: str, results: Callable[..., list[tuple[int, ...]]], **sizes: int
) -> Callable[[Any], Callable[..., Any]]:
    """The peer: `results` has the shapes of the results for the shapes of the arguments, `sizes` are the macros.

    Results are allocated once, as in a program in C.
    """

    def build(_: Any) -> Callable[..., Any]:
        made: list[np.ndarray] = []

        def run(*arguments: np.ndarray) -> Any:
            dtype = arguments[0].dtype
            if not made:
                made.extend(_empty(shape, dtype) for shape in results(*(x.shape for x in arguments)))
            kind = "float" if dtype == np.float32 else "double"
            library = _library((f"-DT={kind}", *(f"-D{key}={value}" for key, value in sizes.items())))
            getattr(library, name)(*(ctypes.c_void_p(x.ctypes.data) for x in (*arguments, *made)))
            return tuple(made) if len(made) > 1 else made[0]

        return run

    return build


def like(count: int) -> Callable[..., list[tuple[int, ...]]]:
    """Results of the shapes of the first `count` arguments."""
    return lambda *shapes: list(shapes[:count])
