"""Recurrent layers beside eager torch: one program, also for every number of steps."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _whole(monkeypatch):
    """By default, Dynamo leaves recurrent layers out of its graphs."""
    monkeypatch.setattr(torch._dynamo.config, "allow_rnn", True)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"num_layers": 2, "batch_first": True}])
def test_lstm_without_gradients(options, bias):
    layer = torch.nn.LSTM(5, 7, bias=bias, **options).eval()
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=False)
    x = torch.randn(4, 6, 5)
    states = layer.num_layers * (2 if layer.bidirectional else 1)
    given = torch.randn(2, states, 4 if layer.batch_first else 6, 7)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), layer(x), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(compiled(x, (given[0], given[1])), layer(x, (given[0], given[1])))


def test_lstm_of_any_number_of_steps():
    layer = torch.nn.LSTM(5, 7).eval()
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=True)
    with torch.no_grad():
        for steps, batch in ((4, 3), (9, 5), (30, 2)):
            x = torch.randn(steps, batch, 5)
            torch.testing.assert_close(compiled(x), layer(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_training(kind):
    layer = kind(3, 4)
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=False)
    x = torch.randn(5, 2, 3)
    made = []
    for run in (layer, compiled):
        layer.zero_grad()
        given = x.clone().requires_grad_()
        run(given)[0].square().sum().backward()
        made.append([given.grad, *[parameter.grad.clone() for parameter in layer.parameters()]])
    torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-5)
