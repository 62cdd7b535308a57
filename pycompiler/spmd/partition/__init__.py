"""From a graph of whole arrays to the graph that each device of a mesh runs on its part.

`layouts` moves values from one layout to another, `rules` says for each family of operations what becomes of the
layouts of its operands, `interpreter` walks the graph. After core and ops; `execution` has what comes out compiled
and run.
"""

from pycompiler.spmd.partition.interpreter import Partitioned, mesh_of, partition

__all__ = ["Partitioned", "mesh_of", "partition"]
