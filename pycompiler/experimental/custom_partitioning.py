"""Functions that their author divides over the devices of a mesh, as in `jax.experimental.custom_partitioning`.

    @custom_partitioning
    def fft(x):
        return pnp.fft.fft(x)

    def partition(mesh, args, result):
        rows = NamedSharding(mesh, P(args[0].sharding.spec[0]))
        return mesh, pnp.fft.fft, rows, (rows,)

    fft.def_partition(partition, sharding_rule="i j -> i j", need_replication_factors=("j",))

ShapeDtypeStructs with shardings describe the arrays. `partition` returns the function for one device, whose collectives
name the mesh's axes, and the shardings of its result and arguments. Arguments are moved to their shardings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import boundary, protect
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_flatten
from pycompiler.jit.jit import jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.tracing import check_callable, name_of
from pycompiler.primitives.control.custom_partition import Division, custom_partitioned_call
from pycompiler.spmd.partition.factors import BATCHING, ArrayMapping, CompoundFactor, SdyShardingRule, parsed
from pycompiler.transforms.custom_arguments import positional

__all__ = ["BATCHING", "ArrayMapping", "CompoundFactor", "SdyShardingRule", "custom_partitioning"]


class custom_partitioning:  # noqa: N801 (a decorator)
    """A function that `def_partition` divides over devices. On one device, calls run the function itself.

    `static_argnums` are positions of arguments that are no arrays; the functions of `def_partition` get them first.
    `vmap` maps the function itself. Derivatives are an error: give the caller a rule, by `custom_vjp`.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler.experimental.custom_partitioning import custom_partitioning
    >>> @custom_partitioning
    ... def double(x):
    ...     return x * 2
    >>> def partition(mesh, args, result):
    ...     return mesh, lambda part: part * 2, result.sharding, (args[0].sharding,)
    >>> _ = double.def_partition(partition, sharding_rule="i -> i")
    >>> double(pnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Sequence[int] = ()) -> None:
        check_callable("custom_partitioning", fun=fun)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.static_argnums = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        self.partition: Callable[..., Any] | None = None
        self.infer_sharding_from_operands: Callable[..., Any] | None = None
        self.propagate_user_sharding: Callable[..., Any] | None = None
        self.sharding_rule: Any = None
        self._call = jit(self._bound, static_argnums=self.static_argnums)

    def def_partition(
        self,
        partition: Callable[..., Any],
        infer_sharding_from_operands: Callable[..., Any] | None = None,
        propagate_user_sharding: Callable[..., Any] | None = None,
        decode_shardings: bool = True,
        sharding_rule: Any = None,
        *,
        reduction_factors: Sequence[str] = (),
        need_replication_factors: Sequence[str] = (),
        permutation_factors: Sequence[str] = (),
        **factor_sizes: int,
    ) -> Callable[..., Any]:
        """Set the division of the function, and return `partition`.

        `partition(mesh, args, result)` returns (mesh, function for one device, shardings of the result, shardings of
        the arguments). `infer_sharding_from_operands(mesh, args, result)` gives the shardings of `result`, else
        `sharding_rule`: a text, a SdyShardingRule, or a function that makes one. Without both, the result is not
        divided. `propagate_user_sharding` is not called, because shardings go only from operands to results. Shardings
        are always decoded.

        Raises ArgumentError for an invalid rule.
        """
        check_callable("def_partition", partition=partition)
        options: dict[str, Any] = dict(factor_sizes)
        options |= {"reduction_factors": reduction_factors} if reduction_factors else {}
        options |= {"need_replication_factors": need_replication_factors} if need_replication_factors else {}
        options |= {"permutation_factors": permutation_factors} if permutation_factors else {}
        if isinstance(sharding_rule, str):
            sharding_rule = parsed(sharding_rule, **options)
        elif options:
            raise ArgumentError(
                f"def_partition: {', '.join(options)} need a sharding_rule that is a text, got {sharding_rule!r}"
            )
        elif sharding_rule is not None and not isinstance(sharding_rule, SdyShardingRule):
            check_callable("def_partition", sharding_rule=sharding_rule)
        self.partition = partition
        self.infer_sharding_from_operands = infer_sharding_from_operands
        self.propagate_user_sharding = propagate_user_sharding
        self.sharding_rule = sharding_rule
        # Traces have the earlier functions.
        self._call = jit(self._bound, static_argnums=self.static_argnums)
        return partition

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.partition is None:
            raise ArgumentError(
                f"custom_partitioning: {name_of(self.fun)} is not divided yet. What to do: call its def_partition first"
            )
        return self._call(*positional("custom_partitioning", self.fun, args, kwargs))

    def _bound(self, *args: Any) -> Any:
        count = len(args)
        static = {place % count: args[place] for place in self.static_argnums}
        arrays = tuple([x for place, x in enumerate(args) if place not in static])

        def function(*given: Any) -> Any:
            rest = iter(given)
            return self.fun(*[static[place] if place in static else next(rest) for place in range(count)])

        leaves, in_tree = tree_flatten((arrays, {}))
        check_arrays("custom_partitioning", self.fun, leaves, in_tree)
        flat = FlatFunction("custom_partitioning", function, in_tree)
        graph = record(flat, [get_aval(leaf) for leaf in leaves], flat.debug_info())
        if any(isinstance(const, Tracer) for const in graph.consts):
            raise ArgumentError(
                f"custom_partitioning: {name_of(self.fun)} closes over a value that is being traced. What to do: make "
                "it an argument"
            )
        assert self.partition is not None
        division = Division(
            name_of(self.fun),
            self.partition,
            self.infer_sharding_from_operands,
            self.sharding_rule,
            tuple([static[place % count] for place in self.static_argnums]),
            in_tree.children()[0],
            flat.out_tree,
        )
        return flat.out_tree.unflatten(custom_partitioned_call.bind(*leaves, graph=graph, division=division))


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
