"""More deviations of attention, softmax and positions, shown whole."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
PI = EXACT("3.14159265358979323846264338327950288")


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


# Biases and factors of positions.
ALIBI = "distance key distance_bf16"
for name, stage, kind, change, cases, figures in (
    ("slope_times_0.25", "slope", "slope", lambda s, q: s / 4, ALIBI, {"ratio": 0.25}),
    ("slope_rooted", "slope", "slope", lambda s, q: np.sqrt(s), ALIBI, {}),
    ("odd_slopes_zero", "slope", "slope",
     lambda s, q: np.where(np.arange(q.H) % 2 == 1, 0, s), ALIBI, {"words": r"slope|head|H "}),
    ("distance_less_1", "distance", "position_offset", lambda d, q: d - 1, ALIBI, {"shift": 1}),
    ("distance_clamped_16", "distance", "position_clamped", lambda d, q: np.minimum(d, 16),
     "distance distance_bf16", {"limit": 16}),
    ("distance_of_logarithm", "distance", "function",
     lambda d, q: np.sign(d) * np.log1p(np.abs(d)), ALIBI, {"words": r"log"}),
    ("keys_in_int8", "keys", "position_wrapped", lambda p, q: (p + 128) % 256 - 128,
     "distance_bf16", {"limit": [256, 128], "words": r"wrap|modulo|bits|added"}),
    ("keys_reversed", "keys", "position_of_token", lambda p, q: p[::-1], ALIBI,
     {"words": r"revers|key|sign|order"}),
    ("last_key_zero", "output", "rows_zero",
     lambda b, q: np.where(np.arange(q.T) == q.T - 1, 0, b), ALIBI, {}),
):
    one("alibi", stage, name, kind, change, cases, **figures)
for name, stage, kind, change, figures in (
    ("max_bias_12", "exponent", "max_bias", lambda e, q: e * 12 / 8, {"value": 12}),
    ("half_a_head", "exponent", "head_index", lambda e, q: e - e[0] / 2, {"words": r"head|half|factor"}),
    ("extra_even", "exponent", "head_index",
     lambda e, q: np.where(np.arange(q.H) < extra(q), e, e + EXACT(8) / (2 * extra(q))), {}),
    ("extra_missing", "exponent", "head_index",
     lambda e, q: np.where(np.arange(q.H) < extra(q), e, e[extra(q) - 1]), {}),
):
    one("alibi_slopes", stage, name, kind, change, "twelve eight forty", **figures)


def extra(q):
    return 1 << (q.H.bit_length() - 1)


TABLE.add("log_n_scale", "original_max_position_embeddings_3000",
          "original_max_position_embeddings", changed(original_max_position_embeddings=3000),
          "log_n", value=3000)
for name, change, figures in (
    ("unclamped", lambda f, q: np.log(np.maximum(q.seen["position"] + 1, 1))
     / np.log(q.seen["trained"]), {"words": r"max|clamp|at least|below|1"}),
    ("p_without_one", lambda f, q: np.maximum(1, np.log(np.maximum(q.seen["position"], 1))
                                              / np.log(q.seen["trained"])),
     {"words": r"position|\+ ?1|off|earl|less"}),
    ("log2_over_ln", lambda f, q: np.maximum(1, np.log2(np.maximum(q.seen["position"] + 1, 1))
                                             / np.log(q.seen["trained"])),
     {"words": r"log|ln|base|times|original|divid"}),
):
    one("log_n_scale", "factor", name, "function", change, "log_n log_n_bf16", **figures)
for word, value in (("beta", 0.3), ("floor_scale", 2048)):
    TABLE.add("temperature_scale", f"{word}_{value}", word, changed(**{word: value}),
              "temperature temperature_bf16", value=[value, 4] if value == 2048 else value,
              words=word + r"|positions are multiplied")
for name, stage, change, figures in (
    ("rounded", "block", lambda b, q: np.round((q.position + q.start) / EXACT(q.floor_scale)),
     {"words": r"round|floor|block|half|shift|start|position"}),
    ("upwards", "block", lambda b, q: np.ceil((q.position + q.start) / EXACT(q.floor_scale)),
     {"words": r"ceil|up|floor|block|round|1"}),
    ("one_missing", "factor", lambda f, q: f - 1, {"words": r"1|one|plus|missing"}),
    ("logarithm_to_2", "factor", lambda f, q: 1 + (f - 1) / np.log(EXACT(2)),
     {"words": r"log|ln|base|beta"}),
):
    one("temperature_scale", stage, name, "function", change, "temperature temperature_bf16",
        **figures)


# Attention.
SOME = "plain causal cached cached_bf16 f16"
for words, kind, cases, figures in (
    (dict(window=[14, 0]), "window", "window causal", {"value": 14}),
    (dict(window=[5, 0]), "window", "window window_bf16 causal", {"value": 5}),
    (dict(chunk=12), "chunk", "chunk causal", {"value": 12}),
    (dict(query_offset=[4]), "align", "cached top_left", {}),
    (dict(key_length=[10, 20, 15]), "key_length", "padded lengths", {}),
    (dict(soft_cap=6), "soft_cap", "cap cap_causal", {"value": 6}),
    (dict(soft_cap=40), "soft_cap", "cap_bf16", {"value": 40}),
):
    word, value = next(iter(words.items()))
    value = "_".join(map(str, value)) if isinstance(value, list) else value
    TABLE.add("attention", f"{word}_{value}", kind, changed(**words), cases, **figures)


def seen(name, kind, function, cases, **rest):
    one("attention", "visible", name, kind,
        lambda v, q: function(v, np.arange(q.S)[:, None] + q.T - q.S, np.arange(q.T)[None], q),
        cases, **rest)


seen("sees_4_further", "diagonal", lambda v, i, t, q: t <= i + 4, "causal cached f16")
seen("prefix_of_6_seen", "sink_tokens", lambda v, i, t, q: v | (t < 6), "causal window",
     words=r"first|prefix|keys|sees")
seen("keys_8_to_11_lost", "keys_lost", lambda v, i, t, q: v & ((t < 8) | (t > 11)),
     "plain cached long")
seen("last_3_keys_lost", "keys_lost", lambda v, i, t, q: v & (t < q.T - 3), "plain cached f64")
seen("dilated_by_2", "diagonal", lambda v, i, t, q: v & ((i - t) % 2 == 0), "causal cached",
     words=r"key|sees|distance|dilat|each 2|odd|even")
for name, scale in (("of_value_width", lambda q: 1 / np.sqrt(EXACT(q.E))),
                    ("of_64", lambda q: EXACT("0.125")),
                    ("of_1.05", lambda q: EXACT("1.05") / np.sqrt(EXACT(q.D))),
                    ("of_fourth_root", lambda q: EXACT(q.D) ** EXACT("-0.25"))):
    one("attention attention:sink", "scale", f"scale_{name}", "scale", lambda s, q, f=scale: f(q),
        "causal cached window f16 sink",
        ratio=lambda q, f=scale: [float(f(q)), float(f(q) * np.sqrt(EXACT(q.D)))])
one("attention", "capped", "cap_not_multiplied", "soft_cap",
    lambda s, q: np.tanh(q.seen["score"] / q.soft_cap), "cap cap_bf16")
one("attention attention:sink", "key_head", "heads_last_group_of_first", "key_head",
    lambda h, q: np.where(h == q.K - 1, 0, h), "plain cached f16 sink")
one("attention", "value_head", "value_heads_next", "value_head", lambda h, q: (h + 1) % q.K, SOME)
for name, change in (
    ("quarter", lambda s, q: s / 4),
    ("scaled_by_1.5", lambda s, q: np.exp(EXACT("1.5") * q.sink[None, :, None, None]
                                          - q.seen["largest"])),
    ("in_last_row_only", lambda s, q: np.where((np.arange(q.S) == q.S - 1)[:, None], s, 0)),
):
    one("attention:sink", "sink", f"sink_{name}", "sink", change, "sink sink_bf16")
one("attention", "sum", "sum_plus_half", "sum", lambda s, q: s + EXACT("0.5"), "plain causal f64")
one("attention", "weight", "weights_below_1/32_dropped", "weights",
    lambda w, q: np.where(w < 1 / 32, 0, w), "plain cached long",
    words=r"small|below|drop|weight")
one("attention", "weighed", "value_of_last_key_zero", "values", lambda y, q: np.einsum(
    "bhst,bhte->bhse", q.seen["weight"][..., :-1], q.v[:, q.seen["value_head"], :-1]), SOME)
one("attention", "output", "odd_queries_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.S) % 2 == 1)[:, None], 0, y), SOME)
one("attention", "output", "heads_rolled", "order", lambda y, q: np.roll(y, 1, 1), SOME)

# Softmax and the cap.
ROWS = "rows rows_bf16 wide"
for name, stage, kind, change, figures in (
    ("temperature_1.5", "input", "scale", lambda x, q: x * EXACT("1.5"), {"ratio": 1.5}),
    ("base_3", "exponential", "base_of_exponential",
     lambda e, q: 3 ** (q.x - q.seen["largest"]), {}),
    ("first_column_left_out", "sum", "columns", lambda s, q: s - q.seen["exponential"][:, :1], {}),
    ("x_clipped_at_1", "input", "limit", lambda x, q: np.clip(x, -1, 1), {"value": 1}),
    ("sum_twice", "sum", "sum", lambda s, q: 2 * s, {"words": r"sum|half|0\.5|divi|factor|times"}),
    ("odd_columns_lost", "exponential", "columns",
     lambda e, q: np.where(np.arange(q.M) % 2 == 1, 0, e), {"words": r"column|M |odd|lanes"}),
    ("rooted", "output", "function", lambda y, q: np.sqrt(y), {"words": r"root|sqrt|power|0\.5"}),
):
    one("softmax", stage, name, kind, change, ROWS, **figures)
TABLE.add("soft_cap", "cap_35", "soft_cap", changed(cap=35), "fifty thirty", value=35)
one("soft_cap", "output", "softsign", "function",
    lambda y, q: q.x / (1 + np.abs(q.x / q.cap)), "fifty thirty", words=r"softsign|1 \+ ")

# Attention in its other forms.
one("attention_scores", "operands", "first_4_channels_lost", "columns",
    lambda o, q: (np.where(np.arange(q.D) < 4, 0, o[0]), o[1]), "scores scores_bf16")
for name, stage, kind, change, figures in (
    ("clip_of_3", "row", "clip", lambda r, q: np.clip(r, q.clip - 3, q.clip + 3), {"value": 3}),
    ("distance_plus_2", "distance", "position_offset", lambda d, q: d + 2, {"shift": 2}),
    ("key_table_halved", "key_table", "table", lambda t, q: t / 2, {"value": 0.5}),
    ("value_table_rolled", "value_table", "table", lambda t, q: np.roll(t, 1, 0),
     {"words": r"table|row|distance"}),
):
    one("relative_attention", stage, name, kind, change, "relative relative_bf16", **figures)
for name, stage, kind, change, figures in (
    ("bq_twice", "biases", "bias", lambda b, q: (2 * b[0], b[1], b[2]), {}),
    ("bk_and_bv_exchanged", "biases", "bias", lambda b, q: (b[0], b[2], b[1]), {}),
    ("wv_is_wk_and_back", "weights", "values", lambda w, q: (w[0], w[2], w[1]), {}),
):
    one("cross_attention", stage, name, kind, change, "cross cross_bf16", **figures)
for name, stage, kind, change, figures in (
    ("weights_squared", "weights", "weights", lambda w, q: (w[0] ** 2, w[1] ** 2),
     {"words": r"weight|squar|twice|2"}),
    ("second_alone", "weights", "weights", lambda w, q: (0 * w[0], w[1]),
     {"words": r"weight|y2|lse2"}),
    ("lse_plus_ln_2", "lse", "offset", lambda y, q: y + np.log(EXACT(2)),
     {"words": r"lse", "value": 0.693147}),
):
    one("attention_merge", stage, name, kind, change, "merge merge_bf16", **figures)
