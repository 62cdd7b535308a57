"""Functions that write into buffers: `jax.experimental.buffer_callback` on our platform. `lowering` imports this.

JAX's own handler depends on XLA's structures. Here the function gets views of NumPy under the names of JAX's class
`Buffer`, and the runtime takes the bytes of those that it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import buffer_callback as jax_buffers
from jax._src import tree_util, util

__all__ = ["Buffer", "Context", "on_arrays"]

# The first version of DLPack that can mark memory as read-only.
_WITH_FLAGS = 1


class Buffer:
    """Memory of an argument, or of a result that the function is to write."""

    def __init__(self, array: np.ndarray[Any, Any], writeable: bool) -> None:
        self._array = array.view()
        self._array.flags.writeable = writeable

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self._array.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return self._array.shape

    @property
    def writeable(self) -> bool:
        """Whether it belongs to a result."""
        return self._array.flags.writeable

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The memory itself. Raises ValueError for another type or a copy, as JAX: the memory is to be written."""
        if dtype is not None:
            raise ValueError(
                "dtype parameter is not supported by Buffer.__array__: np.asarray(buffer) gives its memory"
            )
        if copy:
            raise ValueError("Buffer.__array__ with copy=True is not supported: np.asarray(buffer) is it")
        return self._array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Raises JaxRuntimeError: the memory is the host's."""
        raise jax.errors.JaxRuntimeError(
            "UNIMPLEMENTED: Buffer.__cuda_array_interface__ is only supported on CUDA and ROCm."
        )

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A capsule of the memory. Below DLPack 1.0, which has no "read only", it is a copy of an argument."""
        if copy:
            raise ValueError("Buffer.__dlpack__ with copy=True is not supported: copy in the function")
        if max_version is None or max_version[0] < _WITH_FLAGS:
            return (self._array if self.writeable else self._array.copy()).__dlpack__()
        return self._array.__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The host."""
        return self._array.__dlpack_device__()


class Context:
    """The first argument of the function, with the names of JAX's `ExecutionContext`."""

    stage = jax_buffers.ExecutionStage.EXECUTE

    @property
    def stream(self) -> int:
        """Raises JaxRuntimeError: only GPUs have streams."""
        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available: the device is a CPU")


def on_arrays(
    callback: Callable[..., None], in_tree: Any, out_tree: Any, result_avals: Sequence[Any], aliases: dict[int, int]
) -> Callable[..., tuple[np.ndarray[Any, Any], ...]]:
    """A function from arrays to results, made of the given one. By `aliases`, arguments give their memory to
    results."""

    def call(*arrays: Any) -> tuple[np.ndarray[Any, Any], ...]:
        given = [np.asarray(one) for one in arrays]
        results = [np.empty(aval.shape, aval.dtype) for aval in result_avals]
        for argument, result in aliases.items():
            # The program may read the argument again.
            results[result][...] = given[argument]
            given[argument] = results[result]
        args, keywords = tree_util.tree_unflatten(in_tree, [Buffer(one, False) for one in given])
        outs = tree_util.tree_unflatten(out_tree, [Buffer(one, True) for one in results])
        if callback(Context(), outs, *args, **keywords) is not None:
            raise ValueError(
                f"buffer_callback callback must not return any values: {util.fun_name(callback)} must write into its "
                "second argument, `out`, and return None"
            )
        return tuple(results)

    return call
