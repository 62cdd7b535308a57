"""`python -m pycompiler.cache list | explain [KEY ...] | clear`: the entries of the disk cache, and their origins.

`list` shows the entries, the last used first: code, measured plans, and traces of torch. `explain` shows the origin of
entries, and the difference from the nearest other entry. `explain` takes keys or the beginnings of keys. Without keys,
it shows the last new entries, each of which is a miss. `clear` removes all entries.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.cache import folder, identity
from pycompiler.cache.entry import DamagedError, Key, describe
from pycompiler.cache.plans import Plan, PlanKey, unpack_plan
from pycompiler.cache.store import CODE, PLAN, RefusedError, Store, Stored
from pycompiler.cache.traces import TraceKey, unpack_trace
from pycompiler.core.config.config import config

# The shown length of a digest; the number of entries that `explain` shows without keys.
_SHOWN = 12
_LAST = 5

# The parts of a key, and the meaning of a difference from the nearest entry in each.
_PARTS = (
    ("ir", "IR", "the program, its shapes or dtypes differ"),
    ("options", "options", "other results are computed in the memory of donated arguments, or by other measured plans"),
    ("compiler", "compiler", "another version or build of the compiler"),
    ("target", "target", "another processor"),
)


# The same for the key of a plan.
_PLAN_PARTS = (
    ("form", "product", "another product"),
    ("threads", "threads", "another number of threads"),
    *_PARTS[2:],
)

# The same for the key of a trace.
_TRACE_PARTS = (
    ("graph", "graph", "the program, a constant or a line of it differs"),
    ("inputs", "inputs", "the sizes, dtypes or other properties of the arguments differ"),
    ("settings", "settings", "other settings of the framework"),
    ("versions", "versions", "another version of the framework or of this package"),
)

_PARTS_OF: dict[type, tuple[tuple[str, str, str], ...]] = {Key: _PARTS, PlanKey: _PLAN_PARTS, TraceKey: _TRACE_PARTS}


class _Entry(NamedTuple):
    stored: Stored
    # None for a damaged entry. `about` then has the reason.
    key: Key | PlanKey | TraceKey | None
    about: dict[str, Any]
    # The plan of a measured product.
    plan: Plan | None = None

    @property
    def title(self) -> str:
        if self.key is None:
            return f"damaged: {self.about['why']}"
        if self.plan is not None:
            gain = f", {self.about['best'] / self.about['usual']:.2f} of the usual time" if self.plan else ""
            return f"plan of {self.about['name']}: {self.shown}{gain}"
        return f"{self.about['name']}{self.about['for']}"

    @property
    def shown(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in (self.plan or {}).items()) or "the usual one"

    def origin(self) -> str:
        """The time and the source of the entry."""
        made = f"{_age(self.about['made'])} ago"
        if self.plan is None:
            return f"made {made} in {self.about['milliseconds']:.0f} ms from {self.about['operations']} operations"
        usual, best = (self.about[name] * 1e6 for name in ("usual", "best"))
        return f"measured {made}: {best:.1f} us, and {usual:.1f} us as usual, the best of {self.about['plans']} plans"


def _entries(store: Store) -> list[_Entry]:
    """All entries, the last used first."""
    found: list[_Entry] = []
    for stored in sorted(store.entries(), key=lambda stored: -stored.used):
        data = store.read(stored.digest, touch=False, kind=stored.kind)
        try:
            if data is None:
                continue
            if stored.kind == CODE:
                found.append(_Entry(stored, *describe(stored.digest, data)))
            elif stored.kind == PLAN:
                key, plan, about = unpack_plan(stored.digest, data)
                found.append(_Entry(stored, key, about, plan))
            else:
                key, _, about = unpack_trace(stored.digest, data)
                found.append(_Entry(stored, key, about))
        except DamagedError as damaged:
            found.append(_Entry(stored, None, {"why": str(damaged), "made": 0.0}))
    return found


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _age(moment: float) -> str:
    seconds = max(time.time() - moment, 0.0)
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _target(key: Key | PlanKey | TraceKey) -> str:
    if isinstance(key, TraceKey):
        return "any machine"
    if key.target != identity.target():
        return f"another machine: {key.target.rpartition(' ')[0]}"
    return "this machine" if key.compiler == identity.compiler() else f"another build: {key.compiler.split()[0]}"


def _list(store: Store) -> int:
    entries = _entries(store)
    if not entries:
        print(f"no entries in {store.folder}")
        return 0
    rows = [("KEY", "SIZE", "USED", "COMPILED IN", "FOR", "FUNCTION")]
    for entry in entries:
        size, used = _size(entry.stored.size), _age(entry.stored.used)
        took = f"{entry.about['milliseconds']:.0f} ms" if entry.key and entry.plan is None else ""
        rows.append(
            (entry.stored.digest[:_SHOWN], size, used, took, _target(entry.key) if entry.key else "", entry.title)
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{cell:{'>' if 1 <= at <= 3 else '<'}{widths[at]}}" for at, cell in enumerate(row)]
        print("  ".join(cells).rstrip())
    limit = config.compilation_cache_max_size
    total = _size(sum(entry.stored.size for entry in entries))
    several = "entry" if len(entries) == 1 else "entries"
    print(f"{len(entries)} {several}, {total}{f' of {_size(limit)}' if limit >= 0 else ''} in {store.folder}")
    return 0


def _explain(store: Store, wanted: Sequence[str]) -> int:
    entries = _entries(store)
    chosen = sorted(entries, key=lambda entry: -entry.about["made"])[: 0 if wanted else _LAST]
    for start in wanted:
        found = [entry for entry in entries if entry.stored.digest.startswith(start)]
        if not found:
            print(f"no entry begins with {start}; `python -m pycompiler.cache list` shows the keys", file=sys.stderr)
            return 1
        chosen += found
    if not chosen:
        print(f"no entries in {store.folder}")
    for entry in chosen:
        print("\n".join(_explained(entry, entries)))
    return 0


def _explained(entry: _Entry, entries: Sequence[_Entry]) -> list[str]:
    digest, key, about = entry.stored.digest, entry.key, entry.about
    lines = [f"{digest[:_SHOWN]} {entry.title}"]
    if key is None:
        return [*lines, "  the next process that looks for it drops it, and compiles again"]
    lines.append(f"  {entry.origin()}, {_size(entry.stored.size)}, last used {_age(entry.stored.used)} ago")
    all_parts = _PARTS_OF[type(key)]
    # Candidates for the nearest entry: of the same program, or of a function with this name.
    others = [other for other in entries if other is not entry and _is_like(key, about, other)]
    nearest = min(others, key=lambda other: len(_differences(key, other.key, all_parts)), default=None)
    if nearest is None or nearest.key is None:
        parts = [f"  {label:9} {getattr(key, part)}" for part, label, _ in all_parts]
        return [*lines, *parts, "  nearest: none; it is the only entry of this program and of this name"]
    for part, label, meaning in all_parts:
        own, its = getattr(key, part), getattr(nearest.key, part)
        lines += (
            [f"  {label:9} {own}", f"  {'':9} there {its}: {meaning}"]
            if own != its
            else [f"  {label:9} the same: {own}"]
        )
    return [*lines, f"  nearest: {nearest.stored.digest[:_SHOWN]} {nearest.title}"]


def _is_like(key: Key | PlanKey | TraceKey, about: dict[str, Any], other: _Entry) -> bool:
    # The first part of each key is the program's.
    program = _PARTS_OF[type(key)][0][0]
    return type(other.key) is type(key) and (
        getattr(other.key, program) == getattr(key, program) or other.about["name"] == about["name"]
    )


def _differences(key: Any, other: Any, parts: Sequence[tuple[str, str, str]]) -> list[str]:
    return [part for part, _, _ in parts if getattr(key, part) != getattr(other, part)]


def _clear(store: Store) -> int:
    count = store.clear()
    print(f"{count} {'entry' if count == 1 else 'entries'} removed from {store.folder}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit status."""
    description = (__doc__ or "").partition("\n\n")[2]
    parser = argparse.ArgumentParser("python -m pycompiler.cache", description=description)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the entries, the last used first")
    explain = commands.add_parser("explain", help="the origin of entries, and the reason for their compilation")
    explain.add_argument("key", nargs="*", help="a key, or its beginning; by default, the last new entries")
    commands.add_parser("clear", help="remove all entries")
    options = parser.parse_args(arguments)
    path = folder()
    if not os.path.exists(path):
        print(f"no entries in {path}")
        return 0
    try:
        store = Store(path)
    except RefusedError as refused:
        print(refused, file=sys.stderr)
        return 1
    if options.command == "explain":
        return _explain(store, options.key)
    return _list(store) if options.command == "list" else _clear(store)


if __name__ == "__main__":
    sys.exit(main())
