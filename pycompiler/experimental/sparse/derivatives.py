"""Derivatives of functions of sparse matrices with respect to their data. Gradients have the matrices' places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pycompiler.transforms as transforms
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.boundary import wraps
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_flatten
from pycompiler.experimental.sparse.formats import is_sparse
from pycompiler.transforms.mapping import vmap

_Transform = Callable[..., Callable[..., Any]]


class _DataAlone:
    """A function of matrices, as a function of their data: one argument for each matrix and each array in `argnums`."""

    def __init__(self, name: str, fun: Callable[..., Any], argnums: Any, args: Sequence[Any]) -> None:
        self.fun = fun
        chosen = [as_index(name, "argnums", n) for n in (argnums if isinstance(argnums, Sequence) else (argnums,))]
        if not all(isinstance(n, int) and -len(args) <= n < len(args) for n in chosen):
            raise ValueError(f"{name}: argnums={argnums!r} does not fit {len(args)} arguments")
        self.single = not isinstance(argnums, Sequence)
        self.chosen = [n % len(args) for n in chosen]
        self.args = list(args)
        # The matrices and arrays of each chosen argument.
        self.trees = [tree_flatten(args[n], is_sparse) for n in self.chosen]
        self.parts = [part for leaves, _ in self.trees for part in leaves]

    @property
    def data(self) -> list[Any]:
        """The arrays with respect to which the derivative is taken."""
        return [part.data if is_sparse(part) else part for part in self.parts]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*self._arguments(args), **kwargs)

    def _arguments(self, data: Sequence[Any]) -> list[Any]:
        values = iter(data)
        args = list(self.args)
        for n, (leaves, tree) in zip(self.chosen, self.trees, strict=True):
            args[n] = tree.unflatten([_with_data(part, next(values)) for part in leaves])
        return args

    def gradients(self, grads: Sequence[Any]) -> Any:
        """The derivatives in the form of the arguments. A derivative by a matrix has its places."""
        values = iter(grads)
        found = [tree.unflatten([_placed(part, next(values)) for part in leaves]) for leaves, tree in self.trees]
        return found[0] if len(found) == 1 else tuple(found)


def _with_data(part: Any, data: Any) -> Any:
    if not is_sparse(part):
        return data
    (_, *places), tree = tree_flatten(part)
    return tree.unflatten([data, *places])


def _placed(part: Any, grad: Any) -> Any:
    """A derivative by the data of a matrix, as matrices at its places: one for each element of the result."""
    if not is_sparse(part):
        return grad
    place: Callable[[Any], Any] = lambda data: _with_data(part, data)  # noqa: E731
    for _ in range(get_aval(grad).ndim - get_aval(part.data).ndim):
        place = vmap(place)
    return place(grad)


def _derivative(
    name: str, transform: _Transform, fun: Callable[..., Any], argnums: Any, has_aux: bool, options: dict[str, Any]
) -> Callable[..., Any]:
    @wraps(fun, name)
    def derived(*args: Any, **kwargs: Any) -> Any:
        flat = _DataAlone(name, fun, argnums, args)
        count = len(flat.parts)
        out = transform(flat, argnums=tuple(range(count)), has_aux=has_aux, **options)(*flat.data, **kwargs)
        if name == "value_and_grad":
            return out[0], flat.gradients(out[1])
        return (flat.gradients(out[0]), out[1]) if has_aux else flat.gradients(out)

    return derived


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """`pycompiler.grad` for functions of sparse matrices: the gradient by the data, as a matrix at the same places.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.arange(6.0))
    >>> sparse.grad(lambda m, x: m @ x)(m, 2 * pnp.ones(6)).data
    Array([2., 2., 2., 2., 2.], dtype=float32)
    """
    return _derivative("grad", transforms.grad, fun, argnums, has_aux, kwargs)


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., tuple[Any, Any]]:
    """`pycompiler.value_and_grad` for functions of sparse matrices; see `grad`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.arange(6.0))
    >>> sparse.value_and_grad(lambda m, x: m @ x)(m, pnp.ones(6))
    (Array(15., dtype=float32), BCOO(float32[6], nse=5))
    """
    return _derivative("value_and_grad", transforms.value_and_grad, fun, argnums, has_aux, kwargs)


def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """`pycompiler.jacfwd` for functions of sparse matrices with dense results: batches of matrices, one for each
    element of a result.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.eye(2))
    >>> sparse.jacfwd(lambda m: m @ pnp.ones(2))(m)
    BCOO(float32[2, 2, 2], nse=2, n_batch=1)
    """
    return _derivative("jacfwd", transforms.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Any:
    """`pycompiler.jacrev` for functions of sparse matrices with dense results; see `jacfwd`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.eye(2))
    >>> sparse.jacrev(lambda m: m @ pnp.ones(2))(m).data
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _derivative("jacrev", transforms.jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev
