"""JAX's environment variables. The first import of jax reads them, so a program may set them just before."""

from __future__ import annotations

import os
import re
import warnings

from pycompiler.core.config.config import config

_DEVICES = re.compile(r"(--xla_force_host_platform_device_count=)(\S+)")


_taken: list[str] = []


def take_variables() -> None:
    """Take the settings of JAX's variables, and the number of devices."""
    config.take_jax_variables()
    take_devices()


def take_devices() -> None:
    """Take the number of CPU devices of XLA_FLAGS or JAX_NUM_CPU_DEVICES, unless PYCOMPILER_NUM_CPU_DEVICES is set.

    The last flag counts, as in XLA. A value without a meaning here gives one warning.
    """
    if "PYCOMPILER_NUM_CPU_DEVICES" in os.environ:
        return
    flags = _DEVICES.findall(os.environ.get("XLA_FLAGS", ""))
    variable, count = flags[-1] if flags else ("JAX_NUM_CPU_DEVICES=", os.environ.get("JAX_NUM_CPU_DEVICES", ""))
    if not count or _taken == [count]:
        return
    _taken[:] = [count]
    try:
        config.update("num_cpu_devices", count)
    except ValueError as error:
        warnings.warn(f"{variable}{count} is not taken: {error}", stacklevel=2)
