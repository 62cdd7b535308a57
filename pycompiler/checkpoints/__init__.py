"""Checkpoints: trees of arrays in files, written by all processes of a program and read by any number of them.

`files` is the format of a file, `index` that of the text which makes files a checkpoint, `saving` and `restoring` use
them. Above `spmd`, which has the parts of arrays; the door is `pycompiler.checkpoint`.
"""

from pycompiler.checkpoints.index import latest
from pycompiler.checkpoints.restoring import restore
from pycompiler.checkpoints.saving import save, wait

__all__ = ["latest", "restore", "save", "wait"]
