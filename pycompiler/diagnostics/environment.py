"""The machine and the versions, for reports of faults. `python -m pycompiler` prints them.

MLIR and LLVM are not loaded: the version of the build determines theirs.
"""

from __future__ import annotations

import importlib.util
import platform
import sys

import ml_dtypes
import numpy as np

from pycompiler import cache
from pycompiler._runtime import Device, gpu_failure, llvm_version, local_devices, thread_count
from pycompiler.cache import identity
from pycompiler.core.config.config import config
from pycompiler.version import __version__


def print_environment_info(return_string: bool = False) -> str | None:
    """Print the versions, the processor, the devices with their memory, the reason if there is no GPU, and the settings
    that differ from their defaults; or return that text.

    >>> import pycompiler as pc
    >>> pc.print_environment_info(return_string=True).splitlines()[0].split()[0]
    'pycompiler:'
    """
    changed = [
        f"{setting.name}={value!r}"
        for setting in config.settings()
        if (value := config.read(setting.name)) != setting.default
    ]
    rows = [
        ("pycompiler", __version__),
        ("LLVM, MLIR", llvm_version),
        ("numpy", np.__version__),
        ("ml_dtypes", ml_dtypes.__version__),
        ("scipy", "installed" if importlib.util.find_spec("scipy") else "not installed: decompositions need it"),
        ("python", sys.version),
        ("platform", platform.platform()),
        ("processor", identity.processor()),
        ("features", identity.instruction_sets()),
        *(("device", _about(device)) for device in local_devices()),
        ("threads", str(thread_count())),
        ("GPU", gpu_failure() or "used"),
        ("disk cache", cache.folder() if config.enable_compilation_cache else "off"),
        ("settings", ", ".join(changed) or "as by default"),
    ]
    text = "\n".join(f"{name + ':':<12}{value}" for name, value in rows)
    if return_string:
        return text
    print(text)
    return None


def _about(device: Device) -> str:
    memory = device.memory_stats()
    capability = f", compute capability {device.compute_capability}" if device.compute_capability else ""
    limit = memory["bytes_limit"] / 2**30
    return f"{device} ({device.device_kind}{capability}), {memory['bytes_in_use']} bytes in use of {limit:.1f} GiB"
