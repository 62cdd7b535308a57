"""`sparsify`: a function of dense arrays as a function of sparse ones, by rules for the equations of its graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pycompiler.numpy as pnp
from pycompiler.core.tracing.evaluate import bound, evaluate
from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.tracing.user_primitive import UserPrimitive
from pycompiler.core.types.aval import get_aval, shaped
from pycompiler.core.types.tree import tree_flatten, tree_map
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcsr import BCSR
from pycompiler.experimental.sparse.elements import of_elements
from pycompiler.experimental.sparse.formats import JAXSparse, is_sparse
from pycompiler.experimental.sparse.rules import (
    BCOO_RULES,
    BCSR_RULES,
    DENSIFYING,
    OF_SPREAD,
    Spread,
    is_sparse_operand,
    whole,
)
from pycompiler.interpreters import ad, batching, mlir
from pycompiler.jit.jit import jit
from pycompiler.lax import cond, scan, switch, while_loop

# Marks the place in a graph where a sparse matrix becomes dense. For dense arrays it is the identity.
todense_p = UserPrimitive("todense")
todense_p.def_impl(lambda x: x)
todense_p.def_abstract_eval(lambda x: x)
ad.deflinear(todense_p, lambda cotangent: [cotangent])
batching.defvectorized(todense_p)
mlir.register_lowering(todense_p, mlir.lower_fun(lambda x: x, multiple_results=False))


def todense(arr: Any) -> Any:
    """The dense array of a sparse matrix; an array itself. In a function under `sparsify`, arguments may be either.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> cosine = sparse.sparsify(lambda x: pnp.cos(sparse.todense(x)))
    >>> cosine(sparse.BCOO.fromdense(pnp.zeros(2)))
    Array([1., 1.], dtype=float32)
    """
    if isinstance(arr, JAXSparse):
        return arr.todense()
    return todense_p.bind(arr) if isinstance(arr, Tracer) else pnp.asarray(arr)


class _Interpreter:
    """The evaluation of one graph with sparse operands, and of the graphs inside of it."""

    def __init__(self) -> None:
        # The deduplicated places of matrices, so that matrices at the same places keep the same places.
        self.unique: dict[int, tuple[Any, Any]] = {}

    def run(self, graph: ClosedGraph, args: Sequence[Any]) -> list[Any]:
        """The results, dense or sparse."""
        return [whole(out) for out in evaluate(graph, args, self.apply)]

    def apply(self, equation: Equation, given: list[Any]) -> Any:
        """The result (or results) of one equation."""
        name, params = equation.primitive.name, equation.params
        inner = _OF_GRAPHS.get(name)
        if name == "broadcast_in_dim":
            # The result would store all elements, and most are multiplied by zeros.
            return Spread(whole(given[0]), equation)
        if name not in OF_SPREAD or not any(map(is_sparse_operand, given)):
            given = list(map(whole, given))
        sparse = [x.value if isinstance(x, Spread) else x for x in given if is_sparse_operand(x)]
        if not sparse:
            return bound(equation, given)
        if inner is not None:
            return inner(self, given, params)
        if name == "todense":
            return sparse[0].todense()
        rules = BCSR_RULES if any(isinstance(x, BCSR) for x in sparse) else BCOO_RULES
        rule = rules.get(name)
        if rule is None or not all(isinstance(x, (BCOO, BCSR)) for x in sparse):
            raise _missing(name, sparse)
        return rule(equation, given, self.unique)


def _missing(name: str, sparse: Sequence[Any]) -> NotImplementedError:
    kinds = ", ".join(sorted({type(x).__name__ for x in sparse}))
    why = " because it would result in dense output" if name in DENSIFYING else f" for {kinds}"
    return NotImplementedError(
        f"sparse rule for {name} is not implemented{why}. What to do: sparse.todense(x) makes an argument dense"
    )


# Primitives with graphs.


def _call(interpreter: _Interpreter, given: list[Any], params: Any) -> list[Any]:
    graph: ClosedGraph = params["jaxpr"]
    # One jitted function for each graph; it compiles once for each structure of the arguments.
    compiled = graph.derive("sparsified", lambda: jit(lambda *args: _Interpreter().run(graph, args)))
    return compiled(*given)


def _custom(interpreter: _Interpreter, given: list[Any], params: Any) -> list[Any]:
    """A function with a custom derivative. For sparse arguments, its operations give the derivative."""
    graph: ClosedGraph = params["call_jaxpr"]
    try:
        return interpreter.run(graph, given)
    except NotImplementedError:
        found = of_elements(graph, given, interpreter.unique)
        if found is None:
            raise
        return found


def _cond(interpreter: _Interpreter, given: list[Any], params: Any) -> Any:
    index, *operands = given
    branches = [functools.partial(_branch, graph) for graph in params["branches"]]
    if is_sparse(index):
        raise NotImplementedError("sparse rule for cond is not implemented for a sparse index")
    if len(branches) == 2:
        return cond(index.astype(bool), branches[1], branches[0], *operands)
    return switch(index, branches, *operands)


def _branch(graph: ClosedGraph, *operands: Any) -> list[Any]:
    return _Interpreter().run(graph, operands)


def _while(interpreter: _Interpreter, given: list[Any], params: Any) -> Any:
    split = params["cond_nconsts"]
    ends = split + params["body_nconsts"]
    of_cond, of_body, carry = given[:split], given[split:ends], given[ends:]
    return while_loop(
        lambda c: _branch(params["cond_jaxpr"], *of_cond, *c)[0],
        lambda c: _branch(params["body_jaxpr"], *of_body, *c),
        carry,
    )


def _scan(interpreter: _Interpreter, given: list[Any], params: Any) -> list[Any]:
    consts, carries = params["num_consts"], params["num_carry"]
    fixed, carry, xs = given[:consts], given[consts : consts + carries], given[consts + carries :]
    if any(is_sparse(x) for x in xs):
        raise NotImplementedError(
            "sparse rule for scan is not implemented for sparse values that it runs over. What to do: index them in a "
            "fori_loop"
        )

    def step(held: list[Any], x: list[Any]) -> tuple[list[Any], list[Any]]:
        outs = _branch(params["jaxpr"], *fixed, *held, *x)
        return outs[:carries], outs[carries:]

    carry, ys = scan(step, carry, xs, params["length"], params["reverse"])
    return [*carry, *ys]


_OF_GRAPHS: dict[str, Callable[[_Interpreter, list[Any], Any], Any]] = {
    "cond": _cond,
    "custom_jvp_call": _custom,
    "custom_vjp_call": _custom,
    "jit": _call,
    "scan": _scan,
    "while": _while,
}


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """The function for arguments some of which are sparse (BCOO, BCSR). Its results are sparse if possible.

    The function is traced, and its operations are replaced by sparse ones. Operations that keep zeros have rules: sums
    and products (`dot_general`, `mul`), elementwise functions with f(0) = 0, slices and indices, other shapes, loops,
    branches and calls. Other operations raise NotImplementedError. Keyword arguments are static. `use_tracer` has no
    effect: both forms of JAX give the same results.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> product = sparse.sparsify(lambda m, v: 2 * m.T @ v)
    >>> product(sparse.BCOO.fromdense(pnp.arange(12).reshape(3, 4)), pnp.array([3, 4, 2]))
    Array([ 64,  82, 100, 118], dtype=int32)
    """
    del use_tracer

    @functools.wraps(f)
    def sparsified(*args: Any, **params: Any) -> Any:
        leaves, tree = tree_flatten((args, {}), is_sparse)
        fun = functools.wraps(f)(functools.partial(f, **params)) if params else f
        flat = FlatFunction("sparsify", fun, tree)
        given = [x if is_sparse(x) else pnp.asarray(x) for x in leaves]
        avals = [
            shaped(x.shape, x.dtype) if is_sparse(x) else get_aval(leaf) for x, leaf in zip(given, leaves, strict=True)
        ]
        graph = record(flat, avals, flat.debug_info())
        return flat.out_tree.unflatten(_Interpreter().run(graph, given))

    return sparsified


def densified(tree: Any) -> Any:
    """A tree in which all sparse matrices are dense."""
    return tree_map(todense, tree, is_leaf=is_sparse)
