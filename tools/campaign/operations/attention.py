"""Attention with its attributes, softmax, and the biases and factors that positions give to it.
Formulas: Vaswani et al. 2017 (1706.03762), eq. 1; sinks: openai/gpt-oss; ALiBi: Press, Smith and
Lewis 2021 (2108.12409), section 3; temperature: Llama 4; log n: Qwen-1."""

import numpy as np

from stages import EXACT

MASKED = EXACT(-np.inf)


def attention(q, at):
    heads = at("key_head", np.arange(q.H) // (q.H // q.K), q)
    keys, values = q.k[:, heads], q.v[:, at("value_head", heads, q)]
    scale = at("scale", EXACT(q.D) ** EXACT(-0.5) if q.scale is None else EXACT(q.scale), q)
    dot = at("dot", np.einsum("bhsd,bhtd->bhst", q.q, keys), q)
    bias = at("bias", getattr(q, "bias", EXACT(0)), q)
    inside, outside = (bias, EXACT(0)) if getattr(q, "scale_bias", False) else (EXACT(0), bias)
    score = at("score", (dot + inside) * scale, q)
    score = at("biased", at("capped", capped(score, q.soft_cap), q) + outside, q)
    visible = at("visible", visible_keys(q), q)
    score = at("masked", np.where(visible, score, MASKED), q)
    largest = at("largest", score.max(-1, keepdims=True), q)
    weight = at("exponential", np.exp(score - largest), q)
    total = at("sum", at("add", add, q)(weight), q) + at("sink", sink_of(q, largest), q)
    weight = at("weight", weight / total, q)
    y = at("weighed", np.einsum("bhst,bhte->bhse", weight, values), q)
    return {"y": at("output", np.where(np.isnan(y), EXACT(0), y), q)}


def add(terms):
    return terms.sum(-1, keepdims=True)


def capped(score, cap):
    return score if cap is None else EXACT(cap) * np.tanh(score / EXACT(cap))


def sink_of(q, largest):
    return np.exp(q.sink[None, :, None, None] - largest) if hasattr(q, "sink") else EXACT(0)


def visible_keys(q):
    """[B,1,S,T]: which keys a query sees."""
    length = per_batch(q.key_length, q, q.T)
    if q.query_offset is not None:
        start = per_batch(q.query_offset, q, 0)
    else:
        start = length - q.S if q.align == "bottom_right" else 0 * length
    i, t = start + np.arange(q.S)[:, None], np.arange(q.T)[None, None, None]
    visible = t < length
    if q.mask == "causal":
        visible = visible & (t <= i)
    if q.window is not None:
        left, right = q.window
        visible = visible & ((left < 0) | (t >= i - left)) & ((right < 0) | (t <= i + right))
    if q.chunk is not None:
        visible = visible & (i // q.chunk == t // q.chunk)
    return visible


def per_batch(numbers, q, default):
    """[B,1,1,1]"""
    numbers = [default] if numbers is None else numbers
    return np.broadcast_to(np.array(numbers), (q.B,)).reshape(-1, 1, 1, 1)


attention_sink = attention_bias = attention


def softmax(q, at):
    x = at("input", q.x, q)
    largest = at("largest", x.max(-1, keepdims=True), q)
    weight = at("exponential", np.exp(x - largest), q)
    total = at("sum", at("add", add, q)(weight), q)
    return {"y": at("output", weight / total, q)}


def soft_cap(q, at):
    cap = at("cap", EXACT(q.cap), q)
    return {"y": at("output", cap * at("tanh", np.tanh(at("ratio", q.x / cap, q)), q), q)}


def alibi(q, at):
    i, t = at("queries", q.query_position, q)[:, None], at("keys", q.key_position, q)[None]
    distance = {"distance": i - t, "key": -t + 0 * i, "symmetric": np.abs(i - t)}[q.form]
    distance = at("distance", distance.astype(EXACT), q)
    return {"bias": at("output", -at("slope", q.slope, q)[:, None, None] * distance, q)}


def alibi_slopes(q, at):
    n = at("powers", 1 << (q.H.bit_length() - 1), q)
    h = np.arange(q.H).astype(EXACT)
    exponent = np.where(h < n, (h + 1) / n, (2 * (h - n) + 1) / (2 * n))
    exponent = at("exponent", EXACT(q.max_bias) * exponent, q)
    return {"slope": at("output", at("root", EXACT(2), q) ** -exponent, q)}


def temperature_scale(q, at):
    p = at("position", q.position.astype(EXACT), q)
    block = at("block", np.floor((p + q.start) / EXACT(q.floor_scale)), q)
    factor = at("factor", 1 + EXACT(q.beta) * np.log(1 + block), q)
    return {"y": at("output", q.q * factor[:, None], q)}


def log_n_scale(q, at):
    p = at("position", q.position.astype(EXACT), q)
    trained = at("trained", EXACT(q.original_max_position_embeddings), q)
    ratio = np.log(np.maximum(p + 1, 1)) / np.log(trained)
    factor = at("factor", np.maximum(1, ratio), q)
    return {"y": at("output", q.q * factor[:, None], q)}
