"""The policies of `checkpoint`, under jax's names. A policy chooses values that are kept instead of recomputed.

A policy is called for each operation: `policy(primitive, *avals, **params)` returns whether its results may be kept.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pycompiler.core.autodiff.answers import Offloadable, Recompute, Saveable
from pycompiler.core.autodiff.checkpoint import named
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.types.aval import is_array
from pycompiler.core.types.tree import tree_map
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.convolution import conv_general_dilated

Policy = Callable[..., Any]


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Keep every value, as without `checkpoint`."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Keep only the inputs, as without a policy."""
    return False


def dots_saveable(prim: Primitive, *args: Any, **params: Any) -> bool:
    """Keep the results of matrix products and convolutions."""
    return prim is dot_general or prim is conv_general_dilated


def dots_with_no_batch_dims_saveable(prim: Primitive, *args: Any, **params: Any) -> bool:
    """Keep the results of matrix products without batch dimensions: products with weights."""
    return prim is dot_general and not params["lhs_batch"] and not params["rhs_batch"]


class _Names:
    """A policy on named values: `name in names` must equal `wanted`."""

    def __init__(self, names: tuple[Any, ...], wanted: bool, unnamed: bool, called: str) -> None:
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"{called}: takes names, got {name!r} of type {type(name).__name__}")
        self._names = frozenset[str](names)
        self._wanted = wanted
        self._unnamed = unnamed
        # A value with such a name is recomputed, even if the policy keeps the named result itself.
        self.names_not_saved = self._names if unnamed else frozenset[str]()

    def __call__(self, prim: Primitive, *args: Any, **params: Any) -> bool:
        if prim.name != "name":
            return self._unnamed
        return (params["name"] in self._names) is self._wanted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Names) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._names, self._wanted, self._unnamed))


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Keep all values except those of these names (`checkpoint_name`)."""
    return _Names(names_not_to_save, wanted=False, unnamed=True, called="save_anything_except_these_names")


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Keep the named values, except those of these names."""
    return _Names(names_not_to_save, wanted=False, unnamed=False, called="save_any_names_but_these")


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Keep the values of these names."""
    return _Names(names_which_can_be_saved, wanted=True, unnamed=False, called="save_only_these_names")


class _Either:
    def __init__(self, first: Policy, second: Policy) -> None:
        self._both = (first, second)

    def __call__(self, prim: Primitive, *args: Any, **params: Any) -> bool:
        answers = [policy(prim, *args, **params) for policy in self._both]
        if not all(isinstance(answer, bool) for answer in answers):
            raise ValueError(f"save_from_both_policies: policies must answer True or False, they answered {answers}")
        return any(answers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Either) and self._both == other._both

    def __hash__(self) -> int:
        return hash(self._both)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Keep the values that either policy keeps."""
    return _Either(policy_1, policy_2)


class _OffloadDots:
    def __init__(self, src: str, dst: str) -> None:
        self._answer = Offloadable(src, dst)

    def __call__(self, prim: Primitive, *args: Any, **params: Any) -> Any:
        return self._answer if dots_with_no_batch_dims_saveable(prim, *args, **params) else Recompute

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OffloadDots) and self._answer == other._answer

    def __hash__(self) -> int:
        return hash(self._answer)


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Keep the results of matrix products without batch dimensions, in the memory `offload_dst` if the device has
    it."""
    return _OffloadDots(offload_src, offload_dst)


class _OffloadNames:
    def __init__(self, saved: frozenset[str], offloaded: frozenset[str], answer: Offloadable) -> None:
        self._key = (saved, offloaded, answer)

    def __call__(self, prim: Primitive, *args: Any, **params: Any) -> Any:
        saved, offloaded, answer = self._key
        if prim.name != "name":
            return Recompute
        return Saveable if params["name"] in saved else answer if params["name"] in offloaded else Recompute

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OffloadNames) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def save_and_offload_only_these_names(
    *, names_which_can_be_saved: Any, names_which_can_be_offloaded: Any, offload_src: str, offload_dst: str
) -> Policy:
    """Keep the values of these names. The values of the second list are in the memory `offload_dst`, if the device has
    it.

    Raises ValueError if a name is in both.
    """
    saved, offloaded = frozenset(names_which_can_be_saved), frozenset(names_which_can_be_offloaded)
    if saved & offloaded:
        raise ValueError(
            f"save_and_offload_only_these_names: the names {', '.join(sorted(saved & offloaded))} are in both lists; "
            "name each in one"
        )
    return _OffloadNames(saved, offloaded, Offloadable(offload_src, offload_dst))


checkpoint_policies = SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    save_anything_except_these_names=save_anything_except_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_only_these_names=save_only_these_names,
    save_from_both_policies=save_from_both_policies,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
)


def checkpoint_name(x: Any, name: Any) -> Any:
    """A tree of arrays, unchanged, with a name for the policies of `checkpoint`.

    >>> import pycompiler as pc
    >>> from pycompiler.ad_checkpoint import checkpoint_name
    >>> policy = pc.checkpoint_policies.save_only_these_names("sine")
    >>> f = pc.checkpoint(lambda x: pc.numpy.cos(checkpoint_name(pc.numpy.sin(x), "sine")), policy=policy)
    >>> pc.grad(f)(0.0)
    Array(-0., dtype=float32, weak_type=True)
    """
    if not isinstance(name, str):
        raise TypeError(f"checkpoint_name: the name is a string, got {name!r} of type {type(name).__name__}")

    def under_name(leaf: Any) -> Any:
        return named(leaf, name) if is_array(leaf) else leaf

    return tree_map(under_name, x)
