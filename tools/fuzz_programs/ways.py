"""The ways to run a program, each compared with the oracle.

Results for many members at once are compared with those of the members one by one.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import pycompiler as pc
from fuzz_programs import libraries
from fuzz_programs.libraries import OUR_NAMES
from fuzz_programs.programs import Program
from fuzz_programs.reference import NoAnswerError, Reference, difference, floats, if_any, leaves, loss, moved, rounding
from pycompiler import export
from pycompiler.sharding import NamedSharding, PartitionSpec

MEMBERS = 4


@dataclasses.dataclass(frozen=True)
class Failure:
    """A way with another result than the oracle's. While a program is made smaller, failures of one kind count as
    one."""

    way: str
    kind: str
    message: str

    def is_like(self, other: Failure | None) -> bool:
        return other is not None and (self.way, self.kind) == (other.way, other.kind)


# The ways. Each returns the text of a difference, or None.


def _eager(program: Program, reference: Reference) -> str | None:
    return _with_effects(program.function(OUR_NAMES), program, reference)


def _jit(program: Program, reference: Reference) -> str | None:
    return _with_effects(pc.jit(program.function(OUR_NAMES)), program, reference)


def _exported(program: Program, reference: Reference) -> str | None:
    written = export.export(pc.jit(program.function(OUR_NAMES)))(*program.arguments()).serialize()
    return _with_effects(export.deserialize(written).call, program, reference)


def _with_effects(run: Callable[..., Any], program: Program, reference: Reference) -> str | None:
    wanted, *moved = reference.values
    libraries.SEEN.clear()
    got = [np.asarray(x) for x in leaves(run(*[pc.numpy.asarray(x) for x in program.arguments()]))]
    pc.effects_barrier()
    seen = len(libraries.SEEN)
    found = difference(
        got,
        wanted,
        moved,
        reference.eps,
        exact=lambda: reference.exact_values,
        rounded=lambda: reference.rounded_values,
    )
    if found is None and seen != len(reference.seen):
        return f"{seen} callbacks were called instead of {len(reference.seen)}"
    return found


def _gradient(program: Program, reference: Reference) -> str | None:
    wanted, *moved = reference.gradient
    # An infinite or undefined derivative depends on the computation.
    if not all(np.all(np.isfinite(x)) for each in (wanted, *moved) for x in each):
        raise NoAnswerError("not differentiable here")
    places = tuple(floats(program.arguments()))
    got = pc.grad(pc.jit(loss(OUR_NAMES, program.function(OUR_NAMES))), places)(*program.arguments())
    eps = max(reference.eps, 2.0**-20)
    return difference(
        [np.asarray(x) for x in got],
        wanted,
        moved,
        eps,
        least=64,
        exact=lambda: reference.exact_gradient,
        rounded=lambda: reference.rounded_gradient,
    )


def _members(program: Program) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
    """The arguments of some members, and the stacked arguments."""
    each = [program.arguments()]
    for number in range(1, MEMBERS):
        each.append([_varied(x, number) for x in program.arguments()])
    return each, [np.stack(xs) for xs in zip(*each, strict=True)]


def _varied(x: np.ndarray, number: int) -> np.ndarray:
    if x.dtype.kind == "b":
        return x ^ (np.arange(x.size).reshape(x.shape) % 2 == number % 2)
    rolled = np.roll(x, number)
    return -rolled if number % 2 and x.dtype.kind not in "u" else rolled


def _one_by_one(f: Callable[..., Any], each: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    found = [[np.asarray(x) for x in leaves(f(*args))] for args in each]
    return [np.stack(xs) for xs in zip(*found, strict=True)]


def _together(
    how: Callable[[Callable[..., Any]], Callable[..., Any]], program: Program, reference: Reference
) -> str | None:
    """The difference between the results of members at once and one by one, or None."""
    f = program.function(OUR_NAMES)
    each, stacked = _members(program)
    wanted = _one_by_one(pc.jit(f), each)
    got = [np.asarray(x) for x in leaves(how(f)(*stacked))]
    moved = _of_moved_members(f, each, reference)
    rounded = functools.partial(_of_rounded_members, lambda f: f, program, each)
    return difference(got, wanted, moved, reference.eps, rounded=rounded)


def _of_moved_members(
    f: Callable[..., Any], each: Sequence[Sequence[np.ndarray]], reference: Reference
) -> list[list[np.ndarray]]:
    rng, run = np.random.default_rng(0), pc.jit(f)
    return [_one_by_one(run, [[moved(x, reference.eps, rng) for x in xs] for xs in each]) for _ in range(2)]


def _of_rounded_members(
    make: Callable[[Callable[..., Any]], Callable[..., Any]], program: Program, each: Sequence[Sequence[np.ndarray]]
) -> list[list[np.ndarray]]:
    run = pc.jit(make(program.function(OUR_NAMES, rounding(0))))
    return if_any(lambda: _one_by_one(run, each))


def _scanned(f: Callable[..., Any]) -> Callable[..., Any]:
    return pc.jit(lambda *xs: pc.lax.scan(lambda carry, x: (carry, f(*x)), 0, xs)[1])


def _divided(f: Callable[..., Any]) -> Callable[..., Any]:
    sharding = NamedSharding(pc.sharding.Mesh(pc.devices(), ("x",)), PartitionSpec("x"))
    mapped = pc.jit(pc.vmap(f))
    return lambda *xs: mapped(*[pc.device_put(x, sharding) for x in xs])


def _dynamic(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*xs: np.ndarray) -> Any:
        mapped = pc.jit(pc.vmap(f), dynamic={i: ("members", *[None] * (x.ndim - 1)) for i, x in enumerate(xs)})
        whole = leaves(mapped(*xs))
        for count in (1, MEMBERS - 1):
            for a, b in zip(leaves(mapped(*[x[:count] for x in xs])), whole, strict=True):
                if np.asarray(a).tobytes() != np.ascontiguousarray(np.asarray(b)[:count]).tobytes():
                    raise AssertionError(f"{count} members give {a}, all of them {b}")
        return whole

    return run


def _gradient_of_members(program: Program, reference: Reference) -> str | None:
    """The gradient of a mapped function, compared with the members' gradients."""
    reference.gradient  # noqa: B018 (raises where there is none)
    f, places = program.function(OUR_NAMES), tuple(floats(program.arguments()))
    each, stacked = _members(program)
    total = loss(OUR_NAMES, f)
    wanted = _one_by_one(pc.jit(pc.grad(total, places)), each)
    moved = _of_moved_members(pc.grad(total, places), each, reference)
    got = pc.jit(pc.grad(lambda *xs: pc.numpy.sum(pc.vmap(total)(*xs)), places))(*stacked)
    # A member whose own gradient is undefined does not count.
    defined = [np.where(np.isfinite(x), x, 0) for x in wanted]
    cleaned = [np.where(np.isfinite(y), np.asarray(x), 0).astype(y.dtype) for x, y in zip(got, wanted, strict=True)]
    wanted = [x.astype(y.dtype) for x, y in zip(defined, wanted, strict=True)]
    rounded = functools.partial(_of_rounded_members, lambda f: pc.grad(loss(OUR_NAMES, f), places), program, each)
    return difference(cleaned, wanted, moved, reference.eps, rounded=rounded)


WAYS: dict[str, Callable[[Program, Reference], str | None]] = {
    "eager": _eager,
    "jit": _jit,
    "grad": _gradient,
    "vmap": functools.partial(_together, lambda f: pc.jit(pc.vmap(f))),
    "scan": functools.partial(_together, _scanned),
    "dynamic": functools.partial(_together, _dynamic),
    "devices": functools.partial(_together, _divided),
    "pmap": functools.partial(_together, lambda f: lambda *xs: _by_devices(f, xs)),
    "exported": _exported,
    "grad of vmap": _gradient_of_members,
}


def _by_devices(f: Callable[..., Any], xs: Sequence[np.ndarray]) -> list[np.ndarray]:
    count, mapped = len(pc.devices()), pc.pmap(f)
    parts = [leaves(mapped(*[x[at : at + count] for x in xs])) for at in range(0, MEMBERS, count)]
    return [np.concatenate([np.asarray(x) for x in each]) for each in zip(*parts, strict=True)]


def check(program: Program, way: str, reference: Reference | None = None, wide: bool = False) -> Failure | None:
    """Run the program in one way. Returns a failure for an error or a wrong result."""
    with jax.enable_x64(wide), pc.enable_x64(wide), np.errstate(all="ignore"):
        reference = reference or Reference(program)
        try:
            reference.values  # noqa: B018 (a program that JAX refuses has no meaning)
            found = WAYS[way](program, reference)
        except NoAnswerError:
            return None
        except Exception as error:  # any error is a finding
            return None if _is_documented(error) else Failure(way, type(error).__name__, str(error)[:2000])
        return Failure(way, "wrong", found) if found else None


# Intended errors: callbacks in files, effects and groups whose number of members a call decides, loops without a bound
# under grad (JAX gives 0 if it finds nothing to differentiate), and, as in NumPy, transforms and means of no elements.
_DOCUMENTED = (
    "calls a function of this process",
    "it can't run once for each element",
    "a fixed number of groups",
    "or count them by fori_loop or scan",
    "has no derivative, for it calls a function of Python",
    "the lengths of a transform must be positive",
    "is empty, so mode",
)


def _is_documented(error: Exception) -> bool:
    return any(text in str(error) for text in _DOCUMENTED)
