"""The name in `jax.experimental` for values of users' own types."""

from pycompiler.core.tracing.user_values import state_of as cur_qdd

__all__ = ["cur_qdd"]
