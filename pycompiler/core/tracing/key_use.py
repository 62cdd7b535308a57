"""`key_use` marks the use of a key by a function of `random`, while `debug_key_reuse` is on. It computes nothing, and
emits no code. The check (`pycompiler.diagnostics.key_reuse`) reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.primitive import Dims, Primitive


def _shape(key: ShapedArray, *, name: str) -> tuple[ShapedArray, ...]:
    return ()


def _batch(args: Sequence[Any], dims: Dims, *, name: str) -> tuple[tuple[Any, ...], tuple[int | None, ...]]:
    return key_use.bind(*args, name=name), ()


key_use = Primitive("key_use", _shape, None, None, _batch, multiple_results=True)
