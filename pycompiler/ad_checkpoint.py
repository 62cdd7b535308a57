"""Recomputation in derivatives, in jax's module: names and policies for `checkpoint`, and lists of kept values."""

from pycompiler.core.autodiff.answers import Offloadable, Recompute, Saveable
from pycompiler.lax.names import nearest_name
from pycompiler.transforms.policies import checkpoint_name, checkpoint_policies
from pycompiler.transforms.recomputation import checkpoint, remat
from pycompiler.transforms.saved import print_saved_residuals
from pycompiler.transforms.saved import saved_residuals as saved_residuals

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
]

__getattr__ = nearest_name(__name__, __all__)
