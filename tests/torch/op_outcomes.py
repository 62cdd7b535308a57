"""The outcome of one sample of torch's operator database, and the lists of those that are known not to be right.

The lists are in known/. A line names an operation, cases, and in

- wrong.txt the samples that are not right, and why: numbers, ranges, or `all` that torch itself computes;
- not_taken.txt the operations of ATen that samples leave to eager torch;
- uncompared.txt `forward` or `gradient`, and why no sample has one that is compared.

A case is a dtype, or a dtype with symbolic sizes: float32+dynamic. `problems` holds the outcomes against the lines, in
both directions: what is listed has to be so.

    python tests/torch/op_outcomes.py RUN.jsonl...

prints the lines for the runs of op_samples.py of all samples.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["KINDS", "Known", "Outcome", "Wanted", "problems"]

KNOWN = Path(__file__).parent / "known"
# `not taken`: right, with operations that are left to eager torch. `skipped`: torch itself has no result.
KINDS = ("right", "not taken", "wrong", "failed", "crashed", "skipped")


@dataclass
class Outcome:
    """Of one sample: what was compared, and what went wrong."""

    number: int
    kind: str
    why: str = ""
    # The operations that are left to eager torch.
    left: list[str] = field(default_factory=list)
    # Whether results, or gradients, were compared with torch's.
    forward: bool = False
    gradient: bool = False
    # Whether the results are random: only their shapes and dtypes were compared.
    random: bool = False


@dataclass(frozen=True)
class Wanted:
    """What a test is about: an operation and a case, and whether torch has its gradient."""

    name: str
    case: str
    gradient: bool = False


@dataclass
class _Line:
    samples: frozenset[int] | None  # None for all
    why: str

    def has(self, outcome: Outcome) -> bool:
        return self.samples is None or outcome.number in self.samples


class Known:
    """The lists, by operation and case."""

    def __init__(self, wrong: str = "", not_taken: str = "", uncompared: str = "") -> None:
        self.wrong: dict[tuple[str, str], list[_Line]] = defaultdict(list)
        for name, case, part, why in _entries(wrong):
            self.wrong[name, case].append(_Line(None if part == "all" else _numbers(part), why))
        self.not_taken: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name, case, part, others in _entries(not_taken):
            self.not_taken[name, case].update([part, *others.split()])
        self.uncompared: set[tuple[str, str, str]] = set()
        for name, case, part, _ in _entries(uncompared):
            assert part in ("forward", "gradient"), f"{name} {case}: {part} is neither forward nor gradient"
            self.uncompared.add((name, case, part))

    @classmethod
    def read(cls) -> Known:
        return cls(*[(KNOWN / f"{name}.txt").read_text() for name in ("wrong", "not_taken", "uncompared")])

    def keys(self) -> set[tuple[str, str]]:
        return {*self.wrong, *self.not_taken, *[key[:2] for key in self.uncompared]}


def _entries(text: str) -> Iterable[tuple[str, str, str, str]]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, cases, part, why = [*line.split(maxsplit=3), ""][:4]
            for case in cases.split(","):
                yield name, case, part, why


def _numbers(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def problems(wanted: Wanted, outcomes: list[Outcome], known: Known, every: bool) -> list[str]:
    """How the outcomes of samples differ from the lists. With `every`, they are those of all samples."""
    key = (wanted.name, wanted.case)
    found = [f"{one.kind}: sample {one.number}: {one.why}" for one in outcomes if one.kind == "crashed"]
    seen = [one for one in outcomes if one.kind not in ("skipped", "crashed")]
    wrong, listed = known.wrong.get(key, []), known.not_taken.get(key, set())
    for one in seen:
        bad = one.kind in ("wrong", "failed")
        if bad and not any(line.has(one) for line in wrong):
            found.append(f"{one.kind}: sample {one.number}: {one.why}")
        if not bad and any(line.has(one) for line in wrong):
            found.append(f"sample {one.number} is right: take it from known/wrong.txt")
        if set(one.left) - listed:
            found.append(f"not taken: sample {one.number} leaves {sorted(set(one.left) - listed)} to torch: {one.why}")
    if every:
        numbers = {one.number for one in seen}
        for line in wrong:
            if missing := sorted((line.samples or frozenset()) - numbers):
                found.append(f"torch does not compute the samples {missing}: take them from known/wrong.txt")
        if taken := sorted(listed - {name for one in seen for name in one.left}):
            found.append(f"no sample leaves {taken} to torch: take it from known/not_taken.txt")
    return found + _uncounted(wanted, seen, known)


def _uncounted(wanted: Wanted, seen: list[Outcome], known: Known) -> list[str]:
    """A part of which no sample was compared, and which is not listed; or one that is."""
    found = []
    for part in ("forward", "gradient") if wanted.gradient else ("forward",):
        count = sum(getattr(one, part) for one in seen)
        listed = (wanted.name, wanted.case, part) in known.uncompared
        if not count and not listed:
            found.append(f"no sample has a {part} that was compared")
        if count and listed:
            found.append(f"{count} samples have a {part} that was compared: take it from known/uncompared.txt")
    return found


def _ranges(numbers: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _joined(entries: list[tuple[str, str, str, str]]) -> list[str]:
    """Lines of name, case, part and why; the cases that differ in nothing else share one."""
    cases: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, case, part, why in entries:
        cases[name, part, why].append(case)
    return sorted(f"{name} {','.join(group)} {part} {why}".strip() for (name, part, why), group in cases.items())


def main(paths: list[str]) -> None:
    runs: dict[Wanted, list[Outcome]] = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            record = json.loads(line)
            wanted = Wanted(record.pop("name"), record.pop("case"), record.pop("wanted"))
            runs.setdefault(wanted, []).extend([Outcome(**record)] if record else [])
    lists: dict[str, list[tuple[str, str, str, str]]] = {"wrong": [], "not_taken": [], "uncompared": []}
    for wanted, outcomes in runs.items():
        key, seen = (wanted.name, wanted.case), [one for one in outcomes if one.kind != "skipped"]
        bad: dict[str, list[int]] = defaultdict(list)
        for one in seen:
            if one.kind in ("wrong", "failed", "crashed"):
                bad[one.why].append(one.number)
        for why, numbers in bad.items():
            lists["wrong"].append((*key, "all" if len(numbers) == len(seen) else _ranges(numbers), why))
        if left := sorted({name for one in seen for name in one.left}):
            lists["not_taken"].append((*key, left[0], " ".join(left[1:])))
        for part in ("forward", "gradient") if wanted.gradient else ("forward",):
            if not any(getattr(one, part) for one in seen):
                lists["uncompared"].append((*key, part, outcomes[0].why if outcomes and not seen else "?"))
    for name, entries in lists.items():
        print(f"== {name}.txt", *_joined(entries), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
