"""Norms, activations, gates, linear layers. Formulas: Zhang and Sennrich 2019 (1910.07467), eq. 4;
Ba et al. 2016 (1607.06450); Shazeer 2020 (2002.05202); Hendrycks and Gimpel 2016 (1606.08415)."""

import math

import numpy as np

from steps import EXACT, sextant, to_format, with_words

PI = EXACT("3.14159265358979323846264338327950288")
ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def rms_norm(q, at, x=None):
    x = at("input", q.x if x is None else x, q)
    x = x - at("mean", at.real(0), q)
    total = at("total", at("add", at.sum, q)(at("square", x * x, q)), q)
    mean_square = at("mean_square", total / at("count", at.real(q.M), q), q)
    root = at("root", np.sqrt(at("eps_added", mean_square + at.real(q.eps), q)), q)
    weight = at("weight", at.T(q.weight + at.real(q.unit_offset)), q)
    return {"y": at("output", at.T(at("scaled", at.T(x / root), q) * weight), q)}


def add_rms_norm(q, at):
    """The sum is an output, so that y is the norm of what is stored."""
    total = to_format(at("residual", q.x + q.residual, q), q.dtype).astype(at.real)
    return {**rms_norm(q, at, at("normed", total, q)), "sum": total}


def layer_norm(q, at):
    x = at("input", q.x, q)
    sum_ = at("add", at.sum, q)
    mean = at("mean", sum_(x) / at.real(q.M), q)
    centered = at("centered", x - mean, q)
    variance = at("variance", sum_(centered * centered) / at("count", at.real(q.M), q), q)
    root = at("root", np.sqrt(at("eps_added", variance + at.real(q.eps), q)), q)
    scaled = at("scaled", at.T(centered / root), q) * at("weight", at.T(q.weight), q)
    return {"y": at("output", at.T(at.T(scaled) + at("bias", q.bias, q)), q)}


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))),
                    1 / (1 + np.exp(-np.maximum(x, 0))))


def gelu(x):
    """erfc keeps the relative precision below 0; its error is that of f64."""
    root = np.sqrt(x.dtype.type(2))
    return x * ERFC(-np.asarray(x / root, np.float64)).astype(x.dtype) / 2


def gelu_tanh(x, cubic=EXACT("0.044715"), root=np.sqrt(2 / PI)):
    """x times sigmoid of twice the argument: (1 + tanh(t)) / 2 without cancellation."""
    real = x.dtype.type
    return x * sigmoid(2 * real(root) * (x + real(cubic) * x**3))


def function_of(kind, beta=1):
    kind = {"glu": "sigmoid", "geglu": "gelu", "geglu_tanh": "gelu_tanh", "reglu": "relu",
            "swiglu": "swish"}.get(kind, kind)
    return {"sigmoid": sigmoid, "swish": lambda x: x * sigmoid(x.dtype.type(beta) * x),
            "gelu": gelu, "gelu_tanh": gelu_tanh, "relu": lambda x: np.maximum(x, 0),
            "relu2": lambda x: np.maximum(x, 0) ** 2, "tanh": np.tanh}[kind]


def activation(q, at):
    f = at("function", function_of(q.kind, q.beta), q)
    return {"y": at("output", at.T(f(at("input", q.x, q))), q)}


def gated(q, at):
    gate, up = at("halves", (q.gate, q.up), q)
    gate, up = at("limited", limited(gate, up, q.limit, at), q)
    up = at("up", at.T(up + at.real(q.plus_one)), q)
    beta = q.beta if getattr(q, "alpha", None) is None else q.alpha
    activated = at("activated", at.T(at("function", function_of(q.kind, beta), q)(gate)), q)
    return {"y": at("output", at.T(activated * up), q)}


def limited(gate, up, limit, at):
    if limit is None:
        return gate, up
    limit = at.T(at.real(limit))
    return np.minimum(gate, limit), np.clip(up, -limit, limit)


def linear(q, at):
    x, weight = at("operands", (q.x, q.weight), q)
    dot = at("dot", at.dot, q)
    y = at("product", dot(x, weight), q)
    bias = at("bias", getattr(q, "bias", at.real(0)), q)
    return {"y": at("output", at.T(y + bias), q)}


def linear_scaled(q, at):
    """x[N,B,G,M], weight[F,A,G,M]: the sums of blocks, each by both scales."""
    x, weight = from_zero(q.x, q, "x_zero", at), from_zero(q.weight, q, "weight_zero", at)
    x, weight = at("operands", (x, weight), q)
    (N, B, G, M), (F, A) = x.shape, weight.shape[:2]
    dot = at("dot", at.dot, q)
    x_scale = getattr(q, "x_scale", np.ones((N, G), dtype=at.real))
    total = np.zeros((N, B, F, A), dtype=at.real)
    for g in range(G):
        block = dot(x[:, :, g].reshape(N * B, M), weight[:, :, g].reshape(F * A, M))
        factor = x_scale[:, g, None] * q.weight_scale[None, :, g]
        total = total + block.reshape(N, B, F, A) * factor[:, None, :, None]
    y = at("product", total, q)
    bias = at("bias", getattr(q, "bias", at.real(0)), q)
    return {"y": at("output", at.T(y + bias), q)}


def feed_forward(q, at):
    dot = at("dot", at.dot, q)

    def layer(x, weight, bias):
        return at.T(dot(x, weight) + getattr(q, bias, at.real(0)))

    gate, up = at("halves", (layer(q.x, q.gate, "gate_bias"), layer(q.x, q.up, "up_bias")), q)
    activated = at("activated", at.T(at("function", function_of(q.kind), q)(gate)), q)
    hidden = at("hidden", at.T(activated * at("up", up, q)), q)
    y = layer(hidden, at("down", q.down, q), "down_bias")
    return {"y": at("output", y, q), "hidden": hidden}


def cast(q, at):
    """By integers: a significand of 53 bits, of which the last ones are cut off."""
    dtype = q.words["dtype.y"]
    about = sextant._TYPES[dtype]
    precision, least, largest = about.precision, about.min_exponent, about.largest
    if not precision:
        numpy_has = np.finfo(about.stored)
        precision, least, largest = numpy_has.nmant + 1, numpy_has.minexp, numpy_has.max
    x = at("input", q.x, q).astype(np.float64)
    fraction, exponent = np.frexp(np.where(np.isfinite(x), np.abs(x), 0.0))
    significand, exponent = np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53
    unit = np.maximum(exponent + 53 - precision, least - precision + 1)
    cut = np.clip(unit - exponent, 0, 60)
    kept, rest = significand >> cut, significand & ((1 << cut) - 1)
    half = (1 << cut) >> 1
    kept += (rest > half) | ((rest == half) & (cut > 0) & (kept & 1 == 1))
    y = np.ldexp(kept.astype(np.float64), exponent + cut)
    beyond = {"saturate": largest, "inf": np.inf, "nan": np.nan}[q.overflow]
    y = np.where(np.isinf(x) | (y > largest), beyond, y)
    has_minus_zero = not dtype.endswith("uz")
    signed = np.signbit(x) & (has_minus_zero | (y != 0))
    return {"y": at("output", np.where(np.isnan(x), np.nan, np.where(signed, -y, y)), q)}


def quantize(q, at):
    return quantized(q.x, q, at, q.limit, q.ties, q.codes_by)


def quantized(x, q, at, limit=None, ties="even", codes_by="stored"):
    """x[n,a,g,m] in blocks of a and m. Codes are rounded, to nearest and even, as they are stored."""
    about = sextant._TYPES[q.words.get("dtype.codes", "f8_e4m3fn")]
    limit = at.real(limit or about.largest)
    x = at("quantized", x, q)
    largest = at("largest", np.abs(x).max((1, 3), keepdims=True, initial=0), q)
    largest = np.maximum(largest, at.real(q.least))
    type_of_scale = q.words.get("dtype.scale", "f64" if q.dtype == "f64" else "f32")
    tensor_scale = getattr(q, "tensor_scale", at.real(1))
    scale = scale_of(q.scale_rule, largest, limit, about.precision, type_of_scale)
    scale = scale if q.scale_rule == "one" else scale / tensor_scale
    if type_of_scale == "f8_e4m3fn":
        scale = np.minimum(scale, at.real(448))
    scale = at("scale", scale, q)
    stored = to_format(scale, type_of_scale).astype(at.real)
    with np.errstate(invalid="ignore", divide="ignore"):  # x / 0
        by = (scale if codes_by == "unrounded" else stored) * tensor_scale
        scaled = at("scaled", x / by, q)
    codes = np.clip(np.nan_to_num(scaled), -limit, min(limit, at.real(about.largest)))
    codes = half_away(codes, about) if ties == "away" else codes
    return {"scale": stored[:, 0, :, 0], "codes": at("codes", codes, q)}


def rms_norm_quantize(q, at):
    """y is stored before it is quantized, and so is the sum with a residual."""
    x = at.T(q.x + getattr(q, "residual", at.real(0))).reshape(q.N, q.G * q.M)
    row = with_words(q, M=q.G * q.M, weight=q.weight.reshape(-1))
    y = rms_norm(row, at, x)["y"].reshape(q.N, 1, q.G, q.M)
    return of_shape(quantized(y, q, at, q.codes_limit), q.x.shape)


def gated_quantize(q, at):
    y = gated(q, at)["y"].reshape(q.N, 1, q.G, q.M)
    return of_shape(quantized(y, q, at, q.codes_limit), q.gate.shape)


def of_shape(answer, shape):
    return {"scale": answer["scale"].reshape(shape[:-1]), "codes": answer["codes"].reshape(shape)}


def scale_of(rule, largest, limit, precision, dtype):
    """The exponents of numbers f 2^e have 1/2 <= f < 1 in numpy."""
    if rule == "one":
        return np.ones_like(largest)
    if rule == "quotient":
        return largest / limit
    fraction, exponent = np.frexp(largest.astype(np.float64))
    limit_fraction, limit_exponent = np.frexp(np.float64(limit))
    if rule == "up":
        exponent = exponent - limit_exponent + (fraction > limit_fraction)
    else:
        if rule == "even":  # the carry of 1.11..1 to 2 needs half a last place
            exponent = exponent + (fraction >= 1 - 2.0 ** (-precision - 1))
        exponent = exponent - limit_exponent
    power = np.ldexp(1.0, exponent)
    if dtype == "e8m0":
        return np.clip(np.where(largest > 0, power, 0), 2.0**-127, 2.0**127).astype(largest.dtype)
    return np.where(largest > 0, power, 0).astype(largest.dtype)


def half_away(x, about):
    """x to nearest, ties away from 0, in the type of codes."""
    exponent = np.maximum(np.frexp(x.astype(np.float64))[1] - 1, about.min_exponent)
    unit = np.ldexp(1.0, exponent - about.precision + 1)
    whole = np.trunc(x / unit)
    return ((whole + np.sign(x) * (np.abs(x / unit - whole) >= 0.5)) * unit).astype(x.dtype)


def from_zero(codes, q, name, at):
    """Codes [N,A,G,M] less the zero points [N,G] of their blocks."""
    zero = getattr(q, name, np.zeros((1, 1)))
    return codes.astype(at.real) - zero[:, None, :, None].astype(at.real)


def dequantize(q, at):
    codes, scale = at("operands", (from_zero(q.codes, q, "zero", at), q.scale), q)
    scale = scale * getattr(q, "tensor_scale", at.real(1))
    return {"y": at("output", codes * scale[:, None, :, None], q)}


def embedding(q, at):
    token = at("token", q.token, q)
    table = at("table", q.table, q)
    return {"y": at("output", at.T(table[token] * at("scale", at.real(q.scale), q)), q)}
