"""Deviations of norms (B88 to B96), activations and gates (B98 to B102)."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer

TABLE = Table()
NORMS = "rms_norm layer_norm add_rms_norm"
ROWS = "rows rows_bf16 rows_f64 small shifted wide"


def one(operations, stage, name, kind, change, cases=ROWS, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


for eps, listed in ((0, "eps_missing"), (1e-6, "eps_of_llama"), (2e-5, ""), (3e-6, ""), (1e-4, ""),
                    (5e-5, ""), (1e-3, ""), (1e-12, "")):
    TABLE.add(NORMS, f"eps_{eps:g}", "eps", changed(eps=eps), "small small_bf16", listed=listed,
              value=eps)
one(NORMS, "root", "eps_outside", "eps_place",
    lambda r, q: np.sqrt(variance(q)) + EXACT(q.eps), "small small_bf16",
    listed="eps_outside_the_root")
one(NORMS, "eps_added", "eps_in_the_sum", "eps_place",
    lambda v, q: variance(q) + EXACT(q.eps) / q.M, "small small_bf16",
    listed="eps_added_to_the_sum")
one(NORMS, "eps_added", "eps_as_floor", "eps_place",
    lambda v, q: np.maximum(variance(q), EXACT(q.eps)), "small small_bf16", listed="eps_as_floor")
one(NORMS, "eps_added", "eps_squared", "eps_place",
    lambda v, q: variance(q) + EXACT(q.eps) ** 2, "small small_bf16")
one("rms_norm layer_norm", "eps_added", "eps_of_f32", "eps",
    lambda v, q: variance(q) + EXACT(np.float32(q.eps)), "rows_f64")


def variance(q):
    return q.seen["mean_square" if "mean_square" in q.seen else "variance"]


for less, listed in ((1, "mean_over_one_less variance_over_one_less"), (2, ""), (-1, ""),
                     (-16, "")):
    one(NORMS, "count", f"divided_by_M-{less}", "divisor", lambda c, q, d=less: c - d,
        listed=listed,
        value=lambda q, d=less: [q.M - d, d])
one(NORMS, "count", "not_divided", "divisor", lambda c, q: EXACT(1), listed="sum_for_mean")
one(NORMS, "count", "divided_by_half", "divisor", lambda c, q: c / 2)
one(NORMS, "count", "padded_to_512", "divisor", lambda c, q: EXACT(512), "rows rows_bf16 rows_f64",
    value=512)
one(NORMS, "root", "not_rooted", "root", lambda r, q: q.seen["eps_added"], listed="root_missing")
one(NORMS, "root", "cubic_root", "root", lambda r, q: np.cbrt(q.seen["eps_added"]))
one(NORMS, "root", "of_first_row", "shared_rows", lambda r, q: r[:1] + 0 * r,
    listed="mean_of_first_row")
one(NORMS, "root", "of_row_before", "shared_rows", lambda r, q: np.roll(r, 1, 0))
one(NORMS, "root", "of_groups_of_4", "shared_rows", lambda r, q: np.repeat(r[::4], 4, 0))
one(NORMS, "root", "of_all_rows", "shared_rows",
    lambda r, q: np.sqrt((r * r).mean() + 0 * r), "rows rows_bf16 rows_f64")
one(NORMS, "root", "first_half_of_row", "columns_of_sum",
    lambda r, q: np.sqrt(columns(q, slice(0, q.M // 2)) + EXACT(q.eps)))
one(NORMS, "root", "last_column_left_out", "columns_of_sum",
    lambda r, q: np.sqrt(columns(q, slice(0, q.M - 1)) * (q.M - 1) / q.M + EXACT(q.eps)))
one(NORMS, "root", "remainder_of_16_left_out", "columns_of_sum",
    lambda r, q: np.sqrt(columns(q, slice(0, 32)) * 32 / q.M + EXACT(q.eps)), "rows rows_f64",
    count=32)
one(NORMS, "root", "halves_of_rows", "groups",
    lambda r, q: np.repeat(np.sqrt(groups(q, q.M // 2) + EXACT(q.eps)), q.M // 2, -1))
one(NORMS, "root", "groups_of_8", "groups",
    lambda r, q: np.repeat(np.sqrt(groups(q, 8) + EXACT(q.eps)), 8, -1), count=8)


def values(q):
    return q.seen["centered"] if "centered" in q.seen else q.seen.get("normed", q.x)


def columns(q, which):
    return (values(q)[:, which] ** 2).mean(-1, keepdims=True)


def groups(q, width):
    return (values(q) ** 2).reshape(q.N, q.M // width, width).mean(-1)


one("rms_norm add_rms_norm", "mean", "mean_subtracted", "mean",
    lambda m, q: q.seen["input"].mean(-1, keepdims=True), listed="mean_subtracted")
one("rms_norm add_rms_norm", "mean", "half_mean_subtracted", "mean",
    lambda m, q: q.seen["input"].mean(-1, keepdims=True) / 2)
one("layer_norm", "mean", "mean_kept", "mean", lambda m, q: 0 * m,
    listed="mean_not_subtracted mean_kept")
one("layer_norm", "mean", "mean_over_M-1", "mean", lambda m, q: m * q.M / (q.M - 1), "shifted rows")
one("layer_norm", "mean", "median", "mean", lambda m, q: np.median(q.x, -1, keepdims=True))
one("layer_norm", "mean", "mean_of_first_row", "shared_rows", lambda m, q: m[:1] + 0 * m)
for shift, listed in ((1, "unit_offset"), (-1, ""), (0.5, "")):
    one(NORMS, "weight", f"weight_plus_{shift}", "weight", lambda w, q, c=shift: w + EXACT(c),
        listed=listed, value=shift)
one("rms_norm", "weight", "unit_offset_missing", "weight", lambda w, q: w - 1, "offset",
    listed="unit_offset=false", value=1)
for name, change, listed in (
    ("missing", lambda w, q: EXACT(1), "weight_ignored"), ("squared", lambda w, q: w * w, ""),
    ("reversed", lambda w, q: w[::-1], "weight_reversed"),
    ("rolled", lambda w, q: np.roll(w, 1), ""), ("halved", lambda w, q: w / 2, ""),
    ("inverse", lambda w, q: 1 / w, ""), ("first_for_all", lambda w, q: w[0] + 0 * w, ""),
):
    kind = "weight_factor" if name in ("halved", "first_for_all") else "weight"
    one(NORMS, "weight", f"weight_{name}", kind, change, listed=listed)
for name, change, listed in (
    ("missing", lambda b, q: 0 * b, "bias_missing"), ("twice", lambda b, q: 2 * b, ""),
    ("negated", lambda b, q: -b, ""), ("reversed", lambda b, q: b[::-1], "bias_reversed"),
    ("weighed", lambda b, q: b * q.weight, "bias_before_weight"),
):
    one("layer_norm", "bias", f"bias_{name}", "bias", change, listed=listed)
one("add_rms_norm", "residual", "residual_missing", "residual", lambda t, q: q.x)
one("add_rms_norm", "residual", "residual_twice", "residual", lambda t, q: q.x + 2 * q.residual,
    listed="residual_added_twice")
one("add_rms_norm", "residual", "residual_halved", "residual", lambda t, q: q.x + q.residual / 2)
one("add_rms_norm", "normed", "norm_of_x", "residual", lambda t, q: q.x, listed="norm_of_x")
one(NORMS, "output", "times_1.1", "factor", lambda y, q: y * EXACT("1.1"), ratio=1.1)
one(NORMS, "output", "last_row_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.N) == q.N - 1)[:, None], 0, y))
one(NORMS, "output", "last_row_unchanged", "rows_still",
    lambda y, q: np.where((np.arange(q.N) == q.N - 1)[:, None], q.x, y))
one(NORMS, "output", "row_before", "rows_moved", lambda y, q: np.roll(y, 1, 0))
one(NORMS, "output", "columns_from_40_zero", "rows_zero",
    lambda y, q: np.where(np.arange(q.M) >= 40, 0, y), "rows rows_bf16 wide", first=40)

# activations and gates
SMOOTH = ("swish swish_bf16 gelu gelu_bf16 gelu_tanh gelu_tanh_f16 swiglu swiglu_bf16 geglu"
          " geglu_tanh")
SWISH = "swish swish_bf16 swish_f64 swiglu swiglu_bf16"
PAIR = "activation gated"


def function(name, new, cases, kind="function", operations=PAIR, **rest):
    one(operations, "function", name, kind, lambda f, q: new, cases, **rest)


def swish(beta):
    return lambda x: x * layer.sigmoid(EXACT(beta) * x)


for beta, listed in ((1.1, ""), (0.8, ""), (1.702, "beta=1.702"), (1.5, ""), (3, "")):
    function(f"beta_{beta}", swish(beta), SWISH + " oss", "beta", listed=listed, value=beta)
function("quick_gelu", swish(1.702), "gelu gelu_bf16 gelu_tanh geglu", listed="quick_gelu",
         value=1.702)
function("gelu_of_1.6", swish(1.6), "gelu gelu_bf16 geglu", "beta", value=1.6)
for cubic in (0.04, 0.05, 0.447150):
    function(f"cubic_{cubic}", lambda x, c=cubic: layer.gelu_tanh(x, EXACT(c)),
             "gelu_tanh gelu_tanh_f16 geglu_tanh", "cubic", value=cubic,
             listed="cubic_of_0.44715" if cubic > 0.4 else "")
for root in (0.8, 0.79, 1.0):
    function(f"root_{root}", lambda x, c=root: layer.gelu_tanh(x, root=EXACT(c)),
             "gelu_tanh gelu_tanh_f16 geglu_tanh", "cubic", value=root)
function("gelu_erf_for_tanh", layer.gelu, "gelu_tanh gelu_tanh_f16 geglu_tanh",
         listed="kind=gelu kind=geglu", words=r"gelu\b|erf")
function("gelu_tanh_for_erf", layer.gelu_tanh, "gelu gelu_bf16 geglu",
         listed="kind=gelu_tanh kind=geglu_tanh", words=r"gelu_tanh|tanh")
function("gelu_for_swish", layer.gelu, SWISH, listed="kind=gelu kind=geglu", words=r"gelu")
function("swish_for_gelu", swish(1), "gelu gelu_bf16 gelu_tanh geglu geglu_tanh",
         listed="kind=swish kind=swiglu", words=r"swish|silu|sigmoid")
function("relu", lambda x: np.maximum(x, 0), SMOOTH, listed="kind=relu kind=reglu",
         words=r"relu|rectif|max")
function("sigmoid_alone", layer.sigmoid, SMOOTH, listed="kind=sigmoid kind=glu", words=r"sigmoid")
function("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), SMOOTH, words=r"mish")
function("softplus", lambda x: np.log1p(np.exp(x)), SMOOTH, words=r"softplus")
function("elu", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), SMOOTH + " relu reglu",
         words=r"\belu")
function("softsign", lambda x: x / (1 + np.abs(x)), "tanh swish sigmoid", words=r"softsign|1 \+ .x")
function("hard_swish", lambda x: x * np.clip(x / 6 + EXACT("0.5"), 0, 1), SWISH, words=r"hard")
function("hard_sigmoid", lambda x: np.clip(x / 6 + EXACT("0.5"), 0, 1), "sigmoid glu",
         listed="hard", words=r"hard")
function("hard_sigmoid_0.2", lambda x: np.clip(x / 5 + EXACT("0.5"), 0, 1), "sigmoid glu",
         words=r"hard")
function("relu6", lambda x: np.clip(x, 0, 6), "relu reglu", listed="relu6",
         words=r"relu6|6|clip|clamp")
function("relu_to_4", lambda x: np.clip(x, 0, 4), "relu reglu", "clamp", value=4)
function("leaky_0.2", lambda x: np.where(x > 0, x, x / 5), "relu reglu", "leak", value=0.2)
function("leaky_0.01", lambda x: np.where(x > 0, x, x / 100), "relu reglu", "leak", listed="leaky",
         value=0.01)
function("identity", lambda x: x, SMOOTH + " relu tanh",
         words=r"identity|not.activated|linear|no activation|unchanged|y is x|c = 1|c = 0")
function("tanh_for_sigmoid", np.tanh, "sigmoid glu", listed="kind=tanh", words=r"tanh")
function("sigmoid_of_2x", lambda x: layer.sigmoid(2 * x), "sigmoid glu", "beta", value=2)
function("tanh_of_half", lambda x: np.tanh(x / 2), "tanh", "beta", value=0.5)
function("clamped_at_5", lambda x: swish(1)(np.clip(x, -5, 5)), SWISH, "clamp", value=5)
one(PAIR, "function", "negated_input", "sign", lambda f, q: lambda x: f(-x),
    SMOOTH + " tanh sigmoid")
one(PAIR, "function", "doubled", "factor", lambda f, q: lambda x: 2 * f(x),
    SMOOTH + " relu tanh sigmoid", ratio=2)
one(PAIR, "output", "plus_0.1", "offset", lambda y, q: y + EXACT("0.1"), SMOOTH + " relu",
    value=0.1)
one(PAIR, "output", "last_column_zero", "rows_zero",
    lambda y, q: np.where(np.arange(q.F) == q.F - 1, 0, y), SMOOTH)
one("activation", "output", "first_row_only", "rows_still",
    lambda y, q: np.where((np.arange(q.N) > 0)[:, None], q.x, y), SMOOTH)
GATES = "swiglu swiglu_bf16 geglu geglu_tanh glu reglu oss oss_bf16"
for name, change, listed in (
    ("exchanged", lambda h, q: h[::-1], "gate_exchanged_with_up"),
    ("gate_twice", lambda h, q: (h[0], h[0]), ""), ("up_twice", lambda h, q: (h[1], h[1]), ""),
    ("interleaved", lambda h, q: tuple(both(h)[:, i::2] for i in (0, 1)), "halves_read_as_pairs"),
    ("interleaved_back", lambda h, q: tuple(both(h)[:, i::2] for i in (1, 0)), ""),
    ("up_rolled", lambda h, q: (h[0], np.roll(h[1], 1, -1)), ""),
):
    one("gated", "halves", f"halves_{name}", "halves", change, GATES, listed=listed)


def both(halves):
    return np.concatenate(halves, -1)


one("gated", "activated", "not_activated", "function", lambda a, q: q.seen["limited"][0], GATES,
    words="identity|not.activated|linear|no activation")
one("gated", "output", "product_activated", "product",
    lambda y, q: q.seen["function"](q.seen["limited"][0] * q.seen["up"]), GATES,
    listed="product_activated")
one("gated", "output", "both_activated", "product",
    lambda y, q: q.seen["activated"] * q.seen["function"](q.seen["up"]), GATES,
    listed="both_activated")
one("gated", "output", "added", "product", lambda y, q: q.seen["activated"] + q.seen["up"], GATES)
one("gated", "up", "up_missing", "product", lambda u, q: EXACT(1), GATES, listed="up_missing")
for limit in (5, 6, 8):
    TABLE.add("gated", f"limit_{limit}", "limit", changed(limit=limit), "oss oss_bf16", value=limit)
TABLE.add("gated", "limit_missing", "limit", changed(limit=None), "oss oss_bf16", listed="limit=")
TABLE.add("gated", "alpha_1.5", "beta", changed(alpha=1.5), "oss oss_bf16", value=1.5)
TABLE.add("gated", "alpha_1.7", "beta", changed(alpha=1.7), "oss", value=1.7)
TABLE.add("gated", "plus_one_missing", "plus", changed(plus_one=False), "oss oss_bf16",
          listed="plus_one=false")
TABLE.add("gated", "plus_one_added", "plus", changed(plus_one=True), "swiglu geglu glu swiglu_bf16",
          listed="plus_one=true")
one("gated", "limited", "gate_limited_below", "limit",
    lambda h, q: (np.clip(q.gate, -q.limit, q.limit), h[1]), "oss oss_bf16",
    listed="gate_limited_below")
one("gated", "limited", "up_unlimited", "limit", lambda h, q: (h[0], q.up), "oss oss_bf16",
    listed="up_not_limited")
