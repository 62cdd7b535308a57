"""`make demo-torch`: a small network learns a spiral, in eager torch and by `torch.compile(backend="pycompiler")`."""

import time

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

import pycompiler.torch  # noqa: F401  (a checkout that is not installed has no entry point)


def spirals(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points of two spirals, and the number of the spiral of each."""
    kind = torch.arange(count) % 2
    turn = torch.rand(count) * 3 * torch.pi
    angle = turn + torch.pi * kind
    return torch.stack([turn * torch.cos(angle), turn * torch.sin(angle)], 1) / 5, kind


def train(compiles: bool, steps: int = 400) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 2))
    x, y = spirals(512)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x), y)

    call = torch.compile(loss_of, backend="pycompiler") if compiles else loss_of
    first = begin = time.perf_counter()
    loss = torch.zeros(())
    for step in range(steps):
        optimizer.zero_grad()
        loss = call(x, y)
        loss.backward()
        optimizer.step()
        if step == 0:
            first = time.perf_counter()
    end = time.perf_counter()
    right = (model(x).argmax(1) == y).float().mean()
    print(
        f"{'pycompiler' if compiles else 'eager torch':12} first step {first - begin:6.2f} s, "
        f"others {(end - first) / (steps - 1) * 1e3:6.2f} ms each, loss {loss.item():.4f}, {right:.1%} right"
    )


if __name__ == "__main__":
    train(compiles=False)
    train(compiles=True)
