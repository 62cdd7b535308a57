"""The division of a machine's GPUs among its processes. `start` imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def share(visible: Sequence[Sequence[str]], hosts: Sequence[str], process: int) -> list[int]:
    """The numbers of a process's GPUs, among those that the driver shows to it.

    `visible` are the uuids of the GPUs that each process sees, `hosts` the machine of each. Processes of a machine that
    see the same GPUs divide them in the order of the processes; if there are more processes than GPUs, some processes
    share one. A process that sees GPUs of its own takes all of them.

    >>> share([["a", "b", "c", "d"]] * 2, ["here"] * 2, 1)
    [2, 3]
    >>> share([["a"], ["b"]], ["here"] * 2, 1)
    [0]
    """
    seen = visible[process]
    alike = [
        other for other, host in enumerate(hosts) if host == hosts[process] and sorted(visible[other]) == sorted(seen)
    ]
    number, count = alike.index(process), len(alike)
    if not seen:
        return []
    if count > len(seen):
        return [number % len(seen)]
    return list(range(number * len(seen) // count, (number + 1) * len(seen) // count))


def given(ids: Any, seen: Sequence[str]) -> list[int]:
    """The argument `local_device_ids`: a number or numbers of visible GPUs. Raises TypeError or ValueError."""
    numbers = [ids] if isinstance(ids, int) else list(ids)
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        raise TypeError(f"distributed.initialize: local_device_ids must be an int or a sequence of ints, got {ids!r}")
    wrong = [number for number in numbers if not 0 <= number < len(seen)]
    if wrong or len(set(numbers)) < len(numbers):
        raise ValueError(
            f"distributed.initialize: local_device_ids must be different numbers below {len(seen)}, the number of GPUs "
            f"that the driver shows to this process, got {ids!r}. What to do: leave it out, or look at "
            "CUDA_VISIBLE_DEVICES and PYCOMPILER_PLATFORM"
        )
    return numbers
