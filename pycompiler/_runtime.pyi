"""What the runtime's binding exposes: arrays that are futures, trees, the jitted function, executables.

The types on the hot path (`ShapedArray`, `Array`, `PyTreeDef`, `JitFunction`, `CompiledCall`) are raw CPython heap types whose
attributes can be set from Python (`setattr(Array, "__repr__", f)`); they can't be subclassed, `JitFunction` and `Array` take weak
references. Everything here may be called from any thread.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

# --- types -----------------------------------------------------------------------------------------------------------------------

def register_dtype(np_dtype: np.dtype[Any], code: int, name: str) -> None:
    """Tell the runtime the np.dtype object of an element type. `code` and `name` as in PCRT_DTYPES (`dtype_codes()`)."""

def dtype_codes() -> dict[str, int]:
    """The names and codes of the ABI: {"bool": 0, "int8": 1, ...}. All but "bfloat16" are registered by the module itself."""

class ShapedArray:
    """Shape, dtype and weak type of an array. Interned when every dimension is an int, so that `is` compares such avals."""

    def __new__(cls, shape: Sequence[Any], dtype: Any, weak_type: bool = False) -> ShapedArray:
        """`shape` may hold symbols (any hashable object); `dtype` is whatever np.dtype() takes. TypeError on a dtype that is not
        registered, ValueError on a negative dimension."""
    @property
    def shape(self) -> tuple[Any, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def weak_type(self) -> bool: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int:
        """Number of elements; ValueError when a dimension is a symbol."""
    @property
    def nbytes(self) -> int: ...
    @property
    def is_concrete(self) -> bool:
        """Every dimension is an int."""
    def update(self, *, shape: Sequence[Any] = ..., dtype: Any = ..., weak_type: bool = ...) -> ShapedArray: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    # repr: ShapedArray(float32[3,4]), ShapedArray(float32[], weak_type=True); str: float32[3,4]

class Device:
    platform: str  # "cpu"
    id: int
    # repr: CpuDevice(id=0)

class Array:
    """An array whose elements may still be being computed. Shape and dtype never wait."""

    # Not constructible from Python: array_from_numpy, Executable.execute, JitFunction make them.
    @property
    def aval(self) -> ShapedArray: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def weak_type(self) -> bool: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def device(self) -> Device: ...
    def is_ready(self) -> bool:
        """True when a read would not wait (the computation ended, well or with an error)."""
    def block_until_ready(self) -> Array:
        """Wait (without the GIL; Ctrl-C interrupts), return self; raise what went wrong in the computation."""
    def item(self) -> bool | int | float:
        """The only element as a Python scalar; waits. ValueError when there is not exactly one."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    # Buffer protocol: waits, read-only, C-contiguous; BufferError for bfloat16 (np.asarray then takes __array__).
    # __hash__ is None; `==` and the other operators are not defined here: array.py attaches them.

def array_from_numpy(array: np.ndarray[Any, Any], aval: ShapedArray) -> Array:
    """Copy a C-contiguous ndarray whose shape and dtype are `aval`'s."""

def with_weak_type(array: Array, weak_type: bool) -> Array:
    """The same elements (no copy) under the aval with that weak type."""

def reshaped(array: Array, aval: ShapedArray) -> Array:
    """The same elements (no copy) under another shape of the same size and dtype."""

def devices() -> list[Device]: ...
def device_count() -> int: ...

class MemoryStats(NamedTuple):
    live_bytes: int
    peak_bytes: int
    cached_bytes: int
    live_buffers: int

def memory_stats() -> MemoryStats: ...
def reset_peak_memory() -> None: ...
def release_cached_memory() -> None:
    """Give the freed blocks that the pool keeps for the next call back to the system."""
def live_arrays() -> int:
    """How many Array objects there are."""
def synchronize() -> None:
    """Wait until nothing that was enqueued is pending (errors stay with their arrays)."""
def thread_count() -> int:
    """Most threads that the pool uses."""

# --- errors ----------------------------------------------------------------------------------------------------------------------

def set_error_type(cls: type[Exception]) -> None:
    """The class raised at the read of an array whose computation failed, unless it ran out of memory (MemoryError)."""

# --- trees -----------------------------------------------------------------------------------------------------------------------

class PyTreeDef:
    """The structure of a tree of tuple, list, dict, OrderedDict, defaultdict, namedtuple, None and registered nodes."""

    @property
    def num_leaves(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """ValueError when the number of leaves differs."""
    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of `tree` at this structure's leaves; ValueError naming the place when `tree` is not of this structure."""
    def children(self) -> list[PyTreeDef]: ...
    def paths(self) -> list[str]:
        """The key path of every leaf: "[0]['w'].x"."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    # repr as JAX's: PyTreeDef((*, {'a': *}))

def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]: ...
def register_node(
    type: type, to_iter: Callable[[Any], tuple[Iterable[Any], Hashable]], from_iter: Callable[[Any, tuple[Any, ...]], Any]
) -> None:
    """`to_iter(obj) -> (children, aux)`, `from_iter(aux, children) -> obj`. ValueError when the type is registered already."""

# --- execution -------------------------------------------------------------------------------------------------------------------

class Executable:
    @staticmethod
    def load(object: bytes, entry: str, arena_bytes: int, name: str, cost_ns: float = 0.0) -> Executable:
        """Load a relocatable ELF object. `cost_ns` is an estimate of one run's time (the bytes that it touches give another, the larger counts); it
        decides whether a call may run inline, until runs have been measured. RuntimeError when the object is malformed or names an
        unknown symbol or relocation."""
    name: str
    arena_bytes: int
    code_bytes: int
    def execute(self, args: Sequence[Array], out_avals: Sequence[ShapedArray]) -> list[Array]:
        """Enqueue one run; returns before it is done (a short one whose inputs are ready runs in place)."""

class CompiledCall:
    """What an entry of a jitted function's cache holds.

    executable: called with [leaves[i] for i in in_used] + consts; None when no output is computed.
    outputs: one entry for each leaf of out_tree: ("result", i) of the executable, ("arg", i) the i-th leaf, ("const", Array) itself.
    out_avals: the avals of the executable's results.
    """

    def __init__(
        self,
        executable: Executable | None,
        in_used: tuple[int, ...],
        outputs: tuple[tuple[Literal["result", "arg"], int] | tuple[Literal["const"], Array], ...],
        out_avals: tuple[ShapedArray, ...],
        out_tree: PyTreeDef,
        consts: tuple[Array, ...] = (),
    ) -> None: ...
    executable: Executable | None
    in_used: tuple[int, ...]
    outputs: tuple[Any, ...]
    out_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    consts: tuple[Array, ...]
    def __call__(self, *leaves: Array) -> Any:
        """Run on flat leaves (Arrays of the right avals: not checked), return the tree of results."""

class CallKey(NamedTuple):
    """What a jitted function is cached by. `in_tree` is the tree of (args, kwargs) without the static ones: its children are a tuple
    of the dynamic positional arguments and a dict of the dynamic keyword arguments; `avals` are those of its leaves, in order."""

    in_tree: PyTreeDef
    avals: tuple[ShapedArray, ...]
    static_args: tuple[tuple[int, Hashable], ...]
    static_kwargs: tuple[tuple[str, Hashable], ...]
    context: Hashable

class JitFunction:
    """A function that calls compiled code, cached by CallKey. vectorcall; binds as a method; functools.update_wrapper works."""

    def __init__(
        self,
        fun: Callable[..., Any],
        miss: Callable[[tuple[Any, ...], dict[str, Any], CallKey], CompiledCall],
        traced: Callable[..., Any],
        static_argnums: tuple[int, ...] = (),
        static_argnames: tuple[str, ...] = (),
    ) -> None:
        """`miss(args, kwargs, key)`: args and kwargs as passed (leaves not converted). `traced(*args, **kwargs)` is called instead of
        everything else when a leaf is a tracer or a graph is being traced. static_argnums are non-negative: the caller resolves
        negative ones and names <-> numbers."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """TypeError names the argument that is not an array, ValueError a static argument that is not hashable."""
    def cache_size(self) -> int: ...
    def clear_cache(self) -> None: ...
    def cached_keys(self) -> list[CallKey]:
        """In the order of compilation."""
    @property
    def last_miss(self) -> CallKey | None:
        """The key of the last call that was not in the cache (also when compiling it failed)."""
    __wrapped__: Callable[..., Any]

def set_tracer_type(cls: type) -> None:
    """Leaves that are instances of `cls` send a JitFunction's call to `traced`."""
def set_leaf_converter(fn: Callable[[Any], Array]) -> None:
    """`fn(leaf) -> Array` for every leaf that is not exactly an Array; TypeError when it is not an array. The runtime learns from it:
    after one bool, int, float or np.ndarray of a dtype was converted under a context key, the next are converted in C++ to the same
    aval (only when the dtype is unchanged, for ndarrays; ints and floats when they fit)."""

def current_trace() -> Any | None: ...
def swap_trace(trace: Any | None) -> Any | None:
    """Set this thread's trace, return the previous one."""
def set_context_key(key: Hashable) -> None:
    """Configuration that is part of every key (enable_x64, ...): the value for every thread that has not swapped in its own."""
def swap_context_key(key: Hashable | None) -> Hashable | None:
    """Set this thread's own context key (None: back to the common one), return the previous own one."""
def context_key() -> Hashable:
    """The key in force in this thread."""
