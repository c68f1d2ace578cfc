"""LLaMA in plain PyTorch, a block and a whole small model; `python3 llama.py NAME` serves one.

  Block(config)(x, position)      x [S,M], position [S]
  Model(config)(token, position)  logits [S,V] and states [L+1,S,M], before and after each block
"""

from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn
from torch.nn import functional

from rotary_forms import inverse_frequencies, rotate_half, rotate_neighbours, working
from subject import UNSCALED, Unsupported, as_tensor, serve


@dataclass
class Config:
    M: int
    H: int
    K: int
    D: int
    F: int
    base: float
    pairing: str
    eps: float
    V: int = 0
    L: int = 1
    key_length: Optional[list] = None  # number of tokens that are not padding


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.to(self.weight.dtype)
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (self.weight * normed).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        query, key = config.H * config.D, config.K * config.D
        self.wq = nn.Linear(config.M, query, bias=False)
        self.wk, self.wv = (nn.Linear(config.M, key, bias=False) for _ in range(2))
        self.wo = nn.Linear(query, config.M, bias=False)

    def rotated(self, x, position):
        """x [heads,S,D] rotated by the angles of position [S]"""
        half = self.config.pairing == "half"
        frequencies = inverse_frequencies(self.config.D, self.config.base, working(x))
        angle = position.to(frequencies.dtype)[:, None] * frequencies
        angle = torch.cat((angle, angle), -1) if half else angle.repeat_interleave(2, -1)
        other = rotate_half(x) if half else rotate_neighbours(x)
        return x * angle.cos().to(x.dtype) + other * angle.sin().to(x.dtype)

    def prepared(self, q, k, v, position):
        return self.rotated(q, position), self.rotated(k, position), v

    def padding(self, count):
        length = self.config.key_length
        return torch.arange(count) >= (length[0] if length else count)

    def together(self, mean):
        """[H,S,D] -> [S,H*D]"""
        return mean.transpose(0, 1).flatten(1)

    def forward(self, x, position):
        heads = [layer(x).unflatten(-1, (-1, self.config.D)).transpose(0, 1)
                 for layer in (self.wq, self.wk, self.wv)]  # fmt: skip
        q, k, v = self.prepared(*heads, position)
        shared = self.config.H // self.config.K
        k, v = k.repeat_interleave(shared, 0), v.repeat_interleave(shared, 0)
        hidden = (torch.ones(len(x), len(x)).triu(1) > 0) | self.padding(len(x))
        scores = q @ k.transpose(-1, -2) / self.config.D**0.5
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1, working(x)).to(x.dtype)
        return self.wo(self.together(weights @ v))


class ValuesRotated(Attention):
    def prepared(self, q, k, v, position):
        return self.rotated(q, position), self.rotated(k, position), self.rotated(v, position)


class HeadsNotTransposed(Attention):
    def together(self, mean):
        return mean.reshape(mean.shape[1], -1)


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate, self.up = (nn.Linear(config.M, config.F, bias=False) for _ in range(2))
        self.down = nn.Linear(config.F, config.M, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Norms before the branches; the output of each branch is added to its input."""

    attention = Attention

    def __init__(self, config):
        super().__init__()
        self.attn_norm, self.mlp_norm = (RmsNorm(config.M, config.eps) for _ in range(2))
        self.attn, self.mlp = self.attention(config), FeedForward(config)

    def forward(self, x, position):
        h = x + self.attn(self.attn_norm(x), position)
        return h + self.mlp(self.mlp_norm(h))


class BlockWithValuesRotated(Block):
    """Wrong: rotates values too."""

    attention = ValuesRotated


class BlockWithHeadsNotTransposed(Block):
    """Wrong: joins the heads by reshape without a transpose."""

    attention = HeadsNotTransposed


class BlockPostNorm(Block):
    """Wrong: normalises the sum after attention, as in the original Transformer."""

    def forward(self, x, position):
        h = self.attn_norm(x + self.attn(x, position))
        return h + self.mlp(self.mlp_norm(h))


class BlockWithNormedResidual(Block):
    """Wrong: adds the normalised input, not the input, to the output of attention."""

    def forward(self, x, position):
        x = self.attn_norm(x)
        h = x + self.attn(x, position)
        return h + self.mlp(self.mlp_norm(h))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.table = nn.Embedding(config.V, config.M)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.L))
        self.last_norm = RmsNorm(config.M, config.eps)
        self.head = nn.Linear(config.M, config.V, bias=False)

    def logits(self, state):
        return self.head(self.last_norm(state))

    def forward(self, token, position):
        states = [self.table(token)]
        for block in self.blocks:
            states.append(block(states[-1], position))
        return self.logits(states[-1]), torch.stack(states)


class ModelWithoutLastNorm(Model):
    """Wrong: computes logits from the output of the last block without the last norm."""

    def logits(self, state):
        return self.head(state)


# Attributes with the values of a LLaMA; cases with other values are unsupported.
FIXED = {"unit_offset": False, "kind": "swiglu", "placement": "pre", "mask": "causal",
         "scaling": UNSCALED, "direction": "forward", "offset": 0, "scale": None, "soft_cap": None,
         "window": None, "chunk": None, "segments": None, "embedding_scale": 1.0,
         "logit_cap": None, "qk_norm": None}  # fmt: skip
PLACES = {"attn_norm": "attn_norm", "mlp_norm": "mlp_norm", "wq": "attn.wq", "wk": "attn.wk",
          "wv": "attn.wv", "wo": "attn.wo", "gate": "mlp.gate", "up": "mlp.up",
          "down": "mlp.down"}  # fmt: skip


def config_of(given):
    for name, value in FIXED.items():
        if given.get(name, value) != value:
            raise Unsupported(f"{name} is {value}")
    if given.get("key_length") == [0]:
        raise Unsupported("key_length is 0")
    if given["R"] != given["D"]:
        raise Unsupported("only R = D")
    return Config(**{name: given[name] for name in Config.__dataclass_fields__ if name in given})


def loaded(module, weights, dtype):
    """The module with these weights: projections in the dtype, norms in their own dtype."""
    module.load_state_dict({name: as_tensor(value) for name, value in weights.items()})
    for name, parameter in module.named_parameters():
        parameter.data = as_tensor(weights[name], None if "norm" in name else dtype)
    return module.requires_grad_(False)


def block_of(kind):
    def decoder_block(dtype, x, position, **given):
        weights = {f"{place}.weight": given[name] for name, place in PLACES.items()}
        block = loaded(kind(config_of(given)), weights, dtype)
        return {"y": block(as_tensor(x, dtype), as_tensor(position))}

    return decoder_block


def model_of(kind):
    def decoder(dtype, token, position, table, last_norm, head, **given):
        weights = {"table.weight": table, "last_norm.weight": last_norm, "head.weight": head}
        for name, place in PLACES.items():
            for block, weight in enumerate(given[name]):
                weights[f"blocks.{block}.{place}.weight"] = weight
        model = loaded(kind(config_of(given)), weights, dtype)
        logits, states = model(as_tensor(token), as_tensor(position))
        return {"logits": logits.to(working(logits)), "states": states}

    return decoder


SYSTEMS = {
    "llama_block": {"decoder_block": block_of(Block)},
    "llama_block_post_norm": {"decoder_block": block_of(BlockPostNorm)},
    "llama_block_values_rotated": {"decoder_block": block_of(BlockWithValuesRotated)},
    "llama_block_residual_of_normed": {"decoder_block": block_of(BlockWithNormedResidual)},
    "llama_block_heads_not_transposed": {"decoder_block": block_of(BlockWithHeadsNotTransposed)},
    "llama_model": {"decoder": model_of(Model)},
    "llama_model_without_last_norm": {"decoder": model_of(ModelWithoutLastNorm)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
