"""Small programs as users write them, beside eager torch: updates in place, views, aliases, layouts, autocast, sizes,
breaks of the graph, lists of tensors. No operation is left to eager torch."""

import copy
import math

import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional as F  # noqa: N812

PROGRAMS = {}


def program(*args, **options):
    """Enter a program with its arguments, and options of torch.compile."""

    def enter(function):
        PROGRAMS[function.__name__] = (function, args, options)
        return function

    return enter


R = torch.randn
torch.manual_seed(0)


@program(R(4, 3))
def inplace_chain(x):
    x.mul_(2).add_(1).clamp_(min=0)
    return x


@program(R(4, 3))
def inplace_view(x):
    x.view(-1)[2:7].zero_()
    return x.sum()


@program(R(4, 3))
def inplace_transpose(x):
    x.t().add_(torch.arange(4.0))
    return x * 2


@program(R(6))
def inplace_out_alias(x):
    y = x[::2]
    y.add_(1)
    return y, x


@program(R(4, 4))
def diag_write(x):
    x.diagonal().fill_(7.0)
    return x


@program(R(4, 4))
def fill_diagonal(x):
    return x.fill_diagonal_(3.0)


@program(R(4, 4))
def index_put(x):
    x[[0, 2], [1, 3]] = 5.0
    return x


@program(R(4, 4))
def mask_put(x):
    x[x > 0] = 0.0
    return x


@program(R(4, 4), torch.tensor([0, 2, 0]), R(3, 4))
def index_add(x, i, y):
    return x.index_add_(0, i, y), x


@program(R(4, 4))
def copy_(x):
    y = torch.empty(4, 4)
    y.copy_(x)
    y[0].copy_(x[1])
    return y


@program(R(4, 4))
def unsafe_resize_alias(x):
    return x.view(2, 8), x.reshape(16), x.expand(2, 4, 4), x.unsqueeze(0), x[1:], x.detach()


@program(R(4, 4))
def views_of_result(x):
    y = x * 2
    return y, y.t(), y[1], y.view(-1)


@program(R(4, 4))
def same_output_twice(x):
    y = x + 1
    return y, y


@program(R(8))
def split_chunk(x):
    a, b = x.chunk(2)
    a, b = a * 2, b + a
    return torch.stack([a, b]).unbind(1)


@program(R(3, 4, 5))
def permute_contig(x):
    return x.permute(2, 0, 1).contiguous(), x.movedim(0, -1).reshape(-1)


@program(R(12))
def as_strided(x):
    return torch.as_strided(x, (3, 3), (1, 2)) * 2


@program(R(12))
def unfold(x):
    return x.unfold(0, 4, 2).mean(-1)


@program(R(3, 4).requires_grad_())
def detach_part(x):
    return (x * x.detach()).sum() + x.sum()


@program(R(4, 8))
def autocast_mm(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return (x @ x.t()).float().softmax(-1)


@program(R(4, 8))
def autocast_f16(x):
    with torch.autocast("cpu", dtype=torch.float16):
        return F.linear(x, x) + x.sum()


LIN = nn.Linear(8, 8)


@program(R(4, 8).requires_grad_())
def autocast_grad(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = F.layer_norm(LIN(x), (8,))
    return y.float().square().mean()


@program(R(2, 3, 8, 8).to(memory_format=torch.channels_last))
def cl_pool(x):
    return F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.interpolate(x, scale_factor=2)


BN = nn.BatchNorm2d(3)


@program(R(2, 3, 8, 8).to(memory_format=torch.channels_last))
def cl_bn(x):
    return BN(x).relu()


CONV = nn.Conv2d(3, 4, 3, padding=1, stride=2).to(memory_format=torch.channels_last)


@program(R(2, 3, 8, 8).to(memory_format=torch.channels_last).requires_grad_())
def cl_conv_grad(x):
    return CONV(x).sigmoid().sum()


@program(R(2, 3, 8, 8))
def to_cl(x):
    return x.to(memory_format=torch.channels_last) * 2


@program(R(2, 3, 4, 4, 4).to(memory_format=torch.channels_last_3d))
def cl3d(x):
    return x + 1, F.avg_pool3d(x, 2)


@program(R(7, 3), dynamic=True)
def symint_arith(x):
    n = x.shape[0]
    return x.sum() / n, torch.zeros(n * 2 + 1), torch.full((n // 2, n % 3 + 1), n * 1.5), x.reshape(1, n * 3)


@program(R(7, 3), dynamic=True)
def symint_pow(x):
    n = x.shape[0]
    return x * n**0.5, x / (n**2), torch.arange(0, n, 2)


@program(R(7, 3), dynamic=True)
def symint_ret(x):
    return x + 1, x.shape[0] * 2, x.numel()


@program(R(8, 6), dynamic=True)
def symint_branch(x):
    if x.shape[0] > 5:
        return x[:5]
    return F.pad(x, (0, 0, 0, 5 - x.shape[0]))


@program(R(8, 6), dynamic=True)
def symint_view(x):
    b, d = x.shape
    return x.view(b, 2, d // 2).transpose(1, 2).reshape(b, -1), x.split(d // 2, 1)


@program(R(8, 6), dynamic=True)
def dyn_alias_in(x):
    return x[1:, ::2], x.t()[2], x.split(2), x.unbind(1)[3], x.narrow(0, 2, 3), x.diagonal()


@program(R(8, 6), dynamic=True)
def dyn_alias_mid(x):
    y = x * 2
    return y, y[1:], y.t(), y[:, 2], y.split(3), y.flatten()


@program(R(8, 6).requires_grad_(), dynamic=True)
def dyn_alias_grad(x):
    y = x * 2
    return y, y[1:], x[:, 2:4], y.t()


@program(R(8, 6), dynamic=True)
def dyn_alias_mut(x):
    x.add_(1)
    y = x[2:, 1:]
    y.mul_(2)
    return y, x[3]


@program(R(4, 3, 8, 8).to(memory_format=torch.channels_last), dynamic=True)
def dyn_cl(x):
    y = x + 1
    return y, y.permute(0, 2, 3, 1), y[1:], x[:, 1]


@program(R(8, 6, dtype=torch.complex64), dynamic=True)
def dyn_cplx(x):
    y = x * 2
    return x.conj(), x.real, y, y.imag, torch.view_as_real(y), x.t()


@program(R(6), R(6))
def swap(a, b):
    t = a.clone()
    a.copy_(b)
    b.copy_(t)
    return a + b


@program(R(8, 6), dynamic=True)
def symint_minmax(x):
    n = x.shape[0]
    return x[: min(n, 20)], x[: max(2, n - 3)], torch.zeros(math.ceil(n / 3))


@program(R(8))
def item_break(x):
    s = x.sum().item()
    return x * s + 1


@program(R(8))
def item_branch(x):
    if x.sum().item() > 0:
        return x * 2
    return x - 1


@program(R(8))
def tensor_branch(x):
    if (x > 0).any():
        return x.exp()
    return x


@program(R(8))
def nonzero_break(x):
    i = (x > 0).nonzero().squeeze(-1)
    return x[i] * 2, i


@program(R(8))
def masked(x):
    return x[x > 0].sum(), torch.masked_select(x, x < 0)


@program(R(8))
def where1(x):
    (i,) = torch.where(x > 0)
    return i + 1


@program(torch.tensor([3, 1, 2, 3, 1]))
def unique(x):
    return torch.unique(x, return_counts=True)


@program(R(8))
def print_break(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


@program(R(8))
def tolist(x):
    return torch.tensor(x.tolist()) * 2


@program(torch.tensor([2, 3, 1]))
def repeat_inter(n):
    return torch.repeat_interleave(torch.arange(3), n)


@program(R(3))
def numpy_mix(x):
    return torch.from_numpy(x.numpy() * 2) + 1


@program(R(5, dtype=torch.complex64))
def cplx(x):
    return x.abs(), x.angle(), torch.view_as_real(x), x.conj() * x, x.real.clone()


@program(R(4, 2))
def view_as_complex(x):
    z = torch.view_as_complex(x)
    z.mul_(1j)
    return x, z.abs()


@program(R(5).double())
def dtype_views(x):
    return x.view(torch.int64), x.to(torch.bfloat16), x.int(), x.bool(), x.half()


@program(R(5))
def dict_out(x):
    return {"a": x + 1, "b": [x * 2, (x, 3)], "c": None}


@program(R(4, 4))
def loop(x):
    for i in range(5):
        x = torch.tanh(x @ x) + i
    return x


@program([R(3), R(3), R(3)])
def list_arg(xs):
    return [x * i for i, x in enumerate(xs)]


@program(R(4))
def vmap_grad(x):
    return torch.func.vmap(torch.func.grad(lambda v: (v.sin() ** 2).sum()))(x), torch.func.jacrev(
        lambda v: v * v.sum()
    )(x)


@program(R(4).requires_grad_())
def inner_grad(x):
    y = (x**3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return g


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 2


@program(R(4).requires_grad_())
def custom_fn(x):
    return Straight.apply(x).sum()


@program(R(4, 4).requires_grad_())
def checkpoint(x):
    return torch.utils.checkpoint.checkpoint(lambda v: (v @ v).tanh(), x, use_reentrant=False).sum()


@program(R(0, 4))
def empty(x):
    return x + 1, x.sum(), torch.cat([x, x])


@program(torch.tensor(3.0))
def zero_d(x):
    return x * 2, x[None], x.expand(3)


@program(torch.arange(5, dtype=torch.uint8))
def u8(x):
    return x + 250, x // 2, x.float() / 255, ~x, x << 1


@program(R(4, 4).t())
def strided_out(x):
    return x + 1, x.clone(), torch.empty_like(x).fill_(2)


@program(R(4))
def out_variant(x):
    o = torch.empty(4)
    torch.add(x, 1, out=o)
    return o


@program(R(6, 4))
def scatter(x):
    i = torch.tensor([[0, 1, 2, 3]])
    x.scatter_(0, i, 9.0)
    return x.scatter_add(0, i, torch.ones(1, 4)), x.scatter_reduce(0, i, torch.ones(1, 4), "amax")


@program(R(4, 6))
def setitem_slice(x):
    x[:, ::2] = x[:, 1::2]
    x[-1] = 0
    x[..., 0] += 1
    return x


@program(R(5, 4))
def buffers(x):
    m = nn.BatchNorm1d(4)
    y = m(x)
    return y, m.running_mean, m.num_batches_tracked


@program(R(2, 4, 8))
def mha(x):
    torch.manual_seed(1)
    m = nn.MultiheadAttention(8, 2, batch_first=True)
    return m(x, x, x)[0]


@program(R(2, 4, 8))
def lstm(x):
    torch.manual_seed(1)
    m = nn.LSTM(8, 5, 2, batch_first=True, bidirectional=True)
    return m(x)[0]


@program(R(4))
def einsum(x):
    return torch.einsum("i,j->ij", x, x), torch.einsum("ij,jk->ik", x.view(2, 2), x.view(2, 2))


@program(torch.tensor([math.nan, 0.0, -1.0, 2.0]), torch.tensor([0, 1, -7, 2**62]))
def steps_and_multiples(x, n):
    return torch.heaviside(x, x + 5), torch.lcm(n, torch.tensor(6)), torch.gcd(n, torch.tensor(6))


@program(torch.tensor([-3, -2, -1, 0, 1, 2, 3]), torch.arange(-3, 4)[:, None])
def powers_of_integers(x, n):
    return x**n, 2**n, (-1) ** n, x.to(torch.int8) ** n.to(torch.int8), x.to(torch.uint8) ** n.abs().to(torch.uint8)


WEIGHT_NORMS = [torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 3), dim=dim) for dim in (0, 1)]


@program(R(5, 4).requires_grad_())
def weight_norm_grad(x):
    total = sum(layer(x).square().sum() for layer in WEIGHT_NORMS)
    parameters = [part for layer in WEIGHT_NORMS for part in layer.parameters()]
    return torch.autograd.grad(total, parameters)


@program(R(40), torch.arange(-8, 8).view(2, 8), torch.tensor([3, -2])[:, None])
def histograms_and_quotients(x, n, m):
    bins = [torch.histc(y, 7) for y in (x, x[:1], x[:0])], torch.histc(x, 5, -1, 1), torch.histc(x, 5, 2, 2)
    return bins, torch.div(n, m, rounding_mode="trunc"), torch.div(n, m[0], rounding_mode="trunc")


@program(torch.tensor([-1.2, -0.5, 255.0, 256.0, 300.7, -300.2, 1e6, -1e6, 70000.0]))
def floats_as_small_integers(x):
    kinds = (torch.uint8, torch.int8, torch.int16, torch.uint16)
    return [y.to(kind) for y in (x, x.double(), x.bfloat16()) for kind in kinds], x.to(torch.int64).to(torch.uint8)


@program(dynamic=True)
def frequencies():
    return [f(n, d=0.5) for f in (torch.fft.fftfreq, torch.fft.rfftfreq) for n in (1, 2, 5, 6)]


@program(torch.tensor([[0, 3], [3, 9]]))
def embedding_with_a_largest_norm(i):
    w = torch.arange(40.0).view(10, 4)
    return F.embedding(i, w, max_norm=5.0), w


@program(R(3, 5).requires_grad_(), dynamic=True)
def diag_embed_grad(x):
    return torch.diag_embed(x, 1).sin().sum()


@program(R(2, 3, 5, 5).requires_grad_(), dynamic=True)
def unfold_grad(x):
    return F.unfold(x, 2).sin().sum()


@program(R(2, 5, 3).requires_grad_(), dynamic=True)
def padded_fft_grad(x):
    """The gradient's graph gets the number n - 10."""
    return torch.fft.fft(x, 10, 1).abs().sum()


@program(R(2, 4, 5, 5).requires_grad_(), dynamic=True)
def channel_shuffle_grad(x):
    """The gradient's graph knows the size n // 2, and not n."""
    return F.channel_shuffle(x, 2).sin().sum()


@program(R(2, 3, 5, 6).requires_grad_(), dynamic=True)
def interpolate_grad(x):
    made = F.interpolate(x, size=(7, 9), mode="bilinear"), F.interpolate(x, scale_factor=1.5, mode="bicubic")
    return sum(one.square().sum() for one in made)


@program([R(3), R(2, 2)], [R(3), R(2, 2)])
def lists_of_tensors(xs, ys):
    torch._foreach_mul_(xs, 2.0)
    torch._foreach_copy_(ys, xs)
    made = torch._foreach_addcdiv(xs, ys, [y.abs() + 1 for y in ys], value=0.5)
    return made, torch._foreach_norm(xs), torch._foreach_lerp(xs, made, 0.3), torch._foreach_add(xs, [1.0, 2.0])


@program([R(3), R(2, 2)])
def clipped_gradients(xs):
    return nn.utils.get_total_norm(xs), nn.utils.clip_grads_with_norm_([], 1.0, torch.tensor(2.0)), xs


def _fresh(x):
    if isinstance(x, torch.Tensor):
        return x.detach().clone(memory_format=torch.preserve_format).requires_grad_(x.requires_grad)
    return [_fresh(part) for part in x] if isinstance(x, list) else x


def _run(function, args):
    """The results, the arguments afterwards, and the gradients of a scalar."""
    args = [_fresh(x) for x in args]
    state = copy.deepcopy(BN.state_dict())
    made = function(*args)
    BN.load_state_dict(state)
    slopes = []
    if isinstance(made, torch.Tensor) and made.requires_grad and made.ndim == 0:
        made.backward()
        slopes = [x.grad for x in args]
    return made, args, slopes


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_as_in_eager_torch(name):
    function, args, options = PROGRAMS[name]
    wanted = _run(function, args)
    made = torch.compile(function, backend="pycompiler", **options)
    bounds = {"rtol": 1e-2, "atol": 1e-2} if "autocast" in name else {"rtol": 1e-4, "atol": 1e-5}
    for _ in range(2):
        torch.testing.assert_close(_run(made, args), wanted, equal_nan=True, **bounds)


@pytest.mark.parametrize("dynamic", [True, False])
def test_views_share_the_memory_of_their_base(dynamic):
    def f(x):
        y = x * 2
        return x[1:, ::2], x.split(2, 1)[1], y, y[:, 1:], y.t()

    x = torch.randn(5, 6)
    part, split, made, cut, turned = torch.compile(f, backend="pycompiler", dynamic=dynamic)(x)
    for one, base in ((part, x), (split, x), (cut, made), (turned, made)):
        assert one.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    assert (part.stride(), split.storage_offset(), cut.storage_offset()) == ((6, 2), 2, 1)


def test_numbers_of_sizes_need_no_eager_torch():
    f = torch.compile(lambda x: (x / x.shape[0] ** 0.5, x[: min(x.shape[0], 5)]), backend="pycompiler", dynamic=True)
    for size in (3, 8):
        x = torch.randn(size, 2)
        torch.testing.assert_close(f(x), (x / size**0.5, x[: min(size, 5)]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.sum() + torch.ones(n),
        lambda x, n: x[0].expand(n, 3) * 2,
        lambda x, n: torch.arange(n) * 2,
        lambda x, n: x * n + 1,
        lambda x, n: (x * (n - 6), max(n - 6, 0)),
    ],
)
def test_numbers_that_are_sizes_of_no_tensor(function):
    f, x = torch.compile(function, backend="pycompiler", dynamic=True), torch.randn(4, 3)
    for number in (5, 6, 9, 2):
        torch.testing.assert_close(f(x, number), function(x, number))


def test_sizes_that_follow_from_expressions_of_them():
    """One compilation in torch, and one of ours for each size where the table needs to know it."""

    def f(x):
        parts = x.split((x.shape[0] + 2) // 3)
        return parts[0].sin().sum() * parts[-1].exp().sum() + F.pad(x, (0, 30 - x.shape[1])).cumsum(1).sum()

    compiled = torch.compile(f, backend="pycompiler", dynamic=True)
    for shape in ((7, 5), (8, 5), (9, 4), (12, 20)):
        x = torch.randn(shape, requires_grad=True)
        slopes = [torch.autograd.grad(one(x), x) for one in (compiled, f)]
        torch.testing.assert_close(*slopes, rtol=1e-4, atol=1e-5)


def test_numbers_may_be_negative():
    f, x = torch.compile(lambda x, n: (x * n, max(n, 0)), backend="pycompiler", dynamic=True), torch.randn(4)
    for number in (5, -6, 0):
        torch.testing.assert_close(f(x, number), (x * number, max(number, 0)))


@pytest.mark.parametrize("function", [torch.mean, lambda x: x[0].sum(), lambda x: x.std()])
def test_gradients_where_no_tensor_has_the_size(function):
    f = torch.compile(function, backend="pycompiler", dynamic=True)
    for size in (4, 5, 8):
        x = torch.randn(size, size + 3, requires_grad=True)
        torch.testing.assert_close(torch.autograd.grad(f(x), x), torch.autograd.grad(function(x), x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.adaptive_avg_pool1d(x, 3),
        lambda x: F.avg_pool1d(x, 3, 2),
        lambda x: F.conv_transpose1d(x, x[0, :, None, :3]),
    ],
)
def test_operations_that_need_to_know_a_size(function):
    f = torch.compile(function, backend="pycompiler", dynamic=True)
    for size in (9, 10, 17):
        x = torch.randn(2, 3, size, requires_grad=True)
        wanted, made = function(x), f(x)
        torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5)
        slopes = [torch.autograd.grad(one.sum(), x) for one in (made, wanted)]
        torch.testing.assert_close(*slopes, rtol=1e-4, atol=1e-5)


def test_dropout_in_attention_follows_the_seed():
    query, key, value = (torch.randn(2, 3, 40, 8, requires_grad=True) for _ in range(3))
    f = torch.compile(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, dropout_p=0.5), backend="pycompiler")

    def run(seed):
        torch.manual_seed(seed)
        made = f(query, key, value)
        return made, *torch.autograd.grad(made.square().sum(), (query, key, value))

    first, again, other = run(1), run(1), run(2)
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    assert not torch.equal(first[0], other[0])
    # The mean over many draws is attention without dropout.
    mean = torch.stack([f(query, key, value).detach() for _ in range(300)]).mean(0)
    wanted = F.scaled_dot_product_attention(query, key, value).detach()
    assert (mean - wanted).abs().mean() < 0.1 * wanted.abs().mean() + 0.02
