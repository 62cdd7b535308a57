"""The oracle of the generated programs, and the comparison of results with it.

`Reference` has JAX's results: the values, the gradient, and both again at inputs moved by a few roundings. If this
moves a result much, a difference does not count; otherwise the result must be the same. Integers can't be moved. So
before a difference counts, each value within the program is moved, too.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fuzz_programs import libraries
from fuzz_programs.libraries import JAX_NAMES, WIDE_NAMES
from fuzz_programs.programs import Program

# On a busy machine, JAX's barrier may return before its callbacks. They are complete if none has come for this time, in
# seconds.
_QUIET = 0.2


class NoAnswerError(Exception):
    """The oracle has no answer: JAX refuses the program, or it is not differentiable."""


def floats(arrays: Sequence[Any]) -> list[int]:
    return [i for i, x in enumerate(arrays) if jnp.issubdtype(np.asarray(x).dtype, jnp.inexact)]


def leaves(out: Any) -> list[Any]:
    return list(out) if isinstance(out, tuple | list) else [out]


def weights(x: Any) -> np.ndarray:
    """Cotangents for which no sum vanishes by symmetry."""
    return np.cos(np.arange(int(np.prod(np.shape(x)))) + 0.3).reshape(np.shape(x)).astype(np.float32)


def loss(names: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a real result, made of all floats and complex numbers among the results of `f`."""
    lib = names["pnp"]

    def total(*args: Any) -> Any:
        parts = [lib.sum(lib.real(x).astype(lib.float32) * weights(x)) for x in leaves(f(*args)) if is_inexact(x)]
        return sum(parts, lib.float32(0))

    return total


def is_inexact(x: Any) -> bool:
    return jnp.issubdtype(jnp.dtype(str(x.dtype)), jnp.inexact)


def moved(x: np.ndarray, eps: float, rng: np.random.Generator) -> np.ndarray:
    """`x` with each number moved by a few roundings of its own size and of 1: zeros move, too."""
    if not is_inexact(x):
        return x
    by = (1 + 4 * eps * rng.choice([-1.0, 1.0], x.shape)) * x.astype(
        np.complex128 if x.dtype.kind == "c" else np.float64
    )
    return (by + 4 * eps * rng.choice([-1.0, 1.0], x.shape)).astype(x.dtype)


def rounding(seed: int) -> Callable[[Any], Any]:
    """Moves a value within a program, an array of either library, by a few roundings."""
    rng = np.random.default_rng(seed)

    def rounded(x: Any) -> Any:
        if not hasattr(x, "dtype") or not is_inexact(x):
            return x
        by = 1 + 2 * float(jnp.finfo(jnp.dtype(str(x.dtype))).eps) * rng.choice([-1.0, 1.0], np.shape(x))
        return x * by.astype(jnp.dtype(str(x.dtype)))

    return rounded


def if_any(compute: Callable[[], list[np.ndarray]]) -> list[list[np.ndarray]]:
    """The results in a list; an empty list for a failure. A rounded value is of another kind (no weak type)."""
    try:
        return [compute()]
    except Exception:  # any error: there is no answer
        return []


def _callbacks_of_jax() -> list[float]:
    """The arguments of JAX's callbacks, after all of them."""
    jax.effects_barrier()
    count = -1
    while count != len(libraries.SEEN):
        count = len(libraries.SEEN)
        time.sleep(_QUIET)
    return sorted(libraries.SEEN)


class Reference:
    """JAX's results for a program. Each part is computed once, at its first use."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.args = program.arguments()
        eps = max([float(jnp.finfo(x.dtype).eps) for x in self.args if is_inexact(x)], default=0.0)
        text = program.text()
        eps = max(eps, 2.0**-8 if "bfloat16" in text else 2.0**-10 if "float16" in text else 2.0**-23)
        self.eps = eps
        rng = np.random.default_rng(0)
        self.moved = [[moved(x, eps, rng) for x in self.args] for _ in range(2)]

    def compute(self, wide: bool) -> None:
        """Compute all parts now, as far as there is an answer."""
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
        except Exception as error:  # any error: there is no answer
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
        if not all(np.all(np.isfinite(x)) for x in known if is_inexact(x)):
            raise NoAnswerError("nothing to differentiate where a result is none")
        return self._run(jax.grad(loss(JAX_NAMES, self.program.function(JAX_NAMES)), tuple(wanted)))

    @functools.cached_property
    def rounded_values(self) -> list[list[np.ndarray]]:
        return self._rounded(lambda f: f)

    @functools.cached_property
    def rounded_gradient(self) -> list[list[np.ndarray]]:
        return self._rounded(lambda f: jax.grad(loss(JAX_NAMES, f), tuple(floats(self.args))))

    def _rounded(self, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> list[list[np.ndarray]]:
        def computed(seed: int) -> list[np.ndarray]:
            run = jax.jit(make(self.program.function(JAX_NAMES, rounding(seed))))
            return [np.asarray(x) for x in leaves(run(*self.args))]

        return [found for seed in range(2) for found in if_any(lambda seed=seed: computed(seed))]

    def _exact(self, make: Callable[[Any], Callable[..., Any]]) -> list[np.ndarray] | None:
        """The results of a function with wider floats; None if there is no answer."""
        wide = {"f": np.float64, "c": np.complex128}
        args = [x.astype(wide.get(x.dtype.kind, x.dtype)) for x in self.args]
        try:
            with jax.enable_x64(True):
                return [np.asarray(x) for x in leaves(make(WIDE_NAMES)(*args))]
        except Exception:  # any error: there is no answer
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
    rounded: Callable[[], list[list[np.ndarray]]] = list,
) -> str | None:
    """A text with the place where results differ by more than rounding explains; None without a difference. `least` is
    the rounding, in eps, of the smallest number, for terms that cancel. `exact` gives the results with wider floats: a
    result about as near to them as the wanted one is right. `rounded` gives results of other roundings within the
    program, which are computed before a difference counts."""
    found = _difference(got, wanted, moved, eps, least, exact)
    if found is None or not (more := rounded()):
        return found
    return _difference(got, wanted, [*moved, *more], eps, least, exact)


def _difference(
    got: Sequence[Any],
    wanted: Sequence[np.ndarray],
    moved: Sequence[Sequence[np.ndarray]],
    eps: float,
    least: float,
    exact: Callable[[], list[np.ndarray] | None],
) -> str | None:
    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for place, (x, y) in enumerate(zip(got, wanted, strict=True)):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"result {place} is {x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        others = [np.asarray(each[place]) for each in moved]
        if not is_inexact(y):
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
