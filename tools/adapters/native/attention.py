"""Attention with its attributes, softmax, relative positions, another sequence, two parts merged.
Formulas: Vaswani et al. 2017 (1706.03762), eq. 1 and section 3.2.2; sinks: openai/gpt-oss; Shaw et
al. 2018 (1803.02155), eq. 3 and 4; Milakov and Gimelshein 2018 (1805.02867), section 3.1."""

from types import SimpleNamespace

import numpy as np

from layer import of_shape, quantized
from rope import rotate
from steps import EXACT, with_words


def attention(q, at):
    heads = at("key_head", np.arange(q.H) // (q.H // q.K), q)
    queries = scaled_by(q, q.q, "q_scale", np.arange(q.H) // (q.H // q.K))
    k, v = (scaled_by(q, x, name, np.arange(q.K)) for x, name in ((q.k, "k_scale"), (q.v, "v_scale")))
    keys, values = k[:, heads], v[:, at("value_head", heads, q)]
    scale = at("scale", scale_of(q, at), q)
    dot = at("dot", at.T(at.dot(queries, keys)), q)
    bias, place = at("bias", getattr(q, "bias", at.real(0)), q), getattr(q, "add_bias", None)
    zero = at.real(0)
    added = {"before_scale": zero, "before_cap": zero, None: zero, place: bias}
    score = at.T(at.T(dot + added["before_scale"]) * scale)
    score = at("score", at.T(score + added["before_cap"]), q)
    score = at("biased", at.T(at("capped", capped(score, q.soft_cap, at), q) + added[None]), q)
    visible = at("visible", visible_keys(q), q)
    score = at("masked", np.where(visible, score, at.real(-np.inf)), q)
    largest = at("largest", score.max(-1, keepdims=True, initial=-np.inf), q)
    weight = at("exponential", np.exp(score - largest), q)
    total = at("sum", at("add", at.sum, q)(weight), q)
    lse = np.where(np.isneginf(largest), largest, largest + np.log(total))[..., 0]
    total = total + at("sink", sink_of(q, largest), q)
    weight = at("weight", at.T((weight / total).astype(at.real)), q)
    y = at("weighed", at.T(weighed(weight, values, visible, at)), q)
    return {"y": at("output", np.where(np.isneginf(largest), at.real(0), y), q), "lse": lse}


def scaled_by(q, x, name, key_head):
    """x[B,heads,rows,width] by a scale[B,K], which a case may lack."""
    scale = getattr(q, name, None)
    return x if scale is None else x * scale[:, key_head, None, None]


def scale_of(q, at):
    return at.real(q.D) ** at.real(-0.5) if q.scale is None else at.real(q.scale)


def capped(score, cap, at):
    return score if cap is None else at.T(at.real(cap) * np.tanh(score / at.real(cap)))


def sink_of(q, largest):
    """A sink far above the largest score exceeds f32."""
    sink = getattr(q, "sink", None)
    return 0 if sink is None else np.exp(sink.astype(EXACT)[None, :, None, None] - largest)


def weighed(weight, values, visible, at):
    """Values of keys that a query does not see are not read: they may be NaN."""
    values = values.swapaxes(-1, -2)
    if np.isfinite(values).all():
        return at.dot(weight, values)
    terms = weight[..., None, :] * values[..., None, :, :]
    return at.sum(np.where(visible[..., None, :], terms, 0))[..., 0]


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
    if q.segments is not None:
        ends = np.cumsum(q.segments)
        segment_of_i, segment_of_t = ((n[..., None] >= ends).sum(-1) for n in (i, t))
        visible = visible & (segment_of_i == segment_of_t) & (0 <= i) & (i < q.T)
    return visible


def per_batch(numbers, q, default):
    """[B,1,1,1]"""
    numbers = [default] if numbers is None else numbers
    return np.broadcast_to(np.array(numbers), (q.B,)).reshape(-1, 1, 1, 1)


def rope_attention(q, at):
    turned_q = rotate(q.q, q.position_q[:, None, :, None], q, at)
    turned_k = rotate(q.k, q.position_k[:, None, :, None], q, at)
    return attention(with_words(q, q=turned_q, k=turned_k), at)


def softmax(q, at):
    x = at("input", q.x, q)
    largest = at("largest", x.max(-1, keepdims=True, initial=-np.inf), q)
    weight = at("exponential", np.exp(x - largest), q)
    total = at("sum", at("add", at.sum, q)(weight), q)
    return {"y": at("output", at.T(weight / total), q)}


def soft_cap(q, at):
    cap = at("cap", at.real(q.cap), q)
    return {"y": at("output", at.T(cap * at("tanh", np.tanh(at("ratio", q.x / cap, q)), q)), q)}


def attention_scores(q, at):
    keys = q.k[:, at("key_head", np.arange(q.H) // (q.H // q.K), q)]
    a, b = at("operands", (q.q, keys), q)
    scores = at.T(at.dot(a, b)) * at("scale", scale_of(q, at), q)
    return {"scores": at("output", at.T(scores), q)}


def relative_attention(q, at):
    """`relative` and `added` have one key or value per pair of a query and a key."""
    distance = at("distance", q.key_position[None] - q.query_position[:, None], q)
    row = at("row", np.clip(distance, -q.clip, q.clip) + q.clip, q)
    key_table = at("key_table", q.key_table, q)[row]
    value_table = at("value_table", q.value_table, q)[row].swapaxes(-1, -2)
    content = at("content", at.T(at.dot(q.q, q.k)), q)
    relative = at("relative", at.T(at.dot(q.q[..., None, :], key_table)[..., 0, :]), q)
    score = at.T(content + relative) * at("scale", scale_of(q, at), q)
    score = at("score", at.T(score), q)
    weight = np.exp(score - score.max(-1, keepdims=True))
    weight = at("weight", at.T(weight / at.sum(weight)), q)
    read = at("read", at.T(at.dot(weight, q.v.swapaxes(-1, -2))), q)
    added = at("added", at.T(at.dot(weight[..., None, :], value_table)[..., 0, :]), q)
    return {"y": at("output", at.T(read + added), q), "scores": score}


def heads_of(x, count):
    """[rows,count*D] -> [1,count,rows,D]"""
    return x.reshape(len(x), count, x.shape[-1] // count).swapaxes(0, 1)[None]


def joined(x):
    """[1,heads,rows,D] -> [rows,heads*D]"""
    return x[0].swapaxes(0, 1).reshape(x.shape[2], x.shape[1] * x.shape[3])


def cross_attention(q, at):
    weights = at("weights", (q.wq, q.wk, q.wv), q)
    biases = at("biases", (q.bq, q.bk, q.bv), q)
    sources = at("sources", (q.x, q.memory, q.memory), q)
    rows = [at.T(at.dot(x, w) + b) for x, w, b in zip(sources, weights, biases)]
    queries, keys, values = (heads_of(x, n) for x, n in zip(rows, (q.H, q.K, q.K)))
    inner = SimpleNamespace(
        q=queries, k=keys, v=values, B=1, H=q.H, K=q.K, S=q.S, T=q.T, D=q.D, E=q.D, scale=q.scale,
        soft_cap=q.soft_cap, mask=getattr(q, "mask", "none"), align="top_left", query_offset=None,
        window=None, chunk=None, key_length=q.key_length, segments=None, seen={})
    mean = at("mean", joined(attention(at("inner", inner, q), at)["y"]), q)
    y = at.T(at.dot(mean, at("wo", q.wo, q)) + at("bo", q.bo, q))
    return {"y": at("answer", y, q), "q": queries[0], "k": keys[0], "v": values[0], "mean": mean}


def attention_merge(q, at):
    first, second = at("logarithms", (q.lse1, q.lse2), q)
    largest = at("largest", np.maximum(first, second), q)
    a, b = at("weights", tuple(np.where(np.isneginf(lse), 0, np.exp(lse - largest))
                               for lse in (first, second)), q)
    total = at("sum", a + b, q)
    parts = (np.where(weight[:, None] == 0, 0, at.T(weight / total)[:, None] * y)
             for weight, y in ((a, q.y1), (b, q.y2)))
    lse = np.where(np.isinf(largest), largest, largest + np.log(total))
    return {"y": at("output", at.T(sum(parts)), q), "lse": at("lse", lse, q)}


def rope_quantize(q, at):
    y = at.T(rotate(q.x, q.position[:, None, :, None], q, at)).reshape(-1, 1, 1, q.D)
    return of_shape(quantized(y, q, at, q.codes_limit), q.x.shape)
