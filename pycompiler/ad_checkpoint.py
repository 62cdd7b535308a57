"""Names and policies for `checkpoint`, in jax's module."""

from pycompiler.transforms.policies import checkpoint_name, checkpoint_policies

__all__ = ["checkpoint_name", "checkpoint_policies"]
