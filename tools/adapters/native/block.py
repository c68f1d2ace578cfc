"""Composite operations, as in Hugging Face models; one function per operation."""

import torch

from attention import attention, capped, cross_attention, split
from layer import activation, feed_forward, layer_norm, linear, linear_bias, rms_norm
from rope import rope
from steps import times, wide

ROTARY = ("pairing", "base", "scaling", "seq_len", "offset", "direction")
SEEING = ("scale", "soft_cap", "mask", "window", "chunk", "key_length", "segments", "empty_rows")


def heads_normed(x, weight, qk_norm, eps, unit_offset):
    """x [1,heads,S,D], weight [heads*D]"""
    if qk_norm == "none":
        return x
    if qk_norm == "head":
        per_head = weight.reshape(x.shape[1], 1, x.shape[3])
        return rms_norm(x, per_head, eps, unit_offset)
    together = x[0].transpose(0, 1).flatten(1)
    return split(rms_norm(together, weight, eps, unit_offset), x.shape[1])


def decoder_block_normed(x, position, attn_norm, wq, wk, wv, wo, mlp_norm, gate, up, down, q_norm,
                         k_norm, attn_post_norm, mlp_post_norm, eps, unit_offset, kind, placement,
                         qk_norm, H, K, R, **more):  # fmt: skip
    def norm(x, weight):
        return rms_norm(x, weight, eps, unit_offset)

    def queries_or_keys(u, weight, heads, norm_weight):
        x = split(linear(u, weight), heads)
        normed = heads_normed(x, norm_weight, qk_norm, eps, unit_offset)
        return rope(normed, position[None], *(more[name] for name in ROTARY), R)

    normed = x if placement == "branch" else norm(x, attn_norm)
    q, k = queries_or_keys(normed, wq, H, q_norm), queries_or_keys(normed, wk, K, k_norm)
    seeing = {name: more[name] for name in SEEING}
    mean = attention(q, k, split(linear(normed, wv), K), align="top_left", **seeing)["y"]
    attended = linear(mean[0].transpose(0, 1).flatten(1), wo)
    after = {"branch": attn_norm, "sandwich": attn_post_norm}.get(placement)
    middle = x + (attended if after is None else norm(attended, after))
    read = {"branch": middle, "parallel": norm(x, mlp_norm)}.get(placement, norm(middle, mlp_norm))
    fed = feed_forward(read, gate, up, down, kind)
    after = {"branch": mlp_norm, "sandwich": mlp_post_norm}.get(placement)
    y = middle + (fed["y"] if after is None else norm(fed["y"], after))
    return {"y": y, "normed": normed, "q_rotated": q[0], "k_rotated": k[0],
            "attention_out": attended, "middle": middle, "hidden": fed["hidden"]}  # fmt: skip


def decoder_block(x, position, H, K, R, **more):
    unread = dict.fromkeys(("q_norm", "k_norm", "attn_post_norm", "mlp_post_norm"))
    return decoder_block_normed(x, position, qk_norm="none", H=H, K=K, R=R, **unread, **more)


def decoder(token, position, table, last_norm, head, embedding_scale, logit_cap, eps, unit_offset,
            H, K, R, **more):  # fmt: skip
    weights = ("attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "gate", "up", "down")
    states = [times(table[token], embedding_scale)]
    for block in range(len(more["wq"])):
        own = {name: value[block] if name in weights else value for name, value in more.items()}
        own |= {"eps": eps, "unit_offset": unit_offset}
        states.append(decoder_block(states[-1], position, H, K, R, **own)["y"])
    logits = wide(rms_norm(states[-1], last_norm, eps, unit_offset)) @ wide(head).T
    logits = capped(logits, logit_cap) if logit_cap else logits
    return {"logits": logits, "states": torch.stack(states)}


def encoder_block(x, position_table, wq, bq, wk, bk, wv, bv, wo, bo, norm1_weight, norm1_bias,
                  w1, b1, w2, b2, norm2_weight, norm2_bias, placement, kind, eps, mask, key_length,
                  empty_rows, H, K):  # fmt: skip
    def norm1(z):
        return layer_norm(z, norm1_weight, norm1_bias, eps)

    def norm2(z):
        return layer_norm(z, norm2_weight, norm2_bias, eps)

    u = x + position_table
    z = norm1(u) if placement == "pre" else u
    attended = cross_attention(z, z, wq, bq, wk, bk, wv, bv, wo, bo, None, None, key_length,
                               empty_rows, H, K, mask)["y"]  # fmt: skip
    middle = u + attended if placement == "pre" else norm1(u + attended)
    read = norm2(middle) if placement == "pre" else middle
    hidden = activation(linear_bias(read, w1, b1), kind, 1)
    y = middle + linear_bias(hidden, w2, b2)
    return {"y": y if placement == "pre" else norm2(y), "attention_out": attended, "middle": middle,
            "hidden": hidden}  # fmt: skip
