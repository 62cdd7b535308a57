"""The names of `jax.experimental.colocated_python` that Orbax imports: functions that run beside an accelerator of
another machine. Orbax uses them only in programs of Pathways. Here they raise NotImplementedError.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]


def _refused(name: str) -> NoReturn:
    raise NotImplementedError(
        f"jax.experimental.colocated_python.{name}: no device of another machine is here; run the function itself"
    )


def colocated_cpu_devices(devices_or_mesh: Any) -> NoReturn:
    """The CPUs of other machines' devices."""
    _refused("colocated_cpu_devices")


def colocated_python(fun: Any) -> NoReturn:
    """A function that runs on another machine."""
    _refused("colocated_python")


def colocated_python_class(cls: Any) -> NoReturn:
    """A class whose objects are on another machine."""
    _refused("colocated_python_class")
