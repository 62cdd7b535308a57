"""Names and policies for `checkpoint`, where jax has them."""

from pycompiler.transforms.policies import checkpoint_name, checkpoint_policies

__all__ = ["checkpoint_name", "checkpoint_policies"]
