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


def _require_lstm(mode: int, num_layers: int, batch_sizes: Any, bidirectional: bool, batch_first: bool) -> None:
    if mode != _LSTM or num_layers != 1 or batch_sizes or bidirectional or batch_first:
        raise NotImplementedError("a layer that is no LSTM in one direction with the steps first")


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
    """One direction of a layer, which torch chooses on CPUs."""
    _require_lstm(mode, num_layers, batch_sizes, bidirectional, batch_first)
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
    # The gradient computes the gates again, so no workspace is kept.
    return steps, last[None], kept[None], pnp.zeros(0, np.uint8)


@ops("mkldnn_rnn_layer_backward")
def _layer_backward(
    out: Out,
    x: Any,
    weights: Any,
    recurrent: Any,
    bias: Any,
    recurrent_bias: Any,
    hidden: Any,
    cell: Any,
    steps: Any,
    last: Any,
    last_cell: Any,
    of_steps: Any,
    of_last: Any,
    of_cell: Any,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Any,
    batch_first: bool,
    workspace: Any,
) -> tuple[Any, ...]:
    """The gradients of the input, the weights, the biases and the first states. All gates are one product, since the
    results of all steps are known."""
    _require_lstm(mode, num_layers, batch_sizes, bidirectional, batch_first)
    wide = np.dtype(np.float32)
    x, weights, recurrent, hidden, cell, steps = (
        lax.convert_element_type(one, wide) for one in (x, weights, recurrent, hidden, cell, steps)
    )
    before = pnp.concatenate([steps[1:], hidden] if reverse else [hidden, steps[:-1]])
    gates = x @ weights.T + before @ recurrent.T
    if has_biases:
        gates = gates + lax.convert_element_type(bias + recurrent_bias, wide)
    into, forget, new, show = pnp.split(gates, 4, axis=-1)
    into, forget, new, show = lax.logistic(into), lax.logistic(forget), pnp.tanh(new), lax.logistic(show)

    def forward(kept: Any, given: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
        share, more = given
        after = share * kept + more
        return after, (kept, pnp.tanh(after))

    _, (kept, shown) = lax.scan(forward, cell[0], (forget, into * new), reverse=bool(reverse))
    # The factors of a step's gradients.
    of_state = show * (1 - shown * shown)
    factors = (new * into * (1 - into), kept * forget * (1 - forget), into * (1 - new * new))
    of_show = shown * show * (1 - show)

    def back(state: tuple[Any, Any], given: tuple[Any, ...]) -> tuple[tuple[Any, Any], Any]:
        after, of_kept = state
        later, of_state, of_show, of_into, of_forget, of_new, forget = given
        after = after + later
        of_kept = of_kept + after * of_state
        of_gates = pnp.concatenate([of_kept * of_into, of_kept * of_forget, of_kept * of_new, after * of_show], -1)
        return (of_gates @ recurrent, of_kept * forget), of_gates

    zeros = pnp.zeros_like(hidden[0])
    start = tuple([zeros if one is None else lax.convert_element_type(one[0], wide) for one in (of_last, of_cell)])
    of_steps = pnp.zeros_like(steps) if of_steps is None else lax.convert_element_type(of_steps, wide)
    given = (of_steps, of_state, of_show, *factors, forget)
    (of_hidden, of_first), of_gates = lax.scan(back, start, given, reverse=not reverse)
    of_bias = of_gates.sum((0, 1))
    of_weights = pnp.einsum("tng,tni->gi", of_gates, x)
    of_recurrent = pnp.einsum("tng,tnh->gh", of_gates, before)
    return of_gates @ weights, of_weights, of_recurrent, of_bias, of_bias, of_hidden[None], of_first[None]
