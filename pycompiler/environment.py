"""What a report of a fault should say about the machine and the versions."""

from __future__ import annotations

import platform
import sys

import numpy as np

from pycompiler._runtime import devices, thread_count
from pycompiler.core.config import config
from pycompiler.version import __version__


def print_environment_info(return_string: bool = False) -> str | None:
    """Print the versions, the devices and the settings that are not as they are by default; or return that text."""
    changed = [
        f"{setting.name}={value!r}"
        for setting in config.settings()
        if (value := config.read(setting.name)) != setting.default
    ]
    text = "\n".join(
        [
            f"pycompiler: {__version__}",
            f"numpy:      {np.__version__}",
            f"python:     {sys.version}",
            f"devices:    {', '.join(map(repr, devices()))} ({thread_count()} threads)",
            f"platform:   {platform.platform()}",
            f"settings:   {', '.join(changed) or 'as by default'}",
        ]
    )
    if return_string:
        return text
    print(text)
    return None
