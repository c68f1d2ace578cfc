"""Norms, activations, gates, linear layers. Formulas: Zhang and Sennrich 2019 (1910.07467), eq. 4;
Ba et al. 2016 (1607.06450); Shazeer 2020 (2002.05202); Hendrycks and Gimpel 2016 (1606.08415)."""

import math

import numpy as np

from stages import EXACT

PI = EXACT("3.14159265358979323846264338327950288")
ERF = np.vectorize(math.erf, otypes=[np.float64])
ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def add(terms):
    return terms.sum(-1, keepdims=True)


def rms_norm(q, at, x=None):
    x = at("input", q.x if x is None else x, q)
    x = x - at("mean", EXACT(0), q)
    total = at("total", at("add", add, q)(at("square", x * x, q)), q)
    mean_square = at("mean_square", total / at("count", EXACT(q.M), q), q)
    root = at("root", np.sqrt(at("eps_added", mean_square + EXACT(q.eps), q)), q)
    weight = at("weight", q.weight + EXACT(q.unit_offset), q)
    return {"y": at("output", at("scaled", x / root, q) * weight, q)}


def add_rms_norm(q, at):
    total = at("residual", q.x + q.residual, q)
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}.get(q.dtype)
    total = total.astype(dtype).astype(EXACT) if dtype else bf16(total)
    return {**rms_norm(q, at, at("normed", total, q)), "sum": total}


def bf16(values):
    from stages import to_format

    return to_format(values, "bf16").astype(EXACT)


def layer_norm(q, at):
    x = at("input", q.x, q)
    sum_ = at("add", add, q)
    mean = at("mean", sum_(x) / q.M, q)
    centered = at("centered", x - mean, q)
    variance = at("variance", sum_(centered * centered) / at("count", EXACT(q.M), q), q)
    root = at("root", np.sqrt(at("eps_added", variance + EXACT(q.eps), q)), q)
    scaled = at("scaled", centered / root, q) * at("weight", q.weight, q)
    return {"y": at("output", scaled + at("bias", q.bias, q), q)}


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))),
                    1 / (1 + np.exp(-np.maximum(x, 0))))


def gelu(x):
    """erfc keeps the relative precision below 0; its error is that of f64."""
    return x * ERFC(-np.asarray(x / np.sqrt(EXACT(2)), np.float64)).astype(EXACT) / 2


def gelu_tanh(x, cubic=EXACT("0.044715"), root=np.sqrt(2 / PI)):
    """x times sigmoid of twice the argument: (1 + tanh(t)) / 2 without cancellation."""
    return x * sigmoid(2 * root * (x + cubic * x**3))


def function_of(kind, beta=1):
    kind = {"glu": "sigmoid", "geglu": "gelu", "geglu_tanh": "gelu_tanh", "reglu": "relu",
            "swiglu": "swish"}.get(kind, kind)
    return {"sigmoid": sigmoid, "swish": lambda x: x * sigmoid(EXACT(beta) * x), "gelu": gelu,
            "gelu_tanh": gelu_tanh, "relu": lambda x: np.maximum(x, 0),
            "relu2": lambda x: np.maximum(x, 0) ** 2, "tanh": np.tanh}[kind]


def activation(q, at):
    f = at("function", function_of(q.kind, q.beta), q)
    return {"y": at("output", f(at("input", q.x, q)), q)}


def gated(q, at):
    gate, up = at("halves", (q.gate, q.up), q)
    gate, up = at("limited", limited(gate, up, q.limit), q)
    up = at("up", up + q.plus_one, q)
    beta = q.beta if getattr(q, "alpha", None) is None else q.alpha
    activated = at("activated", at("function", function_of(q.kind, beta), q)(gate), q)
    return {"y": at("output", activated * up, q)}


def limited(gate, up, limit):
    if limit is None:
        return gate, up
    return np.minimum(gate, EXACT(limit)), np.clip(up, -EXACT(limit), EXACT(limit))


def linear(q, at):
    x, weight = at("operands", (q.x, q.weight), q)
    dot = at("dot", product, q)
    y = at("product", dot(x, weight), q)
    bias = at("bias", q.bias if hasattr(q, "bias") else EXACT(0), q)
    return {"y": at("output", y + bias, q)}


linear_bias = linear


def product(x, weight):
    return x @ weight.T


def feed_forward(q, at):
    dot = at("dot", product, q)
    gate, up = at("halves", (dot(q.x, q.gate), dot(q.x, q.up)), q)
    activated = at("activated", at("function", function_of(q.kind), q)(gate), q)
    hidden = at("hidden", activated * at("up", up, q), q)
    return {"y": at("output", dot(hidden, at("down", q.down, q)), q)}


def embedding(q, at):
    token = at("token", q.token, q)
    return {"y": at("output", at("table", q.table, q)[token] * at("scale", EXACT(q.scale), q), q)}
