"""The disk cache of compiled code: what one process compiled, another one loads, without the compiler.

`compile` asks here before it compiles, and hands over what it has compiled. An entry is found by a key: the graph
(`fingerprint`), what of it is computed in place, the compiler and the machine (`identity`); `store` is the folder,
`entry` the bytes of a file. `python -m pycompiler.cache` shows and clears it. Nothing that goes wrong here is an error
of the program: it compiles, and is told once what to do.
"""

from __future__ import annotations

import hashlib
import logging
import marshal
import os
import time
from collections.abc import Sequence
from typing import Any

from pycompiler.cache import identity
from pycompiler.cache.entry import Aliases, Artifact, DamagedError, Key, pack, unpack
from pycompiler.cache.fingerprint import UnkeepableError, fingerprint_of
from pycompiler.cache.plans import Plan, PlanKey, pack_plan, unpack_plan
from pycompiler.cache.store import PLAN, RefusedError, Store
from pycompiler.core.config.config import config
from pycompiler.core.source import warn
from pycompiler.core.tracing.graph import Graph
from pycompiler.core.types.aval import short

__all__ = [
    "Aliases",
    "Artifact",
    "Key",
    "Plan",
    "PlanKey",
    "find",
    "find_plan",
    "folder",
    "forget_plans",
    "keep",
    "keep_plan",
    "key_of",
    "plan_key",
    "refuse",
]

_log = logging.getLogger("pycompiler.cache")

# By folder; None where it was refused.
_stores: dict[str, Store | None] = {}

# The plans that this process has met: they stay, whatever becomes of their files.
_plans: dict[tuple[str, str], Plan] = {}

# What was warned of once in this process.
_told: set[str] = set()


def folder() -> str:
    """Where the cache is: the setting, or $XDG_CACHE_HOME/pycompiler, or ~/.cache/pycompiler."""
    given = config.compilation_cache_dir
    if given is not None:
        return os.path.expanduser(given)
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The standard has relative ones ignored.
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "pycompiler")


def _store() -> Store | None:
    path = folder()
    if path not in _stores:
        try:
            _stores[path] = Store(path)
        except RefusedError as refused:
            _stores[path] = None
            _tell(
                f"{refused} (the setting compilation_cache_dir, PYCOMPILER_COMPILATION_CACHE_DIR), or turn the cache "
                "off (enable_compilation_cache, PYCOMPILER_ENABLE_COMPILATION_CACHE=0). Until then nothing is kept"
            )
    return _stores[path]


def _tell(message: str) -> None:
    if message not in _told:
        _told.add(message)
        warn(f"the disk cache of compiled code: {message}")


def _target() -> str | None:
    """The processor; None when nothing is to be looked for: the cache is off, or has no folder."""
    if not config.enable_compilation_cache or config.compilation_cache_max_size == 0 or _store() is None:
        return None
    target = identity.target()
    if target is None:
        _tell("this system does not say which processor it has (/proc/cpuinfo), so that nothing is kept")
    return target


def key_of(graph: Graph, aliases: Aliases, tuning: str = "", device: str = "") -> Key | None:
    """What the code of a graph is found by; None when it is not to be looked for: the cache is off, or the graph holds
    what means nothing in another process. `tuning` says by which measured plans it is compiled, `device` for what
    besides this processor."""
    target = _target()
    if target is None:
        return None
    try:
        digest, places = fingerprint_of(graph)
    except UnkeepableError as reason:
        _log.debug("not kept, as a graph holds %s", reason)
        return None
    options = f"{len(aliases)} results in place, {_digest(aliases, 6)}" if aliases else "nothing in place"
    for choice in (tuning, device):
        options = f"{options}; {choice}" if choice else options
    parts = (digest.hex(), options, identity.compiler(), target)
    return Key(_digest(parts, 20), *parts, places)


def _digest(value: Any, size: int) -> str:
    return hashlib.blake2b(marshal.dumps(value, 2), digest_size=size).hexdigest()


def find(key: Key, name: str) -> Artifact | None:
    """What was kept under a key. A damaged entry is dropped, with a warning."""
    store = _store()
    data = store.read(key.digest) if store else None
    if data is None:
        return None
    try:
        return unpack(key, data)
    except DamagedError as damaged:
        refuse(key, name, str(damaged))
        return None


def refuse(key: Key, name: str, why: str) -> None:
    """Drop an entry that is no good."""
    store = _store()
    if store:
        store.drop(key.digest)
        _tell(
            f"the entry of {name} is damaged, {why}: {store.path(key.digest)}. It was dropped, and {name} is compiled "
            "again. If this happens often, look after the disk"
        )


def keep(key: Key, artifact: Artifact, name: str, graph: Graph, milliseconds: float) -> None:
    """Keep compiled code under a key, with what `list` and `explain` say of it."""
    store = _store()
    if not store:
        return
    about = {
        "name": name,
        "for": _signature([var.aval for var in graph.inputs]),
        "operations": len(graph.equations),
        "made": time.time(),
        "milliseconds": milliseconds,
    }
    try:
        store.write(key.digest, pack(key, artifact, about), config.compilation_cache_max_size)
    except OSError as error:
        _tell(
            f"{store.folder} can't be written: {error.strerror}. What is there is used, and what is compiled is not "
            "kept. Make room, or name another folder (the setting compilation_cache_dir)"
        )


def plan_key(form: str, threads: int) -> PlanKey | None:
    """What the measured plan of a product is found by; None when there is no cache."""
    target = _target()
    if target is None:
        if not config.enable_compilation_cache:
            _tell("it is turned off, and so nothing is measured (the setting tuning): it keeps what was")
        return None
    parts = (form, f"{threads} threads", identity.compiler(), target)
    return PlanKey(_digest(parts, 20), *parts)


def find_plan(key: PlanKey) -> Plan | None:
    """The plan that was kept under a key. A damaged one is dropped, with a warning."""
    store = _store()
    if not store:
        return None
    known = _plans.get((store.folder, key.digest))
    if known is not None:
        return known
    data = store.read(key.digest, kind=PLAN)
    if data is None:
        return None
    try:
        plan = unpack_plan(key.digest, data)[1]
    except DamagedError as damaged:
        store.drop(key.digest, PLAN)
        _tell(
            f"the measured plan of {key.form} is damaged, {damaged}: {store.path(key.digest, PLAN)}. It was dropped, "
            "and is measured again where the setting tuning says so. If this happens often, look after the disk"
        )
        return None
    return _plans.setdefault((store.folder, key.digest), plan)


def keep_plan(key: PlanKey, plan: Plan, about: dict[str, Any]) -> Plan:
    """Keep a plan under a key, with what `list` says of it. Returns the one that is kept: another process may have been
    first."""
    store = _store()
    if not store:
        return plan
    try:
        store.write(
            key.digest,
            pack_plan(key, plan, {**about, "made": time.time()}),
            config.compilation_cache_max_size,
            PLAN,
        )
    except OSError as error:
        _tell(f"{store.folder} can't be written: {error.strerror}. What is measured is not kept")
    kept = find_plan(key)
    return _plans.setdefault((store.folder, key.digest), plan) if kept is None else kept


def forget_plans() -> None:
    """Read plans from the folder again."""
    _plans.clear()


def _signature(avals: Sequence[object]) -> str:
    shown = [short(aval) for aval in avals[:8]]
    return f"({', '.join(shown)}{', ...' if len(avals) > 8 else ''})"
