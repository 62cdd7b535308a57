"""Models of `transformers` for images, and for images with text, with random weights, small: detection, segmentation,
depth. Forward and training steps beside eager torch, and exports at other batches."""

import copy

import numpy as np
import pytest
import torch
from torch.utils import _pytree as pytree

import pycompiler as pc
import pycompiler.torch as pt

transformers = pytest.importorskip("transformers", reason="needs transformers (the extra torch-test)")

PARTS = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
VISION = {"image_size": 32, "patch_size": 8, **PARTS}
TEXT = {
    "vocab_size": 100, "max_position_embeddings": 16, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **PARTS,
}  # fmt: skip
DETECTION = {
    "num_queries": 6, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_labels": 4,
}  # fmt: skip
STAGES = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}


def _resnet():
    return transformers.ResNetConfig(embedding_size=8, layer_type="basic", out_features=["stage4"], **STAGES)


def _tokens():
    tokens = torch.randint(3, 100, (2, 7))
    tokens[:, -1] = 2
    return tokens


def _images(size=32):
    return torch.randn(2, 3, size, size)


def _clip():
    config = transformers.CLIPConfig(
        text_config={"projection_dim": 16, **TEXT}, vision_config={"projection_dim": 16, **VISION}, projection_dim=16
    )
    return transformers.CLIPModel(config), {"input_ids": _tokens(), "pixel_values": _images(), "return_loss": True}


def _siglip():
    config = transformers.SiglipConfig(text_config=TEXT, vision_config=VISION)
    return transformers.SiglipModel(config), {"input_ids": _tokens(), "pixel_values": _images(), "return_loss": True}


def _blip():
    text = {"encoder_hidden_size": 32, "sep_token_id": 2, **TEXT}
    config = transformers.BlipConfig(
        text_config=text, vision_config=VISION, projection_dim=16, image_text_hidden_size=16
    )
    tokens = _tokens()
    return transformers.BlipForConditionalGeneration(config), {
        "input_ids": tokens,
        "pixel_values": _images(),
        "labels": tokens,
    }


def _segformer():
    config = transformers.SegformerConfig(
        num_encoder_blocks=4, num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16, num_labels=5,
        drop_path_rate=0.0, **STAGES,
    )  # fmt: skip
    return transformers.SegformerForSemanticSegmentation(config), {"pixel_values": _images(64)}


def _detr():
    config = transformers.DetrConfig(
        use_timm_backbone=False, backbone_config=_resnet(), use_pretrained_backbone=False, backbone=None, **DETECTION
    )
    return transformers.DetrForObjectDetection(config), {"pixel_values": _images(64)}


def _conditional_detr():
    config = transformers.ConditionalDetrConfig(
        use_timm_backbone=False, backbone_config=_resnet(), use_pretrained_backbone=False, backbone=None, **DETECTION
    )
    return transformers.ConditionalDetrForObjectDetection(config), {"pixel_values": _images(64)}


def _yolos():
    config = transformers.YolosConfig(num_detection_tokens=5, num_labels=4, **{**VISION, "image_size": [32, 32]})
    return transformers.YolosForObjectDetection(config), {"pixel_values": _images()}


def _swin():
    config = transformers.SwinConfig(
        image_size=32, patch_size=4, embed_dim=16, depths=[2, 1], num_heads=[2, 4], window_size=4, drop_path_rate=0.0
    )
    return transformers.SwinForImageClassification(config), {"pixel_values": _images()}


def _dpt():
    config = transformers.DPTConfig(
        backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16, head_in_index=-1,
        is_hybrid=False, **{**VISION, "num_hidden_layers": 4},
    )  # fmt: skip
    return transformers.DPTForDepthEstimation(config), {"pixel_values": _images()}


def _masked():
    config = transformers.ViTMAEConfig(
        decoder_hidden_size=16, decoder_num_hidden_layers=1, decoder_num_attention_heads=2,
        decoder_intermediate_size=24, **VISION,
    )  # fmt: skip
    return transformers.ViTMAEForPreTraining(config), {"pixel_values": _images(), "noise": torch.rand(2, 16)}


MODELS = {
    "clip": _clip,
    "siglip": _siglip,
    "blip": _blip,
    "segformer": _segformer,
    "detr": _detr,
    "conditional_detr": _conditional_detr,
    "yolos": _yolos,
    "swin": _swin,
    "dpt": _dpt,
    "masked": _masked,
}


def _first(quick):
    """The names, of which only some run quickly."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.full) for name in MODELS]


def _floats(made):
    return [x for x in pytree.tree_leaves(made.to_tuple()) if isinstance(x, torch.Tensor) and x.is_floating_point()]


def _model(name):
    """In float64: a choice of the largest, or a mask at a threshold, is not one of rounding."""
    model, given = MODELS[name]()
    for part in model.modules():
        for attribute, value in vars(part).items():
            if isinstance(value, float) and ("dropout" in attribute or attribute == "p"):
                setattr(part, attribute, 0.0)
    with torch.no_grad():
        for parameter in model.parameters():
            # Weights that begin with zeros hide what they multiply.
            parameter.add_(torch.randn_like(parameter) * 0.03)
    return model.double(), {
        name: x.double() if torch.is_tensor(x) and x.is_floating_point() else x for name, x in given.items()
    }


@pytest.mark.parametrize("name", _first(("clip", "detr")))
def test_forward(name):
    model, given = _model(name)
    model.eval()
    with torch.no_grad():
        wanted = model(**given)
        made = torch.compile(model, backend="pycompiler")(**given)
    torch.testing.assert_close(_floats(made), _floats(wanted), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", _first(("segformer",)))
def test_gradients(name):
    model, given = _model(name)
    model.train()
    other = copy.deepcopy(model)
    for call in (model, torch.compile(other, backend="pycompiler")):
        made = [x for x in _floats(call(**given)) if x.requires_grad]
        weights = [torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).reshape(x.shape) for x in made]
        torch.autograd.backward(made, weights)
    for (path, one), like in zip(other.named_parameters(), model.parameters(), strict=True):
        # Torch's traces have zeros for a parameter without a part in the results.
        slope, wanted = [torch.zeros_like(like) if x.grad is None else x.grad for x in (one, like)]
        bound = float(wanted.abs().max()) * 1e-9 + 1e-12
        torch.testing.assert_close(slope, wanted, rtol=1e-6, atol=bound, msg=lambda m, p=path: f"{p} {m}")


class Results(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, given):
        return _floats(self.model(**given))


@pytest.mark.parametrize("name", _first(("siglip", "swin")))
def test_exports_at_other_batches(name):
    model, given = _model(name)
    model = Results(model.eval())
    given = {name: x for name, x in given.items() if torch.is_tensor(x) and name != "labels"}
    batch = torch.export.Dim("batch", min=2, max=64)
    with torch.no_grad():
        program = torch.export.export(model, (given,), dynamic_shapes={"given": {name: {0: batch} for name in given}})
        exported = pt.export(program)
    for count in (2, 3, 5):
        more = {name: torch.cat([x, x.flip(-1), x.flip(0)])[:count] for name, x in given.items()}
        with torch.no_grad():
            wanted = model(more)
        with pc.enable_x64(True):
            made = exported.call({name: x.numpy() for name, x in more.items()})
        for one, like in zip(made, wanted, strict=True):
            np.testing.assert_allclose(one, like, rtol=1e-7, atol=1e-9)
