"""The array dialect, its passes, and the compilation to object code."""

from collections.abc import Sequence

from pycompiler._compiler import (
    ir as ir,
    passmanager as passmanager,
    rewrite as rewrite
)


dialect_version: int = 1

class CompiledObject:
    """Object code in memory, with its description for the runtime."""

    @property
    def object(self) -> bytes: ...

    @property
    def entry(self) -> str: ...

    @property
    def arena_bytes(self) -> int: ...

    @property
    def flops(self) -> float:
        """Estimated scalar operations of one call."""

    @property
    def is_unbounded(self) -> bool:
        """How long a call takes depends on data."""

    @property
    def has_loop_budget(self) -> bool:
        """A speculative run stops when the budget of its frame is used up."""

    @property
    def sites(self) -> list[tuple[str, str]]:
        """
        (primitive, "file:line") of operations that can fail, by call-site id - 1.
        """

    @property
    def image(self) -> bytes:
        """For a GPU: its kernels, as the driver takes them."""

    @property
    def kernels(self) -> list[str]:
        """Their names, by number."""

    @property
    def waits(self) -> bool:
        """Whether a call waits for values that the GPU computes."""

    @property
    def remarks(self) -> list[tuple[str, str, str]]:
        """
        (kind, "file:line" or nothing, text) of the remarks of passes, in order.
        """

    @property
    def timings(self) -> list[tuple[str, float]]:
        """(stage, milliseconds), in order."""

    @property
    def passes(self) -> list[tuple[str, float]]:
        """(pass, milliseconds), in order, of the stages before LLVM's."""

def compile_to_object(module: ir.Module, cpu: str = '', features: str = '', opt_level: int = 2, triple: str = '') -> CompiledObject:
    """
    Compile @main of a module of the array dialect for a CPU; empty strings mean this machine's, and with a
    triple the least one of its kind.

    The module does not change. Raises MLIRError. Releases the GIL; an exception of a signal is raised at once.
    """

def compile_for_gpu(module: ir.Module, capability: str, emulated: bool = False, libraries: Sequence[str] = [], lines: bool = False) -> CompiledObject:
    """
    Compile @main of a module of the array dialect for this machine, and the kernels that it launches for the
    GPUs of a compute capability ("9.0"): PTX, or an object of this machine for the emulated GPU of the tests.
    Large products and routines become calls of `libraries` ("cublaslt"). With `lines` PTX names the user's.

    The module does not change. Raises MLIRError. Releases the GIL; an exception of a signal is raised at once.
    """

def forget_objects() -> None:
    """Forget the code of kernels that is kept for other modules."""

def built_functions(cpu: str = '') -> list[str]:
    """
    The names of the functions of programs that the build has compiled for a CPU, this machine's by default.
    """

def module_at(module: ir.Module, stage: str, cpu: str = '', features: str = '', opt_level: int = 2, triple: str = '', lines: bool = False) -> str:
    """
    The text of the module after one of `stage_names()`; with `lines` each operation, or instruction, names the
    file and line that it comes from.
    """

def stage_names() -> list[str]:
    """The stages of `module_at`, in order."""

def reproducer(module: ir.Module, capability: str = '', libraries: Sequence[str] = []) -> str:
    """
    The module as text, with the passes that compile it for this machine, or for the GPUs of a compute
    capability, in the form that `array-opt --run-reproducer` takes.
    """

def product_plans(module: ir.Module, cpu: str = '', features: str = '', opt_level: int = 2) -> list:
    """
    The entries of the plans (array.plan) that are worth measuring for the one product of the module.
    """

def memory_plan(module: ir.Module, capability: str = '', libraries: Sequence[str] = []) -> list:
    """
    (offset, bytes, first, last, type, place) of each temporary of the module compiled for this machine, or for a
    GPU of a compute capability ("9.0"), by offset: it is used from the operation `first` to the operation
    `last`; place is "file:line", or empty.
    """

def import_stablehlo(asm: str, context: ir.Context | None = None) -> ir.Module:
    """
    The verified array module of a StableHLO module. Raises MLIRError, which names an unsupported operation
    and its line.
    """

def stablehlo_operations() -> list[str]:
    """The names of the operations that import_stablehlo supports, sorted."""
