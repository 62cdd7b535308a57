"""Operations that the table can't have, since the tests make them: for tests of what runs in eager torch."""

import torch


@torch.library.custom_op("pycompiler_tests::slope", mutates_args=())
def slope(x: torch.Tensor) -> torch.Tensor:
    return torch._dirichlet_grad(x.sigmoid(), x.abs() + 1, x.abs() + 2)


@slope.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("pycompiler_tests::bump", mutates_args={"x"})
def bump(x: torch.Tensor, by: float) -> None:
    x.add_(by)


@torch.library.custom_op("pycompiler_tests::swap", mutates_args={"x", "y"})
def swap(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)
    return x - y


@swap.register_fake
def _(x, y):
    return torch.empty_like(x)
