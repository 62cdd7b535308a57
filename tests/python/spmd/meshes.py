"""Meshes for tests of the partitioner, which decides over Auto axes."""

import pycompiler as pc
from pycompiler.sharding import AxisType


def auto_mesh(sizes, names, **options):
    """A mesh whose axes are Auto."""
    return pc.make_mesh(sizes, names, (AxisType.Auto,) * len(names), **options)
