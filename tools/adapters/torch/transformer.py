"""The layers of the original Transformer in PyTorch; `python3 transformer.py NAME` serves one."""

import torch
from torch import nn
from torch.nn import functional

from subject import Unsupported, as_tensor, serve

ACTIVATIONS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


def filled(module, **parameters):
    """The module with these parameters, in the dtype of the first one."""
    module = module.to(next(iter(parameters.values())).dtype).eval()
    state = module.state_dict()
    assert state.keys() == parameters.keys()
    module.load_state_dict(parameters)
    return module.requires_grad_(False)


def packed(w):
    """Concatenated weights and biases of queries, keys and values, as in MultiheadAttention."""
    return torch.cat([w["wq"], w["wk"], w["wv"]]), torch.cat([w["bq"], w["bk"], w["bv"]])


def refuse(M, H, K, D, scale=None, soft_cap=None):
    if K != H or M != H * D:
        raise Unsupported("only K = H and M = H * D")
    if scale is not None or soft_cap is not None:
        raise Unsupported("no scale and no soft_cap")


def padding_of(key_length, count):
    """True where a token is padding; None if key_length is not set."""
    if key_length is None:
        return None
    if key_length == [0]:
        raise Unsupported("key_length is 0")
    return (torch.arange(count) >= key_length[0])[None]


class CrossAttention:
    """torch.nn.MultiheadAttention: queries from one sequence, keys and values from another."""

    def padding(self, key_length, count):
        return padding_of(key_length, count)

    def sequences(self, x, memory):
        return x, memory, memory

    def __call__(self, dtype, M, H, K, D, key_length, scale, soft_cap, x, memory, **weights):
        refuse(M, H, K, D, scale, soft_cap)
        w = {name: as_tensor(value, dtype) for name, value in weights.items() if name[0] in "wb"}
        weight, bias = packed(w)
        attention = filled(
            nn.MultiheadAttention(M, H, batch_first=True), in_proj_weight=weight,
            in_proj_bias=bias, **{"out_proj.weight": w["wo"], "out_proj.bias": w["bo"]},
        )  # fmt: skip
        q, k, v = self.sequences(as_tensor(x, dtype)[None], as_tensor(memory, dtype)[None])
        padding = self.padding(key_length, len(memory))
        return {"y": attention(q, k, v, key_padding_mask=padding, need_weights=False)[0][0]}


class PaddingInverted(CrossAttention):
    """Wrong: the mask is true for tokens that may be read."""

    def padding(self, key_length, count):
        padding = padding_of(key_length, count)
        return None if padding is None or padding.logical_not().all() else ~padding


class SelfAttention(CrossAttention):
    """Wrong: reads x instead of memory."""

    def sequences(self, x, memory):
        rows = torch.arange(memory.shape[1]) % x.shape[1]
        return x, x[:, rows], x[:, rows]


class KeysAndValuesExchanged(CrossAttention):
    """Wrong: the packed weight has the order queries, values, keys."""

    def __call__(self, **given):
        for a, b in (("wk", "wv"), ("bk", "bv")):
            given[a], given[b] = given[b], given[a]
        return super().__call__(**given)


class EncoderLayer:
    """torch.nn.TransformerEncoderLayer on the sum of input and positions."""

    batch_first = True

    def input(self, x, position_table):
        return x + position_table

    def norm_first(self, placement):
        return placement == "pre"

    def activation(self, kind):
        return ACTIVATIONS[kind]

    def mask(self, kind, count):
        """True where a token must not be read; None without a mask."""
        return torch.ones(count, count).triu(1) > 0 if kind == "causal" else None

    def __call__(self, dtype, M, H, K, D, F, key_length, placement, kind, eps, mask, x,
                 position_table, **weights):  # fmt: skip
        refuse(M, H, K, D)
        w = {
            name: as_tensor(value, dtype) for name, value in weights.items()
            if name[0] in "wb" or name.startswith("norm")
        }  # fmt: skip
        weight, bias = packed(w)
        layer = nn.TransformerEncoderLayer(
            M, H, F, dropout=0, activation=self.activation(kind), layer_norm_eps=eps,
            batch_first=self.batch_first, norm_first=self.norm_first(placement),
        )  # fmt: skip
        layer = filled(layer, **{
            "self_attn.in_proj_weight": weight, "self_attn.in_proj_bias": bias,
            "self_attn.out_proj.weight": w["wo"], "self_attn.out_proj.bias": w["bo"],
            "linear1.weight": w["w1"], "linear1.bias": w["b1"],
            "linear2.weight": w["w2"], "linear2.bias": w["b2"],
            "norm1.weight": w["norm1_weight"], "norm1.bias": w["norm1_bias"],
            "norm2.weight": w["norm2_weight"], "norm2.bias": w["norm2_bias"],
        })  # fmt: skip
        tokens = self.input(as_tensor(x, dtype), as_tensor(position_table, dtype))[None]
        if not self.batch_first:
            if key_length is not None or mask != "none":
                raise Unsupported("no mask and no key_length with batch_first=False")
            return {"y": layer(tokens)[0]}
        padding = padding_of(key_length, len(x))
        allowed = self.mask(mask, len(x))
        return {"y": layer(tokens, src_mask=allowed, src_key_padding_mask=padding)[0]}


class WithoutPositions(EncoderLayer):
    """Wrong: positions are not added."""

    def input(self, x, position_table):
        return x


class AlwaysPost(EncoderLayer):
    """Wrong: always the default norm_first=False."""

    def norm_first(self, placement):
        return False


class AlwaysRelu(EncoderLayer):
    """Wrong: always the default activation, relu."""

    def activation(self, kind):
        return ACTIVATIONS["relu"]


class BatchSecond(EncoderLayer):
    """Wrong: passes [1,S,M] to a layer that expects [S,B,M], so that tokens become a batch."""

    batch_first = False


class MaskForgotten(EncoderLayer):
    """Wrong: the mask is not passed."""

    def mask(self, kind, count):
        return None


SYSTEMS = {
    "multihead_attention": {"cross_attention": CrossAttention()},
    "multihead_attention_padding_inverted": {"cross_attention": PaddingInverted()},
    "multihead_attention_of_itself": {"cross_attention": SelfAttention()},
    "multihead_attention_keys_and_values_exchanged": {"cross_attention": KeysAndValuesExchanged()},
    "encoder_layer": {"encoder_block": EncoderLayer()},
    "encoder_layer_without_positions": {"encoder_block": WithoutPositions()},
    "encoder_layer_always_post": {"encoder_block": AlwaysPost()},
    "encoder_layer_always_relu": {"encoder_block": AlwaysRelu()},
    "encoder_layer_batch_second": {"encoder_block": BatchSecond()},
    "encoder_layer_mask_forgotten": {"encoder_block": MaskForgotten()},
}

if __name__ == "__main__":
    serve(SYSTEMS)
