"""Models of `transformers` with random weights, small: forward and training steps beside eager torch, with no operation
left to it (conftest.py). Quick runs have the forward passes of all, and some training."""

import copy

import numpy as np
import pytest
import torch

import pycompiler as pc
import pycompiler.torch as pt

transformers = pytest.importorskip("transformers", reason="needs transformers (the extra torch-test)")


def _tokens(count=11, batch=2, words=100):
    return torch.randint(3, words, (batch, count))


def _bert():
    config = transformers.BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=32,
    )  # fmt: skip
    hidden = torch.ones(2, 11, dtype=torch.long)
    hidden[0, 8:] = 0
    return transformers.BertForMaskedLM(config), {"input_ids": _tokens(), "attention_mask": hidden, "labels": _tokens()}


def _gpt2():
    config = transformers.GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=32)
    tokens = _tokens()
    return transformers.GPT2LMHeadModel(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


def _llama():
    config = transformers.LlamaConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=48, max_position_embeddings=32,
    )  # fmt: skip
    tokens = _tokens()
    return transformers.LlamaForCausalLM(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


def _t5():
    config = transformers.T5Config(
        vocab_size=100, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    return transformers.T5ForConditionalGeneration(config), {
        "input_ids": _tokens(),
        "labels": _tokens(7),
        "use_cache": False,
    }


def _vit():
    config = transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8,
        num_labels=5,
    )  # fmt: skip
    return transformers.ViTForImageClassification(config), {
        "pixel_values": torch.randn(2, 3, 32, 32),
        "labels": torch.tensor([1, 3]),
    }


def _whisper():
    config = transformers.WhisperConfig(
        vocab_size=100, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=20,
        max_target_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    features = torch.randn(2, 8, 40)
    return transformers.WhisperForConditionalGeneration(config), {
        "input_features": features,
        "labels": _tokens(7),
        "use_cache": False,
    }


def _mixtral():
    config = transformers.MixtralConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=48, max_position_embeddings=32, num_local_experts=4, num_experts_per_tok=2,
    )  # fmt: skip
    tokens = _tokens()
    return transformers.MixtralForCausalLM(config), {"input_ids": tokens, "labels": tokens, "use_cache": False}


SMALL = {
    "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8}
LINEAR = {
    "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "layer_types": ["linear_attention", "full_attention"],
}  # fmt: skip
# Causal models: the name of the configuration, and what differs from SMALL. None removes an entry.
CAUSAL = {
    "gpt_oss": ("GptOss", {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 8, **EXPERTS}),
    "mamba": ("Mamba", {"state_size": 8, "time_step_rank": 4}),
    "mamba2": ("Mamba2", {"num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8, "state_size": 8}),
    "falcon": ("Falcon", {"multi_query": True}),
    "falcon_of_groups": ("Falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "gemma3": ("Gemma3Text", {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 8}),
    "qwen3_next": ("Qwen3Next", {
        "num_key_value_heads": 2, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, **LINEAR,
    }),
    "deepseek_v3": ("DeepseekV3", {
        "num_key_value_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
        "moe_intermediate_size": 16, "first_k_dense_replace": 1, **LATENT,
    }),
    "jamba": ("Jamba", {
        "num_key_value_heads": 2, "num_experts": 4, "mamba_dt_rank": 4, "mamba_d_state": 8, "attn_layer_period": 2,
        "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1,
    }),
    "bloom": ("Bloom", {"n_layer": 2, "n_head": 4, "num_hidden_layers": None, "num_attention_heads": None}),
}  # fmt: skip


def _causal(name):
    kind, options = CAUSAL[name]
    given = {key: value for key, value in {**SMALL, **options}.items() if value is not None}
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, f"{kind}Config")(**given))
    with torch.no_grad():
        for parameter in model.parameters():
            # Routers of zeros choose among equal experts.
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return model


MODELS = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
    "t5": _t5,
    "vit": _vit,
    "whisper": _whisper,
    "mixtral": _mixtral,
}


@pytest.mark.parametrize("name", MODELS)
def test_forward(name):
    model, given = MODELS[name]()
    model.eval()
    with torch.no_grad():
        wanted = model(**given)
        made = torch.compile(model, backend="pycompiler")(**given)
    torch.testing.assert_close(made.loss, wanted.loss, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(made.logits, wanted.logits, rtol=1e-3, atol=1e-4)


def _without_dropout(model):
    for part in model.modules():
        for name, value in vars(part).items():
            if name in ("p", "dropout", "attention_dropout", "attn_dropout") and isinstance(value, float):
                setattr(part, name, 0.0)
    return model


def _train(name):
    model, given = MODELS[name]()
    model = _without_dropout(model.train())
    other = copy.deepcopy(model)
    losses = []
    for one, call in ((model, model), (other, torch.compile(other, backend="pycompiler"))):
        optimizer = torch.optim.SGD(one.parameters(), lr=0.02)
        for _ in range(2):
            optimizer.zero_grad()
            loss = call(**given).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    torch.testing.assert_close(losses[2:], losses[:2], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(other.state_dict(), model.state_dict(), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", ["llama", "whisper"])
def test_training(name):
    _train(name)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("llama", "whisper")])
def test_training_of_others(name):
    _train(name)


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_training_with_dropout(name):
    model, given = MODELS[name]()
    made = torch.compile(model.train(), backend="pycompiler")
    losses = []
    for _ in range(2):
        torch.manual_seed(1)
        loss = made(**given).loss
        loss.backward()
        losses.append(loss.detach())
    assert losses[0] == losses[1]
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)


def test_one_compilation_for_all_lengths():
    model, _ = MODELS["llama"]()
    model.eval()
    made = torch.compile(model, backend="pycompiler", dynamic=True, fullgraph=True)
    with torch.no_grad():
        for length in (5, 9, 17, 30):
            tokens = _tokens(length)
            wanted = model(input_ids=tokens, use_cache=False).logits
            torch.testing.assert_close(made(input_ids=tokens, use_cache=False).logits, wanted, rtol=1e-3, atol=1e-4)


def _first(names, quick):
    """The names, of which only some run quickly."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.full) for name in names]


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("name", _first(CAUSAL, ("gpt_oss", "mamba2")))
def test_words_that_follow(name, cache):
    """`generate` with both kinds of caches."""
    model, tokens = _causal(name).eval(), _tokens(6)
    options = {
        "attention_mask": torch.ones_like(tokens), "max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False,
        "output_logits": True, "return_dict_in_generate": True,
        **({"cache_implementation": "static"} if cache == "static" else {}),
    }  # fmt: skip
    wanted = model.generate(tokens, **options)
    model.forward = torch.compile(model.forward, backend="pycompiler")
    made = model.generate(tokens, **options)
    torch.testing.assert_close(made.logits, wanted.logits, rtol=1e-3, atol=1e-4)
    assert made.sequences.equal(wanted.sequences)


@pytest.mark.parametrize("name", _first(CAUSAL, ("deepseek_v3",)))
def test_gradients_of_causal_models(name):
    model, tokens = _without_dropout(_causal(name).train()), _tokens()
    other = copy.deepcopy(model)
    wanted = model(input_ids=tokens, labels=tokens, use_cache=False)
    made = torch.compile(other, backend="pycompiler")(input_ids=tokens, labels=tokens, use_cache=False)
    wanted.loss.backward()
    made.loss.backward()
    torch.testing.assert_close(made.loss, wanted.loss, rtol=1e-4, atol=1e-5)
    for one, like in zip(other.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one.grad, like.grad, rtol=1e-3, atol=1e-5)


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, **given):
        return self.model(**given).logits


@pytest.mark.parametrize("name", _first(MODELS, ("bert", "t5")))
def test_exports(name):
    model, given = MODELS[name]()
    labels = given.pop("labels")
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = labels
    given.pop("use_cache", None)
    model.config.use_cache = False
    model = Logits(model.eval())
    with torch.no_grad():
        exported = pt.export(torch.export.export(model, (), given))
        wanted = model(**given)
    with pc.enable_x64(True):
        made = exported.call(**{name: value.numpy() for name, value in given.items()})
    np.testing.assert_allclose(made, wanted, rtol=1e-3, atol=1e-4)


class Called(torch.nn.Module):
    """A model called with one dictionary, whose sizes `torch.export` takes by its keys."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, given):
        made = self.model(**given)
        return made.logits if hasattr(made, "logits") else made.last_hidden_state


def _encoder():
    return transformers.T5EncoderModel(_t5()[0].config), {}


def _given(model, batch, length):
    if isinstance(model, transformers.ViTForImageClassification):
        return {"pixel_values": torch.randn(batch, 3, 32, 32)}
    hidden = torch.ones(batch, length, dtype=torch.long)
    hidden[0, -2:] = 0
    given = {"input_ids": _tokens(length, batch), "attention_mask": hidden}
    return {**given, "decoder_input_ids": _tokens(length - 1, batch)} if model.config.is_encoder_decoder else given


LENGTHS = {
    **{name: MODELS[name] for name in ("bert", "gpt2", "llama", "t5", "vit", "mixtral")},
    "t5 encoder": _encoder,
    **{name: lambda name=name: (_causal(name), {}) for name in ("gpt_oss", "falcon", "gemma3", "deepseek_v3", "bloom")},
}


@pytest.mark.parametrize("name", _first(LENGTHS, ("llama", "vit")))
def test_exports_at_other_lengths(name):
    """One program for every batch and length."""
    model = LENGTHS[name]()[0].eval()
    model.config.use_cache = False
    batch, length, more = [
        torch.export.Dim(name, min=least, max=30) for name, least in (("batch", 1), ("length", 3), ("more", 2))
    ]
    shapes = {"input_ids": (batch, length), "attention_mask": (batch, length), "decoder_input_ids": (batch, more)}
    given = _given(model, 3, 9)
    dynamic = {key: dict(enumerate(shapes.get(key, (batch,)))) for key in given}
    with torch.no_grad():
        program = torch.export.export(Called(model), (given,), dynamic_shapes={"given": dynamic})
        exported = pt.export(program)
        for count, words in ((3, 9), (1, 5), (2, 3), (4, 24)):
            given = _given(model, count, words)
            with pc.enable_x64(True):
                made = exported.call({key: x.numpy() for key, x in given.items()})
            np.testing.assert_allclose(made, Called(model)(given), rtol=1e-3, atol=1e-4)
