"""Checkpoints of programs of one or several processes: `checkpoint.save(folder, step, tree)`, `restore`, `latest`.

JAX has a function with the name `checkpoint`, which recomputes values in derivatives. So `pycompiler.checkpoint` is
this function, with the functions of `pycompiler.checkpoints` as attributes. It takes the place of this module: both
ways of importing give one object. docs/how-to/save-checkpoints.md has examples.
"""

import sys
from typing import Any, cast

import pycompiler
from pycompiler.checkpoints import latest, restore, save, wait

__all__ = ["latest", "restore", "save", "wait"]

for _name in __all__:
    setattr(pycompiler.checkpoint, _name, globals()[_name])
sys.modules[__name__] = cast(Any, pycompiler.checkpoint)
