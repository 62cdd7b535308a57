"""The devices of a program, from serialized CompileOptions. `compiler` imports this module."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from jaxlib import xla_client
from jaxlib.xla_client import DeviceList

from pycompiler._runtime import Device, local_devices
from pycompiler.compile.targets import Target, target_of

__all__ = ["placement_of", "target_for"]


@functools.cache
def _devices() -> list[Device]:
    """By the plugin's ids (runtime/pjrt/Client.cpp): the GPUs, or the CPUs of a machine without any."""
    every = local_devices()
    return [device for device in every if device.platform != "cpu"] or every


def target_for(ids: Sequence[int]) -> Target:
    """The target of code for these devices. Raises ValueError for devices of several kinds."""
    there = _devices()
    # The plugin refuses ids without a device: it knows the number of devices.
    chosen = [there[number] for number in ids if number < len(there)] or there[:1]
    targets = {target_of(device): device for device in chosen}
    if len(targets) > 1:
        kinds = " and ".join(f"{device} ({target})" for target, device in targets.items())
        raise ValueError(f"the program is for {kinds}, expected devices of one kind, since they run the same code")
    return next(iter(targets))


def placement_of(options: bytes) -> tuple[int, int, list[int]]:
    """The numbers of replicas and of partitions, and the ids of the devices by replica, then by partition.

    Raises ValueError for an option that XLA does not take either. XLA's own ones have no effect.
    """
    given: Any = xla_client.CompileOptions.ParseFromString(options)
    if given.env_option_overrides:
        _ask_xla(tuple(given.env_option_overrides))
    replicas, partitions = max(given.num_replicas, 1), max(given.num_partitions, 1)
    assignment = given.device_assignment
    if assignment is None:
        return replicas, partitions, list(range(replicas * partitions))
    ids = _assigned(assignment.serialize())
    return (
        replicas,
        partitions,
        [ids[partition][replica] for replica in range(replicas) for partition in range(partitions)],
    )


@functools.lru_cache(maxsize=256)
def _ask_xla(options: tuple[tuple[str, Any], ...]) -> None:
    """Raise ValueError, as XLA says it, for a name or a value that it does not take.

    XLA compiles an empty program with the options, except those of dumps.
    """
    client: Any = xla_client.make_cpu_client()
    given: Any = xla_client.CompileOptions()
    given.env_option_overrides = [(name, value) for name, value in options if not name.startswith("xla_dump_")]
    try:
        client.compile_and_load("func.func @main() { return }", DeviceList((client.local_devices()[0],)), given)
    except xla_client.XlaRuntimeError as error:
        said = str(error).removeprefix("INVALID_ARGUMENT: ")
        raise ValueError(f"{said} Options of XLA (xla_...) are accepted, without effect") from None


def _assigned(proto: bytes) -> list[list[int]]:
    """The ids of a serialized DeviceAssignment: for each computation, those of its replicas.

    Its class in JAX's bindings shows only the counts.
    """
    found: list[list[int]] = []
    for number, value in _fields(proto):
        if number == 3 and isinstance(value, bytes):
            ids: list[int] = []
            for inner, part in _fields(value):
                if inner == 1:
                    ids += _numbers(part) if isinstance(part, bytes) else [part]
            found.append(ids)
    return found


def _fields(proto: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a protocol buffer with numbers and bytes: their numbers and values."""
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(proto):
        tag, at = _number(proto, at)
        value, at = _number(proto, at)
        if tag & 7 == 2:
            found.append((tag >> 3, proto[at : at + value]))
            at += value
        else:
            found.append((tag >> 3, value))
    return found


def _numbers(packed: bytes) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(packed):
        value, at = _number(packed, at)
        found.append(value)
    return found


def _number(proto: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and the position after it."""
    value = shift = 0
    while True:
        byte = proto[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
