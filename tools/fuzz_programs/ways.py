"""The ways to run a program, and when two of them disagree.

`Reference` holds what JAX gives: the values, the gradient, and each of them once more at inputs that are moved by a few
roundings. Where that moves the result much, a difference says nothing; where it doesn't, the result has to be the same.
What concerns many members at once is compared with the members one by one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import pycompiler as pc
from fuzz_programs import libraries
from fuzz_programs.libraries import JAX_NAMES, OUR_NAMES, WIDE_NAMES
from fuzz_programs.programs import Program
from pycompiler import export
from pycompiler.sharding import NamedSharding, PartitionSpec

MEMBERS = 4
# JAX's barrier may return before its callbacks have, on a busy machine: none has come for this time, in seconds.
_QUIET = 0.2


@dataclasses.dataclass(frozen=True)
class Failure:
    """A way that gives something else. Failures of one kind are one when a program is made smaller."""

    way: str
    kind: str
    message: str

    def is_like(self, other: Failure | None) -> bool:
        return other is not None and (self.way, self.kind) == (other.way, other.kind)


class NoAnswerError(Exception):
    """The oracle has no answer: JAX refuses the program, or it is not differentiable."""


def floats(arrays: Sequence[Any]) -> list[int]:
    return [i for i, x in enumerate(arrays) if jnp.issubdtype(np.asarray(x).dtype, jnp.inexact)]


def leaves(out: Any) -> list[Any]:
    return list(out) if isinstance(out, tuple | list) else [out]


def weights(x: Any) -> np.ndarray:
    """Cotangents that make no sum vanish by symmetry."""
    return np.cos(np.arange(int(np.prod(np.shape(x)))) + 0.3).reshape(np.shape(x)).astype(np.float32)


def loss(names: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """A real number made of all the floats and complex numbers that `f` gives."""
    lib = names["pnp"]

    def total(*args: Any) -> Any:
        parts = [lib.sum(lib.real(x).astype(lib.float32) * weights(x)) for x in leaves(f(*args)) if _is_inexact(x)]
        return sum(parts, lib.float32(0))

    return total


def _is_inexact(x: Any) -> bool:
    return jnp.issubdtype(jnp.dtype(str(x.dtype)), jnp.inexact)


def _moved(x: np.ndarray, eps: float, rng: np.random.Generator) -> np.ndarray:
    """`x` with each number moved by a few roundings of its own size and of 1: zeros move, too."""
    if not _is_inexact(x):
        return x
    by = (1 + 4 * eps * rng.choice([-1.0, 1.0], x.shape)) * x.astype(
        np.complex128 if x.dtype.kind == "c" else np.float64
    )
    return (by + 4 * eps * rng.choice([-1.0, 1.0], x.shape)).astype(x.dtype)


def _callbacks_of_jax() -> list[float]:
    """What JAX's callbacks were shown, when all have come."""
    jax.effects_barrier()
    count = -1
    while count != len(libraries.SEEN):
        count = len(libraries.SEEN)
        time.sleep(_QUIET)
    return sorted(libraries.SEEN)


class Reference:
    """What JAX computes of a program; each part once, when it is asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.args = program.arguments()
        eps = max([float(jnp.finfo(x.dtype).eps) for x in self.args if _is_inexact(x)], default=0.0)
        text = program.text()
        eps = max(eps, 2.0**-8 if "bfloat16" in text else 2.0**-10 if "float16" in text else 2.0**-23)
        self.eps = eps
        rng = np.random.default_rng(0)
        self.moved = [[_moved(x, eps, rng) for x in self.args] for _ in range(2)]

    def compute(self, wide: bool) -> None:
        """All of it now, as far as there is an answer."""
        with jax.enable_x64(wide), contextlib.suppress(NoAnswerError):
            self.values  # noqa: B018 (computes)
            self.gradient  # noqa: B018

    def _run(self, f: Callable[..., Any]) -> list[list[np.ndarray]]:
        try:
            run = jax.jit(f)
            libraries.SEEN.clear()
            first = [np.asarray(x) for x in leaves(run(*self.args))]
            self.seen = _callbacks_of_jax() if "debug.callback" in self.program.text() else []
            others = [[np.asarray(x) for x in leaves(run(*args))] for args in self.moved]
            jax.effects_barrier()
        except Exception as error:  # anything: it is no answer
            raise NoAnswerError(str(error)) from error
        return [first, *others]

    @functools.cached_property
    def values(self) -> list[list[np.ndarray]]:
        return self._run(self.program.function(JAX_NAMES))

    @functools.cached_property
    def gradient(self) -> list[list[np.ndarray]]:
        wanted = floats(self.args)
        if not wanted:
            raise NoAnswerError("no floats")
        known = [*self.args, *(x for each in self.values for x in each)]
        if not all(np.all(np.isfinite(x)) for x in known if _is_inexact(x)):
            raise NoAnswerError("nothing to differentiate where a result is none")
        return self._run(jax.grad(loss(JAX_NAMES, self.program.function(JAX_NAMES)), tuple(wanted)))

    def _exact(self, make: Callable[[Any], Callable[..., Any]]) -> list[np.ndarray] | None:
        """What a function made of wider floats gives; None if it has no answer."""
        wide = {"f": np.float64, "c": np.complex128}
        args = [x.astype(wide.get(x.dtype.kind, x.dtype)) for x in self.args]
        try:
            with jax.enable_x64(True):
                return [np.asarray(x) for x in leaves(make(WIDE_NAMES)(*args))]
        except Exception:  # anything: it is no answer
            return None

    @functools.cached_property
    def exact_values(self) -> list[np.ndarray] | None:
        return self._exact(self.program.function)

    @functools.cached_property
    def exact_gradient(self) -> list[np.ndarray] | None:
        places = tuple(floats(self.args))
        return self._exact(lambda names: jax.grad(loss(names, self.program.function(names)), places))


def difference(
    got: Sequence[Any],
    wanted: Sequence[np.ndarray],
    moved: Sequence[Sequence[np.ndarray]],
    eps: float,
    least: float = 4,
    exact: Callable[[], list[np.ndarray] | None] = lambda: None,
) -> str | None:
    """Says where results differ by more than rounding explains; None where they don't. `least` is the rounding, in eps,
    that the smallest number may have: that of terms that cancel. `exact` has the results of wider floats: a result
    that is about as near to them as the wanted one is right."""
    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for place, (x, y) in enumerate(zip(got, wanted, strict=True)):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"result {place} is {x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        others = [np.asarray(each[place]) for each in moved]
        if not _is_inexact(y):
            known = np.all([other == y for other in others], axis=0) if others else np.ones(y.shape, bool)
            bad = known & (x != y)
        else:
            wide = np.complex128 if y.dtype.kind == "c" else np.float64
            with np.errstate(all="ignore"):
                a, b, rest = x.astype(wide), y.astype(wide), [other.astype(wide) for other in others]
                spread = np.max([np.abs(other - b) for other in rest], axis=0) if rest else np.zeros(b.shape)
                largest = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
                own = max(eps, float(jnp.finfo(y.dtype).eps))
                allowed = 16 * spread + 64 * own * np.abs(b) + 16 * own * largest + least * own
                known = np.isfinite(b) & (spread < 0.05 * (np.abs(b) + largest))
                known &= np.all([np.isfinite(other) for other in rest], axis=0) if rest else True
                bad = known & ~(np.abs(a - b) <= allowed)
                # Infinities and nans that stay when the inputs move.
                same = [np.isnan(other) == np.isnan(b) for other in rest] + [
                    (other == b) | np.isnan(b) for other in rest
                ]
                settled = ~np.isfinite(b) & (np.all(same, axis=0) if same else True)
                bad |= settled & np.where(np.isnan(b), ~np.isnan(a), a != b)
            if np.any(bad) and (known_better := exact()) is not None and known_better[place].shape == b.shape:
                with np.errstate(all="ignore"):
                    bad &= ~(np.abs(a - known_better[place]) <= 4 * np.abs(b - known_better[place]))
        if np.any(bad):
            where = tuple(int(i) for i in np.argwhere(bad)[0])
            return f"result {place}{list(where)} is {x[where]!r} instead of {y[where]!r}"
    return None


# The ways. Each gives a difference in words, or None.


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
    found = difference(got, wanted, moved, reference.eps, exact=lambda: reference.exact_values)
    if found is None and len(libraries.SEEN) != len(reference.seen):
        return f"{len(libraries.SEEN)} callbacks were called instead of {len(reference.seen)}"
    return found


def _gradient(program: Program, reference: Reference) -> str | None:
    wanted, *moved = reference.gradient
    # An infinite or undefined derivative depends on how it is computed.
    if not all(np.all(np.isfinite(x)) for each in (wanted, *moved) for x in each):
        raise NoAnswerError("not differentiable here")
    places = tuple(floats(program.arguments()))
    got = pc.grad(pc.jit(loss(OUR_NAMES, program.function(OUR_NAMES))), places)(*program.arguments())
    eps = max(reference.eps, 2.0**-20)
    return difference(
        [np.asarray(x) for x in got], wanted, moved, eps, least=64, exact=lambda: reference.exact_gradient
    )


def _members(program: Program) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
    """Arguments of some members, and these stacked."""
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
    """Whether members at once give what they give one by one."""
    f = program.function(OUR_NAMES)
    each, stacked = _members(program)
    wanted = _one_by_one(pc.jit(f), each)
    got = [np.asarray(x) for x in leaves(how(f)(*stacked))]
    return difference(got, wanted, _of_moved_members(f, each, reference), reference.eps)


def _of_moved_members(
    f: Callable[..., Any], each: Sequence[Sequence[np.ndarray]], reference: Reference
) -> list[list[np.ndarray]]:
    rng, run = np.random.default_rng(0), pc.jit(f)
    return [_one_by_one(run, [[_moved(x, reference.eps, rng) for x in xs] for xs in each]) for _ in range(2)]


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
    """The gradient of a mapped function, beside the members' gradients."""
    reference.gradient  # noqa: B018 (raises where there is none)
    f, places = program.function(OUR_NAMES), tuple(floats(program.arguments()))
    each, stacked = _members(program)
    total = loss(OUR_NAMES, f)
    wanted = _one_by_one(pc.jit(pc.grad(total, places)), each)
    moved = _of_moved_members(pc.grad(total, places), each, reference)
    got = pc.jit(pc.grad(lambda *xs: pc.numpy.sum(pc.vmap(total)(*xs)), places))(*stacked)
    # A member whose own gradient is undefined says nothing about the others.
    defined = [np.where(np.isfinite(x), x, 0) for x in wanted]
    cleaned = [np.where(np.isfinite(y), np.asarray(x), 0).astype(y.dtype) for x, y in zip(got, wanted, strict=True)]
    return difference(cleaned, [x.astype(y.dtype) for x, y in zip(defined, wanted, strict=True)], moved, reference.eps)


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
    """Run the program one way; a failure where it raises an error or gives something else than it should."""
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


# What is refused on purpose: callbacks in files, effects and groups of as many members as a call decides, loops without
# a bound under grad (JAX gives 0 where it finds nothing to differentiate); and, as NumPy refuses them, transforms and
# means of nothing.
_DOCUMENTED = (
    "calls a function of this process",
    "it can't run once for each element",
    "a fixed number of groups",
    "or count them by fori_loop or scan",
    "has no derivative, for it calls a function of Python",
    "the lengths of a transform must be positive",
    "is empty, so that mode",
)


def _is_documented(error: Exception) -> bool:
    return any(text in str(error) for text in _DOCUMENTED)
