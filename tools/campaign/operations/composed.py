"""Attention in its other forms: with relative positions, over another sequence, its scores alone,
two parts merged. Formulas: Shaw et al. 2018 (1803.02155), eq. 3 and 4; Vaswani et al. 2017
(1706.03762), section 3.2.2; Milakov and Gimelshein 2018 (1805.02867), section 3.1."""

from types import SimpleNamespace

import numpy as np

from stages import EXACT

from . import attention as plain


def attention_scores(q, at):
    keys = q.k[:, at("key_head", np.arange(q.H) // (q.H // q.K), q)]
    a, b = at("operands", (q.q, keys), q)
    return {"scores": at("output", np.einsum("bhsd,bhtd->bhst", a, b) * scale_of(q, at), q)}


def scale_of(q, at):
    return at("scale", EXACT(q.D) ** EXACT(-0.5) if q.scale is None else EXACT(q.scale), q)


def softmax(score):
    weight = np.exp(score - score.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def relative_attention(q, at):
    distance = at("distance", q.key_position[None] - q.query_position[:, None], q)
    row = at("row", np.clip(distance, -q.clip, q.clip) + q.clip, q)
    key_table = at("key_table", q.key_table, q)[row]
    value_table = at("value_table", q.value_table, q)[row]
    content = at("content", np.einsum("bhsd,bhtd->bhst", q.q, q.k), q)
    relative = at("relative", np.einsum("bhsd,std->bhst", q.q, key_table), q)
    score = at("score", (content + relative) * scale_of(q, at), q)
    weight = at("weight", softmax(score), q)
    read = at("read", np.einsum("bhst,bhtd->bhsd", weight, q.v), q)
    added = at("added", np.einsum("bhst,std->bhsd", weight, value_table), q)
    return {"y": at("output", read + added, q)}


def heads_of(x, weight, bias, count):
    """[1,count,rows,D]"""
    y = x @ weight.T + bias
    return y.reshape(len(x), count, -1).swapaxes(0, 1)[None]


def cross_attention(q, at):
    wq, wk, wv = at("weights", (q.wq, q.wk, q.wv), q)
    bq, bk, bv = at("biases", (q.bq, q.bk, q.bv), q)
    of_q, of_k, of_v = at("sources", (q.x, q.memory, q.memory), q)
    inner = SimpleNamespace(
        q=heads_of(of_q, wq, bq, q.H), k=heads_of(of_k, wk, bk, q.K), v=heads_of(of_v, wv, bv, q.K),
        B=1, H=q.H, K=q.K, S=q.S, T=q.T, D=q.D, E=q.D, scale=q.scale, soft_cap=q.soft_cap,
        key_length=q.key_length, mask="none", query_offset=None, align="top_left", window=None,
        chunk=None, seen={})
    mean = plain.attention(at("inner", inner, q), at)["y"][0].swapaxes(0, 1).reshape(q.S, -1)
    return {"y": at("answer", at("mean", mean, q) @ at("wo", q.wo, q).T + at("bo", q.bo, q), q)}


def attention_merge(q, at):
    first, second = at("logarithms", (q.lse1, q.lse2), q)
    largest = at("largest", np.maximum(first, second), q)
    a, b = at("weights", (np.exp(first - largest), np.exp(second - largest)), q)
    total = at("sum", a + b, q)
    y = at("output", (a[:, None] * q.y1 + b[:, None] * q.y2) / total[:, None], q)
    return {"y": y, "lse": at("lse", largest + np.log(total), q)}
