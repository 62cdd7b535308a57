"""What `jit(f).lower(x)` gives: the traced function, its text at every stage of the pipeline, and its compilation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pycompiler._runtime import PyTreeDef, ShapedArray
from pycompiler.compile import Compilation, build_module, compile_graph, module_at, plan_outputs, to_array
from pycompiler.core.aval import get_aval, same_type, short
from pycompiler.core.graph import ClosedGraph
from pycompiler.core.tree import tree_flatten

if TYPE_CHECKING:
    from pycompiler._compiler import ir

STAGES = ("array", "linalg", "bufferized", "loops", "llvm", "asm")


class Lowered:
    """A function traced for arguments of certain shapes and dtypes."""

    def __init__(self, graph: ClosedGraph, name: str, in_tree: PyTreeDef, out_tree: PyTreeDef) -> None:
        self.graph = graph
        self.name = name
        self.in_tree = in_tree
        self.out_tree = out_tree

    @functools.cached_property
    def _module(self) -> ir.Module | None:
        plan = plan_outputs(self.graph)
        return build_module(plan.graph) if plan.graph else None

    def as_text(self, stage: str = "array") -> str:
        """The module as text at a stage: "array", "linalg", "bufferized", "loops", "llvm" or "asm".

        Inputs that are not used and outputs that are inputs or constants are no part of it; where nothing is left to
        compute, the text is empty. Raises ValueError for another stage.
        """
        if stage not in STAGES:
            raise ValueError(f"as_text: there is no stage {stage!r}; the stages are {', '.join(STAGES)}")
        return module_at(self._module, stage) if self._module else ""

    def compiler_ir(self, dialect: str | None = None) -> ir.Module | None:
        """The verified module of the `array` dialect; None where nothing is left to compute.

        Raises ValueError for another dialect: later stages are to be had as text (`as_text`).
        """
        if dialect not in (None, "array"):
            raise ValueError(f"compiler_ir: there is no dialect {dialect!r}; the module is of 'array'")
        return self._module

    def compile(self) -> Compiled:
        """Compile and load."""
        return Compiled(compile_graph(self.graph, self.name), self.graph.in_avals, self.in_tree, self.out_tree)


class Compiled:
    """A compiled function, to be called with arguments of the shapes and dtypes that it was lowered for."""

    def __init__(
        self, compilation: Compilation, in_avals: tuple[ShapedArray, ...], in_tree: PyTreeDef, out_tree: PyTreeDef
    ) -> None:
        self._compilation = compilation
        self._call = compilation.call(out_tree)
        self._in_avals = in_avals
        self._in_tree = in_tree

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it. Raises TypeError when the arguments are not of the kind that it was compiled for."""
        leaves, in_tree = tree_flatten((args, kwargs))
        if in_tree != self._in_tree:
            raise TypeError(f"{self._compilation.name}: compiled for arguments {self._in_tree}, called with {in_tree}")
        arrays: list[Any] = []
        for index, (leaf, aval) in enumerate(zip(leaves, self._in_avals, strict=True)):
            given = get_aval(leaf)
            if not same_type(given, aval):
                raise TypeError(
                    f"{self._compilation.name}: compiled for {short(aval)} as array {index}, called with {short(given)}"
                )
            arrays.append(to_array(leaf, aval))
        return self._call(*arrays)

    def cost_analysis(self) -> dict[str, float]:
        """Estimated scalar operations of a call ("flops"), bytes of its arguments and results ("bytes accessed")."""
        results = self._compilation.plan.result_avals
        return {
            "flops": self._compilation.flops,
            "bytes accessed": float(sum(aval.nbytes for aval in (*self._in_avals, *results))),
        }

    def memory_analysis(self) -> dict[str, int]:
        """Bytes of the arguments, of the results, of the temporaries (one arena), and of the code."""
        compilation = self._compilation
        results = compilation.plan.result_avals
        return {
            "argument_bytes": sum(aval.nbytes for aval in self._in_avals),
            "output_bytes": sum(aval.nbytes for aval in results),
            "temporary_bytes": compilation.arena_bytes,
            "code_bytes": compilation.executable.code_bytes if compilation.executable else 0,
        }

    def compile_times(self) -> dict[str, float]:
        """Milliseconds of each stage of the compilation."""
        return dict(self._compilation.milliseconds)
