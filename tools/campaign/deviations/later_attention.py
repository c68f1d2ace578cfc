"""Deviations of attention, written without knowledge of the diagnosis: bugs of kernels, of caches
and of conversions."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

TABLE = Table()
LN_2 = np.log(EXACT(2))


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def places(q):
    """The query's place among the keys (bottom right), and the keys' own."""
    return np.arange(q.S)[:, None] + q.T - q.S, np.arange(q.T)[None]


def seen(name, kind, function, cases, operations="attention", **rest):
    one(operations, "visible", name, kind, lambda v, q: function(v, *places(q), q), cases, **rest)


def heads(q):
    """[H,1,1]"""
    return np.arange(q.H)[:, None, None]


def queries(q):
    """[S,1]"""
    return np.arange(q.S)[:, None]


def both(one, other):
    """A regular expression: both words, in any order."""
    return rf"({one}).*({other})|({other}).*({one})"


def width(q):
    return np.sqrt(EXACT(q.D))


def weigh(weight, values):
    return np.einsum("bhst,bhte->bhse", weight, values)


SOME = "plain causal cached cached_bf16 f16"
HEAD = r"head|\bH\b|\bK\b|group"
QUERY = r"quer|row|\bS\b"
FORMAT = r"bf16|round|precision|bits"
PADDED = np.array([9, 20, 14])[:, None, None, None]  # the lengths of the cases padded, lengths

# Which keys are seen: windows and chunks.
seen("window_missing_in_odd_heads", "window",
     lambda v, i, t, q: np.where(heads(q) % 2 == 1, t <= i, v), "window window_bf16",
     words=both(r"window|sees|keys|mask", HEAD))
seen("window_starts_at_next_tile_of_8", "window",
     lambda v, i, t, q: v & (t >= -((q.window[0] - i) // 8) * 8), "window window_bf16",
     words=r"tile|block|multiple|round|aligned|first key")
seen("chunk_as_window", "chunk", lambda v, i, t, q: (t <= i) & (t > i - q.chunk), "chunk",
     words=r"window|last 8|8 keys|distance")
seen("chunk_borders_one_early", "chunk",
     lambda v, i, t, q: (t <= i) & ((t + 1) // q.chunk == (i + 1) // q.chunk), "chunk",
     words=both(r"chunk|border|block", r"shift|offset|start|earl|before|\b7\b|align|index"))
seen("two_documents_from_11", "chunk", lambda v, i, t, q: v & ((t >= 11) | (i < 11)),
     "causal f16",
     words=r"segment|document|reset|restart|keys?.*(before|from|lost|unseen|not seen)|sees")

# Which keys are seen: lengths, offsets, caches.
seen("causal_from_capacity", "align", lambda v, i, t, q: (t < PADDED) & (t <= i), "lengths",
     words=r"align|offset|mask|causal|all keys|later|further|sees|length")
seen("offset_of_batch_0", "align", lambda v, i, t, q: (t < PADDED) & (t <= queries(q) + 9 - q.S),
     "lengths", words=r"align|offset|batch|length|diagonal|earlier|keys up to")
seen("lengths_in_blocks_of_4", "key_length",
     lambda v, i, t, q: (t < (PADDED + 3) // 4 * 4) & (t <= i + 99), "padded",
     words=r"length|padding|block|tile|keys.*(more|beyond|further)")
seen("newest_16_kept", "keys_lost", lambda v, i, t, q: v & (t >= q.T - 16),
     "cached long cached_bf16",
     words=r"keys?.*(not seen|unseen|not read|ignored|never)|lost|missing|window|sees")
seen("drafts_see_no_other_draft", "diagonal",
     lambda v, i, t, q: v & ((t < q.T - 3) | (t == i)), "cached cached_bf16 causal",
     words=r"keys?.*(lost|missing|not seen|unseen|hidden)|sees|mask|does not see")
seen("causal_by_packed_row", "diagonal",
     lambda v, i, t, q: t <= queries(q) * (q.H // q.K) + heads(q) % (q.H // q.K) + q.T - q.S,
     "causal f16 cached",
     words=r"sees|leak|mask|align|diagonal|further|packed|keys.*(later|beyond|up to)")
one("attention", "masked", "mask_adds_minus_6", "mask_value",
    lambda s, q: np.where(q.seen["visible"], s, q.seen["biased"] - 6), "causal f16 top_left",
    value=6, words=r"mask|finite|sentinel|leak")

# Heads.
one("attention", "key_head", "heads_divided_by_K", "key_head",
    lambda h, q: np.minimum(np.arange(q.H) // q.K, q.K - 1), "plain cached f16")
one("attention attention:bias", "key_head", "last_head_of_first_group", "key_head",
    lambda h, q: np.where(np.arange(q.H) == q.H - 1, 0, h), "plain cached f16 bias bias_scaled")

# Scale and cap.
one("attention", "scale", "scale_of_224_for_256", "scale",
    lambda s, q: s * np.sqrt(EXACT(256) / 224), "causal cached f16 plain",
    ratio=lambda q: [1.069, 1.069 / float(width(q))])
TABLE.add("attention", "scale_of_configuration_ignored", "scale", changed(scale=None), "scaled",
          ratio=[0.25, 4])
one("attention", "score", "scale_missing_from_query_16", "scale",
    lambda s, q: np.where(queries(q) >= 16, s * width(q), s), "causal long_causal",
    ratio=lambda q: [float(width(q)), 1],
    words=both(r"scale|temperature|multipl|times|factor", QUERY))
one("attention", "score", "scale_of_key_head_0_times_0.6", "scale",
    lambda s, q: np.where(heads(q) < q.H // q.K, s * EXACT("0.6"), s), "plain cached f16",
    ratio=lambda q: [0.6, 0.6 / float(width(q))],
    words=both(r"scale|temperature|multipl|times|factor|ratio", HEAD))
one("attention", "score", "log_n_of_16_added", "scale",
    lambda s, q: s * np.maximum(1, np.log(EXACT(1) * (places(q)[0] + 1)) / np.log(EXACT(16))),
    "causal long_causal",
    words=r"\blog|\bln\b|" + both(r"scale|temperature|times|multipl|factor", QUERY))
one("attention", "capped", "cap_before_scale", "soft_cap",
    lambda s, q: q.soft_cap * np.tanh(q.seen["dot"] / q.soft_cap) * q.seen["scale"],
    "cap cap_bf16 cap_causal")
one("attention", "capped", "cap_of_base_2", "soft_cap",
    lambda s, q: q.soft_cap * LN_2 * np.tanh(q.seen["score"] / (q.soft_cap * LN_2)),
    "cap cap_bf16 cap_causal", value=lambda q: [float(q.soft_cap * LN_2), float(LN_2)])
one("attention", "capped", "cap_missing_in_first_tile_of_8", "soft_cap",
    lambda s, q: np.where(np.arange(q.T) < 8, q.seen["score"], s), "cap cap_bf16",
    words=both(r"cap", r"tile|key|\bT\b|first|block"))

# What a wrong branch adds.
one("attention", "biased", "alibi_added", "slope",
    lambda s, q: s - EXACT(2) ** (-EXACT(8) * (heads(q) + 1) / q.H)
    * (places(q)[0] - places(q)[1]), "causal cached f16",
    words=r"alibi|slope|linear.*distance|bias")
one("attention", "dot", "keys_normalised", "scale",
    lambda d, q: d / np.sqrt((q.k**2).mean(-1))[:, q.seen["key_head"], None, :],
    "plain causal cached", words=r"norm|rms|length of")

# Channels of queries and keys.
one("attention", "dot", "channels_from_16_lost", "columns",
    lambda d, q: np.einsum("bhsd,bhtd->bhst", q.q[..., :16], q.k[:, q.seen["key_head"], :, :16]),
    "f16 cached_bf16 cap_bf16", words=r"channel|column|lost|missing|\bD\b|element")

# Sums over tiles.
def sum_of_running_largest(total, q):
    """The weights are rescaled when a tile of 8 has a larger score, the sum is not."""
    score, tiles = q.seen["masked"], np.arange(q.T) // 8
    largest = np.maximum.accumulate(score, -1)[..., np.minimum(tiles * 8 + 7, q.T - 1)]
    return np.nan_to_num(np.exp(score - largest)).sum(-1, keepdims=True)


one("attention", "sum", "sum_not_rescaled_in_tiles_of_8", "sum", sum_of_running_largest,
    "plain cached long", words=r"tile|rescal|sum|denominator|divisor|divid|largest")


def masked_after_softmax(weight, q):
    score = q.seen["biased"]
    terms = np.exp(score - score.max(-1, keepdims=True))
    return np.where(q.seen["visible"], terms / terms.sum(-1, keepdims=True), 0)


one("attention", "weight", "masked_after_softmax", "sum", masked_after_softmax,
    "causal window chunk f16", words=r"sum|denominator|divid|divisor|normali|masked|hidden|unseen")
one("attention", "sum", "padding_counted_as_zeros", "sum",
    lambda s, q: s + (q.T - PADDED) * np.exp(-q.seen["largest"]), "padded")

# Values.
one("attention", "weighed", "value_of_newest_key_stale", "values", lambda y, q: weigh(
    q.seen["weight"], q.v[:, q.seen["value_head"]][:, :, np.minimum(np.arange(q.T), q.T - 2)]),
    SOME, words=both(r"value|\bv\b",
                     r"stale|newest|last|previous|before|another|other|missing|repeat|\d"))
one("attention", "weighed", "value_channels_wrap_at_D", "elements",
    lambda y, q: y[..., np.arange(q.E) % q.D], "causal cached long",
    words=r"channel|column|\bE\b|repeat|copied|copies|modulo|wrap|half|halves")
one("attention", "weighed", "values_of_key_head_1_times_1.75", "factor",
    lambda y, q: np.where(q.seen["value_head"][:, None, None] == 1, y * EXACT("1.75"), y), SOME,
    ratio=1.75, words=both(r"factor|times|multipl|scale", HEAD + "|value"))


def batch_0_for_last(q):
    return np.where(np.arange(q.B) == q.B - 1, 0, np.arange(q.B))


TABLE.add("attention", "cache_of_batch_0_for_last", "rows_moved", {
    "dot": lambda d, q: np.einsum("bhsd,bhtd->bhst", q.q,
                                  q.k[batch_0_for_last(q)][:, q.seen["key_head"]]),
    "weighed": lambda y, q: weigh(q.seen["weight"],
                                  q.v[batch_0_for_last(q)][:, q.seen["value_head"]])},
          "padded lengths", words=r"batch|stale|another|other")

# Outputs.
one("attention", "output", "written_as_BSHE", "order",
    lambda y, q: y.swapaxes(1, 2).reshape(y.shape), "plain causal cached f16",
    words=r"order|permut|transpos|layout|moved|another|other|place|read from|swap|exchang")

# Sinks.
BOTH = "sink sink_bf16"
for name, change, cases, figures in (
    ("in_bf16", lambda s, q: term(rounded("bf16")(q.sink, q), q), "sink",
     {"words": FORMAT}),
    ("in_every_tile_of_4", lambda s, q: s * (-(-q.T // 4)), BOTH, {}),
    ("of_query_row", lambda s, q: np.exp(
        q.sink[np.arange(q.S) % q.H][None, None, :, None] - q.seen["largest"]), BOTH,
     {"words": both("sink", QUERY + "|index|head|order")}),
    ("missing_from_query_8", lambda s, q: np.where(queries(q) >= 8, 0, s), BOTH,
     {"words": both("sink", QUERY)}),
    ("of_other_largest", lambda s, q: np.exp(
        q.sink[None, :, None, None]
        - np.maximum(q.seen["largest"], q.sink[None, :, None, None])), BOTH, {}),
    ("against_sum_in_base_2", lambda s, q: q.seen["sum"] * np.exp(
        q.sink[None, :, None, None] - (q.seen["largest"] + np.log(q.seen["sum"])) / LN_2), BOTH,
     {}),
):
    one("attention:sink", "sink", f"sink_{name}", "sink", change, cases, **figures)


def term(sink, q):
    return np.exp(sink[None, :, None, None] - q.seen["largest"])


TABLE.add("attention:sink", "sink_instead_of_key_0", "sink", {
    "masked": lambda s, q: np.where((np.arange(q.T) == 0) & q.seen["visible"],
                                    q.sink[None, :, None, None], s),
    "sink": lambda s, q: 0 * s}, "sink", words=r"sink")
one("attention:sink", "weight", "first_column_dropped", "sink",
    lambda w, q: np.concatenate((w[..., 1:], 1 - w.sum(-1, keepdims=True)), -1), BOTH,
    words=r"sink|value|shift|next")
TABLE.add("attention:sink", "window_missing", "window", changed(window=None), "sink_bf16")

# Biases.
BIAS = "bias bias_bf16 bias_scaled"
for name, change, cases, figures in (
    ("in_bf16", rounded("bf16"), "bias bias_scaled", {"words": FORMAT}),
    ("in_base_2", lambda b, q: b * LN_2, BIAS, {"kind": "factor", "ratio": [float(LN_2), 2]}),
    ("missing_for_keys_from_8", lambda b, q: np.where(np.arange(q.T) >= 8, 0, b), BIAS,
     {"words": both("bias", r"key|column|\bT\b")}),
    ("negative_part", lambda b, q: np.minimum(b, 0), BIAS,
     {"words": both("bias", r"negativ|positiv|below|above|relu|min|clamp|clip|sign|at most")}),
    ("over_scale", lambda b, q: b * width(q), "bias bias_bf16", {}),
    ("as_mask", lambda b, q: np.where(b < 0, -np.inf, EXACT(0)), BIAS,
     {"words": r"mask|hidd|hides|inf|negativ|sign|not (seen|read)"}),
    ("row_stride_16", lambda b, q: np.pad(
        b.reshape(1, q.H, -1), ((0, 0), (0, 0), (0, 16 * q.S)))[
            :, :, queries(q) * 16 + np.arange(q.T)], "bias_bf16 bias_scaled",
     {"words": both("bias", r"stride|row|moved|shift|order|another|layout|transpos|read")}),
):
    figures = {"words": "bias", **figures}
    one("attention:bias", "bias", f"bias_{name}", figures.pop("kind", "bias"), change, cases,
        **figures)

# Scores alone.
SCORES = "scores scores_bf16"


def in_tf32(x):
    """Rounded to 11 significant bits."""
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(fraction * 2048) / 2048, exponent)


for name, stage, kind, change, cases, figures in (
    ("key_channels_deinterleaved", "operands", "columns",
     lambda o, q: (o[0], np.concatenate((o[1][..., ::2], o[1][..., 1::2]), -1)), SCORES,
     {"words": r"channel|order|permut|interleav|pair|layout"}),
    ("channels_8_to_15_twice", "operands", "columns",
     lambda o, q: (np.where(np.arange(q.D) // 8 == 1, 2 * o[0], o[0]), o[1]), SCORES, {}),
    ("operands_in_tf32", "operands", "columns", lambda o, q: (in_tf32(o[0]), in_tf32(o[1])),
     "scores", {"words": r"tf32|f16|bits|precision|round"}),
    ("transposed", "output", "order", lambda y, q: y.swapaxes(2, 3), "scores_bf16",
     {"words": r"transpos|exchang|swap|\bkey.*quer|quer.*\bkey"}),
    ("last_key_stale", "output", "rows_moved",
     lambda y, q: y[..., np.minimum(np.arange(q.T), q.T - 2)], SCORES,
     {"words": r"row|key|moved|another|other|before|previous|repeat|stale|same|column|\bT\b"}),
    ("heads_accumulate", "output", "rows_added", lambda y, q: np.cumsum(y, 1), SCORES, {}),
    ("keys_of_batch_0", "operands", "rows_moved", lambda o, q: (o[0], o[1][:1] + 0 * o[1]),
     "scores_bf16", {"words": r"batch"}),
):
    one("attention_scores", stage, name, kind, change, cases, **figures)
