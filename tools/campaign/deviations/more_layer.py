"""More deviations of linear layers, norms and activations, shown whole."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer

TABLE = Table()


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


# Linear layers.
BIASED = "bias bias_bf16 bias_f16"
COLUMNS = f"narrow square wide wide_bf16 {BIASED}"


def at_columns(choose, factor):
    return lambda o, q: (np.where(choose(np.arange(q.M)), EXACT(factor) * o[0], o[0]), o[1])


for name, kind, change, figures in (
    ("every_third_lost", "columns", at_columns(lambda m: m % 3 == 2, 0), {}),
    ("columns_12_to_15_lost", "columns", at_columns(lambda m: (m >= 12) & (m < 16), 0), {}),
    ("column_7_is_6", "columns", lambda o, q: (o[0][:, np.where(np.arange(q.M) == 7, 6,
                                                                np.arange(q.M))], o[1]), {}),
    ("fours_exchanged", "columns", lambda o, q: (
        o[0][:, [m ^ 4 if (m | 7) < q.M else m for m in range(q.M)]], o[1]), {}),
    ("x_clipped_at_1", "limit", lambda o, q: (np.clip(o[0], -1, 1), o[1]),
     {"value": 1, "words": r"limit|clamp|clip|saturat"}),
    ("first_column_negated", "columns", at_columns(lambda m: m == 0, -1), {}),
):
    one("linear", "operands", name, kind, change, COLUMNS, **figures)
for name, kind, change, figures in (
    ("outputs_from_8_zero", "rows_zero", lambda y, q: np.where(np.arange(q.F) >= 8, 0, y), {}),
    ("odd_rows_zero", "rows_zero", lambda y, q: np.where((np.arange(q.N) % 2 == 1)[:, None], 0, y),
     {}),
    ("fours_of_outputs_exchanged", "order",
     lambda y, q: y[:, [i ^ 4 if (i | 7) < q.F else i for i in range(q.F)]], {}),
    ("clipped_at_3", "limit", lambda y, q: np.clip(y, -3, 3), {"value": 3}),
    ("absolute", "function", lambda y, q: np.abs(y), {"words": r"absolute|\|"}),
    ("plus_0.5", "offset", lambda y, q: y + EXACT("0.5"), {"value": 0.5}),
):
    one("linear", "output", name, kind, change, COLUMNS, **figures)
for name, change in (
    ("times_1.5", lambda b, q: b * EXACT("1.5")),
    ("in_odd_rows", lambda b, q: np.where((np.arange(q.N) % 2 == 1)[:, None], b, 0)),
    ("absolute", lambda b, q: np.abs(b)),
    ("tail_lost", lambda b, q: np.where(np.arange(q.F) < q.F - 4, b, 0)),
):
    one("linear", "bias", f"bias_{name}", "bias", change, BIASED)
for name, stage, kind, change, figures in (
    ("beta_0.7", "function", "beta",
     lambda f, q: lambda x: x * layer.sigmoid(EXACT("0.7") * x), {"value": 0.7}),
    ("relu2", "function", "function", lambda f, q: lambda x: np.maximum(x, 0) ** 2,
     {"words": r"relu2|relu.*squar|squar|max"}),
    ("hidden_times_1.25", "hidden", "factor", lambda h, q: h * EXACT("1.25"), {"ratio": 1.25}),
    ("hidden_8_to_15_lost", "hidden", "columns",
     lambda h, q: np.where((np.arange(q.F) >= 8) & (np.arange(q.F) < 16), 0, h), {}),
    ("up_rolled_2", "halves", "halves", lambda h, q: (h[0], np.roll(h[1], 2, -1)), {}),
    ("gate_plus_one", "halves", "plus", lambda h, q: (h[0] + 1, h[1]), {}),
    ("halves_blocks_of_4", "halves", "halves",
     lambda h, q: tuple(np.concatenate(h, -1).reshape(q.N, -1, 2, 4)[:, :, i].reshape(q.N, -1)
                        for i in (0, 1)), {"words": r"block|4|half|halves"}),
):
    one("feed_forward", stage, name, kind, change, "swiglu geglu swiglu_bf16", **figures)
for name, change, figures in (
    ("modulo_16", lambda t, q: t % 16, {"value": 16}),
    ("at_most_12", lambda t, q: np.minimum(t, 12), {"value": 12}),
    ("in_pairs", lambda t, q: np.minimum(t ^ 1, q.V - 1), {"words": r"row|token|exchang"}),
    ("two_before", lambda t, q: np.roll(t, 2), {"words": r"row|token|moved"}),
    ("rounded_to_4", lambda t, q: t // 4 * 4, {}),
):
    one("embedding", "token", f"token_{name}", "row_read", change, "rows scaled square", **figures)
TABLE.add("embedding", "scale_twice", "factor", changed(scale=55.5 * 55.5), "scaled", ratio=55.5)
one("embedding", "output", "odd_channels_negated", "factor",
    lambda y, q: np.where(np.arange(q.M) % 2 == 1, -y, y), "rows scaled",
    words=r"sign|negat|column|channel|M ", )


# Norms.
NORMS = "rms_norm layer_norm"
WIDTHS = "rows rows_bf16 rows_f64 shifted"


def values(q):
    return q.seen["centered"] if "centered" in q.seen else q.x


for eps in (7e-6, 3e-4):
    TABLE.add(NORMS, f"eps_{eps:g}", "eps", changed(eps=eps), "small small_bf16", value=eps)
for name, stage, kind, change, cases, figures in (
    ("divided_by_M-4", "count", "divisor", lambda c, q: c - 4, WIDTHS,
     {"value": lambda q: [q.M - 4, 4]}),
    ("divided_by_100", "count", "divisor", lambda c, q: EXACT(100), WIDTHS, {"value": 100}),
    ("groups_of_16", "root", "groups", lambda r, q: np.repeat(np.sqrt(
        (values(q) ** 2).reshape(q.N, -1, 16).mean(-1) + EXACT(q.eps)), 16, -1),
     "rows rows_bf16 shifted", {}),
    ("last_half_of_row", "root", "columns_of_sum", lambda r, q: np.sqrt(
        (values(q)[:, q.M // 2:] ** 2).mean(-1, keepdims=True) + EXACT(q.eps)), WIDTHS, {}),
    ("root_of_power_of_two", "root", "root", lambda r, q: EXACT(2) ** np.round(np.log2(r)),
     "small small_bf16 rows", {"words": r"root|power|round|divi"}),
    ("weight_plus_0.25", "weight", "weight", lambda w, q: w + EXACT("0.25"), WIDTHS,
     {"value": 0.25}),
    ("weight_rooted", "weight", "weight", lambda w, q: np.sign(w) * np.sqrt(np.abs(w)), WIDTHS, {}),
    ("weight_rolled_3", "weight", "weight", lambda w, q: np.roll(w, 3), WIDTHS, {}),
    ("clipped_at_2", "output", "limit", lambda y, q: np.clip(y, -2, 2), WIDTHS, {"value": 2}),
    ("column_0_zero", "output", "rows_zero", lambda y, q: np.where(np.arange(q.M) == 0, 0, y),
     WIDTHS, {}),
):
    one(NORMS, stage, name, kind, change, cases, **figures)
one("layer_norm", "mean", "mean_of_first_half", "mean",
    lambda m, q: q.x[:, :q.M // 2].mean(-1, keepdims=True), "rows rows_bf16 shifted")
one("layer_norm", "mean", "mean_twice", "mean", lambda m, q: 2 * m, "shifted rows")
one("layer_norm", "bias", "bias_halved", "bias", lambda b, q: b / 2, WIDTHS)

# Activations, gates.
for name, function, kind, cases, figures in (
    ("beta_0.9", lambda x: x * layer.sigmoid(EXACT("0.9") * x), "beta", "swish swiglu_bf16",
     {"value": 0.9}),
    ("cubic_0.1", lambda x: layer.gelu_tanh(x, EXACT("0.1")), "cubic", "gelu_tanh geglu_tanh",
     {"value": 0.1}),
    ("hard_tanh", lambda x: np.clip(x, -1, 1), "function", "tanh", {"words": r"clip|clamp|hard|limited"}),
    ("relu_shifted", lambda x: np.maximum(x - EXACT("0.1"), 0), "function", "relu reglu",
     {"words": r"0\.1|offset|shift"}),
    ("selu", lambda x: EXACT("1.0507009873554805") * np.where(
        x > 0, x, EXACT("1.6732632423543772") * np.expm1(np.minimum(x, 0))), "function",
     "swish gelu relu", {"words": r"selu|elu"}),
    ("swish_of_x_plus_half", lambda x: x * layer.sigmoid(x + EXACT("0.5")), "function",
     "swish swiglu_bf16", {"words": r"0\.5|plus|offset|shift"}),
    ("swish_at_least_-0.1", lambda x: np.maximum(x * layer.sigmoid(x), EXACT("-0.1")), "clamp",
     "swish swiglu", {"value": 0.1, "words": r"clamp|clip|limit|at least|below|max"}),
    ("gelu_negative_missing", lambda x: np.where(x < -1, 0, layer.gelu(x)), "function",
     "gelu geglu", {"words": r"negative|below|zero|0|x <"}),
):
    one("activation gated", "function", name, kind, lambda f, q, g=function: g, cases, **figures)
GATES = "swiglu swiglu_bf16 geglu glu"
TABLE.add("gated", "limit_9", "limit", changed(limit=9), "oss oss_bf16", value=9)
TABLE.add("gated", "alpha_2", "beta", changed(alpha=2), "oss oss_bf16", value=2)
for name, stage, kind, change, cases, figures in (
    ("halves_blocks_of_4", "halves", "halves",
     lambda h, q: tuple(np.concatenate(h, -1).reshape(q.N, -1, 2, 4)[:, :, i].reshape(q.N, -1)
                        for i in (0, 1)), GATES, {"words": r"block|4|half|halves"}),
    ("gate_rolled_3", "halves", "halves", lambda h, q: (np.roll(h[0], 3, -1), h[1]), GATES, {}),
    ("up_plus_2", "up", "plus", lambda u, q: u + 2, GATES, {"words": r"plus|2"}),
    ("up_limited_above_only", "limited", "limit", lambda h, q: (h[0], np.minimum(q.up, q.limit)),
     "oss oss_bf16", {}),
    ("halved", "output", "factor", lambda y, q: y / 2, GATES, {"ratio": 0.5}),
):
    one("gated", stage, name, kind, change, cases, **figures)
