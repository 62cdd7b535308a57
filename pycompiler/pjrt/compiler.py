"""Programs of PJRT: StableHLO from JAX to loaded code. `runtime/pjrt` calls `compile_program` and `load_program`.

A program arrives as a portable artifact (bytecode of the VHLO dialect). JAX's own bindings in this process read it, so
that the versions agree, and print text, which our importer reads (`source`). A program in the disk cache needs neither.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

from jaxlib.mlir.dialects import stablehlo

from pycompiler import cache
from pycompiler.cache import Artifact, Key
from pycompiler.compile.loading import UNKNOWN_NS
from pycompiler.compile.modules import (
    assembled,
    compile_module,
    load_artifact,
    needs_lapack,
    require_lapack,
    with_libraries,
)
from pycompiler.compile.targets import Target
from pycompiler.core.config.config import config
from pycompiler.core.errors import ExecutionError
from pycompiler.pjrt.callbacks import CALLERS, Callback
from pycompiler.pjrt.placement import placement_of, target_for
from pycompiler.pjrt.program import Description, Program, about, described, digest_of_sources, packed, unpacked
from pycompiler.pjrt.source import Call, Source, brings_own_division, calls_of, printed, text_of

__all__ = ["compile_program", "load_program", "stablehlo_versions"]

# The text of a program of at most these bytes is kept beside its code.
_SHORT = 1 << 16


def stablehlo_versions() -> tuple[list[int], list[int]]:
    """The oldest and the newest version of StableHLO that the compiler reads."""
    oldest, newest = stablehlo.get_minimum_version(), stablehlo.get_current_version()
    return [int(part) for part in oldest.split(".")], [int(part) for part in newest.split(".")]


def compile_program(code: bytes, form: str, options: bytes) -> Program:
    """The program of a module, for the devices of serialized CompileOptions.

    Raises MLIRError, with the user's line, for an operation without a counterpart; ValueError for another format.
    """
    if form != "mlir":
        raise ValueError(f"the program has the format {form!r}, expected 'mlir'")
    replicas, partitions, devices = placement_of(options)
    target = target_for(devices)
    digest = hashlib.blake2b(code, digest_size=20).hexdigest()
    _dump(code, digest)
    kind = "" if target.is_host else f", {target}, {config.gpu_libraries}"
    key = cache.key_of_module(digest, f"PJRT {digest_of_sources()}, {replicas} x {partitions}{kind}")
    # A division of the program's own is a function of this process.
    is_kept = key is not None and not brings_own_division(code)
    found = cache.find_module(key, digest) if key and is_kept else None
    if key and found:
        artifact, information = found
        description = described(information)
        calls = _calls(description, code)
        return _program(key, artifact, description, devices, target, options, code, calls, information["text"])
    begin = time.perf_counter()
    source = Source(code, partitions)
    lapack = target.is_host and needs_lapack(source.module)
    artifact = compile_module(source.build, source.aliases, {}, with_libraries(target, source.module))
    description = source.description(replicas, partitions, artifact.aliases, lapack)
    milliseconds = (time.perf_counter() - begin) * 1e3
    text = text_of(code, partitions) if len(code) <= _SHORT else ""
    if key and is_kept and not _calls_python(source.calls) and not source.asks:
        cache.keep_module(key, artifact, about(description, milliseconds, text))
    return _program(key, artifact, description, devices, target, options, code, source.calls, text)


def load_program(data: bytes, options: bytes) -> Program:
    """The program that `serialize` wrote. Raises ExecutionError for bytes of another build or processor."""
    key, artifact, description, written, code, text = unpacked(data)
    devices = placement_of(options or written)[2]
    target = target_for(devices)
    if bool(artifact.kernels) and target.is_host:
        raise ExecutionError(f"{description.name} was compiled for a GPU, and is loaded for a CPU: compile it again")
    calls = _calls(description, code)
    return _program(key, artifact, description, devices, target, options or written, code, calls, text)


def _calls(description: Description, code: bytes) -> Sequence[Call]:
    """The functions that a cached program calls in this process."""
    return calls_of(code) if description.foreign_calls else ()


def _calls_python(calls: Sequence[Call]) -> bool:
    return any(isinstance(one, Callback) for one in calls)


def _program(
    key: Key | None,
    artifact: Artifact,
    description: Description,
    devices: Sequence[int],
    target: Target,
    options: bytes,
    code: bytes,
    calls: Sequence[Call],
    text: str,
) -> Program:
    if description.lapack:
        require_lapack()
    several = description.replicas * description.partitions > 1
    artifact = assembled(artifact, target, {})
    executable = load_artifact(
        artifact,
        description.name,
        # On a GPU, a call waits for its operands.
        several or _calls_python(calls) or (bool(calls) and not target.is_host),
        [one.call() for one in calls],
        int(any(one.effectful for one in calls)),
        UNKNOWN_NS if description.foreign_calls else 0,
    )

    def serialize() -> bytes:
        if key is None or _calls_python(calls):
            why = "it calls functions of Python" if key else "/proc/cpuinfo does not say which processor this is"
            raise ExecutionError(f"{description.name} can't be serialized: {why}")
        # Another process can't divide the program again to print it.
        is_printed = brings_own_division(code)
        if is_printed and description.foreign_calls:
            raise ExecutionError(
                f"{description.name} can't be serialized: it has custom_partitioning and handlers of XLA's FFI"
            )
        kept = printed(text_of(code, description.partitions)) if is_printed else code
        return packed(key, artifact, description, options, kept, text)

    fingerprint = key.digest if key else hashlib.blake2b(code, digest_size=20).hexdigest()
    if _calls_python(calls):
        CALLERS.add(fingerprint.encode())
    return Program(
        description,
        executable,
        fingerprint,
        devices,
        artifact.flops,
        options,
        serialize,
        lambda: text or text_of(code, description.partitions),
    )


def _dump(code: bytes, digest: str) -> None:
    """Write the program into the folder of PYCOMPILER_DUMP_DIR, if that is set."""
    folder = os.environ.get("PYCOMPILER_DUMP_DIR")
    if folder:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        (path / f"jax-{digest[:12]}.mlir").write_text(text_of(code))
