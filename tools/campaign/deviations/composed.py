"""Deviations of attention in its other forms: scores alone, a bias, relative positions, another
sequence, two parts merged."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


# Scores alone.
SCORES = "scores scores_bf16"
for name, heads, listed in (
    ("tiled", lambda h, q: np.arange(q.H) % q.K, "key_heads_tiled"),
    ("first", lambda h, q: 0 * h, "key_head_of_first"),
    ("next", lambda h, q: (h + 1) % q.K, ""),
    ("reversed", lambda h, q: h[::-1], ""),
    ("across_tiles", lambda h, q: h[np.arange(q.H) // 2 * 2], ""),
):
    one("attention_scores", "key_head", f"heads_{name}", "key_head", heads, SCORES, listed=listed)
for name, keep in (("last_channel", lambda d, n: d < n - 1),
                   ("upper_half", lambda d, n: d < n // 2),
                   ("odd_channels", lambda d, n: d % 2 == 0)):
    one("attention_scores", "operands", f"without_{name}", "columns",
        lambda o, q, f=keep: (np.where(f(np.arange(q.D), q.D), o[0], 0), o[1]), SCORES)
one("attention_scores", "operands", "keys_of_next_token", "order",
    lambda o, q: (o[0], np.roll(o[1], -1, 2)), SCORES)
one("attention_scores", "operands", "channels_of_keys_reversed", "columns",
    lambda o, q: (o[0], o[1][..., ::-1]), SCORES)
EVERY = SCORES + " relative relative_bf16 relative_cached cross_square cross_bf16 bias bias_bf16"
ALL = "attention_scores relative_attention cross_attention attention:bias"
for name, scale, listed in (
    ("missing", lambda q: EXACT(1), "scale=1"), ("by_width", lambda q: 1 / EXACT(q.D), ""),
    ("of_96", lambda q: 1 / np.sqrt(EXACT(96)), ""),
    ("of_all_heads", lambda q: 1 / np.sqrt(EXACT(q.D * q.H)), ""),
    ("twice", lambda q: 1 / EXACT(q.D), "scale_twice"),
    ("of_1.7", lambda q: EXACT("1.7") / np.sqrt(EXACT(q.D)), ""),
):
    one(ALL, "scale", f"scale_{name}", "scale", lambda s, q, f=scale: f(q), EVERY, listed=listed,
        ratio=lambda q, f=scale: [float(f(q)), float(f(q) * np.sqrt(EXACT(q.D)))])
one("attention_scores", "output", "capped_at_2", "soft_cap", lambda y, q: 2 * np.tanh(y / 2),
    SCORES, value=2)
one("attention_scores", "output", "masked", "mask",
    lambda y, q: np.where(np.arange(q.T) <= np.arange(q.S)[:, None] + q.T - q.S, y, -np.inf),
    SCORES)

# A bias.
BIAS = "bias bias_bf16 bias_scaled"
for name, change, listed in (
    ("missing", lambda b, q: 0 * b, "bias_missing"), ("twice", lambda b, q: 2 * b, ""),
    ("subtracted", lambda b, q: -b, ""), ("of_head_0", lambda b, q: b[:, :1] + 0 * b, ""),
    ("of_next_key", lambda b, q: np.roll(b, -1, -1), ""),
    ("of_next_head", lambda b, q: np.roll(b, -1, 1), ""),
    ("of_query_0", lambda b, q: b[:, :, :1] + 0 * b, ""),
    ("of_key_head", lambda b, q: b[:, np.arange(q.H) // (q.H // q.K)], ""),
    ("absolute", lambda b, q: np.abs(b), ""),
):
    one("attention:bias", "bias", f"bias_{name}", "bias", change, BIAS, listed=listed)
one("attention:bias", "bias", "bias_transposed", "bias", lambda b, q: b.swapaxes(2, 3), "bias_bf16")
TABLE.add("attention:bias", "bias_is_scaled", "bias", changed(add_bias="before_scale"),
          "bias bias_bf16")
TABLE.add("attention:bias", "bias_not_scaled", "bias", changed(add_bias=None), "bias_scaled",
          listed="add_bias=")
for name, heads, listed in (("tiled", lambda h, q: np.arange(q.H) % q.K, "key_heads_tiled"),
                            ("reversed", lambda h, q: h[::-1], "")):
    one("attention:bias", "key_head", f"heads_{name}", "key_head", heads, BIAS, listed=listed)
one("attention:bias", "visible", "last_key_lost", "keys_lost",
    lambda v, q: v & (np.arange(q.T) < q.T - 1), "bias bias_scaled")
TABLE.add("attention:bias", "mask_added", "mask", changed(mask="causal"), "bias", listed="")
TABLE.add("attention:bias", "mask_missing", "mask", changed(mask="none"), "bias_bf16",
          listed="mask=none")

# Relative positions.
RELATIVE = "relative relative_bf16 relative_cached"
for name, stage, change, kind, figures in (
    ("distance_reversed", "distance", lambda d, q: -d, "sign", {"listed": "distance_negated"}),
    ("absolute_distance", "distance", lambda d, q: np.abs(d), "sign",
     {"words": r"sign|absolute|\|d\|"}),
    ("distance_plus_1", "distance", lambda d, q: d + 1, "position_offset", {"shift": 1}),
    ("distance_minus_2", "distance", lambda d, q: d - 2, "position_offset", {"shift": 2}),
    ("distance_from_index", "distance",
     lambda d, q: np.arange(q.T)[None] - np.arange(q.S)[:, None], "position_is_index", {}),
    ("distance_halved", "distance", lambda d, q: d // 2, "position_scaled", {"ratio": 2}),
    ("clip_one_less", "row", lambda r, q: np.clip(r, 1, 2 * q.clip - 1), "clip", {}),
    ("clip_of_2", "row", lambda r, q: np.clip(r, q.clip - 2, q.clip + 2), "clip", {"value": 2}),
    ("row_one_earlier", "row", lambda r, q: np.maximum(r - 1, 0), "position_offset", {"shift": 1}),
    ("future_is_present", "row", lambda r, q: np.minimum(r, q.clip), "clip", {}),
    ("rows_wrapped", "row",
     lambda r, q: (q.seen["distance"] + q.clip) % (2 * q.clip + 1), "clip", {}),
    ("table_reversed", "key_table", lambda t, q: t[::-1], "table", {}),
    ("key_table_missing", "key_table", lambda t, q: 0 * t, "table", {}),
    ("key_table_doubled", "key_table", lambda t, q: 2 * t, "table", {"value": 2}),
    ("key_table_is_other", "key_table", lambda t, q: q.value_table, "table", {}),
    ("value_table_missing", "value_table", lambda t, q: 0 * t, "table", {}),
    ("value_table_is_other", "value_table", lambda t, q: q.key_table, "table", {}),
    ("value_table_reversed", "value_table", lambda t, q: t[::-1], "table", {}),
    ("value_table_halved", "value_table", lambda t, q: t / 2, "table", {"value": 2}),
    ("relative_not_scaled", "relative", lambda r, q: r * np.sqrt(EXACT(q.D)), "table", {}),
    ("last_key_lost", "score",
     lambda s, q: np.where(np.arange(q.T) < q.T - 1, s, -np.inf), "keys_lost", {}),
    ("future_hidden", "score",
     lambda s, q: np.where(q.seen["distance"] <= 0, s, -np.inf), "mask", {}),
    ("soft_cap_of_3", "score", lambda s, q: 3 * np.tanh(s / 3), "soft_cap", {"value": 3}),
    ("values_of_next_head", "read", lambda y, q: np.einsum("bhst,bhtd->bhsd", q.seen["weight"],
                                                          np.roll(q.v, -1, 1)), "value_head", {}),
    ("keys_of_head_0", "content",
     lambda c, q: np.einsum("bhsd,bhtd->bhst", q.q, q.k[:, :1] + 0 * q.k), "key_head", {}),
):
    one("relative_attention", stage, name, kind, change, RELATIVE, **figures)

# Another sequence.
CROSS = "cross cross_square cross_bf16 cross_lengths"
for name, stage, change, kind, figures in (
    ("values_by_wk", "weights", lambda w, q: (w[0], w[1], w[1]), "values", {}),
    ("keys_by_wv", "weights", lambda w, q: (w[0], w[2], w[2]), "values", {}),
    ("bk_missing", "biases", lambda b, q: (b[0], 0 * b[1], b[2]), "bias", {}),
    ("bq_missing", "biases", lambda b, q: (0 * b[0], b[1], b[2]), "bias", {}),
    ("bv_missing", "biases", lambda b, q: (b[0], b[1], 0 * b[2]), "bias", {}),
    ("bv_is_bk", "biases", lambda b, q: (b[0], b[1], b[1]), "bias", {}),
    ("bo_missing", "bo", lambda b, q: 0 * b, "bias", {}),
    ("bo_twice", "bo", lambda b, q: 2 * b, "bias", {}),
    ("wo_transposed", "wo", lambda w, q: w.T, "transposed", {"cases": "cross_square"}),
    ("wq_transposed", "weights", lambda w, q: (w[0].T, w[1], w[2]), "transposed",
     {"cases": "cross_square"}),
    ("memory_is_x", "sources", lambda s, q: (s[0], s[0], s[0]), "residual",
     {"cases": "cross_square", "words": "memory|sequence|x "}),
    ("heads_interleaved", "mean",
     lambda m, q: m.reshape(q.S, q.H, -1).swapaxes(1, 2).reshape(q.S, -1), "order", {}),
    ("heads_reversed", "mean", lambda m, q: m.reshape(q.S, q.H, -1)[:, ::-1].reshape(q.S, -1),
     "order", {}),
    ("heads_tiled", "key_head", lambda h, q: np.arange(q.H) % q.K, "key_head", {"cases": "cross"}),
    ("last_key_lost", "visible", lambda v, q: v & (np.arange(q.T) < q.T - 1), "keys_lost", {}),
    ("first_key_lost", "visible", lambda v, q: v & (np.arange(q.T) > 0), "keys_lost", {}),
    ("causal", "visible", lambda v, q: v & (np.arange(q.T) <= np.arange(q.S)[:, None]), "mask", {}),
    ("lengths_ignored", "visible", lambda v, q: v | True, "key_length",
     {"cases": "cross_lengths", "listed": "key_length="}),
    ("one_more_zero", "sum", lambda s, q: s + np.exp(-q.seen["largest"]), "sum", {}),
    ("residual_added", "answer", lambda y, q: y + q.x, "residual", {}),
    ("soft_cap_of_2", "capped", lambda s, q: 2 * np.tanh(s / 2), "soft_cap", {"value": 2}),
    ("last_query_zero", "answer",
     lambda y, q: np.where((np.arange(q.S) == q.S - 1)[:, None], 0, y), "rows_zero", {}),
):
    one("cross_attention", stage, name, kind, change, figures.pop("cases", CROSS), **figures)

# Two parts merged.
MERGE = "merge merge_bf16"
for name, stage, change, kind, figures in (
    ("base_2", "weights",
     lambda w, q: tuple(np.exp2(x - q.seen["largest"]) for x in q.seen["logarithms"]),
     "base_of_exponential", {}),
    ("weights_exchanged", "weights", lambda w, q: w[::-1], "halves", {}),
    ("mean_of_both", "weights", lambda w, q: (w[0] * 0 + 1, w[1] * 0 + 1), "weights", {}),
    ("first_not_rescaled", "weights", lambda w, q: (w[0] * 0 + 1, w[1]), "weights", {}),
    ("larger_alone", "weights",
     lambda w, q: tuple(np.where(x == 1, EXACT(1), 0) for x in w), "weights", {}),
    ("first_alone", "weights", lambda w, q: (w[0], 0 * w[1]), "weights", {}),
    ("linear_weights", "weights",
     lambda w, q: tuple(np.abs(x) for x in q.seen["logarithms"]), "weights", {}),
    ("not_divided", "sum", lambda s, q: 0 * s + 1, "sum", {}),
    ("lse_is_largest", "lse", lambda y, q: q.seen["largest"] + 0 * y, "function", {"words": "lse"}),
    ("lse_is_sum", "lse", lambda y, q: sum(q.seen["logarithms"]), "function", {"words": "lse"}),
    ("lse_in_base_2", "lse", lambda y, q: y / np.log(EXACT(2)), "factor",
     {"ratio": 1 / float(np.log(2))}),
    ("lse_of_first", "lse", lambda y, q: q.seen["logarithms"][0], "rows_still",
     {"words": "lse is lse1"}),
    ("row_before", "logarithms", lambda p, q: (np.roll(p[0], 1), p[1]), "rows_moved", {}),
    ("rows_from_16_zero", "output",
     lambda y, q: np.where((np.arange(q.N) >= 16)[:, None], 0, y), "rows_zero", {"first": 16}),
):
    one("attention_merge", stage, name, kind, change, MERGE, **figures)
