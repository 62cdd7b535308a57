"""Recurrent layers, as loops over the steps. Torch's rules unroll them; one operation of torch reaches the table."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out

ops = Family()

# ideep's number of this kind of layer.
_LSTM = 2


@ops("mkldnn_rnn_layer")
def _layer(
    out: Out,
    x: Any,
    weights: Any,
    recurrent: Any,
    bias: Any,
    recurrent_bias: Any,
    hidden: Any,
    cell: Any,
    reverse: bool,
    batch_sizes: Any,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Any, ...]:
    """One direction of a layer without gradients, which torch chooses on CPUs."""
    if mode != _LSTM or num_layers != 1 or batch_sizes or bidirectional or batch_first:
        raise NotImplementedError("a layer that is no LSTM in one direction with the steps first")
    given = x @ weights.T
    if has_biases:
        given = given + (bias + recurrent_bias)

    def step(state: tuple[Any, Any], gates: Any) -> tuple[tuple[Any, Any], Any]:
        before, kept = state
        into, forget, new, show = pnp.split(gates + before @ recurrent.T, 4, axis=-1)
        kept = lax.logistic(forget) * kept + lax.logistic(into) * pnp.tanh(new)
        after = lax.logistic(show) * pnp.tanh(kept)
        return (after, kept), after

    (last, kept), steps = lax.scan(step, (hidden[0], cell[0]), given, reverse=bool(reverse))
    # The workspace is for gradients, which this layer has not.
    return steps, last[None], kept[None], pnp.zeros(0, np.uint8)
