"""The measured plan of a product, and its bytes in a file, with information for `list` and `explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pycompiler.cache.entry import DamagedError, opened, seal

# The entries of an array.plan; empty for the cost model's own plan.
Plan = dict[str, int | str]

_MAGIC = b"PYCPLAN\0"


@dataclass(frozen=True)
class PlanKey:
    """The key of a plan. `digest` covers all other fields."""

    digest: str
    form: str
    threads: str
    compiler: str
    target: str


def pack_plan(key: PlanKey, plan: Plan, about: dict[str, Any]) -> bytes:
    """The bytes of a file. `about` is for people: the measured times, and the date."""
    known = {"key": (key.form, key.threads, key.compiler, key.target), "plan": dict(plan), "about": about}
    return seal(_MAGIC, key.digest, known, 0)


def unpack_plan(digest: str, data: bytes) -> tuple[PlanKey, Plan, dict[str, Any]]:
    """The arguments of `pack_plan`. Raises DamagedError."""
    known, end, _ = opened(_MAGIC, digest, data)
    if len(data) != end:
        raise DamagedError(f"it has {len(data)} bytes of {end}")
    return PlanKey(digest, *known["key"]), known["plan"], known["about"]
