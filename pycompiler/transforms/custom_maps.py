"""`custom_vmap`: functions whose map over an axis the user writes. The primitive is in `primitives.control`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

from pycompiler._runtime import current_trace
from pycompiler.core.autodiff.custom_batch import newest_trace
from pycompiler.core.batching.batch import BatchTracer
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.graph import close_over
from pycompiler.core.tracing.record import record
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.primitives.control.custom_vmap import CustomMap, custom_vmap_call, mapped_closure
from pycompiler.transforms.custom_arguments import defined_by, name_of, positional, shown
from pycompiler.transforms.tangents import all_on_device, on_device

Flags = tuple[bool, ...]


class custom_vmap:  # noqa: N801 (a decorator)
    """A function with its own rule for `vmap`. Every other transformation uses the function itself.

    `def_vmap` sets the rule; a call without a rule is an AttributeError. In reverse mode the function has no derivative
    of its own: wrap it in `custom_vjp`. Forward mode differentiates the function, or the rule if it is mapped.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> @pc.custom_batching.custom_vmap
    ... def f(x, y):
    ...     return x + y
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, xs, ys):
    ...     return xs * ys, True
    >>> pc.vmap(f)(pnp.arange(3), pnp.arange(1, 4))
    Array([0, 2, 6], dtype=int32)
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        if not callable(fun):
            raise TypeError(f"custom_vmap: takes a function, got {shown(fun)}")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule: Callable[..., tuple[Any, Any]] | None = None

    def __getattr__(self, name: str) -> Any:
        return defined_by(self, name)

    def def_vmap(self, vmap_rule: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
        """Set the rule, and return it: `vmap_rule(axis_size, in_batched, *args)` gives the result and its flags.

        `in_batched` is a list with an entry for each argument: a tree of bools like the argument. A mapped array has
        the mapped axis in front. The flags are a tree of bools like the result: each says whether an array has the axis
        in front.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = name_of(self.fun)
        if self.vmap_rule is None:
            raise AttributeError(
                f"custom_vmap: {name} has no batching rule. What to do: give it one with @{name}.def_vmap"
            )
        args = positional("custom_vmap", self.fun, args, kwargs)
        leaves, in_tree = tree_flatten((args, {}))
        check_arrays("custom_vmap", self.fun, leaves, in_tree)
        if newest_trace(leaves) is None and current_trace() is None:
            given: Any = in_tree.unflatten(all_on_device(leaves))[0]
            outs, out_tree = tree_flatten(self.fun(*given))
            if any(isinstance(x, BatchTracer) for x in outs):
                raise mapped_closure(name)
            return out_tree.unflatten(all_on_device(outs))
        flat = FlatFunction("custom_vmap", self.fun, in_tree)
        graph, consts = close_over(record(flat, [get_aval(leaf) for leaf in leaves], flat.debug_info()))
        out_tree = flat.out_tree
        key = (self.vmap_rule, in_tree.snapshot(), out_tree.snapshot())
        rule = CustomMap(name, _flat_rule(self.vmap_rule, name, in_tree, out_tree), key)
        outs = custom_vmap_call.bind(*consts, *leaves, graph=graph, rule=rule, closed_over=len(consts))
        return out_tree.unflatten(on_device(outs))


def _flat_rule(
    vmap_rule: Callable[..., Any], name: str, in_tree: PyTreeDef, out_tree: PyTreeDef
) -> Callable[[Dimension, Flags, Sequence[Any]], tuple[Sequence[Any], Flags]]:
    what = f"custom_vmap: the rule {name_of(vmap_rule)} of {name}"

    def rule(size: Dimension, batched: Flags, values: Sequence[Any]) -> tuple[Sequence[Any], Flags]:
        args: Any = in_tree.unflatten(values)[0]
        in_batched: Any = in_tree.unflatten(batched)[0]
        result = vmap_rule(size, list(in_batched), *args)
        if not isinstance(result, (tuple, list)) or len(cast(Sequence[Any], result)) != 2:
            raise TypeError(
                f"{what} must return a pair, the result and its flags; it returned {shown(cast(object, result))}"
            )
        out, out_batched = cast(Sequence[Any], result)
        outs, tree = tree_flatten(out)
        flags, flag_tree = tree_flatten(out_batched)
        if tree != flag_tree:
            raise ValueError(
                f"{what} must return flags of the structure of its result: the result is {tree}, the flags {flag_tree}"
            )
        if tree != out_tree:
            raise ValueError(f"{what} must return the structure of {name}, {out_tree}, it returned {tree}")
        for path, x, flag in zip(tree.paths(), outs, flags, strict=True):
            if flag and get_aval(x).shape[:1] != (size,):
                raise ValueError(
                    f"{what} must return an array with the mapped axis, of size {size}, in front at output{path}, it "
                    f"returned {short(get_aval(x))}"
                )
        return outs, tuple(map(bool, flags))

    return rule
