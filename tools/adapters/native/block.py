"""Blocks of a transformer. Formulas: Touvron et al. 2023 (2302.13971), section 2.2; OLMo 2
(2501.00656), section 3.2 (branch); Gemma 3 (2503.19786), section 2 (sandwich, norms of queries and
keys); Vaswani et al. 2017 (1706.03762), section 3.1."""

import numpy as np

from attention import attention, cross_attention, heads_of, joined
from layer import activation, feed_forward, function_of, layer_norm, linear, rms_norm
from rope import rope
from steps import with_words


def normed(q, at, x, weight):
    return rms_norm(with_words(q, weight=weight, M=x.shape[-1]), at, x)["y"]


def heads_normed(q, at, x, weight):
    """x [1,heads,S,D], weight [heads*D] or None"""
    if weight is None:
        return x
    if q.qk_norm == "head":
        return normed(q, at, x, weight.reshape(x.shape[1], 1, -1))
    return heads_of(normed(q, at, joined(x), weight), x.shape[1])


def decoder_block(q, at):
    q_norm, k_norm, attn_post_norm, mlp_post_norm = (
        getattr(q, name, None) for name in ("q_norm", "k_norm", "attn_post_norm", "mlp_post_norm"))

    def layer(x, weight):
        return linear(with_words(q, x=x, weight=weight), at)["y"]

    def queries_or_keys(x, weight, heads, norm_weight):
        x = heads_normed(q, at, heads_of(layer(x, weight), heads), norm_weight)
        return rope(with_words(q, x=x, position=q.position[None]), at)["y"]

    def after(x, sandwich, branch):
        weight = {"sandwich": sandwich, "branch": branch}.get(q.placement)
        return x if weight is None else normed(q, at, x, weight)

    read = q.x if q.placement == "branch" else normed(q, at, q.x, q.attn_norm)
    queries = queries_or_keys(read, q.wq, q.H, q_norm)
    keys = queries_or_keys(read, q.wk, q.K, k_norm)
    values = heads_of(layer(read, q.wv), q.K)
    mean = attention(with_words(q, q=queries, k=keys, v=values, B=1, T=q.S, align="top_left",
                                query_offset=None), at)["y"]
    attended = layer(joined(mean), q.wo)
    middle = at.T(q.x + after(attended, attn_post_norm, q.attn_norm))
    mlp_read = q.x if q.placement == "parallel" else middle
    mlp_read = mlp_read if q.placement == "branch" else normed(q, at, mlp_read, q.mlp_norm)
    fed = feed_forward(with_words(q, x=mlp_read), at)
    y = at.T(middle + after(fed["y"], mlp_post_norm, q.mlp_norm))
    return {"y": y, "normed": read, "q_rotated": queries[0], "k_rotated": keys[0],
            "attention_out": attended, "middle": middle, "hidden": fed["hidden"]}


def decoder(q, at):
    weights = ("attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "gate", "up", "down")
    states = [at.T(q.table[q.token] * at.real(q.embedding_scale))]
    for block in range(len(q.wq)):
        own = {name: getattr(q, name)[block] for name in weights}
        states.append(decoder_block(with_words(q, x=states[-1], **own), at)["y"])
    logits = at.dot(normed(q, at, states[-1], q.last_norm), q.head)
    if q.logit_cap is not None:
        logits = at.real(q.logit_cap) * np.tanh(logits / at.real(q.logit_cap))
    return {"logits": logits, "states": np.stack(states)}


def encoder_block(q, at):
    def norm1(x):
        return layer_norm(with_words(q, x=x, weight=q.norm1_weight, bias=q.norm1_bias), at)["y"]

    def norm2(x):
        return layer_norm(with_words(q, x=x, weight=q.norm2_weight, bias=q.norm2_bias), at)["y"]

    def layer(x, weight, bias):
        return linear(with_words(q, x=x, weight=weight, bias=bias), at)["y"]

    pre = q.placement == "pre"
    u = at.T(q.x + q.position_table)
    z = norm1(u) if pre else u
    attended = cross_attention(
        with_words(q, x=z, memory=z, scale=None, soft_cap=None, T=q.S), at)["y"]
    middle = at.T(u + attended)
    middle = middle if pre else norm1(middle)
    read = norm2(middle) if pre else middle
    hidden = activation(with_words(q, x=layer(read, q.w1, q.b1), beta=1), at)["y"]
    y = at.T(middle + layer(hidden, q.w2, q.b2))
    return {"y": y if pre else norm2(y), "attention_out": attended, "middle": middle,
            "hidden": hidden}


def experts(q, at):
    """Each token by its experts, one slot after the other."""
    dot, function = at("dot", at.dot, q), at("function", function_of(q.kind), q)
    x, weights = at("input", q.x, q), at("weights", q.weights, q)
    indices = at("indices", q.indices, q)
    hidden = np.zeros((q.N, q.K, q.F), dtype=at.real)
    y = np.zeros((q.N, q.M), dtype=at.real)
    for n, k in np.ndindex(q.N, q.K):
        e, row = indices[n, k], x[n : n + 1]
        if q.weigh == "input":
            row = at.T(row * weights[n, k])
        gate, up = at.T(dot(row, q.gate[e])), at.T(dot(row, q.up[e]))
        hidden[n, k] = at.T(at.T(function(gate)) * up)[0]
    last = at("hidden", hidden, q)
    for n, k in np.ndindex(q.N, q.K):
        out = at.T(dot(last[n, k : k + 1], q.down[indices[n, k]]))[0]
        y[n] = at.T(y[n] + (at.T(out * weights[n, k]) if q.weigh == "output" else out))
    return {"y": at("output", y, q), "hidden": hidden}


def router(q, at):
    """Experts by scores; the bias counts for the choice alone. Masked experts are never chosen."""
    logits = at("input", q.logits, q)
    if q.score == "softmax":
        weight = at("exponential", np.exp(logits - logits.max(-1, keepdims=True)), q)
        scores = at("scores", weight / at.sum(weight), q)
    else:
        scores = at("scores", 1 / (1 + np.exp(-logits)), q)
    by = at("by", scores + at("bias", getattr(q, "bias", at.real(0)), q), q)
    n_group, topk_group = (q.groups.get(key, 1) for key in ("n_group", "topk_group"))
    members = np.sort(by.reshape(q.N, n_group, q.E // n_group), -1)
    group = members[..., -2:].sum(-1) if q.groups["type"] == "top2" else members[..., -1]
    left_out = np.argsort(-at("group", group, q), -1, kind="stable")[..., topk_group:]
    masked = by.reshape(members.shape).copy()
    np.put_along_axis(masked, left_out[..., None], -np.inf, 1)
    order = np.argsort(-masked.reshape(by.shape), -1, kind="stable")
    indices = at("indices", order[..., : q.K], q)
    chosen = at("chosen", np.take_along_axis(scores, indices, -1), q)
    if q.renormalise["type"] == "sum":
        chosen = chosen / at("sum", at.sum(chosen) + at.real(q.renormalise["eps"]), q)
    return {"indices": indices, "weights": at("output", chosen * at.real(q.scale), q)}
