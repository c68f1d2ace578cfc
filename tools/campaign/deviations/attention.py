"""Deviations of attention: which keys, which heads, scale, cap, sink, sums over tiles (B103 to
B117); of softmax and of the cap alone."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
BOTH = "attention attention:sink"
SOME = "plain causal cached cached_bf16 f16 sink medium"


def one(stage, name, kind, change, cases=SOME, operations="attention", **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def with_tokens(function):
    """function(visible, i, t, q): `i` is the query's place among the keys (bottom right)."""
    return lambda v, q: function(v, np.arange(q.S)[:, None] + q.T - q.S, np.arange(q.T)[None], q)


# Which keys a query sees.
for name, words, cases, listed in (
    ("align_top_left", dict(align="top_left"), "cached cached_bf16 medium", "align=top_left"),
    ("align_bottom_right", dict(align="bottom_right"), "top_left", "align="),
    ("mask_missing", dict(mask="none"), "causal cached f16 top_left", "mask=none"),
    ("mask_added", dict(mask="causal"), "both", "mask=causal"),
    ("window_13", dict(window=[13, 0]), "window window_bf16", "window_one_more"),
    ("window_11", dict(window=[11, 0]), "window", "window_one_less"),
    ("window_9", dict(window=[9, 0]), "window window_bf16 causal", ""),
    ("window_6", dict(window=[6, 0]), "window causal window_bf16", ""),
    ("window_25", dict(window=[25, 0]), "window window_bf16 long_causal", ""),
    ("window_missing", dict(window=None), "window window_bf16 both", "window="),
    ("window_3_4", dict(window=[3, 4]), "both", ""),
    ("window_exchanged", dict(window=[5, 3]), "both", "window_exchanged"),
    ("chunk_9", dict(chunk=9), "chunk causal", "chunk_one_more"),
    ("chunk_16", dict(chunk=16), "chunk causal", ""),
    ("chunk_6", dict(chunk=6), "chunk", ""),
    ("chunk_missing", dict(chunk=None), "chunk", "chunk="),
    ("lengths_13", dict(key_length=[13]), "lengths causal", ""),
    ("lengths_ignored", dict(key_length=None), "lengths", "key_length="),
    ("lengths_one_less", dict(key_length=[8, 19, 13]), "lengths", ""),
    ("query_offset_2", dict(query_offset=[2]), "cached cached_bf16 top_left", "query_offset=[2]"),
    ("query_offset_9", dict(query_offset=[9]), "cached cached_bf16 top_left", ""),
):
    figures = {}
    for word in ("window", "chunk"):
        if isinstance(words.get(word), list) and name != "window_missing":
            figures = {"value": words[word][1] if name == "window_3_4" else words[word][0]}
        elif isinstance(words.get(word), int):
            figures = {"value": words[word]}
    kind = {"query_offset": "align", "key_length": "key_length"}.get(next(iter(words)),
                                                                   next(iter(words)))
    TABLE.add("attention", name, kind, changed(**words), cases, listed=listed, **figures)
for shift in (1, 2, 3, -1, -2):
    one("visible", f"sees_{shift}_further", "diagonal",
        with_tokens(lambda v, i, t, q, c=shift: t <= i + c), "causal cached cached_bf16 f16 sink",
        BOTH, listed={1: "next_leaked", -1: "self_masked"}.get(shift, ""), shift=shift)
for tile in (16, 8, 6):
    one("visible", f"remainder_of_{tile}_lost", "keys_lost",
        with_tokens(lambda v, i, t, q, n=tile: v & (t < q.T // n * n)), "plain cached long f16",
        tile=tile)
one("visible", "last_key_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t < q.T - 1)),
    "plain cached long cached_bf16", listed="newest_key_missing")
one("visible", "last_5_keys_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t < q.T - 5)),
    "plain cached long cached_bf16", count=5)
one("visible", "first_key_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t > 0)),
    "plain cached_bf16 long f16 f64")
one("visible", "first_4_keys_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t >= 4)),
    "plain cached cached_bf16 long", count=4)
one("visible", "key_7_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t != 7)),
    "plain cached long_causal f64", key=7)
one("visible", "odd_keys_lost", "keys_lost", with_tokens(lambda v, i, t, q: v & (t % 2 == 0)),
    "plain cached long", count=2)
one("visible", "border_of_tiles_lost", "keys_lost",
    with_tokens(lambda v, i, t, q: v & (t % 16 != 15)), "cached cached_bf16 long medium", tile=16)
one("visible", "keys_96_to_127_lost", "keys_lost",
    with_tokens(lambda v, i, t, q: v & ((t < 96) | (t > 127))), "long long_causal", first=96)
one("visible", "self_only_in_first_tile", "diagonal",
    with_tokens(lambda v, i, t, q: v & ((t < i) | (i < 16))), "causal long_causal")
one("visible", "first_two_always_seen", "sink_tokens",
    with_tokens(lambda v, i, t, q: v | (t < 2)), "window window_bf16", count=2)
one("visible", "whole_tile_of_8_seen", "diagonal",
    with_tokens(lambda v, i, t, q: t // 8 <= i // 8), "causal cached long_causal", tile=8)

# Heads.
for name, heads, listed, cases in (
    ("tiled", lambda h, q: np.arange(q.H) % q.K, "key_heads_tiled", SOME),
    ("first", lambda h, q: 0 * h, "key_head_of_first", SOME),
    ("last", lambda h, q: 0 * h + q.K - 1, "", SOME),
    ("reversed", lambda h, q: h[::-1], "", SOME),
    ("next", lambda h, q: (h + 1) % q.K, "", SOME),
    ("shifted_by_one_query_head", lambda h, q: (np.arange(q.H) + 1) // (q.H // q.K) % q.K, "",
     SOME),
    ("alternating", lambda h, q: (np.arange(q.H) // 2) % q.K, "", "plain causal f16 sink"),
):
    one("key_head", f"heads_{name}", "key_head", heads, cases, BOTH, listed=listed)
one("value_head", "value_heads_tiled", "value_head", lambda h, q: np.arange(q.H) % q.K,
    listed="value_heads_tiled")
one("value_head", "value_head_first", "value_head", lambda h, q: 0 * h)

# Scale, cap, sink.
for name, scale, listed in (
    ("missing", lambda q: EXACT(1), "scale=1"),
    ("by_width", lambda q: 1 / EXACT(q.D), "scale_by_width"),
    ("of_128", lambda q: 1 / np.sqrt(EXACT(128)), ""),
    ("of_1.3", lambda q: EXACT("1.3") / np.sqrt(EXACT(q.D)), ""),
    ("of_0.9", lambda q: EXACT("0.9") / np.sqrt(EXACT(q.D)), ""),
    ("twice", lambda q: 2 / np.sqrt(EXACT(q.D)), ""),
    ("third_root", lambda q: EXACT(q.D) ** (-EXACT(1) / 3), ""),
    ("squared_mscale", lambda q: EXACT("1.5896") / np.sqrt(EXACT(q.D)), ""),
    ("base_2", lambda q: np.log(EXACT(2)) / np.sqrt(EXACT(q.D)), ""),
    ("negative", lambda q: -1 / np.sqrt(EXACT(q.D)), ""),
):
    one("scale", f"scale_{name}", "scale", lambda s, q, f=scale: f(q), SOME + " scaled f64 window",
        BOTH, listed=listed,
        ratio=lambda q, f=scale: [float(f(q)), float(f(q) / right_scale(q))])


def right_scale(q):
    return EXACT(q.D) ** EXACT(-0.5) if q.scale is None else EXACT(q.scale)


one("score", "scale_of_odd_heads", "scale",
    lambda s, q: s * (1 + np.arange(q.H) % 2)[:, None, None])
for name, words, cases, listed in (
    ("7", dict(soft_cap=7), "cap", ""), ("missing", dict(soft_cap=None), "cap cap_bf16",
                                         "soft_cap="),
    ("30", dict(soft_cap=30), "cap scaled", "soft_cap=30"),
    ("50", dict(soft_cap=50), "cap_bf16", ""),
    ("20", dict(soft_cap=20), "cap_bf16 scaled", ""), ("3", dict(soft_cap=3), "plain cap", ""),
):
    figures = {"value": words["soft_cap"]} if words["soft_cap"] else {}
    TABLE.add("attention", f"cap_{name}", "soft_cap", changed(**words), cases, listed=listed,
              **figures)
one("capped", "cap_clips", "soft_cap",
    lambda s, q: np.clip(q.seen["score"], -q.soft_cap, q.soft_cap), "cap cap_bf16")
one("masked", "masked_at_minus_4", "mask_value", lambda s, q: np.where(np.isinf(s), -4, s),
    "causal f16", value=-4)
for name, change, listed in (
    ("missing", lambda s, q: 0 * s, "sink_missing"),
    ("twice", lambda s, q: 2 * s, "sink_twice"),
    ("of_zero", lambda s, q: s * 0 + np.exp(-q.seen["largest"]), "sink_of_zero"),
    ("half", lambda s, q: s / 2, ""), ("three_times", lambda s, q: 3 * s, ""),
    ("squared", lambda s, q: s * np.exp(q.sink[None, :, None, None]), "sink_doubled"),
    ("of_next_head", lambda s, q: np.exp(np.roll(q.sink, -1)[None, :, None, None]
                                         - q.seen["largest"]), ""),
    ("reversed", lambda s, q: np.exp(q.sink[::-1][None, :, None, None] - q.seen["largest"]), ""),
    ("not_shifted", lambda s, q: np.exp(q.sink[None, :, None, None]) + 0 * s, ""),
):
    one("sink", f"sink_{name}", "sink", change, "sink sink_bf16", "attention:sink", listed=listed)
one("sink", "one_more_zero", "sum", lambda s, q: s + np.exp(-q.seen["largest"]), SOME + " f64",
    BOTH)

# Sums, weights, values.
one("sum", "eps_in_the_sum", "sum", lambda s, q: s + EXACT("0.001"), "plain causal f64 sink", BOTH)
one("sum", "padded_to_16", "sum",
    lambda s, q: s + (-q.T % 16) * np.exp(-q.seen["largest"]), "plain cached f16")
one("exponential", "base_2", "base_of_exponential",
    lambda e, q: np.exp2(q.seen["masked"] - q.seen["largest"]), SOME)
one("weight", "weights_normalised_twice", "weights",
    lambda w, q: w * w / (w * w).sum(-1, keepdims=True), "plain causal cached_bf16")
one("weight", "softmax_over_queries", "weights",
    lambda w, q: (lambda e: e / e.sum(-2, keepdims=True))(
        np.exp(q.seen["masked"] - q.seen["masked"].max(-2, keepdims=True))), "plain",
    listed="softmax_over_queries")
one("weight", "weights_of_mean", "weights",
    lambda w, q: q.seen["visible"] / q.seen["visible"].sum(-1, keepdims=True) + 0 * w)
one("weighed", "value_of_best_key", "weights",
    lambda y, q: np.take_along_axis(q.v[:, q.seen["value_head"]],
                                    q.seen["weight"].argmax(-1)[..., None], 2), "plain causal")
one("weighed", "values_of_next_key", "values",
    lambda y, q: np.einsum("bhst,bhte->bhse", q.seen["weight"],
                           np.roll(q.v, -1, 2)[:, q.seen["value_head"]]), SOME)
one("weighed", "value_0_added", "values", lambda y, q: y + q.v[:, q.seen["value_head"], :1],
    "plain f64 causal")
one("output", "last_channel_zero", "rows_zero",
    lambda y, q: np.where(np.arange(q.E) == q.E - 1, 0, y))
one("output", "last_query_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.S) == q.S - 1)[:, None], 0, y))
one("output", "queries_from_16_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.S) >= 16)[:, None], 0, y), "causal long_causal medium",
    first=16)
one("output", "heads_exchanged", "order", lambda y, q: y[:, ::-1])
one("output", "head_0_for_all", "rows_moved", lambda y, q: y[:, :1] + 0 * y)
one("output", "times_1.1", "factor", lambda y, q: y * EXACT("1.1"), ratio=1.1)
one("output", "tiles_added_twice", "factor", lambda y, q: 2 * y, ratio=2)

# softmax and the cap alone
ROWS = "rows rows_bf16 rows_f16 wide"


def row(stage, name, kind, change, cases=ROWS, **rest):
    one(stage, name, kind, change, cases, "softmax", **rest)


row("exponential", "base_2", "base_of_exponential",
    lambda e, q: np.exp2(q.x - q.seen["largest"]), listed="base_2")
row("exponential", "base_10", "base_of_exponential", lambda e, q: 10 ** (q.x - q.seen["largest"]))
for value in (0.9, 1.25, 0.3535533905932738):
    row("input", f"temperature_{value:.3g}", "scale", lambda x, q, c=value: x * EXACT(c),
        ratio=value)
row("sum", "plus_one", "sum", lambda s, q: s + np.exp(-q.seen["largest"]), listed="one_more_zero")
row("sum", "plus_shifted_one", "sum", lambda s, q: s + 1)
row("sum", "eps", "sum", lambda s, q: s + EXACT("0.001"), value=0.001)
row("sum", "padded_to_64", "sum", lambda s, q: s + (-q.M % 64) * np.exp(-q.seen["largest"]))
row("sum", "last_column_left_out", "columns", lambda s, q: s - q.seen["exponential"][..., -1:])
row("sum", "first_32_only", "columns",
    lambda s, q: q.seen["exponential"][..., :32].sum(-1, keepdims=True), count=32)
row("sum", "of_first_row", "shared_rows", lambda s, q: s[:1] + 0 * s, "rows rows_bf16 rows_f16")
row("sum", "of_all_rows", "shared_rows", lambda s, q: s.sum() + 0 * s, "rows rows_bf16")
row("sum", "of_pairs_of_rows", "shared_rows",
    lambda s, q: np.repeat(s[::2] + s[1::2], 2, 0), "rows rows_bf16")
row("output", "columns", "shared_rows",
    lambda y, q: np.exp(q.x) / np.exp(q.x).sum(0, keepdims=True), "rows",
    listed="down_the_columns")
row("output", "logarithm", "function", lambda y, q: np.log(y))
row("output", "not_divided", "sum", lambda y, q: q.seen["exponential"], listed="")
row("output", "squared", "function", lambda y, q: y * y)
row("output", "last_row_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.N) == q.N - 1)[:, None], 0, y))
row("output", "rows_rolled", "rows_moved", lambda y, q: np.roll(y, 1, 0))

for cap in (45, 20, 60, 10):
    TABLE.add("soft_cap", f"cap_{cap}", "soft_cap", changed(cap=cap), "fifty thirty", value=cap)
TABLE.add("soft_cap", "missing", "soft_cap", {"output": lambda y, q: q.x}, "fifty thirty",
          listed="cap_missing")
TABLE.add("soft_cap", "clipped", "soft_cap", {"output": lambda y, q: np.clip(q.x, -q.cap, q.cap)},
          "fifty thirty", listed="hard")
TABLE.add("soft_cap", "not_back", "factor", {"output": lambda y, q: y / q.cap}, "fifty thirty",
          listed="cap_not_scaled_back")
TABLE.add("soft_cap", "arctan", "function",
          {"output": lambda y, q: q.cap * np.arctan(q.x / q.cap)}, "fifty thirty")
TABLE.add("soft_cap", "above_alone", "function",
          {"output": lambda y, q: np.where(q.x > 0, y, q.x)}, "fifty thirty")
