"""`pycompiler.torch.export`: programs of torch.export as files and as libraries for C, without torch."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from left_out import slope
from torch import nn
from torch_models import MODELS

import pycompiler as pc
import pycompiler.torch as pt
from pycompiler import export


class Scaled(nn.Module):
    """Trees, a dynamic axis, a keyword, a constant and a buffer."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x, more, scale=2.0):
        made = self.norm(self.linear(x)) * scale + self.offset
        return {"out": made, "less": (more["b"] + torch.tensor([1, 2, 3]), more["a"])}


def _scaled(**bounds):
    model = Scaled().eval()
    more = {"b": torch.ones(3), "a": torch.zeros(2)}
    shapes = {"x": {0: torch.export.Dim("batch", **bounds)}, "more": {"b": None, "a": None}, "scale": None}
    return model, torch.export.export(model, (torch.randn(5, 4), more), {"scale": 3.0}, dynamic_shapes=shapes)


CALLER = """
#include <stdio.h>
#include "scaled.h"

int main(void) {
  float x[7 * 4], b[3] = {1, 2, 3}, a[2] = {4, 5}, kept[2], less[3], out[7 * 3];
  for (int i = 0; i < 28; ++i)
    x[i] = 0.1f * (float)i - 1.0f;
  if (scaled(7, x, b, a, less, kept, out) || !scaled(0, x, b, a, less, kept, out))
    return 1;
  for (int i = 0; i < 21; ++i)
    printf("%.9g ", out[i]);
  printf("%g %g %g %g %g", less[0], less[1], less[2], kept[0], kept[1]);
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_library_for_c(tmp_path):
    model, program = _scaled(min=1, max=64)
    # C has the arguments in the order of the sorted keys: a before b.
    exported = pt.export(program)
    assert exported.argument_names == ("x", "more_a", "more_b")
    written = export.to_shared_object(exported, tmp_path / "libscaled.so")
    (tmp_path / "user.c").write_text(CALLER.replace("x, b, a,", "x, a, b,"))
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-I", str(tmp_path), "user.c", str(written.path), "-o", "user"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=100)
    shown = subprocess.run([tmp_path / "user"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=100)
    x = (0.1 * torch.arange(28, dtype=torch.float32) - 1).reshape(7, 4)
    wanted = model(x, {"b": torch.tensor([1.0, 2, 3]), "a": torch.tensor([4.0, 5])}, scale=3.0)
    parts = [wanted["out"].detach().flatten(), *wanted["less"]]
    np.testing.assert_allclose(np.array(shown.stdout.split(), np.float32), torch.cat(parts), rtol=1e-5, atol=1e-6)


READER = """
import sys
import numpy as np
from pycompiler import export
loaded = export.deserialize(open(sys.argv[1], "rb").read())
x, a, b = (np.load(f"{sys.argv[2]}/{name}.npy") for name in "xab")
made = loaded.call(x, {"a": a, "b": b}, scale=None)
assert "torch" not in sys.modules
np.savez(f"{sys.argv[2]}/made.npz", out=made["out"], less=made["less"][0], kept=made["less"][1])
"""


def test_a_file_for_a_process_without_torch(tmp_path):
    model, program = _scaled()
    (tmp_path / "model.pcx").write_bytes(pt.export(program, "scaled").serialize())
    x, a, b = torch.randn(9, 4), torch.randn(2), torch.randn(3)
    for name, value in (("x", x), ("a", a), ("b", b)):
        np.save(tmp_path / f"{name}.npy", value.numpy())
    subprocess.run([sys.executable, "-c", READER, tmp_path / "model.pcx", tmp_path], check=True, timeout=200)
    wanted = model(x, {"b": b, "a": a}, scale=3.0)
    made = np.load(tmp_path / "made.npz")
    np.testing.assert_allclose(made["out"], wanted["out"].detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(made["less"], wanted["less"][0])
    np.testing.assert_allclose(made["kept"], a)


@pytest.mark.parametrize("name", ["resnet", "unet", "gpt"])
def test_models_at_another_size(name):
    make, arguments = MODELS[name]
    model = make().eval()
    args = arguments(4)
    program = torch.export.export(model, args, dynamic_shapes=tuple([{0: torch.export.Dim.AUTO} for _ in args]))
    exported = pt.export(program, name)
    args = arguments(6)
    with pc.enable_x64(True):
        made = exported.call(*[x.numpy() for x in args])
    np.testing.assert_allclose(made, model(*args).detach(), rtol=1e-4, atol=1e-5)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


FUNCTIONS = {
    "the larger of two": lambda x: torch.max(x, x * 0.5) + torch.min(x, -x),
    "a larger image": lambda x: nn.functional.interpolate(x[None, None], scale_factor=2.0, mode="bilinear"),
    "parts": lambda x: x.chunk(3, 1)[1] + torch.tensor_split(x, [2, 4], 1)[1],
    "deviations": lambda x: x.std(-1, unbiased=False) + x.var(),
    "another dtype": lambda x: x.to(torch.float64).float() * 2,
    "a mean of images": lambda x: nn.functional.adaptive_avg_pool2d(x[:, None, None] * 2, 1),
    "strides": lambda x: (
        torch.as_strided(x * 2, (x.shape[0], 2, 3), (6, 1, 2)) + torch.as_strided(x, (x.shape[0], 2, 3), (6, 3, 1), 0)
    ),
    "windows in memory": lambda x: torch.as_strided(x * 2, (x.shape[0], 3), (6, 1), 2),
    "an assertion": lambda x: (torch._assert_async((x < 9).all()), x * 2)[1],
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_operations_that_torch_makes_of_others(name, dynamic):
    """Programs of torch.export have some that its compiler decomposes, and assertions about dtypes."""
    model = Function(FUNCTIONS[name])
    shapes = ({0: torch.export.Dim("rows", min=2, max=50)},) if dynamic else None
    program = torch.export.export(model, (torch.randn(4, 6),), dynamic_shapes=shapes)
    x = torch.randn(5 if dynamic else 4, 6)
    np.testing.assert_allclose(pt.export(program).call(x.numpy()), model(x), rtol=1e-5, atol=1e-6)


def test_tied_parameters_are_one_constant():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.last = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
            self.last.weight = self.tokens.weight

        def forward(self, x):
            return self.last(self.tokens(x))

    exported = pt.export(torch.export.export(Tied(), (torch.tensor([1, 2]),)))
    assert len(exported.consts) == 1


def _refused(model, *args):
    return pt.export(torch.export.export(model, args))


def test_what_is_not_exported():
    with pytest.raises(ValueError, match=r"writes to norm.running_mean .*\n*.*model.eval"):
        _refused(Scaled().train(), torch.randn(5, 4), {"b": torch.ones(3), "a": torch.ones(2)})
    with pytest.raises(ValueError, match="draws random numbers"):
        _refused(nn.Dropout(0.5), torch.ones(3))

    class Slope(nn.Module):
        def forward(self, x):
            return slope(x)

    with pytest.raises(NotImplementedError, match=r"pycompiler_tests.slope.*test_torch_export.py"):
        _refused(Slope(), torch.ones(3))
    with pytest.raises(TypeError, match=r"takes a program of torch\.export\.export"):
        pt.export(nn.Linear(2, 2))
