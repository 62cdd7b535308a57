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


# What a loss reads of a layer's results: the steps, the last states, or all.
LOSSES = {
    "steps": lambda made: made[0].square().sum(),
    "a step": lambda made: made[0][2].sin().sum(),
    "states": lambda made: made[1][0].square().sum() + made[1][1].sin().sum(),
    "all": lambda made: made[0].square().sum() + made[1][0].sum() * made[1][1].cos().sum(),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("of_input", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"bidirectional": True}, {"num_layers": 2, "batch_first": True}, {"bias": False}, {"proj_size": 2}]
)
def test_lstm_with_gradients(options, of_input, loss):
    layer = torch.nn.LSTM(3, 4, **options)
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=False)
    x = torch.randn(5, 6, 3)
    states = layer.num_layers * (2 if layer.bidirectional else 1)
    batch = 5 if layer.batch_first else 6
    given = torch.randn(states, batch, layer.proj_size or 4), torch.randn(states, batch, 4)
    made = []
    for run in (layer, compiled):
        layer.zero_grad()
        inputs = [one.clone().requires_grad_(of_input) for one in (x, *given)]
        LOSSES[loss](run(inputs[0], tuple(inputs[1:]))).backward()
        made.append([one.grad for one in (*inputs, *layer.parameters())])
    torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-5)


def test_gradients_of_lstm_of_any_number_of_steps():
    layer = torch.nn.LSTM(5, 7)
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=True)
    for steps, batch in ((4, 3), (9, 5), (30, 2)):
        made = []
        for run in (layer, compiled):
            layer.zero_grad()
            x = torch.linspace(-1, 1, steps * batch * 5).reshape(steps, batch, 5).requires_grad_()
            run(x)[0].square().sum().backward()
            made.append([x.grad, *[one.grad.clone() for one in layer.parameters()]])
        torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-4)


def test_lstm_of_doubles():
    layer = torch.nn.LSTM(3, 4).double()
    compiled = torch.compile(layer, backend="pycompiler", fullgraph=True, dynamic=False)
    x = torch.randn(5, 2, 3, dtype=torch.float64)
    made = []
    for run in (layer, compiled):
        layer.zero_grad()
        run(x)[0].square().sum().backward()
        made.append([parameter.grad.clone() for parameter in layer.parameters()])
    torch.testing.assert_close(made[1], made[0])


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
