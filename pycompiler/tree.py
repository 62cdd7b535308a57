"""Trees of containers with arrays at the leaves: the short names (`tree.map`), as in `jax.tree`."""

from pycompiler.core.types.tree import static_field as static
from pycompiler.lax.names import nearest_name
from pycompiler.tree_util import tree_all as all
from pycompiler.tree_util import tree_broadcast as broadcast
from pycompiler.tree_util import tree_flatten as flatten
from pycompiler.tree_util import tree_flatten_with_path as flatten_with_path
from pycompiler.tree_util import tree_leaves as leaves
from pycompiler.tree_util import tree_leaves_with_path as leaves_with_path
from pycompiler.tree_util import tree_map as map
from pycompiler.tree_util import tree_map_with_path as map_with_path
from pycompiler.tree_util import tree_reduce as reduce
from pycompiler.tree_util import tree_reduce_associative as reduce_associative
from pycompiler.tree_util import tree_structure as structure
from pycompiler.tree_util import tree_transpose as transpose
from pycompiler.tree_util import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

__getattr__ = nearest_name(__name__, __all__)
