"""The disk cache of compiled code: a process loads code that another one compiled, without the compiler.

`compile` looks here first, and keeps new code here. The key of an entry has the graph (`fingerprint`), the results that
are computed in place, the compiler and the machine (`identity`). `store` is the folder, `entry` the bytes of a file.
`python -m pycompiler.cache` shows and clears the cache. A failure of the cache is no error of the program: it compiles,
and one warning names the remedy.
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
from pycompiler.cache.entry import Aliases, Artifact, DamagedError, Key, describe, pack, unpack
from pycompiler.cache.fingerprint import UnkeepableError, fingerprint_of
from pycompiler.cache.plans import Plan, PlanKey, pack_plan, unpack_plan
from pycompiler.cache.store import CODE, PLAN, TRACE, RefusedError, Store
from pycompiler.cache.traces import TraceKey, pack_trace, unpack_trace
from pycompiler.core.config.config import config
from pycompiler.core.source import warn
from pycompiler.core.tracing.graph import Graph
from pycompiler.core.types.aval import short

__all__ = [
    "Aliases",
    "Artifact",
    "DamagedError",
    "Key",
    "Plan",
    "PlanKey",
    "TraceKey",
    "describe",
    "find",
    "find_module",
    "find_plan",
    "find_trace",
    "folder",
    "forget_plans",
    "is_ours",
    "keep",
    "keep_module",
    "keep_plan",
    "keep_trace",
    "key_of",
    "key_of_module",
    "pack",
    "plan_key",
    "refuse",
    "trace_key",
    "unpack",
]

_log = logging.getLogger("pycompiler.cache")

# The stores by folder; None for a refused one.
_stores: dict[str, Store | None] = {}

# The plans that this process has used. They stay in effect if their files change.
_plans: dict[tuple[str, str], Plan] = {}

# The warnings of this process; each is given once.
_told: set[str] = set()


def folder() -> str:
    """The folder of the cache: the setting, or $XDG_CACHE_HOME/pycompiler, or ~/.cache/pycompiler."""
    given = config.compilation_cache_dir
    if given is not None:
        return os.path.expanduser(given)
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG standard says to ignore relative paths.
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


def reset() -> None:
    """Forget the state of all folders: a refused folder is tried again."""
    _stores.clear()
    _told.clear()


def _tell(message: str) -> None:
    if message not in _told:
        _told.add(message)
        warn(f"the disk cache of compiled code: {message}")


def _target() -> str | None:
    """The processor. None if the cache is not usable: it is off, or has no folder."""
    if not config.enable_compilation_cache or config.compilation_cache_max_size == 0 or _store() is None:
        return None
    target = identity.target()
    if target is None:
        _tell("this system does not describe its processor (/proc/cpuinfo), so nothing is kept")
    return target


def key_of(graph: Graph, aliases: Aliases, tuning: str = "", device: str = "") -> Key | None:
    """The key of a graph's code. None if the cache is off, or if the graph has a value without a meaning in other
    processes. `tuning` identifies the measured plans. `device` names the target, unless it is this machine's processor.
    """
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


def key_of_module(digest: str, options: str) -> Key | None:
    """The key of the code of a foreign module, also if the cache is off. The digest covers everything that the code
    depends on. None if the system does not describe its processor."""
    target = identity.target()
    if target is None:
        return None
    parts = (digest, options, identity.compiler(), target)
    return Key(_digest(parts, 20), *parts)


def is_ours(key: Key) -> bool:
    """Whether code under a key is of this build of the compiler, for this processor."""
    return (key.compiler, key.target) == (identity.compiler(), identity.target())


def _digest(value: Any, size: int) -> str:
    return hashlib.blake2b(marshal.dumps(value, 2), digest_size=size).hexdigest()


def find(key: Key, name: str) -> Artifact | None:
    """The code under a key, or None. A damaged entry is dropped, with a warning."""
    store = _store()
    data = store.read(key.digest) if store else None
    if data is None:
        return None
    try:
        return unpack(key, data)
    except DamagedError as damaged:
        refuse(key, name, str(damaged))
        return None


def find_module(key: Key, name: str) -> tuple[Artifact, dict[str, Any]] | None:
    """The code under a key, with the information that `keep_module` got; or None."""
    store = _store() if _target() is not None else None
    data = store.read(key.digest) if store else None
    if data is None:
        return None
    try:
        return unpack(key, data), describe(key.digest, data)[1]
    except DamagedError as damaged:
        refuse(key, name, str(damaged))
        return None


def refuse(key: Key, name: str, why: str) -> None:
    """Drop a damaged entry."""
    store = _store()
    if store:
        store.drop(key.digest)
        _tell(
            f"the entry of {name} is damaged, {why}: {store.path(key.digest)}. It was dropped, and {name} is compiled "
            "again. If this happens often, check the disk"
        )


def keep(key: Key, artifact: Artifact, name: str, graph: Graph, milliseconds: float) -> None:
    """Keep compiled code under a key, with information for `list` and `explain`."""
    about = {
        "name": name,
        "for": _signature([var.aval for var in graph.inputs]),
        "operations": len(graph.equations),
        "milliseconds": milliseconds,
    }
    keep_module(key, artifact, about)


def keep_module(key: Key, artifact: Artifact, about: dict[str, Any]) -> None:
    """Keep compiled code under a key, with information: at least those of `keep`."""
    if _target() is not None:
        _write(key.digest, pack(key, artifact, {**about, "made": time.time()}), CODE, "new code is not kept")


def _write(digest: str, data: bytes, kind: str, otherwise: str) -> None:
    store = _store()
    if not store:
        return
    try:
        store.write(digest, data, config.compilation_cache_max_size, kind)
    except OSError as error:
        _tell(
            f"{store.folder} can't be written: {error.strerror}. Existing entries are used, and {otherwise}. "
            "Make room, or name another folder (the setting compilation_cache_dir)"
        )


def plan_key(form: str, threads: int) -> PlanKey | None:
    """The key of the measured plan of a product. None without a cache."""
    target = _target()
    if target is None:
        if not config.enable_compilation_cache:
            _tell("it is turned off, and cannot keep measured plans. So the setting tuning measures nothing")
        return None
    parts = (form, f"{threads} threads", identity.compiler(), target)
    return PlanKey(_digest(parts, 20), *parts)


def find_plan(key: PlanKey) -> Plan | None:
    """The plan under a key, or None. A damaged one is dropped, with a warning."""
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
            "and is measured again if the setting tuning asks for it. If this happens often, check the disk"
        )
        return None
    return _plans.setdefault((store.folder, key.digest), plan)


def keep_plan(key: PlanKey, plan: Plan, about: dict[str, Any]) -> Plan:
    """Keep a plan under a key, with information for `list`. Returns the kept plan: another process may have been
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
        _tell(f"{store.folder} can't be written: {error.strerror}. Measured plans are not kept")
    kept = find_plan(key)
    return _plans.setdefault((store.folder, key.digest), plan) if kept is None else kept


def forget_plans() -> None:
    """Drop the plans of this process, so that they are read from the folder again."""
    _plans.clear()


def trace_key(graph: str, inputs: str, settings: str, versions: str) -> TraceKey | None:
    """The key of a trace. None if the cache is off."""
    if not config.enable_compilation_cache or config.compilation_cache_max_size == 0 or _store() is None:
        return None
    parts = (graph, inputs, settings, versions)
    return TraceKey(_digest(parts, 20), *parts)


def find_trace(key: TraceKey) -> bytes | None:
    """The trace under a key, or None. A damaged one is dropped, with a warning."""
    store = _store()
    data = store.read(key.digest, kind=TRACE) if store else None
    if data is None or store is None:
        return None
    try:
        return unpack_trace(key.digest, data)[1]
    except DamagedError as damaged:
        store.drop(key.digest, TRACE)
        _tell(
            f"a trace is damaged, {damaged}: {store.path(key.digest, TRACE)}. It was dropped, and is made again. If "
            "this happens often, check the disk"
        )
        return None


def keep_trace(key: TraceKey, trace: bytes, about: dict[str, Any]) -> None:
    """Keep a trace under a key, with information for `list`: that of `keep`."""
    _write(key.digest, pack_trace(key, trace, {**about, "made": time.time()}), TRACE, "new traces are not kept")


def _signature(avals: Sequence[object]) -> str:
    shown = [short(aval) for aval in avals[:8]]
    return f"({', '.join(shown)}{', ...' if len(avals) > 8 else ''})"
