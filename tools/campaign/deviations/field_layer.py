"""Bugs of the kinds that are reported of kernels and ports, in no list of the program: norms,
activations, layers, biases of positions, and single elements of any operation."""

import numpy as np

from deviation import Table
from stages import EXACT, layer

TABLE = Table()


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


# Norms.
NORMS = "rms_norm layer_norm add_rms_norm"
WIDTHS = "rows rows_bf16 rows_f64 small shifted wide"


def variance(q):
    return q.seen["mean_square" if "mean_square" in q.seen else "variance"]


def values(q):
    return q.seen["centered"] if "centered" in q.seen else q.seen.get("normed", q.x)


for name, stage, kind, change, cases, figures in (
    ("eps_by_largest", "eps_added", "eps_place",
     lambda v, q: variance(q) + EXACT(q.eps) * (values(q) ** 2).max(-1, keepdims=True),
     "small small_bf16 rows_f64", {}),
    ("fourth_root", "root", "root", lambda r, q: np.sqrt(r), WIDTHS, {}),
    ("first_half_only", "output", "columns_of_sum",
     lambda y, q: np.where(np.arange(q.M) < q.M // 2, y, q.x), WIDTHS,
     {"words": "column|M "}),
    ("first_half_with_weight", "weight", "weight",
     lambda w, q: np.where(np.arange(q.M) < q.M // 2, w, 1), WIDTHS, {}),
    ("weight_tail_of_start", "weight", "weight",
     lambda w, q: np.append(w[:-16], w[:16]), WIDTHS, {}),
    ("weight_of_row", "weight", "weight",
     lambda w, q: np.resize(w, (q.N, q.M)) if q.N * q.M % q.M else
     np.stack([np.roll(w, -n) for n in range(q.N)]), WIDTHS, {}),
    ("with_next_rows_start", "root", "columns_of_sum",
     lambda r, q: np.sqrt((np.concatenate((values(q), np.roll(values(q), -1, 0)[:, :16]), -1)
                           ** 2).sum(-1, keepdims=True) / q.M + EXACT(q.eps)), WIDTHS,
     {"words": "row|column|16"}),
    ("first_column_raw", "output", "elements",
     lambda y, q: np.where((np.arange(q.M) == 0) & (np.arange(q.N) > 0)[:, None], q.x, y), WIDTHS,
     {}),
    ("first_column_of_row_before", "output", "elements",
     lambda y, q: np.where(np.arange(q.M) == 0, np.roll(y, 1, 0), y), WIDTHS, {}),
    ("largest_absolute_for_root", "root", "root",
     lambda r, q: np.abs(values(q)).max(-1, keepdims=True), WIDTHS,
     {"words": "largest|max|absolute|divisor"}),
    ("mean_absolute_for_root", "root", "root",
     lambda r, q: np.abs(values(q)).mean(-1, keepdims=True), WIDTHS,
     {"words": "absolute|divisor|mean"}),
):
    one(NORMS, stage, name, kind, change, cases, **figures)
one("add_rms_norm", "residual", "residual_of_row_before", "residual",
    lambda t, q: q.x + np.roll(q.residual, 1, 0), "rows rows_bf16")
one("add_rms_norm", "residual", "residual_subtracted", "residual",
    lambda t, q: q.x - q.residual, "rows rows_bf16")
one("add_rms_norm", "output", "residual_after_norm", "residual",
    lambda y, q: (q.x / np.sqrt((q.x ** 2).mean(-1, keepdims=True) + EXACT(q.eps))) * q.weight
    + q.residual, "rows rows_bf16")
one("layer_norm", "bias", "bias_in_first_half", "bias",
    lambda b, q: np.where(np.arange(q.M) < q.M // 2, b, 0), WIDTHS)

# Activations and gates.
GELUS = "gelu gelu_bf16 geglu"
SWISH = "swish swish_bf16 swish_f64 swiglu swiglu_bf16"
PAIR = "activation gated"
for name, function, cases, figures in (
    ("erf_of_x", lambda x: layer.gelu(x * np.sqrt(EXACT(2))) / np.sqrt(EXACT(2)), GELUS,
     {"words": "erf|gelu|argument|times"}),
    ("gelu_not_halved", lambda x: 2 * layer.gelu(x), GELUS, {"words": "2 |twice|half|factor"}),
    ("square_before_relu", lambda x: x * x, "relu2", {"words": "x.2|squar|relu2|negative"}),
    ("silu_of_absolute", lambda x: np.abs(x) * layer.sigmoid(np.abs(x)), SWISH,
     {"words": "abs|sign|\\|x\\|"}),
    ("tanh_of_x", lambda x: x * (1 + np.tanh(x)) / 2, "gelu_tanh gelu geglu_tanh",
     {"words": "tanh|swish|beta|sigmoid"}),
    ("cubic_missing", lambda x: layer.gelu_tanh(x, EXACT(0)), "gelu_tanh geglu_tanh gelu_tanh_f16",
     {"words": "cubic|0.044715|beta|swish"}),
    ("swish_of_negative_zero", lambda x: np.where(x < 0, 0, x * layer.sigmoid(x)), SWISH,
     {"words": "x < 0|negative|min|below|relu|half"}),
    ("sigmoid_clamped", lambda x: x * np.clip(layer.sigmoid(x), EXACT("0.1"), EXACT("0.9")), SWISH,
     {"words": "clip|clamp|0.1|0.9"}),
    ("tabulated", lambda x: np.round(x * 8) / 8 * layer.sigmoid(np.round(x * 8) / 8), SWISH,
     {"words": "table|step|round|0.125|1/8"}),
):
    one(PAIR, "function", name, "function", lambda f, q, g=function: g, cases, **figures)
GATES = "swiglu swiglu_bf16 geglu glu reglu"
for name, stage, kind, change, figures in (
    ("blocks_of_8", "halves", "halves",
     lambda h, q: tuple(np.concatenate(h, -1).reshape(q.N, -1, 2, 8)[:, :, i].reshape(q.N, -1)
                        for i in (0, 1)), {"words": "block|8|half|halves"}),
    ("up_of_row_before", "halves", "halves", lambda h, q: (h[0], np.roll(h[1], 1, 0)), {}),
    ("gate_of_next_column", "halves", "halves", lambda h, q: (np.roll(h[0], -1, -1), h[1]), {}),
    ("up_absolute", "up", "product", lambda u, q: np.abs(u), {"words": "abs|up"}),
    ("up_plus_half", "up", "plus", lambda u, q: u + EXACT("0.5"), {"words": "plus|0.5"}),
    ("gate_not_multiplied", "output", "product", lambda y, q: q.seen["up"] + 0 * y, {}),
    ("squared_gate", "activated", "function", lambda a, q: a * a, {"words": "squar|twice|\\^2"}),
):
    one("gated", stage, name, kind, change, GATES, **figures)
one("gated", "output", "limited_after_product", "limit",
    lambda y, q: np.clip(layer.function_of(q.kind, q.alpha)(q.gate) * (q.up + 1), -7, 7),
    "oss oss_bf16")

# Linear layers, embeddings.
BIASED = "bias bias_bf16 bias_f16"
COLUMNS = f"narrow square wide wide_bf16 {BIASED}"
for name, stage, kind, change, figures in (
    ("upper_half_lost", "operands", "columns",
     lambda o, q: (np.where(np.arange(q.M) < q.M // 2, o[0], 0), o[1]), {}),
    ("group_scale_of_16", "operands", "columns",
     lambda o, q: (np.where(np.arange(q.M) // 8 % 2 == 1, o[0] * EXACT("1.5"), o[0]), o[1]), {}),
    ("columns_in_pairs_exchanged", "operands", "columns",
     lambda o, q: (o[0].reshape(q.N, -1, 2)[:, :, ::-1].reshape(q.N, -1), o[1]), {}),
    ("interleaved_columns", "operands", "columns",
     lambda o, q: (np.concatenate((o[0][:, ::2], o[0][:, 1::2]), -1), o[1]), {}),
    ("row_of_next_token", "operands", "rows_moved", lambda o, q: (np.roll(o[0], -1, 0), o[1]), {}),
    ("outputs_in_pairs_exchanged", "output", "order",
     lambda y, q: y.reshape(q.N, -1, 2)[:, :, ::-1].reshape(q.N, -1), {}),
    ("outputs_interleaved", "output", "order",
     lambda y, q: np.concatenate((y[:, ::2], y[:, 1::2]), -1), {}),
    ("split_k_not_added", "operands", "columns",
     lambda o, q: (np.where(np.arange(q.M) >= q.M // 2, o[0], 0), o[1]), {}),
    ("last_tile_of_8_twice", "operands", "columns",
     lambda o, q: (np.where(np.arange(q.M) >= q.M - 8, 2 * o[0], o[0]), o[1]), {}),
    ("relu_fused", "output", "function", lambda y, q: np.maximum(y, 0),
     {"words": "relu|negative|max|0"}),
):
    one("linear", stage, name, kind, change, COLUMNS, **figures)
for name, change, figures in (
    ("of_group", lambda b, q: b[np.arange(q.F) // 4 * 4], {}),
    ("clipped", lambda b, q: np.clip(b, -1, 1), {"words": "bias|clip"}),
    ("before_scale", lambda b, q: b / 4, {}),
    ("at_even_outputs", lambda b, q: np.where(np.arange(q.F) % 2 == 0, b, 0), {}),
):
    one("linear", "bias", f"bias_{name}", "bias", change, BIASED, **figures)
for name, stage, kind, change, figures in (
    ("halves_interleaved", "halves", "halves",
     lambda h, q: tuple(np.concatenate(h, -1)[:, i::2] for i in (0, 1)), {}),
    ("down_of_next_row", "hidden", "rows_moved", lambda h, q: np.roll(h, -1, 0), {}),
    ("upper_hidden_lost", "hidden", "columns",
     lambda h, q: np.where(np.arange(q.F) < q.F // 2, h, 0), {}),
    ("hidden_limited_at_1", "hidden", "limit", lambda h, q: np.clip(h, -1, 1), {"value": 1}),
    ("quick_gelu", "function", "function",
     lambda f, q: lambda x: x * layer.sigmoid(EXACT("1.702") * x), {"words": "quick|1.702"}),
    ("gate_of_row_before", "halves", "halves", lambda h, q: (np.roll(h[0], 1, 0), h[1]), {}),
):
    one("feed_forward", stage, name, kind, change, "swiglu geglu swiglu_bf16", **figures)
for name, stage, kind, change, cases, figures in (
    ("shard_of_25", "output", "row_read",
     lambda y, q: np.where((q.token >= 25)[:, None], 0, y), "rows",
     {"words": "token|row|25|is 0"}),
    ("uint8", "token", "row_read", lambda t, q: t % 256, "scaled", {"value": 256}),
    ("one_based", "token", "row_read", lambda t, q: np.maximum(t - 1, 0), "rows scaled square", {}),
    ("last_row_for_large", "token", "row_read", lambda t, q: np.where(t > 40, q.V - 1, t), "rows",
     {"words": "token|row"}),
    ("halves_of_row", "table", "order", lambda t, q: np.roll(t, q.M // 2, -1),
     "rows scaled square", {}),
    ("row_with_stride", "token", "row_read", lambda t, q: t * 2 % q.V, "rows scaled", {}),
):
    one("embedding", stage, name, kind, change, cases, **figures)

# Factors and biases of positions.
for name, stage, kind, change, figures in (
    ("blocks_of_4", "distance", "position_rounded", lambda d, q: d // 4 * 4,
     {"words": "distance|block|round|multiple|position"}),
    ("distance_halved", "distance", "position_scaled", lambda d, q: d / 2,
     {"words": "slope|distance|half|0.5", "ratio": 0.5}),
    ("slopes_of_pairs", "slope", "slope", lambda s, q: s[np.arange(q.H) // 2 * 2], {}),
    ("slopes_of_upper_half", "slope", "slope", lambda s, q: np.roll(s, q.H // 2), {}),
    ("cut_at_minus_8", "output", "function", lambda b, q: np.maximum(b, -8),
     {"words": "-8|clamp|clip|at least|below"}),
):
    one("alibi", stage, name, kind, change, "distance key distance_bf16", **figures)
for name, stage, kind, change, figures in (
    ("extra_of_next_power", "exponent", "head_index",
     lambda e, q: EXACT(8) * (np.arange(q.H) + 1) / (1 << (q.H - 1).bit_length()), {}),
    ("extra_repeat", "exponent", "head_index", lambda e, q: e[np.arange(q.H) % 8], {}),
):
    one("alibi_slopes", stage, name, kind, change, "twelve forty", **figures)

# Single elements.
EVERYWHERE = "rope rms_norm softmax attention linear activation"
ANYWHERE = "near inter_bf16 rows rows_bf16 plain causal wide narrow swish gelu_bf16"


def at_elements(choose, other):
    """choose(flat index, row width) -> the elements that are other(y, q) instead."""

    def change(y, q):
        flat = np.arange(y.size).reshape(y.shape)
        return np.where(choose(flat, y.shape[-1]), other(y, q), y)

    return change


def stale(y, q):
    return np.roll(y.ravel(), 1).reshape(y.shape)


for name, choose, other in (
    ("every_64th_nan", lambda i, m: i % 64 == 63, lambda y, q: y * EXACT("nan")),
    ("every_32nd_zero", lambda i, m: i % 32 == 31, lambda y, q: 0 * y),
    ("last_of_row_stale", lambda i, m: i % m == m - 1, stale),
    ("first_of_block_of_16_stale", lambda i, m: i % 16 == 0, stale),
    ("every_11th_doubled", lambda i, m: i % 11 == 5, lambda y, q: 2 * y),
    ("element_77_nan", lambda i, m: i == 77, lambda y, q: y * EXACT("nan")),
    ("element_0_zero", lambda i, m: i == 0, lambda y, q: 0 * y),
    ("tail_of_32_zero", lambda i, m: i >= i.size - 32, lambda y, q: 0 * y),
    ("scattered_negated", lambda i, m: i * 7919 % 97 == 3, lambda y, q: -y),
):
    one(EVERYWHERE, "output", f"elements_{name}", "elements", at_elements(choose, other), ANYWHERE)
