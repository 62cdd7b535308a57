"""Draws programs until the time is over, checks each in some ways, and prints failing programs as tests."""

from __future__ import annotations

import dataclasses
import random
import time
import warnings
from pathlib import Path

import jax

import pycompiler as pc
from fuzz_programs.generate import draw_program
from fuzz_programs.programs import Program, literal
from fuzz_programs.reference import Reference
from fuzz_programs.shrink import shrink
from fuzz_programs.ways import WAYS, Failure, check

ORACLE = "# the oracle"
"""The first line of the progress file of a process while JAX computes."""

# All programs are run in these ways, and in some of the others.
_ALWAYS = ("eager", "jit")
_OTHERS = 4
_WIDE = 0.2


@dataclasses.dataclass(frozen=True)
class Finding:
    """A program that fails in one way, made as small as possible."""

    program: Program
    failure: Failure
    wide: bool

    def test(self, name: str) -> str:
        """The text of a test that fails like the program."""
        body = "".join(f"    {line}\n" for line in self.program.text().splitlines())
        args = ", ".join(literal(x) for x in self.program.arguments())
        what = self.failure.message.splitlines()[0] if self.failure.message else ""
        return (
            f"# {self.failure.way}{', enable_x64' if self.wide else ''}: {self.failure.kind}: {what}\n"
            f"def test_{name}():\n{body}\n    args = [{args}]\n    {_CALLS[self.failure.way]}\n"
        )


_CALLS = {
    "eager": "print(f(*args))",
    "jit": "print(jit(f)(*args))",
    "grad": "print(pc.grad(lambda *xs: pnp.sum(pnp.real(f(*xs))), tuple(range(len(args))))(*args))",
    "vmap": "print(vmap(f)(*[np.stack([x, -x]) for x in args]))",
    "scan": "print(lax.scan(lambda c, x: (c, f(*x)), 0, tuple(np.stack([x, -x]) for x in args)))",
    "dynamic": 'print(jit(vmap(f), dynamic="auto")(*[np.stack([x, -x]) for x in args]))',
    "devices": "print(jit(vmap(f))(*[np.stack([x, -x]) for x in args]))  # with the members divided over two devices",
    "pmap": "print(pc.pmap(f)(*[np.stack([x, -x]) for x in args]))",
    "exported": "print(pc.export.deserialize(pc.export.export(jit(f))(*args).serialize()).call(*args))",
    "grad of vmap": (
        "print(pc.grad(lambda *xs: pnp.sum(vmap(f)(*xs)), tuple(range(len(args))))(*[np.stack([x, -x]) for x in args]))"
    ),
}


def fuzz(
    rng: random.Random,
    seconds: float,
    *,
    programs: int | None = None,
    ways: tuple[str, ...] = tuple(WAYS),
    most: int = 20,
    show: bool = False,
    stage: Path | None = None,
) -> list[Finding]:
    """The failures of programs drawn within `seconds`, or of `programs` programs.

    `stage` is a file with the program that is running, for the case that the process ends.
    """
    reached = stage.write_text if stage else lambda text: None
    # Both libraries use the documented random stream.
    jax.config.update("jax_threefry_partitionable", False)
    warnings.simplefilter("ignore")
    deadline = time.monotonic() + seconds
    found: list[Finding] = []
    kinds: set[tuple[str, str, str]] = set()
    drawn = runs = 0
    while time.monotonic() < deadline and (programs is None or drawn < programs) and len(found) < most:
        drawn += 1
        wide = rng.random() < _WIDE
        seed = rng.getrandbits(64)
        with jax.enable_x64(wide), pc.enable_x64(wide):
            program = draw_program(random.Random(seed), wide)
        reference = Reference(program)
        reached(f"{ORACLE}\n{program.text()}")
        reference.compute(wide)
        others = [way for way in ways if way not in _ALWAYS]
        chosen = [way for way in ways if way in _ALWAYS] + rng.sample(others, min(_OTHERS, len(others)))
        for way in chosen:
            runs += 1
            reached(
                f"# {way}, wide={wide}\n{program.text()}args = [{', '.join(literal(x) for x in program.arguments())}]"
            )
            failure = check(program, way, reference, wide)
            if failure is None:
                continue
            finding = _reduced(program, failure, wide)
            kind = (failure.way, failure.kind, _signature(finding))
            if kind not in kinds:
                kinds.add(kind)
                found.append(finding)
                if show:
                    print(finding.test(f"program_{seed}"), flush=True)
            # A program that fails compiled fails in the other ways, too.
            break
    if show and stage is None:
        print(f"{drawn} programs, run {runs} times; {len(found)} kinds of failures")
    return found


def _reduced(program: Program, failure: Failure, wide: bool) -> Finding:
    last = failure

    def fails(candidate: Program) -> bool:
        nonlocal last
        again = check(candidate, failure.way, None, wide)
        if again is None or not failure.is_like(again):
            return False
        last = again
        return True

    return Finding(shrink(program, fails), last, wide)


def _signature(finding: Finding) -> str:
    """The key of equal failures: the remaining operations."""
    text = finding.program.text()
    return " ".join(sorted({word.split("(")[0] for word in text.split() if "." in word}))
