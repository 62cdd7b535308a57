"""Small models beside eager torch: forward, training steps, optimizers. No operation is left to eager torch."""

import copy

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch_models import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_forward(name):
    make, arguments = MODELS[name]
    model = make().eval()
    args = arguments(4)
    with torch.no_grad():
        made = torch.compile(model, backend="pycompiler")(*args)
        torch.testing.assert_close(made, model(*args), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_training_steps(name):
    make, arguments = MODELS[name]
    model = make().train()
    other = copy.deepcopy(model)
    args = arguments(4)
    losses = []
    for one, call in ((model, model), (other, torch.compile(other, backend="pycompiler"))):
        optimizer = torch.optim.SGD(one.parameters(), lr=0.05, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            loss = call(*args).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    torch.testing.assert_close(losses[3:], losses[:3], rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(other.state_dict(), model.state_dict(), rtol=2e-3, atol=2e-4)


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01},
    "Adam": {"lr": 0.01},
    "AdamW": {"lr": 0.01},
    "Adagrad": {"lr": 0.01},
    "RMSprop": {"lr": 0.01},
    "Adadelta": {},
    "NAdam": {"lr": 0.01},
    "Adamax": {"lr": 0.01},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    start = [torch.randn(4, 3), torch.randn(3)]
    results = []
    for compiles in (False, True):
        parameters = [torch.nn.Parameter(x.clone()) for x in start]
        optimizer = getattr(torch.optim, name)(parameters, **OPTIMIZERS[name])
        step = torch.compile(optimizer.step, backend="pycompiler") if compiles else optimizer.step
        for number in range(3):
            for parameter in parameters:
                parameter.grad = torch.sin(parameter.detach() + number)
            step()
        results.append([parameter.detach() for parameter in parameters])
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_a_loss_over_classes():
    model = torch.nn.Linear(6, 4)
    x, y = torch.randn(5, 6), torch.tensor([0, 3, -100, 1, 2])

    def loss(x, y):
        return F.cross_entropy(model(x), y, label_smoothing=0.1)

    wanted = torch.autograd.grad(loss(x, y), model.weight)
    made = torch.autograd.grad(torch.compile(loss, backend="pycompiler")(x, y), model.weight)
    torch.testing.assert_close(made, wanted)
