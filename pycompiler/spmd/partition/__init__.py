"""From a graph of whole arrays to the graph that each device of a mesh runs on its part.

`layouts` moves values from one layout to another, `rules` has a partitioning rule for each family of operations,
`interpreter` walks the graph, `typing` gives the types of results over Explicit mesh axes. Imports `core` and
`primitives`; `execution` compiles and runs the resulting graph.
"""

from pycompiler.spmd.partition import typing
from pycompiler.spmd.partition.interpreter import Partitioned, mesh_of, most_explicit, partition

__all__ = ["Partitioned", "mesh_of", "most_explicit", "partition", "typing"]
