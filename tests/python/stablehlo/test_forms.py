"""`stablehlo.load`: further accepted forms, refused ones, and the complete list of accepted operations on the page."""

import re
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from stablehlo_programs import FAMILIES

from pycompiler import stablehlo
from pycompiler._compiler import ir, stablehlo_operations

PAGE = Path(__file__).resolve().parents[3] / "docs" / "stablehlo.md"

# A model of PyTorch, as torch_xla exports it.
TORCH = (Path(__file__).parent / "pytorch_network.mlir").read_text()


def _torch_reference(linear: Any, scale: Any, offset: Any, mean: Any, variance: Any, kernel: Any, image: Any) -> Any:
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    x = np.einsum("nihwkl,oikl->nohw", windows, kernel)
    scale, offset, mean, variance = (value[:, None, None] for value in (scale, offset, mean, variance))
    x = np.maximum((x - mean) / np.sqrt(variance + 1e-5) * scale + offset, 0)
    return x.reshape(4, 2, 4, 2, 4, 2).max((3, 5)).reshape(4, 32) @ linear.T


def test_a_model_of_pytorch() -> None:
    rng = np.random.default_rng(0)
    shapes = [(5, 32), (2,), (2,), (2,), (2,), (2, 3, 3, 3), (4, 3, 8, 8)]
    args = [rng.uniform(0.1, 1, shape).astype(np.float32) for shape in shapes]
    (got,) = stablehlo.load(TORCH)(*args)
    np.testing.assert_allclose(got, _torch_reference(*args), rtol=1e-4)


@pytest.mark.parametrize("operation", ["training", "grad"])
def test_batch_norm(operation: str) -> None:
    rng = np.random.default_rng(1)
    x, given = (rng.normal(size=(5, 3, 4)).astype(np.float32) for _ in range(2))
    scale, offset = (rng.uniform(0.5, 2, 3).astype(np.float32) for _ in range(2))
    array, features = "tensor<5x3x4xf32>", "tensor<3xf32>"
    options = "<{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>"

    def run(name: str, operands: list[Any], results: list[str]) -> Any:
        types = [array if operand.ndim == 3 else features for operand in operands]
        names = ", ".join(f"%{i}" for i in range(len(types)))
        arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
        outs = ", ".join(f"%r#{i}" for i in range(len(results)))
        given, made = (", ".join(listed) for listed in (types, results))
        return stablehlo.load(f"""func.func @main({arguments}) -> ({made}) {{
          %r:{len(results)} = "stablehlo.batch_norm_{name}"({names}) {options} : ({given}) -> ({made})
          return {outs} : {made}
        }}""")(*operands)

    def reference(x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        normal = (x - mean) / jax.numpy.sqrt(variance + 1e-3)
        return normal * scale[:, None] + offset[:, None], mean[0, :, 0], variance[0, :, 0]

    want, mean, variance = reference(x, scale, offset)
    if operation == "training":
        got = run("training", [x, scale, offset], [array, features, features])
        expected = (want, mean, variance)
    else:
        got = run("grad", [x, scale, np.asarray(mean), np.asarray(variance), given], [array, features, features])
        expected = jax.vjp(lambda *args: reference(*args)[0], x, scale, offset)[1](given)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", ["contractions", "reductions", "indexing", "sorts", "control", "windows"])
def test_the_generic_form_is_the_same_program(family: str) -> None:
    """MLIR's generic form, with all attributes by name, gives the module of the pretty form."""
    for program in FAMILIES[family][:: 1 if family == "control" else 3]:
        args = jax.tree.map(jax.numpy.asarray, program.args)
        lowered: Any = jax.jit(program.function).lower(*args)
        module = lowered.compiler_ir("stablehlo").operation
        generic = module.get_asm(print_generic_op_form=True)
        assert '"stablehlo.' in generic
        assert stablehlo.to_array(generic) == stablehlo.to_array(module.get_asm()), program.name


def test_an_unknown_operation_is_named_at_its_line() -> None:
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = stablehlo.rng_tea %x : tensor<3xf32>\n"
    with pytest.raises(ir.MLIRError, match=r"stablehlo.rng_tea: has no counterpart in the array dialect") as raised:
        stablehlo.load(text + "  return %0 : tensor<3xf32>\n}")
    assert "<stablehlo>:2:" in str(raised.value)


def test_other_things_than_text_are_refused() -> None:
    with pytest.raises(TypeError, match="takes the text of a StableHLO module, got bytes"):
        stablehlo.to_array(b"ML\xefR")  # pyright: ignore[reportArgumentType]


def test_a_function_of_the_host_is_named() -> None:
    text = jax.jit(lambda x: jax.pure_callback(lambda y: y, x, x)).lower(np.float32(1)).as_text()
    with pytest.raises(ir.MLIRError, match="custom_call: @xla_ffi_python_cpu_callback has no counterpart"):
        stablehlo.load(text)


def test_the_page_lists_what_is_taken() -> None:
    listed = re.findall(r"`((?:stablehlo|chlo|sdy|func)\.\w+)`", PAGE.read_text().split("## Unsupported operations")[0])
    assert sorted(set(listed)) == list(stablehlo_operations())
