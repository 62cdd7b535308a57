"""Trees of containers with arrays at the leaves: the short names (`tree.map`), as in `jax.tree`."""

from pycompiler.core.tree import tree_all as all
from pycompiler.core.tree import tree_flatten as flatten
from pycompiler.core.tree import tree_leaves as leaves
from pycompiler.core.tree import tree_map as map
from pycompiler.core.tree import tree_reduce as reduce
from pycompiler.core.tree import tree_structure as structure
from pycompiler.core.tree import tree_transpose as transpose
from pycompiler.core.tree import tree_unflatten as unflatten
from pycompiler.lax.names import nearest_name

__all__ = ["all", "flatten", "leaves", "map", "reduce", "structure", "transpose", "unflatten"]

__getattr__ = nearest_name(__name__, __all__)
