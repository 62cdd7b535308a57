"""The functions that `vjp`, `linearize` and `linear_transpose` return: containers of the arrays that they keep.

`jit` and `vmap` can return and take them. Their structure is the linear graph, which is compared by identity; their
leaves are its constants. `derivative` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.transpose import pull_back
from pycompiler.core.tracing.boundary import boundary, with_boundary
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.primitive import UndefinedPrimal, Zero
from pycompiler.core.tracing.references import Ref
from pycompiler.core.tracing.structural import add, instantiate
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import PyTreeDef, prefix_leaves, tree_leaves
from pycompiler.core.types.tree_keys import GetAttrKey, Partial, register_pytree_node, register_pytree_with_keys
from pycompiler.transforms.tangents import OF_LINEARIZE, OF_VJP, check_tangents, float0, on_device, typed, varies


@dataclass(frozen=True, eq=False)
class Linearized:
    """The linearization of a function at a point, without the values of the constants of its linear graph.

    `moving` marks the arguments that have tangents, `varying` the results that depend on them.
    """

    name: str
    graph: Graph
    in_tree: PyTreeDef
    in_avals: tuple[ShapedArray, ...]
    in_names: Callable[[], list[str]]
    moving: tuple[bool, ...]
    out_tree: PyTreeDef
    out_avals: tuple[ShapedArray, ...]
    varying: tuple[bool, ...]

    def out_names(self) -> list[str]:
        return [f"output{path}" for path in self.out_tree.paths()]

    def pull_back(self, consts: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of all leaves: zeros become arrays, and integers get float0."""
        linear = ClosedGraph(self.graph, consts)
        undefined = [UndefinedPrimal(aval) for aval in linear.in_avals]
        given = [ct for ct, v in zip(cotangents, self.varying, strict=True) if v]
        found = iter(pull_back(linear, undefined, given))
        moving = zip(self.in_avals, self.moving, strict=True)
        shown = on_device([instantiate(next(found)) if m else float0(aval) for aval, m in moving])
        return [typed(ct, aval) for ct, aval in zip(shown, self.in_avals, strict=True)]

    @boundary
    def push_forward(self, consts: Sequence[Any], *tangents: Any) -> Any:
        """The tangent of the result, from the tangents of the arguments."""
        what = f"linearize of {self.name}: the tangent"
        tree: Any = (tangents, {})
        given = check_tangents(what, self.in_names, self.in_tree, self.in_avals, tree, OF_LINEARIZE)
        args = [instantiate(t) for t, moves in zip(given, self.moving, strict=True) if moves]
        results = iter(evaluate(ClosedGraph(self.graph, consts), args))
        shown = [
            next(results) if v else instantiate(Zero(aval)) if varies(aval) else float0(aval)
            for aval, v in zip(self.out_avals, self.varying, strict=True)
        ]
        typed_as = zip(on_device(shown), self.out_avals, strict=True)
        return self.out_tree.unflatten([typed(t, aval) for t, aval in typed_as])


class _NotNeeded:
    """Stands for an argument that the pullback does not keep."""

    def __repr__(self) -> str:
        return "NotNeeded()"


register_pytree_node(_NotNeeded, lambda _: ((), None), lambda _, __: _NotNeeded())


@with_boundary
class VJP:
    """The pullback that `vjp` returns: a function from a cotangent of the result to a tuple of those of the arguments.

    The pullback is a container of its saved values: `args_res` has arguments in their places, `opaque_residuals` the
    others.
    """

    def __init__(
        self, linearized: Linearized, places: tuple[int, ...], args_res: list[Any], opaque_residuals: list[Any]
    ) -> None:
        self._linearized = linearized
        # For each constant of the graph: the number of its argument, or, from ~0 downwards, of its opaque residual.
        self._places = places
        self.args_res = args_res
        self.opaque_residuals = opaque_residuals

    @staticmethod
    def of(linearized: Linearized, consts: Sequence[Any], primals: Sequence[Any]) -> VJP:
        """The pullback of a function that was linearized at `primals`."""
        at = {id(x): place for place, x in enumerate(primals)}
        opaque: list[Any] = []
        places: list[int] = []
        for const in consts:
            place = at.get(id(const))
            if place is None:
                place = ~len(opaque)
                opaque.append(const)
            places.append(place)
        kept: list[Any] = [x if place in places else _NotNeeded() for place, x in enumerate(primals)]
        return VJP(linearized, tuple(places), kept, opaque)

    @property
    def in_tree(self) -> PyTreeDef:
        """The structure of the arguments."""
        return self._linearized.in_tree.children()[0]

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result."""
        return self._linearized.out_tree

    @property
    def jaxpr(self) -> Graph:
        """The linear graph: from tangents of the arguments to those of the result."""
        return self._linearized.graph

    def __call__(self, out_ct: Any, *more: Any) -> Any:
        linearized = self._linearized
        if more:
            raise TypeError(
                f"vjp of {linearized.name}: the pullback takes one argument, the cotangent of the result, got "
                f"{len(more) + 1}; if the result is a tuple, its cotangent is one, too: f_vjp((a, b))"
            )
        what = f"vjp of {linearized.name}: the cotangent"
        names, tree = linearized.out_names, linearized.out_tree
        given = check_tangents(what, names, tree, linearized.out_avals, out_ct, OF_VJP)
        consts = [self.args_res[place] if place >= 0 else self.opaque_residuals[~place] for place in self._places]
        return linearized.in_tree.unflatten(linearized.pull_back(consts, given))[0]

    def with_refs(self, *maybe_refs: Any) -> Callable[[Any], Any]:
        """The pullback that adds cotangents to references (`new_ref`). There is an entry for each argument, a tree of
        its structure or a prefix of it. If an entry is a Ref, the cotangent is added to it, and the result has None in
        its place. For any other entry, the result has the cotangent.

        Raises ValueError for another number of entries, or another structure.
        """
        tree = self.in_tree
        try:
            entries = prefix_leaves(maybe_refs, tree.unflatten(range(tree.num_leaves)), lambda entry: entry is None)
        except ValueError as error:
            raise ValueError(
                f"vjp of {self._linearized.name}: with_refs takes an entry for each argument, {tree}: {error}"
            ) from None

        @boundary
        def pull_back(out_ct: Any) -> Any:
            cotangents = tree_leaves(self(out_ct))
            return tree.unflatten(map(_accumulated, entries, cotangents))

        return pull_back

    def __repr__(self) -> str:
        return f"<vjp of {self._linearized.name}>"

    def parts(self) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
        """The children of the container, and its other parts."""
        return (self.args_res, self.opaque_residuals), (self._linearized, self._places)


def _accumulated(entry: Any, cotangent: Any) -> Any:
    """The cotangent; None if a reference takes it."""
    if type(entry) is not Ref:
        return cotangent
    if getattr(cotangent, "dtype", None) != dtypes.float0:
        if get_aval(cotangent).shape != entry.shape or get_aval(cotangent).dtype != entry.dtype:
            raise ValueError(f"with_refs: the cotangent is {short(cotangent)}, the reference {entry.aval}")
        entry.write(add.bind(entry.read(), cotangent))
    return None


def _parts_with_keys(pullback: VJP) -> tuple[Any, tuple[Any, ...]]:
    children, data = pullback.parts()
    keys = (GetAttrKey("args_res"), GetAttrKey("opaque_residuals"))
    return tuple(zip(keys, children, strict=True)), data


register_pytree_with_keys(VJP, _parts_with_keys, lambda data, children: VJP(*data, *children), VJP.parts)


def linear_function(linearized: Linearized, consts: Sequence[Any]) -> Partial:
    """The function from tangents of the arguments to the tangent of the result, a container of the constants."""
    return Partial(linearized.push_forward, list(consts))
