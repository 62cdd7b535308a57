"""What the runtime's binding exposes: arrays that are futures, trees, the jitted function, executables.

The types on the hot path (`ShapedArray`, `Array`, `PyTreeDef`, `JitFunction`, `CompiledCall`) are raw CPython heap
types whose attributes can be set from Python (`setattr(Array, "__repr__", f)`); they can't be subclassed. `JitFunction`
and `Array` take weak references. Everything here may be called from any thread.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from pycompiler._attached import Attached

_T = TypeVar("_T")

# Types

def register_dtype(np_dtype: np.dtype[Any], code: int, name: str) -> None:
    """Tell the runtime the np.dtype object of an element type, by its code and name in the ABI (`dtype_codes`)."""

def dtype_codes() -> dict[str, int]:
    """The names and codes of the ABI: {"bool": 0, "int8": 1, ...}. The module itself registers all but "bfloat16"."""

class ShapedArray:
    """Shape, dtype, weak type and sharding of an array. Interned when every dimension is an int: then `is` compares
    avals."""

    def __new__(cls, shape: Sequence[Any], dtype: Any, weak_type: bool = False, sharding: Any = None) -> ShapedArray:
        """`shape` may hold symbols (any hashable objects); `dtype` is whatever np.dtype() takes.

        Raises TypeError for a dtype that is not registered, ValueError for a negative dimension, OverflowError when
        there are more bytes than can be addressed.
        """
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
    @property
    def explicit_sharding(self) -> Any:
        """The NamedSharding of the type, if an explicit axis of a mesh divides a dimension, else None."""
    @property
    def sharding(self) -> Any:
        """The mesh and the spec of the type, a NamedSharding over an AbstractMesh."""
    def update(
        self, *, shape: Sequence[Any] = ..., dtype: Any = ..., weak_type: bool = ..., sharding: Any = ...
    ) -> ShapedArray:
        """Another shape has no sharding unless one is given."""
    # Attached from Python (core.types.aval).
    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    # repr: ShapedArray(float32[3,4]), ShapedArray(float32[], weak_type=True); str: float32[3,4]

class Device:
    """Where arrays are and computations run; one object for each device."""

    platform: str  # "cpu", "gpu"
    id: int
    device_kind: str
    compute_capability: str  # of a GPU, "9.0"; "" of a CPU
    assembler: str  # what `assemble` is done by: "CUDA 13.0" for a GPU; "" for a CPU
    def assemble(self, image: bytes) -> bytes:
        """The machine code of a program's kernels, of PTX, for devices like this one. RuntimeError if it is refused."""
    stream_handle: int  # the driver's, for other libraries; 0 for a CPU
    local_hardware_id: int  # counted within its process, of a GPU by the driver; `id` counts over all
    process_index: int
    # repr: CpuDevice(id=0), CudaDevice(id=0); str: cpu:0, cuda:0
    def memory_stats(self) -> dict[str, int]:
        """Bytes of blocks (a block is up to a quarter larger than its array): in use, at most, the limit, the largest;
        `pool_bytes` counts the freed ones that are kept for the next call too. How many allocations there were."""
    def reset_peak_memory(self) -> None:
        """The peak is what is in use now, from here on."""

class Array(Attached):
    """An array whose elements may still be being computed. Shape and dtype never wait.

    Made by array_from_numpy, Executable.execute and JitFunction, not by a call of the class. The buffer protocol waits
    and is read-only; bfloat16 has none (BufferError), so np.asarray takes __array__ there. Unhashable; `==` and the
    other operators are attached from Python.
    """

    @property
    def aval(self) -> ShapedArray: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def max_shape(self) -> tuple[int | None, ...]: ...
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
    @property
    def device(self) -> Any:
        """The device that holds the elements, or the sharding over several."""
    @property
    def committed(self) -> bool:
        """Whether it was put there: what is computed from it is there too."""
    def delete(self) -> None:
        """Give the memory back now: a later read of the array, or of what is computed from it, is an error."""
    def is_deleted(self) -> bool:
        """Whether delete() was called."""
    def copy_to_host_async(self) -> None:
        """Begin to copy the elements to the host, where a read will want them; nothing for those of a CPU."""
    def is_ready(self) -> bool:
        """Whether a read would not wait: the computation ended, well or with an error."""
    def block_until_ready(self) -> Array:
        """Wait (without the GIL; Ctrl-C interrupts), raise what went wrong in the computation, return the array."""
    def item(self) -> bool | int | float:
        """The only element as a Python scalar; waits. ValueError when there is not exactly one."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...

def array_of_bytes(bytes: object, aval: ShapedArray, device: Device) -> Array:
    """An array of a device whose memory is a copy of a contiguous buffer's. ValueError for another number of bytes."""

def pending_size(aval: ShapedArray, max_shape: tuple[int | None, ...], maker: Any) -> Array:
    """An array whose size depends on data: at most of `max_shape`, it is what `maker()` returns, which is called
    when the elements, or dimensions that the aval leaves open, are asked for; `maker.is_ready()`: it would not wait."""

def first_rows(array: Array, count: int) -> Array:
    """The first rows of an array: a view of its memory, or a copy of few."""

def sharded_array(aval: ShapedArray, shards: tuple[Array, ...], sharding: Any) -> Array:
    """An array whose elements are those of the arrays of several devices, which it shares."""

def sharding_of(array: Array) -> Any:
    """The sharding of an array of several devices; None for one of a single device."""

def shards_of(array: Array) -> Any:
    """The arrays of the devices, a tuple; None for an array of a single device."""

def set_assembler(function: Callable[[Array], Any]) -> None:
    """Set the function that makes an ndarray of an array of several devices."""

def set_type_shardings(intern: Callable[[Any, tuple[Any, ...]], Any], standard: Callable[[ShapedArray], Any]) -> None:
    """Set the functions of shardings in types: `intern(sharding, shape)` gives the one object for equal shardings, or
    None; `standard(aval)` gives `sharding` of an aval without one."""

def array_from_numpy(array: np.ndarray[Any, Any], aval: ShapedArray) -> Array:
    """Copy a C-contiguous ndarray whose shape and dtype are those of `aval`; ValueError when they are not."""

def with_weak_type(array: Array, weak_type: bool) -> Array:
    """The same elements (no copy) under the aval with that weak type."""

def share(array: Array) -> Array:
    """Another array of the same elements (no copy), wherever they are: deleted, or donated, for itself."""

def buffer_pointer(array: Array) -> int:
    """The address of the elements, for which it waits. ValueError for an array of several devices."""

def copied(array: Array) -> Array:
    """Another array of the same elements, on the same device, in memory of its own; it may be pending."""

def reshaped(array: Array, aval: ShapedArray) -> Array:
    """The same elements (no copy) under another shape of the same size and dtype."""

class Notifier:
    """Tells an event loop which arrays are ready, by a file descriptor that is readable while there is some to take."""

    def __init__(self) -> None:
        """MemoryError when the process has no descriptor left."""
    def fileno(self) -> int: ...
    def watch(self, array: Array, key: int) -> bool:
        """Once the array is ready, or failed, `key` is among what `take` gives. False when it is already."""
    def take(self) -> list[int]:
        """The keys of what was done since the last call."""

def devices() -> list[Device]:
    """Those of all processes, of process 0 first."""

def local_devices() -> list[Device]:
    """Those of this process."""

def visible_gpus() -> list[str]:
    """The uuid of each GPU that the driver shows to this process."""

def keep_gpus(numbers: Sequence[int]) -> None:
    """Before devices are used: leave the other visible GPUs to other processes."""

def place_devices(process: int, ids: Sequence[int], others: Sequence[tuple[int, int, int, str, str, str, str]]) -> None:
    """Give this process's devices their process and ids, and name those of other processes: the process, id, number in
    the process, platform, name's family, hardware and compute capability of each."""

def add_cpu_devices(count: int) -> None: ...
def device_count() -> int: ...
def gpu_failure() -> str | None:
    """Why there is no GPU; None if there is one."""

def gpu_library_names() -> list[str]:
    """NVIDIA's libraries that programs may call: "cublaslt"."""

def load_gpu_library(name: str, folders: Sequence[str], searches: bool) -> str | None:
    """Load one for the process; why it can't be used, or None. Looked for in the folders and where the system looks,
    unless `searches` is False or the environment names its file (PYCOMPILER_CUBLASLT)."""

def default_device() -> Device:
    """Where this thread puts what nobody said a place for."""

def set_default_device(device: Device | None) -> None:
    """For all threads that have none of their own; None: the first."""

def set_platform_device(device: Device | None) -> None:
    """What is the default device where none was set; None: the first GPU, or the first CPU without one."""

def swap_default_device(device: Device | None) -> Device | None:
    """Set this thread's own default device, return the previous own one."""

def put(array: Array, device: Device, donate: bool, copy: bool) -> Array:
    """The array committed to the device: itself, its elements, or (`copy`, another device) a copy that may be pending.

    `donate` deletes the array that is given.
    """

def with_commitment(array: Array, committed: bool) -> Array:
    """The same elements, of an array that is committed to its device or not."""

def deferred(aval: ShapedArray, make: Callable[[], Array]) -> Array:
    """With several devices, an array that `make()` makes at its first use, on the device of that use."""

def set_transfer_guard(which: int, guard: str | None) -> None:
    """What becomes of transfers: 0 from host to device, 1 between devices, 2 from device to host. For all threads."""

def swap_transfer_guard(which: int, guard: str | None) -> str | None:
    """Set this thread's own guard (None: back to the common one), return the previous own one."""

def swap_explicit_transfers(explicit: bool) -> bool:
    """Whether what this thread transfers from now on was asked for; returns what was in force."""

def set_transfer_log(log: Callable[[str], object]) -> None:
    """What is told of transfers where the guard says so."""

def run_spmd(
    executable: Executable,
    devices: Sequence[Device],
    args: Sequence[Sequence[Array]],
    out_avals: Sequence[ShapedArray],
    numbers: Sequence[int] | None = None,
    owners: Sequence[tuple[int, int]] | None = None,
    fingerprint: int = 0,
    what: str = "",
) -> list[list[Array]]:
    """Run a program once on each device, with arguments of its own: `args[p]` are those of participant p, which runs on
    `devices[p]`. Returns the results of each, committed to its device, at once; its collectives wait for the others'.

    The executable must have been loaded with `may_block=True`. If other processes run some of the participants,
    `owners` are the process and the device's id of each, and `numbers` the participants here. The processes compare the
    fingerprints of their programs; `what` is the program's name.
    """

# Processes: what pycompiler.distributed calls. A wait ends with Ctrl-C. RuntimeError for refusals and late answers.

def set_peer_error_type(cls: type[Exception]) -> None:
    """The class of failures of other processes: cls(message, process, host, pid, cause, place)."""

def serve_processes(address: str, port: int, size: int, secret: str, silence_ms: int) -> int:
    """Serve the control plane, in process 0; the port, which the system chooses for 0."""

def serve_pmi(address: str, size: int, mapping: str) -> int:
    """Serve PMI-1, for an MPICH without its launcher; the port."""

def begin_processes(
    rank: int,
    size: int,
    host_name: str,
    pid: int,
    address: str,
    port: int,
    secret: str,
    timeout_ms: int,
    silence_ms: int,
) -> None:
    """Connect to the control plane."""

def open_mpi(path: str) -> str:
    """Load a library of MPI, the first time; its version."""

def mpi_abi() -> str:
    """ "standard ABI", "MPICH's ABI" or "Open MPI's ABI" of the loaded library."""

def start_mpi(timeout_ms: int, late: str) -> tuple[int, int]:
    """Start MPI unless it has started: the rank and size. RuntimeError with the text `late` when the time is over."""

def broadcast_by_mpi(own: bytes, timeout_ms: int, late: str) -> bytes:
    """The bytes of rank 0. RuntimeError with the text `late` when the time is over."""

def join_transport(may_spin: bool, shares_memory: bool, timeout_ms: int, late: str) -> None:
    """Begin to exchange messages: by memory that the processes of a node share, if they all want it, and by MPI.
    RuntimeError with the text `late` when the time is over."""

def set_value(key: str, value: bytes) -> None:
    """For all processes."""

def get_value(key: str, timeout_ms: int) -> bytes:
    """Waits until a process has set it."""

def gather_values(name: str, members: Sequence[int], own: bytes, timeout_ms: int) -> list[bytes]:
    """What each of the members gives, in their order; all call it. `timeout_ms` 0: as long as they live."""

def process_failure() -> str | None:
    """What is known of a process that failed."""

def tell_failure(cause: str, place: str) -> None:
    """Tell the other processes that this one ends with an error."""

def next_question() -> tuple[int, bool] | None:
    """Wait until another process asks where this one is: the number of the question, and whether the launch that it
    waits in runs here. None when this process leaves."""

def tell_place(id: int, place: str) -> None:
    """The answer."""

def set_collective_timeout(seconds: int) -> None:
    """The time after which a wait in a launch over processes is an error; 0 for never."""

def tell_end() -> None:
    """Tell the others that this process launches no more."""

def drain_messages() -> None:
    """Between the last meetings: receive what the others have sent, and wait until what was sent here has left."""

def leave_processes(ends_mpi: bool, pmi_port: int) -> None:
    """After the last meeting: close the connections. `pmi_port` is that of `serve_pmi`, 0 without one."""

def note_use_of_devices() -> None:
    """Note the line that uses devices; the first one counts."""

def first_use_of_devices() -> str | None:
    """The line that used devices first; "" if it is not known, None if none has."""

class MemoryStats(NamedTuple):
    live_bytes: int
    peak_bytes: int
    cached_bytes: int
    live_buffers: int

def memory_stats(device: Device | None = None) -> MemoryStats:
    """Bytes of blocks, not of arrays: a block is up to a quarter larger. Small blocks make the peak an upper bound."""

def reset_peak_memory() -> None: ...
def release_cached_memory() -> None:
    """Give the freed blocks that the pool keeps for the next call back to the system."""

def live_arrays() -> int:
    """How many Array objects there are."""

def list_arrays() -> list[Array]:
    """The Array objects that there are, the oldest first."""

def worth_viewing(part_bytes: int, whole_bytes: int) -> bool:
    """Whether a part of an array is large enough, and enough of it, to be a view instead of a copy."""

def set_memory_limit(bytes: int) -> None:
    """The most bytes of arrays on each device; 0: what the machine, or its cgroup, has."""

def set_pjrt_compiler(
    compile: Callable[[bytes, str, bytes], Any],
    load: Callable[[bytes, bytes], Any],
    oldest: Sequence[int],
    newest: Sequence[int],
) -> None:
    """The compiler of the PJRT plugin, once: functions from a module, its format and options, and from serialized bytes
    and options, to `pjrt.program.Program`; and the versions of StableHLO that it reads."""

def set_wait_for_callbacks(waits: bool) -> None:
    """Whether a call of a program with host callbacks waits for them and raises their errors, in the whole process."""

def set_donation_reporter(fn: Callable[[str, ShapedArray, str], object] | None, /) -> None:
    """What is told, once for each place, why a donated array was copied: the function's name, its aval, the reason."""

def synchronize() -> None:
    """Wait until nothing that was enqueued is pending; errors stay with their arrays."""

def lapack_names() -> list[str]:
    """The entry points of LAPACK and BLAS that decompositions call, in the order of the runtime's table."""

def fill_lapack(addresses: Sequence[int], get_threads: int = 0, set_threads: int = 0) -> None:
    """Give the runtime the addresses of lapack_names(), in their order, and those of the functions that tell and set
    how many threads their library uses (0: there are none)."""

# Of the MLIR and LLVM that _compiler was built with.
llvm_version: str

def thread_count() -> int:
    """Most threads that run executions: PYCOMPILER_NUM_THREADS, else what affinity and the cgroup leave."""

# Profiles

def start_profile() -> bool:
    """Record what happens from now on; False when something does already."""

def stop_profile(thread_names: dict[int, str]) -> bytes:
    """End the recording: the trace in the Trace Event Format, JSON. The names are by the system's thread ids."""

def is_profiling() -> bool: ...
def profile_now() -> int:
    """The clock of the recorder, in nanoseconds."""

def record_span(kind: str, name: str, start: int, end: int, args: str = "") -> None:
    """What this thread did between two times, if something records.

    `kind` is trace, compile, copy, callback, wait or user; `args` are members of a JSON object ('"step": 3').
    """

# Errors

def set_error_type(cls: type[Exception] | None) -> type[Exception] | None:
    """The class raised at the read of an array whose computation failed, unless it ran out of memory (MemoryError).

    Returns the previous class; None stands for RuntimeError.
    """

def dlpack_capsule(array: Array, versioned: bool, copy: bool) -> Any:
    """The elements as a DLPack capsule, after waiting for them. BufferError for a dtype that DLPack does not have."""

def array_from_dlpack(capsule: Any, copy: bool | None) -> Array:
    """An array over the memory of a DLPack capsule, which is used up; copied with `copy`, or when it is not row-major.

    BufferError for other devices, unknown dtypes, or when a copy is needed and `copy` is False.
    """

# Trees

class PyTreeDef:
    """The structure of a tree of tuple, list, dict, OrderedDict, defaultdict, namedtuple, None, registered nodes."""

    @property
    def num_leaves(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves; ValueError when their number differs."""
    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of `tree` at this structure's leaves; ValueError names the place where the two differ."""
    def children(self) -> list[PyTreeDef]:
        """The structures of the root's children."""
    def paths(self) -> list[str]:
        """The key path of every leaf: "[0]['w'].x"."""
    def node_data(self) -> tuple[type, Any] | None:
        """The type of the root and what it is made with beside its children; None for a leaf."""
    @staticmethod
    def from_node_data_and_children(
        registry: Any, node_data: tuple[type, Any] | None, children: Iterable[PyTreeDef]
    ) -> PyTreeDef:
        """The structure of a root and its children's; `registry` is not looked at. ValueError for what is no node."""
    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """The structure with another one in the place of each leaf."""
    def walk(
        self, f_node: Callable[[Any, Any], Any], f_leaf: Callable[[Any], Any] | None, leaves: Iterable[Any]
    ) -> Any:
        """The value of `f_node(values of the children, node_data)` at the root, `f_leaf(leaf)` at leaves."""
    def from_iterable_tree(self, tree: Iterable[Any]) -> Any:
        """The tree of an iterable of iterables, nested as the structure is. ValueError for another number of items."""
    def snapshot(self) -> PyTreeDef:
        """The structure with copies of the data that can't be hashed, so that a key of a cache stays what it was."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    # repr as JAX's: PyTreeDef((*, {'a': *}))

def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree and its structure. Dicts are sorted by key: ValueError when the keys can't be."""

def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees of the given structures."""

def treedef_of_node(node_data: tuple[type, Any] | None, children: Iterable[PyTreeDef]) -> PyTreeDef:
    """`PyTreeDef.from_node_data_and_children`, as pickles name it."""

def set_nothing(dtype: Any, type: type) -> None:
    """The dtype of arrays that hold nothing, and the registered class that stands for them among a call's arguments."""

def set_data_functions(equal: Callable[[Any, Any], bool], copy: Callable[[Any], Any]) -> None:
    """What compares and copies the data of registered nodes where its own == and hash don't serve."""

def set_node_namer(namer: Callable[[type, Hashable, int], Sequence[str] | None] | None) -> None:
    """What names the children of registered nodes in paths: `namer(type, aux, count)`, None for numbers."""

def register_node(
    type: type,
    to_iter: Callable[[Any], tuple[Iterable[Any], Hashable]],
    from_iter: Callable[[Any, tuple[Any, ...]], Any],
) -> None:
    """Make instances of `type` nodes: `to_iter(obj) -> (children, aux)`, `from_iter(aux, children) -> obj`.

    Raises ValueError when the type is a node already.
    """

# Execution

_HostCall = tuple[Callable[..., Any] | _ForeignCall, tuple[ShapedArray, ...], tuple[ShapedArray, ...], bool, bool, str]

class _ForeignCall:
    """A capsule with the call of a C function, for an executable's callbacks."""

def foreign_call(
    name: str,
    handlers: Sequence[int],
    attributes: tuple[tuple[Any, ...], ...],
    inputs: Sequence[Sequence[int]],
    outputs: Sequence[Sequence[int]],
    aliases: Sequence[tuple[int, int]],
) -> _ForeignCall:
    """A call of handlers of XLA's FFI, one for each stage, by their addresses.

    `attributes` are (name, dtype, bytes, whether it is an array), (name, bytes) of strings and (name, attributes).
    `inputs` and `outputs` have for each array the order of dimensions in memory; empty for the handler's. Raises
    RuntimeError if the first stage fails.
    """

def plain_foreign_call(
    name: str,
    function: int,
    parameters: Sequence[tuple[int, int, int, int]],
    returns: int,
    aliases: Sequence[tuple[int, int]],
) -> _ForeignCall:
    """A call of a C function. Parameters are (kind, operand, dimension, constant), see runtime/PlainCall.h."""

most_foreign_integers: int
most_foreign_floats: int

def check_foreign_handler(handler: int) -> None:
    """Raise RuntimeError unless the handler was compiled for this version of XLA's FFI."""

def register_foreign_type(name: str, type_id: int, type_info: int) -> None:
    """Register a type of state. Raises RuntimeError if the name or the number belongs to another."""

class Executable:
    """Machine code that was loaded from a relocatable ELF object."""

    @staticmethod
    def load(
        object: bytes,
        entry: str,
        arena_bytes: int,
        name: str,
        cost_ns: float = 0.0,
        may_block: bool = False,
        speculative_ns: float = ...,
        call_sites: Sequence[tuple[str, str]] = (),
        callbacks: Sequence[_HostCall] = (),
        effects: int = 0,
        image: bytes = b"",
        kernels: Sequence[str] = (),
    ) -> Executable:
        """Load an object whose function `entry` is called with the frame of runtime/Abi.h.

        `callbacks` are the functions that it calls by slot: (function of Arrays, their avals, those of the results,
        whether the code goes on at once, a name). A function gives buffers of the bytes of each result. `effects`: 0
        none, 1 some, 2 ordered ones. `image` has the kernels that it launches, PTX or a cubin, and kernel number i is
        `kernels[i]`.

        `cost_ns` is an estimate of the time of one run; the bytes that it touches give another, and the larger one
        counts. It decides whether a call may run in place, until runs have been measured; with `inf` it never may.
        `speculative_ns` is an estimate of a run of a few trips, of code that stops when the budget of its loops is used
        up: then the call is tried in place.
        `may_block`: a run may wait for others or for Python. `call_sites` are the primitives, and their places in
        the program, of what can fail, by the number in a failure's status. Raises RuntimeError when the object is
        malformed, or names a symbol or a relocation that the loader does not know.
        """
    def bind(
        self, sizes: Sequence[int], cost_ns: float | None = None, callbacks: Sequence[_HostCall] = ()
    ) -> Executable:
        """Of a program with symbols: the executable for these sizes, in the order of the symbols' numbers.

        It shares the code; its arena, its measured times and its callbacks are its own. Only bound ones run. `cost_ns`
        is the estimate for these sizes. Raises RuntimeError for sizes that are negative, or whose temporaries' bytes
        are no number, and for what has no symbols or is bound.
        """
    name: str
    arena_bytes: int
    code_bytes: int
    is_unbound: bool
    sizes: tuple[int, ...]
    @staticmethod
    def built(
        op: str, dtype: Any, operands: Sequence[tuple[int, bool, Any]], count: int, name: str
    ) -> Executable | None:
        """A kernel of the build, for results of `count` elements; None when there is none for this CPU.

        `op` and `dtype`, that of its operands, say which. Each operand is (the argument that it is read from, whether
        that is a scalar, its dtype: bools and int32 are converted).
        """
    def execute(self, args: Sequence[Array], out_avals: Sequence[ShapedArray]) -> list[Array]:
        """Enqueue one run; returns before it is done (a short one whose inputs are ready runs in place)."""

def effects_barrier() -> None:
    """Wait for launches with effects and for callbacks; raise what went wrong in one whose results nobody reads."""

class CompiledCall:
    """What an entry of a jitted function's cache holds.

    executable: called with [leaves[i] for i in in_used] + consts; None when no output is computed.
    outputs: one for each leaf of out_tree: ("result", i) of the executable, ("arg", i) the i-th leaf, or
      ("const", Array) itself, or ("view", (i, aval, offset)) the i-th leaf's elements from a byte on.
    out_avals: the avals of the executable's results.
    donated: leaves that are deleted by a call.
    aliases: pairs of a result and a donated argument of the executable in whose memory it is computed.
    device: where the function itself puts values; a call runs there.
    copying: called with the leaves instead, when one of them has memory that is not to be viewed.
    capability: the compute capability of the GPUs that the executable is for, "" for CPUs.
    elsewhere: gives the call for a device that it is not for.
    """

    def __init__(
        self,
        executable: Executable | None,
        in_used: tuple[int, ...],
        outputs: tuple[
            tuple[Literal["result", "arg"], int]
            | tuple[Literal["const"], Array]
            | tuple[Literal["view"], tuple[int, ShapedArray, int]],
            ...,
        ],
        out_avals: tuple[ShapedArray, ...],
        out_tree: PyTreeDef,
        consts: tuple[Array, ...] = (),
        donated: tuple[int, ...] = (),
        aliases: tuple[tuple[int, int], ...] = (),
        device: Device | None = None,
        copying: Callable[..., Any] | None = None,
        capability: str = "",
        elsewhere: Callable[[Device], CompiledCall] | None = None,
    ) -> None: ...
    executable: Executable | None
    in_used: tuple[int, ...]
    outputs: tuple[Any, ...]
    out_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    consts: tuple[Array, ...]
    donated: tuple[int, ...]
    aliases: tuple[tuple[int, int], ...]
    device: Device | None
    capability: str
    def __call__(self, *leaves: Array) -> Any:
        """Run on flat leaves, Arrays whose avals must be right (they are not checked); the tree of results."""

class TensorCall:
    """A call of an executable on tensors of another library: objects with `data_ptr()`, `is_contiguous()` and
    `contiguous()` in the memory of the host.

    places: the numbers of the executable's arguments in the list of a call; consts follow them. argument_bytes,
      result_bytes: the bytes of each.
    """

    def __init__(
        self,
        executable: Executable,
        consts: tuple[Array, ...],
        places: Sequence[int],
        argument_bytes: Sequence[int],
        result_bytes: Sequence[int],
    ) -> None: ...
    def __call__(self, arguments: list[Any], results: list[Any], threads: int) -> None:
        """Run in place, in at most this many threads, into the memory of `results`, which must be aligned to 64 bytes
        and row-major; returns when the results are computed. An argument that is not row-major is copied. Shapes and
        dtypes are not checked."""

class CallKey(NamedTuple):
    """What a jitted function is cached by.

    in_tree: the tree of (args, kwargs) without the static ones: a tuple of the dynamic positional arguments and a dict
      of the dynamic keyword arguments. avals: those of its leaves, in order.
    """

    in_tree: PyTreeDef
    avals: tuple[ShapedArray, ...]
    static_args: tuple[tuple[int, Hashable], ...]
    static_kwargs: tuple[tuple[str, Hashable], ...]
    context: Hashable

class JitFunction:
    """A function that calls compiled code, cached by CallKey. Binds as a method; wraps `fun` as functools does."""

    def __init__(
        self,
        fun: Callable[..., Any],
        miss: Callable[[tuple[Any, ...], dict[str, Any], CallKey], Callable[..., Any]],
        traced: Callable[..., Any],
        static_argnums: tuple[int, ...] = (),
        static_argnames: tuple[str, ...] = (),
        sharded: Callable[..., Any] | None = None,
    ) -> None:
        """`miss(args, kwargs, key)` compiles: args and kwargs are as passed, leaves not converted. It returns a
        CompiledCall, which is called with the leaves, or something else, which is called as the function was. Either is
        kept under the key.

        `traced(*args, **kwargs)` is called instead of everything else when a leaf is a tracer or this thread is
        tracing; `sharded` (without it, `traced`) when a leaf is on several devices. static_argnums are not negative:
        the caller resolves negative ones, and names to numbers and back.
        """
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
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def add_handled_type(handled: type) -> None: ...
def set_leaf_namer(namer: Callable[[Callable[..., Any], CallKey, tuple[int, ...]], Sequence[str]]) -> None:
    """What names the dynamic leaves of a call, for errors: `namer(fun, key, static_argnums)`."""

class ArrayFunction:
    """A function of arrays whose common calls never enter Python: those with arrays of common dtypes, numbers that
    these take, and options (None, bools, ints, tuples of ints, strings, settled dtypes), while nothing is traced."""

    def __init__(self, general: Callable[..., Any]) -> None:
        """`general` takes every call, also those that the compiled function refuses by a TypeError, ValueError,
        IndexError or OverflowError."""
    def set_compiled(
        self,
        make: Callable[[], Callable[..., Any]],
        fewest: int,
        most: int,
        options: tuple[str, ...] = (),
        dtypes: bool = False,
    ) -> None:
        """`make()` gives the function for the common calls, at the first one. These have `fewest` to `most` arrays and
        numbers by position, then options, by position or by one of the names `options`; dtypes may be among these."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def general(self) -> Callable[..., Any]: ...
    @property
    def compiled(self) -> Callable[..., Any] | None:
        """None until the first common call."""
    __name__: str
    __qualname__: str
    __doc__: str | None  # pyright: ignore[reportIncompatibleVariableOverride]

def filled(aval: ShapedArray, value: bytes, /) -> Array:
    """An array on the default device whose elements have the bytes `value`."""

def counted(aval: ShapedArray, /) -> Array:
    """The vector 0, 1, 2, ... on the default device; of int32, int64, float32 or float64."""

def set_settled_dtypes(dtypes: tuple[Any, ...]) -> None:
    """What an ArrayFunction takes for a dtype among its options, by identity."""

def set_watched(fn: Callable[[], bool]) -> None:
    """`fn()` says whether results are looked at under the context key of this thread; asked once for each key."""

def block_until_ready(tree: _T) -> _T:
    """Wait for every Array of a tree, raise what went wrong in the first that failed; returns the tree."""

def set_call_limit(limit: int) -> None:
    """How many kinds of calls each JitFunction keeps from its next miss on; those used last stay."""

def set_tracer_type(cls: type | None) -> type | None:
    """Leaves that are instances of `cls` send a JitFunction's call to `traced`. Returns the previous class."""

def set_operator(name: str, general: Callable[..., Any], compiled: Callable[..., Any] | None = None, /) -> None:
    """What an operator of arrays calls; `compiled` for arrays and plain numbers while nothing is traced."""

def set_leaf_converter(fn: Callable[[Any], Array] | None) -> Callable[[Any], Array] | None:
    """`fn(leaf) -> Array` for every leaf that is not exactly an Array; TypeError when it is not an array.

    The runtime learns from it: once a bool, int, float, or an ndarray whose dtype was kept, was converted under a
    context key, the next ones become the same aval without calling it. Returns the previous function.
    """

def current_trace() -> Any | None: ...
def swap_trace(trace: Any | None) -> Any | None:
    """Set this thread's trace, return the previous one."""

def set_context_key(key: Hashable) -> None:
    """Configuration that is part of every key, for every thread that has not swapped in its own."""

def swap_context_key(key: Hashable | None) -> Hashable | None:
    """Set this thread's own context key (None: back to the common one), return the previous own one."""

def context_key() -> Hashable:
    """The key in force in this thread."""
