"""The runtime's binding: arrays that are futures, trees, the jitted function, executables.

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
        """`shape` may hold symbols (any hashable objects); np.dtype() must accept `dtype`.

        Raises TypeError for a dtype that is not registered, ValueError for a negative dimension, OverflowError for more
        bytes than can be addressed.
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
    assembler: str  # the name of the assembler behind `assemble`: "CUDA 13.0" for a GPU; "" for a CPU
    def assemble(self, image: bytes) -> bytes:
        """The machine code of a program's kernels for devices like this one, from PTX. RuntimeError if PTX is
        refused."""
    stream_handle: int  # the driver's, for other libraries; 0 for a CPU
    local_hardware_id: int  # counted within its process, of a GPU by the driver; `id` counts over all
    process_index: int
    # repr: CpuDevice(id=0), CudaDevice(id=0); str: cpu:0, cuda:0
    def memory_stats(self) -> dict[str, int]:
        """Bytes of blocks: in use, their peak, the limit, the largest block. A block is up to a quarter larger than its
        array. `pool_bytes` also counts freed blocks that are kept for the next call. Also the number of allocations."""
    def reset_peak_memory(self) -> None:
        """Set the peak to the bytes in use now."""

class Array(Attached):
    """An array whose elements may be pending. Reading its shape and dtype never waits.

    array_from_numpy, Executable.execute and JitFunction make arrays; a call of the class does not. The buffer protocol
    waits and is read-only; bfloat16 has none (BufferError), so np.asarray takes __array__ there. Unhashable; `==` and
    the other operators are attached from Python.
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
        """Whether the array was put on its device. Results computed from it are on that device too."""
    def delete(self) -> None:
        """Give the memory back now: a later read of the array, or of a result computed from it, is an error."""
    def is_deleted(self) -> bool:
        """Whether delete() was called."""
    def copy_to_host_async(self) -> None:
        """Begin to copy the elements to the host, for a later read. Does nothing for an array of a CPU."""
    def is_ready(self) -> bool:
        """Whether the computation has ended, well or with an error, so that a read does not wait."""
    def block_until_ready(self) -> Array:
        """Wait (without the GIL; Ctrl-C interrupts), raise the error of the computation, return the array."""
    def item(self) -> bool | int | float:
        """The only element as a Python scalar; waits. ValueError when there is not exactly one."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...

def array_of_bytes(bytes: object, aval: ShapedArray, device: Device) -> Array:
    """An array on a device, with a copy of the bytes of a contiguous buffer. ValueError for another number of bytes."""

def pending_size(aval: ShapedArray, max_shape: tuple[int | None, ...], maker: Any) -> Array:
    """An array whose size depends on data, at most of shape `max_shape`. The first read of its elements, or of
    dimensions that the aval leaves open, calls `maker()`, which returns the array. `maker.is_ready()` says whether that
    call does not wait."""

def first_rows(array: Array, count: int) -> Array:
    """The first rows of an array: a view of its memory, or a copy if they are few."""

def sharded_array(aval: ShapedArray, shards: tuple[Array, ...], sharding: Any) -> Array:
    """An array that shares the elements of arrays on several devices."""

def sharding_of(array: Array) -> Any:
    """The sharding of an array of several devices; None for one of a single device."""

def shards_of(array: Array) -> Any:
    """The arrays of the devices, a tuple; None for an array of a single device."""

def set_assembler(function: Callable[[Array], Any]) -> None:
    """Set the function that makes an ndarray of an array of several devices."""

def set_failed_read(function: Callable[[Array, BaseException], Any]) -> None:
    """Set the function that gets an array and the exception of its conversion to an ndarray. Its result is the ndarray;
    None raises the exception."""

def set_type_shardings(intern: Callable[[Any, tuple[Any, ...]], Any], standard: Callable[[ShapedArray], Any]) -> None:
    """Set the functions of shardings in types: `intern(sharding, shape)` gives the one object for equal shardings, or
    None; `standard(aval)` gives `sharding` of an aval without one."""

def array_from_numpy(array: np.ndarray[Any, Any], aval: ShapedArray) -> Array:
    """Copy a C-contiguous ndarray whose shape and dtype are those of `aval`; ValueError when they are not."""

def with_weak_type(array: Array, weak_type: bool) -> Array:
    """The same elements (no copy) under the aval with that weak type."""

def share(array: Array) -> Array:
    """Another array of the same elements (no copy), on any device. It is deleted or donated by itself."""

def buffer_pointer(array: Array) -> int:
    """The address of the elements, for which it waits. ValueError for an array of several devices."""

def copied(array: Array) -> Array:
    """Another array of the same elements, on the same device, in memory of its own; it may be pending."""

def reshaped(array: Array, aval: ShapedArray) -> Array:
    """The same elements (no copy) under another shape of the same size and dtype."""

class Notifier:
    """Tells an event loop which arrays are ready, by a file descriptor that is readable while `take` has keys."""

    def __init__(self) -> None:
        """MemoryError when the process has no descriptor left."""
    def fileno(self) -> int: ...
    def watch(self, array: Array, key: int) -> bool:
        """Once the array is ready, or failed, `take` returns `key`. False when the array is ready or failed already."""
    def take(self) -> list[int]:
        """The keys of the arrays that became ready, or failed, since the last call."""

def devices() -> list[Device]:
    """The devices of all processes, those of process 0 first."""

def local_devices() -> list[Device]:
    """The devices of this process."""

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
    """Load a library for the process. Returns None, or the reason why it can't be used. The search covers the folders
    and the system's places, unless `searches` is False or the environment names the file (PYCOMPILER_CUBLASLT)."""

def default_device() -> Device:
    """The device on which this thread puts arrays without a given device."""

def set_default_device(device: Device | None) -> None:
    """Set the default device of all threads without their own; None: the first device."""

def set_platform_device(device: Device | None) -> None:
    """Set the default device for programs that set none; None: the first GPU, or without a GPU the first CPU."""

def swap_default_device(device: Device | None) -> Device | None:
    """Set this thread's own default device, return its previous one."""

def put(array: Array, device: Device, donate: bool, copy: bool) -> Array:
    """The array committed to the device: itself, its elements, or (`copy`, another device) a copy that may be pending.

    `donate` deletes the array that is given.
    """

def with_commitment(array: Array, committed: bool) -> Array:
    """The same elements, of an array that is committed to its device or not."""

def deferred(aval: ShapedArray, make: Callable[[], Array]) -> Array:
    """With several devices, an array that `make()` makes at its first use, on the device of that use."""

def set_transfer_guard(which: int, guard: str | None) -> None:
    """Set the guard of transfers for all threads: 0 from host to device, 1 between devices, 2 from device to host."""

def swap_transfer_guard(which: int, guard: str | None) -> str | None:
    """Set this thread's own guard (None: back to the common one), return its previous one."""

def swap_explicit_transfers(explicit: bool) -> bool:
    """Say whether the next transfers of this thread are explicit; returns the previous value."""

def set_transfer_log(log: Callable[[str], object]) -> None:
    """Set the function that gets a text for each transfer that the guard logs."""

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
    """Run a program once on each device: participant p runs on `devices[p]` with the arguments `args[p]`. Returns at
    once the results of each participant, committed to its device. Collectives wait for the other participants.

    The executable must have been loaded with `may_block=True`. If other processes run some of the participants,
    `owners` has the process and the device's id of each participant, and `numbers` the participants of this process.
    The processes compare the fingerprints of their programs; `what` is the program's name.
    """

# Processes: functions for pycompiler.distributed. Ctrl-C ends a wait. RuntimeError for refusals and late answers.

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
    """The version of a library of MPI. The first call loads it."""

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
    """Set a value for all processes."""

def get_value(key: str, timeout_ms: int) -> bytes:
    """The value of a key. Waits until a process has set it."""

def gather_values(name: str, members: Sequence[int], own: bytes, timeout_ms: int) -> list[bytes]:
    """The values of all members, in their order. Each member calls this. `timeout_ms` 0: wait while they live."""

def process_failure() -> str | None:
    """The known facts about a process that failed."""

def tell_failure(cause: str, place: str) -> None:
    """Tell the other processes that this one ends with an error."""

def next_question() -> tuple[int, bool] | None:
    """Wait until another process asks where this one is. Returns the number of the question, and whether this process
    runs the launch in which the other one waits. None when this process leaves."""

def tell_place(id: int, place: str) -> None:
    """Answer the question."""

def set_collective_timeout(seconds: int) -> None:
    """The time after which a wait in a launch over processes is an error; 0 for never."""

def tell_end() -> None:
    """Tell the other processes that this one launches no more."""

def drain_messages() -> None:
    """Between the last meetings: receive the messages of the others, and wait until all messages of this process have
    left."""

def leave_processes(ends_mpi: bool, pmi_port: int) -> None:
    """After the last meeting: close the connections. `pmi_port` is the port from `serve_pmi`, or 0."""

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
    """Bytes of blocks, not of arrays: a block is up to a quarter larger than its array. With small blocks, the peak is
    an upper bound."""

def reset_peak_memory() -> None: ...
def release_cached_memory() -> None:
    """Give the freed blocks that the pool keeps for the next call back to the system."""

def live_arrays() -> int:
    """The number of Array objects."""

def list_arrays() -> list[Array]:
    """All Array objects, the oldest first."""

def worth_viewing(part_bytes: int, whole_bytes: int) -> bool:
    """Whether a part of an array is a view instead of a copy: it is large, and a large part of the array."""

def set_memory_limit(bytes: int) -> None:
    """Set the maximum bytes of arrays on each device; 0: the memory of the machine, or of its cgroup."""

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
    """Set the function that reports a copy of a donated array, once for each place: it gets the function's name, the
    array's aval and the reason."""

def synchronize() -> None:
    """Wait until no enqueued execution is pending; errors stay with their arrays."""

def lapack_names() -> list[str]:
    """The entry points of LAPACK and BLAS that decompositions call, in the order of the runtime's table."""

def fill_lapack(addresses: Sequence[int], get_threads: int = 0, set_threads: int = 0) -> None:
    """Give the runtime the addresses of lapack_names(), in their order, and those of the functions that get and set the
    number of threads of their library (0: there are no such functions)."""

# The versions of MLIR and LLVM behind _compiler.
llvm_version: str

def thread_count() -> int:
    """The maximum number of threads for executions: PYCOMPILER_NUM_THREADS, else the limit of affinity and cgroup."""

# Profiles

def start_profile() -> bool:
    """Start recording; False when a recording runs already."""

def stop_profile(thread_names: dict[int, str]) -> bytes:
    """End the recording. Returns the trace in the Trace Event Format, as JSON. The keys of `thread_names` are the
    system's thread ids."""

def is_profiling() -> bool: ...
def profile_now() -> int:
    """The clock of the recorder, in nanoseconds."""

def record_span(kind: str, name: str, start: int, end: int, args: str = "") -> None:
    """Record an action of this thread between two times, if a recording runs.

    `kind` is trace, compile, copy, callback, wait or user; `args` are members of a JSON object ('"step": 3').
    """

# Errors

def set_error_type(cls: type[Exception] | None) -> type[Exception] | None:
    """Set the class of the error for a read of an array whose computation failed. Out of memory stays MemoryError.

    Returns the previous class; None means RuntimeError.
    """

def dlpack_capsule(array: Array, versioned: bool, copy: bool) -> Any:
    """Wait for the elements, return them as a DLPack capsule. BufferError for a dtype that DLPack does not have."""

def array_from_dlpack(capsule: Any, copy: bool | None) -> Array:
    """An array over the memory of a DLPack capsule, which can't be used again. With `copy`, or if the memory is not
    row-major, the elements are copied.

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
        """The type of the root and its data beside the children; None for a leaf."""
    @staticmethod
    def from_node_data_and_children(
        registry: Any, node_data: tuple[type, Any] | None, children: Iterable[PyTreeDef]
    ) -> PyTreeDef:
        """The structure of a root from its data and its children's structures; `registry` is ignored. ValueError for a
        type that is no node."""
    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """The structure with another one in the place of each leaf."""
    def walk(
        self, f_node: Callable[[Any, Any], Any], f_leaf: Callable[[Any], Any] | None, leaves: Iterable[Any]
    ) -> Any:
        """The value of `f_node(values of the children, node_data)` at the root, `f_leaf(leaf)` at leaves."""
    def from_iterable_tree(self, tree: Iterable[Any]) -> Any:
        """The tree of an iterable of iterables, nested as the structure is. ValueError for another number of items."""
    def snapshot(self) -> PyTreeDef:
        """The structure with copies of the data that can't be hashed, so that a key of a cache does not change."""
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
    """Set the dtype of arrays that hold nothing, and the registered class that represents them among a call's
    arguments."""

def set_data_functions(equal: Callable[[Any, Any], bool], copy: Callable[[Any], Any]) -> None:
    """Set the functions that compare and copy the data of registered nodes whose own == and hash don't serve."""

def set_node_namer(namer: Callable[[type, Hashable, int], Sequence[str] | None] | None) -> None:
    """Set the function that names the children of registered nodes in paths: `namer(type, aux, count)`, None for
    numbers."""

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
    `inputs` and `outputs` have for each array the order of dimensions in memory; empty: the handler's own order. Raises
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
    """Machine code loaded from a relocatable ELF object."""

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

        `callbacks` are the functions that the code calls by slot: (function of Arrays, avals of the arguments, avals of
        the results, whether the code continues at once, a name). A function returns a buffer with the bytes of each
        result. `effects`: 0 none, 1 some, 2 ordered ones. `image` holds the kernels that the code launches, as PTX or a
        cubin; kernel number i is `kernels[i]`.

        `cost_ns` is an estimate of the time of one run. The bytes that a run touches give a second estimate. The larger
        one decides whether a call may run inline, until runs have been measured; with `inf` no call runs inline.
        `speculative_ns` is an estimate of a run of a few trips, for code with a loop budget: if it is given, a call
        starts as a speculative run. `may_block`: a run may wait for other runs or for Python. `call_sites` are the
        operations that can fail, by the number in a failure's status: the primitive, and its place in the program.
        Raises RuntimeError for a malformed object, and for an object that names an unknown symbol or relocation.
        """
    def bind(
        self, sizes: Sequence[int], cost_ns: float | None = None, callbacks: Sequence[_HostCall] = ()
    ) -> Executable:
        """The executable of a program with symbols for these sizes, in the order of the symbols' numbers.

        The bound executable shares the code. It has its own arena, measured times and callbacks. A program with symbols
        runs only when it is bound. `cost_ns` is the estimate for these sizes. Raises RuntimeError for negative sizes,
        for sizes whose temporaries' bytes are no number, and for an executable without symbols or one that is bound
        already.
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
        """A prebuilt kernel for results of `count` elements; None when there is none for this CPU.

        `op` and `dtype` select the kernel; `dtype` is that of its operands. Each operand is (the number of its
        argument, whether the argument is a scalar, the argument's dtype). Bools and int32 are converted.
        """
    def execute(self, args: Sequence[Array], out_avals: Sequence[ShapedArray]) -> list[Array]:
        """Enqueue one run and return before it is done. A short run whose inputs are ready runs inline."""

def effects_barrier() -> None:
    """Wait for launches with effects and for callbacks; raise the error of a launch whose results are never read."""

class CompiledCall:
    """An entry of a jitted function's cache.

    executable: called with [leaves[i] for i in in_used] + consts; None when no output is computed.
    outputs: one for each leaf of out_tree: ("result", i) of the executable, ("arg", i) the i-th leaf, or
      ("const", Array) itself, or ("view", (i, aval, offset)) the i-th leaf's elements from a byte on.
    out_avals: the avals of the executable's results.
    donated: leaves that are deleted by a call.
    aliases: pairs of a result and a donated argument of the executable in whose memory it is computed.
    device: the device on which the function itself puts values; a call runs there.
    copying: the function to call with the leaves instead, if the memory of one of them must not be viewed.
    capability: the compute capability of the GPUs that the executable is for, "" for CPUs.
    elsewhere: a function that returns the call for another device.
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
    """A call of an executable on tensors of another library. They are in the memory of the host and have `data_ptr()`,
    `is_contiguous()` and `contiguous()`.

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
        """Run inline, in at most this many threads, and write into the memory of `results`. That memory must be aligned
        to 64 bytes and row-major. Returns when the results are computed. An argument that is not row-major is copied.
        Shapes and dtypes are not checked."""

class CallKey(NamedTuple):
    """The key of a compiled function in the cache of a jitted one.

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
        """`miss(args, kwargs, key)` compiles: args and kwargs are as passed, with leaves not converted. It returns a
        CompiledCall, which is called with the leaves, or another callable, which is called with the arguments of the
        function. The result is kept under the key.

        If a leaf is a tracer or this thread is tracing, only `traced(*args, **kwargs)` is called. If a leaf is on
        several devices, only `sharded` is called, or without it `traced`. static_argnums are not negative: the caller
        resolves negative numbers, and translates between names and numbers.
        """
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """TypeError names the argument that is not an array, ValueError a static argument that is not hashable."""
    def cache_size(self) -> int: ...
    def clear_cache(self) -> None: ...
    def cached_keys(self) -> list[CallKey]:
        """The keys in the cache, in the order of compilation."""
    @property
    def last_miss(self) -> CallKey | None:
        """The key of the last call that was not in the cache (also when compiling it failed)."""
    __wrapped__: Callable[..., Any]
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...

def add_handled_type(handled: type) -> None: ...
def set_leaf_namer(namer: Callable[[Callable[..., Any], CallKey, tuple[int, ...]], Sequence[str]]) -> None:
    """Set the function that names the dynamic leaves of a call, for errors: `namer(fun, key, static_argnums)`."""

class ArrayFunction:
    """A function of arrays whose common calls never enter Python. A call is common if nothing is traced and it has only
    arrays of common dtypes, numbers that these accept, and options (None, bools, ints, tuples of ints, strings, settled
    dtypes)."""

    def __init__(self, general: Callable[..., Any]) -> None:
        """`general` accepts every call, also calls that the compiled function refuses by a TypeError, ValueError,
        IndexError or OverflowError."""
    def set_compiled(
        self,
        make: Callable[[], Callable[..., Any]],
        fewest: int,
        most: int,
        options: tuple[str, ...] = (),
        dtypes: bool = False,
    ) -> None:
        """At the first common call, `make()` returns the function for these calls. They have `fewest` to `most` arrays
        and numbers by position, then options, by position or by one of the names `options`. Dtypes may be among the
        options."""
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
    """Set the objects that an ArrayFunction accepts as dtypes among its options, by identity."""

def set_watched(fn: Callable[[], bool]) -> None:
    """`fn()` says whether results are checked under the context key of this thread. It is called once for each key."""

def block_until_ready(tree: _T) -> _T:
    """Wait for every Array of a tree, raise the error of the first that failed, return the tree."""

def set_call_limit(limit: int) -> None:
    """Set the number of keys that each JitFunction keeps from its next miss on; the last used ones stay."""

def set_tracer_type(cls: type | None) -> type | None:
    """Set the class whose instances among the leaves send a JitFunction's call to `traced`. Returns the previous
    class."""

def set_operator(name: str, general: Callable[..., Any], compiled: Callable[..., Any] | None = None, /) -> None:
    """Set the function that an operator of arrays calls; `compiled` for arrays and plain numbers while nothing is
    traced."""

def set_leaf_converter(fn: Callable[[Any], Array] | None) -> Callable[[Any], Array] | None:
    """`fn(leaf) -> Array` for every leaf that is not exactly an Array; TypeError when it is not an array.

    The runtime remembers results: once `fn` has converted a bool, int, float, or an ndarray whose dtype was kept, under
    a context key, the next such leaves get the same aval without a call of `fn`. Returns the previous function.
    """

def current_trace() -> Any | None: ...
def swap_trace(trace: Any | None) -> Any | None:
    """Set this thread's trace, return the previous one."""

def set_context_key(key: Hashable) -> None:
    """Set the configuration that is part of every key, for every thread without its own."""

def swap_context_key(key: Hashable | None) -> Hashable | None:
    """Set this thread's own context key (None: back to the common one), return its previous one."""

def context_key() -> Hashable:
    """The key in force in this thread."""
