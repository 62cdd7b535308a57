"""`jax.debug.inspect_array_sharding` in programs for several devices. `lowering` and `partition` import this.

JAX makes a call of its function with a key. The partitioner of the program answers it, before the program runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from jaxlib import xla_client

from pycompiler.pjrt.shardings import Spread, text_of_spread

__all__ = ["TARGET", "answer", "keep_functions", "takes"]

TARGET = "InspectSharding"
# The functions by key. JAX keeps a function while its program may be compiled.
_functions: weakref.WeakValueDictionary[bytes, Callable[[Any], Any]] = weakref.WeakValueDictionary()


def keep_functions() -> None:
    """Note each new function: its key consists of addresses of XLA's own structures."""
    client: Any = xla_client
    encode: Callable[..., bytes] = client.encode_inspect_sharding_callback

    def encode_inspect_sharding_callback(function: Callable[[Any], Any]) -> bytes:
        key = encode(function)
        _functions[key] = function
        return key

    client.encode_inspect_sharding_callback = encode_inspect_sharding_callback


def takes(op: Any) -> bool:
    """Whether an operation asks for the sharding of its operand."""
    return op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == TARGET


def answer(op: Any, spread: Spread, count: int, is_manual: bool) -> None:
    """Tell the sharding, and erase the operation."""
    function = _functions.get(op.attributes["backend_config"].value_bytes)
    if function is None:
        raise RuntimeError(f"{op.location}: asks for a sharding, and its function is not in this process")
    sharding: Any = xla_client.HloSharding
    function(sharding.manual() if is_manual else sharding.from_string(text_of_spread(spread, count)))
    op.erase()
