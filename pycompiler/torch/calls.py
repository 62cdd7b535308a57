"""Calls of programs: torch's tensors become arguments over their memory, and results tensors over ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C import _from_dlpack, _to_dlpack  # pyright: ignore[reportAttributeAccessIssue]

from pycompiler._runtime import array_from_dlpack, dlpack_capsule
from pycompiler.core.types.tree import tree_structure
from pycompiler.jit.binding import bind_sizes
from pycompiler.torch.program import Traced

__all__ = ["call_of"]


def call_of(traced: Traced) -> Callable[[list[Any]], list[Any]]:
    """The function of a graph's inputs, in a list that it empties, which gives the list of its outputs."""
    call = _Call(traced)

    def run(args: list[Any]) -> list[Any]:
        return call(args)

    # Torch hands the inputs over in a list, so that they can be freed while the call runs. Torch's wrappers copy an
    # attribute of a function, and none of a class.
    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run


def _seed() -> torch.Tensor:
    """A key of two words from torch's generator."""
    return torch.randint(0, 1 << 32, (2,), dtype=torch.int64).to(torch.uint32)


class _Call:
    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self.draws = traced.draws
        self.tree = tree_structure([0] * len(traced.computed))
        self.tensors = tuple(traced.tensors)
        self.others = [
            (number, node) for number, node in enumerate(traced.outputs) if number not in set(traced.computed)
        ]
        self.symbols = self._symbols() if traced.compilation.plan.symbols else None
        self.call: Any = None if self.symbols else self._bound({})
        self.calls: dict[tuple[int, ...], Any] = {}

    def _symbols(self) -> dict[str, tuple[int, int | None]]:
        """Where each symbol's size is: the input's number, and the axis, or None for an input that is an int."""
        found: dict[str, tuple[int, int | None]] = {}
        for number, node in enumerate(self.traced.inputs):
            value = node.meta["val"]
            if isinstance(value, torch.SymInt):
                found.setdefault(str(value.node.expr), (number, None))
            elif isinstance(value, torch.Tensor):
                for axis, size in enumerate(value.shape):
                    if isinstance(size, torch.SymInt):
                        found.setdefault(str(size.node.expr), (number, axis))
        return {name: found[name] for name in self.traced.compilation.plan.symbols}

    def _bound(self, sizes: dict[str, int]) -> Any:
        found = self.traced.compilation
        found = bind_sizes(found, sizes) if sizes else found
        call = found.call(self.tree)
        # A result that is an argument, a constant or another result must be a tensor of its own.
        seen: set[int] = set()
        self.copied = []
        for number, (kind, index) in enumerate(found.plan.outputs):
            if kind != "result" or index in seen:
                self.copied.append(number)
            else:
                seen.add(index)
        return call

    def __call__(self, args: list[Any]) -> list[Any]:
        call = self.call if self.symbols is None else self._at_sizes(args)
        arrays = [array_from_dlpack(_to_dlpack(args[number]), None) for number in self.tensors]
        if self.draws:
            arrays.insert(0, array_from_dlpack(_to_dlpack(_seed()), None))
        others = [(number, args[self.traced.inputs.index(node)] if node in self.traced.inputs else node) for number, node in self.others] if self.others else ()
        args.clear()
        results = [_from_dlpack(dlpack_capsule(array, False, False)) for array in call(*arrays)]
        for number in self.copied:
            results[number] = results[number].clone()
        for number, value in others:
            results.insert(number, value)
        return results

    def _at_sizes(self, args: list[Any]) -> Any:
        assert self.symbols is not None
        key = tuple([args[n] if axis is None else args[n].shape[axis] for n, axis in self.symbols.values()])
        found = self.calls.get(key)
        if found is None:
            found = self.calls[key] = self._bound(dict(zip(self.symbols, key, strict=True)))
        return found
