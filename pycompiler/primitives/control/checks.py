"""`Error`, the failures of checks as a value, and `check`, the primitive that raises it.

An Error describes the first check that failed, in arrays of the program: each kind of failure has a flag, the code of
the check, and the numbers of the message. The exceptions without these numbers are static data. An eager `check`
raises. Compiled code can't raise, so `transforms.checkify` turns the failure into a value before compilation; a check
for debugging does nothing in compiled code. Imports `failures`; `transforms.checkify` imports this module.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NoReturn

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.source import Source
from pycompiler.core.tracing.effects import Effects
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import mapped_size, with_batch_dim
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import or_
from pycompiler.primitives.compare import select
from pycompiler.primitives.control.failures import (
    BatchedError,
    ErrorEffect,
    JaxException,
    JaxRuntimeError,
)
from pycompiler.primitives.indexing import dynamic_slice
from pycompiler.primitives.reduction import argmax
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import broadcast_in_dim, full, reshaped

# For each check, its code and the structure of its exception, in the order of the codes.
Metadata = tuple[tuple[int, PyTreeDef], ...]
Kinds = tuple[ErrorEffect, ...]
Leaves = tuple[Any, ...]


@register_pytree_node_class
class Error:
    """The result of the checks of a function: a tree of arrays, empty before the first check.

    Under `vmap` each array has the mapped axis. `get` and `throw` need concrete values.
    """

    # Each call of a checked function makes one from its leaves: so they are kept as tuples, one item for each kind of
    # failure, and it is no frozen dataclass, which takes three times as long to make.
    __slots__ = ("_codes", "_kinds", "_metadata", "_payloads", "_preds")

    def __init__(self, kinds: Kinds, preds: Leaves, codes: Leaves, payloads: Leaves, metadata: Metadata) -> None:
        self._kinds = kinds
        self._preds = preds
        self._codes = codes
        self._payloads = payloads
        self._metadata = metadata

    @property
    def _pred(self) -> dict[ErrorEffect, Any]:
        return dict(zip(self._kinds, self._preds, strict=True))

    @property
    def _code(self) -> dict[ErrorEffect, Any]:
        return dict(zip(self._kinds, self._codes, strict=True))

    @property
    def _payload(self) -> dict[ErrorEffect, list[Any]]:
        return dict(zip(self._kinds, self._payloads, strict=True))

    def get(self) -> str | None:
        """The message of the first failure, or None."""
        failure = self.get_exception()
        return None if failure is None else str(failure)

    def get_exception(self) -> JaxException | None:
        """The first failure as an exception, or None. If the Error is mapped, a BatchedError of all its elements."""
        shape = self._mapped_shape()
        if not shape:
            return self._first(())
        found = {index: failure for index in np.ndindex(*shape) if (failure := self._first(index)) is not None}
        return BatchedError(found) if found else None

    def _mapped_shape(self) -> tuple[Any, ...]:
        """The sizes of the mapped axes. A kind of failure without them stands for all elements."""
        return max((np.shape(pred) for pred in self._pred.values()), key=len, default=())

    def _first(self, index: tuple[int, ...]) -> JaxException | None:
        """The failed check with the least code, at an index of the mapped axes."""

        def at(kind: ErrorEffect, x: Any) -> Any:
            return x[index] if np.shape(self._pred[kind]) else x

        failed = [kind for kind, pred in self._pred.items() if bool(at(kind, pred))]
        if not failed:
            return None
        codes = {kind: int(at(kind, self._code[kind])) for kind in failed}
        kind = min(failed, key=lambda kind: codes[kind])
        return self.metadata[codes[kind]].unflatten([at(kind, x) for x in self._payload[kind]])

    def throw(self) -> None:
        """Raise the first failure as a JaxRuntimeError with its message and the user's line.

        In a function that `checkify` transforms, it passes the failure on to the Error of the function.
        """
        check_error(self)

    def __str__(self) -> str:
        return f"Error({self.get()})"

    def tree_flatten(self) -> tuple[Any, Any]:
        return (self._preds, self._codes, self._payloads), (self._kinds, self._metadata)

    @classmethod
    def tree_unflatten(cls, metadata: Any, data: Any) -> Error:
        kinds, checks = metadata
        preds, codes, payloads = data
        return cls(kinds, preds, codes, payloads, checks)

    @property
    def effects(self) -> frozenset[ErrorEffect]:
        """The kinds of its failures."""
        return frozenset(self._kinds)

    def updated(self, kind: ErrorEffect, pred: Value, code: Value, payload: list[Value]) -> Error:
        """The Error after one more check of a kind, which failed if `pred` holds. An earlier failure stays."""
        before = self._pred.get(kind)
        pred = np.bool_(pred) if type(pred) is bool else pred
        code = np.int32(code) if type(code) is int else code
        payload = [_strong(x) for x in payload]
        if before is not None:
            mapped = get_aval(before).shape
            pred, code, *payload = [_repeated(x, mapped) for x in (pred, code, *payload)]
            code = select.bind(before, self._code[kind], code)
            payload = [
                select.bind(_along(before, x), old, x) for old, x in zip(self._payload[kind], payload, strict=True)
            ]
            pred = or_.bind(before, pred)
        preds, codes, payloads = self._pred, self._code, self._payload
        preds[kind], codes[kind], payloads[kind] = pred, code, payload
        kinds = tuple(sorted(preds))
        return Error(
            kinds,
            tuple([preds[kind] for kind in kinds]),
            tuple([codes[kind] for kind in kinds]),
            tuple([payloads[kind] for kind in kinds]),
            self._metadata,
        )

    def failed_if(self, pred: Value, failure: JaxException) -> Error:
        """The Error after a check that fails if `pred` holds."""
        code = new_code()
        payload, metadata = tree_flatten(failure)
        return self.updated(failure.get_effect_type(), pred, code, payload).knowing({code: metadata})

    def failed_by(self, pred: Value, code: Value, failures: Sequence[tuple[int, JaxException]]) -> Error:
        """The Error after several checks of one kind without numbers, with their codes: if `pred` holds, `code` belongs
        to the first that failed."""
        metadata = {known: tree_flatten(failure)[1] for known, failure in failures}
        return self.updated(failures[0][1].get_effect_type(), pred, code, []).knowing(metadata)

    def joined(self, later: Error, enabled: Container[type[JaxException]]) -> Error:
        """The Error after the checks of another one, of the enabled kinds."""
        result = self
        for kind, pred in later._pred.items():
            if kind.error_type in enabled:
                result = result.updated(kind, pred, later._code[kind], later._payload[kind])
        return result.knowing(later.metadata)

    def flags(self, enabled: Container[type[JaxException]]) -> list[Any]:
        """For each enabled kind of failure, whether a check failed."""
        return [pred for kind, pred in self._pred.items() if kind.error_type in enabled]

    @property
    def metadata(self) -> dict[int, PyTreeDef]:
        """The exceptions of its checks, without their numbers, by the codes of the checks."""
        return dict(self._metadata)

    def with_metadata(self, metadata: Mapping[int, PyTreeDef]) -> Error:
        """The Error with the exceptions of other checks."""
        known = tuple(sorted(metadata.items(), key=lambda item: item[0]))
        return Error(self._kinds, self._preds, self._codes, self._payloads, known)

    def knowing(self, metadata: Mapping[int, PyTreeDef]) -> Error:
        """The Error with the exceptions of more checks."""
        return self.with_metadata({**self.metadata, **metadata})

    def of_first(self) -> Error:
        """The Error without its mapped axes: for each kind, the first element that failed."""
        if not self._mapped_shape():
            return self
        result = Error((), (), (), (), self._metadata)
        for kind, pred in self._pred.items():
            shape = get_aval(pred).shape
            place = argmax.bind(reshaped(pred, (prod(shape),)), axis=0, index_dtype=rules.INT32)
            payload = [_element(x, place, len(shape)) for x in self._payload[kind]]
            result = result.updated(
                kind, _element(pred, place, len(shape)), _element(self._code[kind], place, len(shape)), payload
            )
        return result

    def prepared(self, kinds: Iterable[ErrorEffect]) -> Error:
        """The Error with entries for these kinds that have not failed: loops and branches need all of them before."""
        result = self
        for kind in sorted(set(kinds) - self.effects):
            payload = [full(x.shape, 1, x.dtype) if x.shape else x.dtype.type(1) for x in kind.shape_dtypes]
            result = result.updated(kind, np.False_, np.int32(-1), payload)
        return result


init_error = Error((), (), (), (), ())
_codes = itertools.count(1)


def new_code() -> int:
    """The code of one more check, larger than those of the checks before."""
    return next(_codes)


def _strong(x: Value) -> Value:
    """A number of a message as the array that the Error holds."""
    aval = get_aval(x)
    return convert.bind(x, new_dtype=aval.dtype) if aval.weak_type else x


def _element(x: Value, place: Value, rank: int) -> Value:
    """The element at a place of the first axes, counted over all of them."""
    shape = get_aval(x).shape
    rows, rest = prod(shape[:rank]), shape[rank:]
    starts = [place, *[np.int32(0)] * len(rest)]
    return reshaped(dynamic_slice.bind(reshaped(x, (rows, *rest)), *starts, slice_sizes=(1, *rest)), rest)


def _along(pred: Value, x: Value) -> Value:
    """One flag for each index of the first axes, repeated over the others."""
    given, shape = get_aval(pred).shape, get_aval(x).shape
    if given == shape:
        return pred
    return broadcast_in_dim.bind(pred, shape=shape, broadcast_dimensions=tuple(range(len(given))))


def _repeated(x: Value, sizes: tuple[Any, ...]) -> Value:
    """The same value for all elements of mapped axes."""
    shape = get_aval(x).shape
    if not sizes:
        return x
    kept = tuple(range(len(sizes), len(sizes) + len(shape)))
    return broadcast_in_dim.bind(x, shape=(*sizes, *shape), broadcast_dimensions=kept)


def _message(failure: JaxException) -> str:
    """The message of a failure that is raised: its own, then the user's line."""
    lines = [str(failure)]
    if isinstance(failure.traceback_info, Source):
        lines.append(failure.traceback_info.describe())
    return "\n".join(lines)


def raise_if_failed(error: Error) -> None:
    """Raise the failure of a concrete Error."""
    failure = error.get_exception()
    if failure is not None:
        raise JaxRuntimeError(_message(failure)) from failure


# The primitive: the operands are the leaves of an Error.


def _shape(*avals: ShapedArray, err_tree: PyTreeDef, debug: bool) -> tuple[ShapedArray, ...]:
    return ()


def _effects(*, err_tree: PyTreeDef, debug: bool) -> Effects:
    error: Error = err_tree.unflatten(range(err_tree.num_leaves))
    return error.effects


def _batch(args: Sequence[Value], dims: Dims, *, err_tree: PyTreeDef, debug: bool) -> tuple[Any, Any]:
    size = mapped_size(args, dims)
    leaves = [with_batch_dim(x, d, 0, size) for x, d in zip(args, dims, strict=True)]
    check_error(err_tree.unflatten(leaves), debug)
    return (), ()


check = Primitive("check", _shape, None, None, _batch, multiple_results=True, effects=_effects)


def raise_check(args: Sequence[Any], err_tree: PyTreeDef, debug: bool) -> None:
    """Raise the failure of an Error of these leaves, unless the check is for debugging."""
    if not debug:
        raise_if_failed(err_tree.unflatten(args))


def check_error(error: Error, debug: bool = False) -> None:
    """Raise the failure of an Error, in any trace. In a mapped Error, the first element that failed counts."""
    leaves, tree = tree_flatten(error.of_first())
    check.bind(*leaves, err_tree=tree, debug=debug)


def not_functional(source: Source | None) -> NoReturn:
    """Raise the error for a check in compiled code."""
    raise ValueError(
        (f"{source.describe()}\n" if source else "")
        + "check: Cannot abstractly evaluate a checkify.check which was not functionalized: compiled code can't raise. "
        "What to do: transform the function that is compiled (by jit, scan, pmap, ...) by checkify.checkify, which "
        "returns the failure as a value, or use checkify.debug_check, which does nothing outside of checkify"
    )
