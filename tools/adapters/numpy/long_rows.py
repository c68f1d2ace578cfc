"""Correct implementations in numpy of operations with long sums. They compute in f32 and round the
result to 16 bits if the case has such a dtype. The argument is the order of sums (summation.py):

    sextant check "softmax N=40 M=4096" --strict \\
        --subject "exec:/usr/bin/python3 tools/adapters/numpy/long_rows.py sequential"
"""

import inspect
import sys
from pathlib import Path

import numpy as np

from summation import ORDERS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import sextant_adapter as sextant  # noqa: E402  (found by the line above)

SUM = ORDERS[sys.argv[1] if len(sys.argv) > 1 else "sequential"]
F32 = np.float32
MOST_PRODUCTS = 1 << 24  # products in memory at a time
DEFAULTS = {
    "mask": "none", "align": "bottom_right", "empty_rows": "unspecified", "kind": "swiglu",
    "scaling": {"type": "none"}, "offset": 0, "direction": "forward", "placement": "pre", "beta": 1,
    "embedding_scale": 1, "scale_bias": False, "plus_one": False,
}


def refuse(name, value, read):
    """Raises Unsupported for a set attribute that the function does not read."""
    is_attribute = not isinstance(value, np.ndarray) and not name[0].isupper() and name != "dtype"
    if is_attribute and not read and value is not None and value != DEFAULTS.get(name):
        raise sextant.Unsupported(f"{name}={value}")


def as_f32(value):
    floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return value.astype(F32) if floats else value


def dots(a, b):
    """[..., n, m] and [..., f, m] -> [..., n, f]"""
    step = max(1, MOST_PRODUCTS // max(1, b.size))
    rows = [SUM(a[..., i : i + step, None, :] * b[..., None, :, :])
            for i in range(0, a.shape[-2], step)]
    return np.concatenate(rows, axis=-2)


def exponentials(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


def weights_of(scores):
    terms = exponentials(scores)
    return terms / SUM(terms)[..., None]


def log_of_sum(scores):
    return scores.max(axis=-1) + np.log(SUM(exponentials(scores)))


def normed(x, weight, eps, unit_offset=False):
    square = SUM(x * x) / F32(x.shape[-1])
    factor = F32(1) / np.sqrt(square + F32(eps))
    return x * factor[..., None] * (weight + F32(1) if unit_offset else weight)


def sigmoid(x):
    return F32(1) / (F32(1) + np.exp(-x))


def swish(x):
    return x * sigmoid(x)


# The operations; each takes and returns f32 arrays.


def softmax(x, **rest):
    return {"y": weights_of(x)}


def rms_norm(x, weight, eps, unit_offset, **rest):
    return {"y": normed(x, weight, eps, unit_offset)}


def add_rms_norm(x, residual, weight, eps, unit_offset, dtype, **rest):
    total = sextant.round_to(x.astype(np.float64) + residual, dtype).astype(F32)
    return {"sum": total, "y": normed(total, weight, eps, unit_offset)}


def layer_norm(x, weight, bias, eps, **rest):
    centered = x - (SUM(x) / F32(x.shape[-1]))[..., None]
    return {"y": normed(centered, weight, eps) + bias}


def linear(x, weight, **rest):
    return {"y": dots(x, weight)}


def linear_bias(x, weight, bias, **rest):
    return {"y": dots(x, weight) + bias}


def gated(gate, up, **rest):
    return {"y": swish(gate) * up}


def activation(x, kind, **rest):
    functions = {"sigmoid": sigmoid, "swish": swish, "tanh": np.tanh}
    if kind not in functions:
        raise sextant.Unsupported(f"kind={kind}")
    return {"y": functions[kind](x)}


def feed_forward(x, gate, up, down, **rest):
    return {"y": dots(swish(dots(x, gate)) * dots(x, up), down)}


def feed_forward_bias(x, gate, gate_bias, up, up_bias, down, down_bias, **rest):
    hidden = swish(dots(x, gate) + gate_bias) * (dots(x, up) + up_bias)
    return {"y": dots(hidden, down) + down_bias}


def scores_of(q, k, scale):
    """q [..., H, S, D], k [..., K, T, D]: query head h reads key head h // (H / K)."""
    k = np.repeat(k, q.shape[-3] // k.shape[-3], axis=-3)
    return dots(q, k) * F32(q.shape[-1] ** -0.5 if scale is None else scale)


def masked(scores, mask):
    if mask != "causal":
        return scores
    S, T = scores.shape[-2:]
    seen = np.arange(T)[None, :] <= np.arange(S)[:, None] + (T - S)
    return np.where(seen, scores, F32(-np.inf))


def means(weights, v):
    v = np.repeat(v, weights.shape[-3] // v.shape[-3], axis=-3)
    return dots(weights, np.swapaxes(v, -1, -2))


def attention(q, k, v, scale, mask, bias=F32(0), **rest):
    scores = masked(scores_of(q, k, scale) + bias, mask)
    return {"y": means(weights_of(scores), v), "lse": log_of_sum(scores)}


def attention_sink(q, k, v, sink, scale, mask, **rest):
    scores = masked(scores_of(q, k, scale), mask)
    sinks = np.broadcast_to(sink[:, None, None], scores.shape[:-1] + (1,))
    weights = weights_of(np.concatenate([scores, sinks], axis=-1))[..., :-1]
    return {"y": means(weights, v), "lse": log_of_sum(scores)}


def attention_scores(q, k, scale, **rest):
    return {"scores": scores_of(q, k, scale)}


def relative_attention(q, k, v, key_table, value_table, query_position, key_position, clip, scale,
                       **rest):
    row = np.clip(key_position[None, :] - query_position[:, None], -clip, clip) + clip
    by_table = dots(q, np.broadcast_to(key_table, q.shape[:-2] + key_table.shape))
    by_table = np.take_along_axis(by_table, np.broadcast_to(row, q.shape[:-1] + row.shape[1:]), -1)
    scores = (dots(q, k) + by_table) * F32(q.shape[-1] ** -0.5 if scale is None else scale)
    weights = weights_of(scores)
    y = means(weights, v)
    for s in range(row.shape[0]):  # query s reads one row of the table per key
        y[..., s, :] += SUM(np.swapaxes(value_table[row[s]], 0, 1) * weights[..., s, None, :])
    return {"y": y}


def rotated(x, position, base):
    """Rotates x [heads, S, D]; the pairs are (i, i + D/2)."""
    half = x.shape[-1] // 2
    frequency = F32(base) ** (np.arange(half, dtype=F32) * F32(-2 / x.shape[-1]))
    angle = position.astype(F32)[:, None] * frequency
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def heads_of(x, count):
    return np.swapaxes(x.reshape(x.shape[0], count, -1), 0, 1)


def block(x, position, w, H, K, base, eps, unit_offset):
    read = normed(x, w["attn_norm"], eps, unit_offset)
    q, k, v = (heads_of(dots(read, w[name]), n) for name, n in (("wq", H), ("wk", K), ("wv", K)))
    q, k = rotated(q, position, base), rotated(k, position, base)
    mean = attention(q, k, v, None, "causal")["y"]
    middle = x + dots(np.swapaxes(mean, 0, 1).reshape(x.shape[0], -1), w["wo"])
    read = normed(middle, w["mlp_norm"], eps, unit_offset)
    return middle + feed_forward(read, w["gate"], w["up"], w["down"])["y"]


def weights_in(rest):
    return {name: rest.pop(name) for name in list(rest) if isinstance(rest[name], np.ndarray)}


def decoder_block(x, position, H, K, R, D, base, eps, unit_offset, pairing, mask, **rest):
    w = weights_in(rest)
    if (pairing, mask, R) != ("half", "causal", D):
        raise sextant.Unsupported("supports only pairing=half, R=D and mask=causal")
    return {"y": block(x, position, w, H, K, base, eps, unit_offset)}


def decoder(token, position, table, H, K, R, D, base, eps, unit_offset, pairing, mask, **rest):
    w = weights_in(rest)
    if (pairing, mask, R) != ("half", "causal", D):
        raise sextant.Unsupported("supports only pairing=half, R=D and mask=causal")
    last_norm, head = w.pop("last_norm"), w.pop("head")
    state = table[token]
    for layer in range(len(w["wq"])):
        own = {name: stacked[layer] for name, stacked in w.items()}
        state = block(state, position, own, H, K, base, eps, unit_offset)
    return {"logits": dots(normed(state, last_norm, eps, unit_offset), head)}


def in_f32(operation):
    """The operation with inputs converted to f32 and outputs rounded to the expected dtypes."""
    read = inspect.signature(operation).parameters

    def answer(case, **given):
        for name, value in given.items():
            refuse(name, value, name in read)
        given = {name: as_f32(value) for name, value in given.items()}
        return {name: sextant.round_to(value, case.outputs[name]["dtype"].lower())
                for name, value in operation(**given).items()}

    return answer


if __name__ == "__main__":
    operations = (softmax, rms_norm, add_rms_norm, layer_norm, linear, linear_bias, gated,
                  activation, feed_forward, feed_forward_bias, attention, attention_sink,
                  attention_scores, relative_attention, decoder_block, decoder)
    served = {operation.__name__: in_f32(operation) for operation in operations}
    served["attention_bias"] = served["attention"]
    sextant.serve(served, name="long_rows", version="1", recipe="native")
