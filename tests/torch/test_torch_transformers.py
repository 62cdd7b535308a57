"""Models of `transformers` with random weights, small: forward and training steps beside eager torch, with no operation
left to it (conftest.py). Quick runs have the forward passes of all, and some training."""

import copy

import pytest
import torch

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
