"""Small models in PyTorch, each with a function that makes its arguments, for benchmarks and tests/torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

__all__ = ["MODELS"]


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        self.short = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(made)) + self.short(x))


def resnet(width: int = 16) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 1, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        Residual(width, width, 1),
        Residual(width, 2 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, 10),
    )


class UNet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.GroupNorm(2, width), nn.SiLU())
        self.middle = nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.GroupNorm(2, 2 * width), nn.SiLU())
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.last = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = self.down(x)
        deep = self.middle(F.avg_pool2d(wide, 2))
        smooth = F.interpolate(deep[:, : wide.shape[1]], scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(torch.cat([self.up(deep) + smooth, wide], 1))


class Diffusion(nn.Module):
    """The loss of one step of denoising."""

    def __init__(self) -> None:
        super().__init__()
        self.net = UNet()

    def forward(self, x: torch.Tensor, noise: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        kept = torch.cos(step * 0.5 * torch.pi)[:, None, None, None]
        noisy = kept * x + torch.sqrt(1 - kept * kept) * noise
        return F.mse_loss(self.net(noisy), noise)


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True)
        self.last = nn.Linear(24, 50)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.last(self.lstm(self.embedding(tokens))[0])


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(made.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):
    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2, words: int = 100) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(128, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x))


class Messages(nn.Module):
    """A network on a graph: each node sums the messages of its edges."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, width), nn.Linear(2 * width, width)
        self.last = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.first(x))
        messages = F.relu(self.second(torch.cat([x[edges[0]], x[edges[1]]], -1)))
        summed = torch.zeros_like(x).index_add(0, edges[1], messages)
        degree = torch.zeros(x.shape[0]).scatter_add(0, edges[1], torch.ones(edges.shape[1]))
        return self.last(summed / degree.clamp(min=1)[:, None])


def _edges(nodes: int, count: int) -> torch.Tensor:
    return torch.randint(0, nodes, (2, count))


# By name: the model, and its arguments for a batch of a size.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[int], tuple[Any, ...]]]] = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10)),
        lambda n: (torch.randn(n, 64),),
    ),
    "resnet": (resnet, lambda n: (torch.randn(n, 3, 32, 32),)),
    "unet": (UNet, lambda n: (torch.randn(n, 1, 32, 32),)),
    "diffusion": (Diffusion, lambda n: (torch.randn(n, 1, 16, 16), torch.randn(n, 1, 16, 16), torch.rand(n))),
    "lstm": (Lstm, lambda n: (torch.randint(0, 50, (n, 12)),)),
    "gpt": (Gpt, lambda n: (torch.randint(0, 100, (n, 64)),)),
    "messages": (Messages, lambda n: (torch.randn(10 * n, 8), _edges(10 * n, 40 * n))),
}
