"""The commands that the wheel installs: `array-opt` and the other tools on IR files, which are programs of the package.

This is a separate package, so that a command starts its tool without importing NumPy and `pycompiler`.
"""

import importlib.util
import os
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Replace this process by the tool of the name in argv[0], with the same arguments."""
    name = os.path.basename(sys.argv[0])
    package = importlib.util.find_spec("pycompiler")
    folders = [] if package is None else list(package.submodule_search_locations or ())
    for folder in folders:
        tool = os.path.join(folder, "bin", name)
        if os.access(tool, os.X_OK):
            os.execv(tool, [tool, *sys.argv[1:]])
    sys.exit(
        f"{name}: there is no such tool in {', '.join(folders) or 'any package pycompiler'}; install the wheel of "
        "pycompiler (a checkout has its tools in build/bin)"
    )
