"""Settings as flags of absl, for programs that `absl.app.run` starts: without them, absl refuses `--jax_enable_x64`.

absl is no requirement of the package; a program that uses it has it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def define(names: Mapping[str, bool], update: Callable[[str, object], None]) -> None:
    """Define `--NAME=VALUE` for each name, and `--NAME`, `--noNAME` for those that are true in `names`. When absl has
    read the command line, `update` gets the flags that it has. A second call changes nothing.

    Raises ModuleNotFoundError if absl is not installed.
    """
    app, flags = importlib.import_module("absl.app"), importlib.import_module("absl.flags")
    values: Any = flags.FLAGS
    new = [name for name in names if name not in values]
    for name in new:
        add = flags.DEFINE_boolean if names[name] else flags.DEFINE_string
        add(name, None, "a setting of arrays", module_name="jax")

    def take() -> None:
        for name in new:
            if values[name].present:
                update(name, values[name].value)

    if new:
        app.call_after_init(take)
