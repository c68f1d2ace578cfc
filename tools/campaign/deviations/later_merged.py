"""Further rows of later_attention: parts merged, another sequence, relative positions, softmax."""

import numpy as np

from stages import EXACT, rounded

from .later_attention import (TABLE, LN_2, one, both, width, FORMAT)

# Parts merged.
MERGE = "merge merge_bf16"
for name, stage, kind, change, figures in (
    ("lse_in_bf16", "logarithms", "weights",
     lambda p, q: tuple(rounded("bf16")(x, q) for x in p), {"words": FORMAT}),
    ("lse2_in_base_2", "logarithms", "base_of_exponential", lambda p, q: (p[0], p[1] * LN_2),
     {"words": both("lse2|second|y2", r"base|log|\bln|times|multipl|0\.69|factor")}),
    ("largest_not_added_to_lse", "lse", "function", lambda y, q: np.log(q.seen["sum"]),
     {"words": r"lse"}),
    ("weights_of_every_4th_row", "weights", "rows_moved",
     lambda w, q: tuple(x[np.arange(q.N) // 4 * 4] for x in w),
     {"words": r"row|share|block|every"}),
    ("lse2_by_heads", "logarithms", "rows_moved",
     lambda p, q: (p[0], p[1].reshape(4, -1).T.ravel()),
     {"words": r"order|transpos|permut|row|another"}),
    ("channels_from_8_of_y1", "output", "rows_still",
     lambda y, q: np.where(np.arange(q.E) >= 8, q.y1, y),
     {"words": r"y1|unchanged|channel|column|\bE\b"}),
    ("negative_lse1_is_empty", "weights", "weights",
     lambda w, q: (np.where(q.lse1 < 0, 0, w[0]), w[1]),
     {"words": r"negativ|empty|below|less than|lse1.*(missing|lost|ignored|sign)|alone|y2"
              r"|lse is lse2"}),
):
    one("attention_merge", stage, name, kind, change, MERGE, **figures)


# Another sequence.
def with_queries(question, change):
    """`change` of the queries before they are split into heads, [S,H*D] -> [H,S,D]."""
    question.q = change(question.q[0].swapaxes(0, 1).reshape(question.S, -1), question)[None]
    return question


def fused_by_head(pair):
    """Keys and values of a fused projection: two blocks, read as pairs of heads (K = 2)."""
    parts = np.split(np.concatenate(pair), 4)
    return np.concatenate((parts[0], parts[2])), np.concatenate((parts[1], parts[3]))


SQUARE = "cross_square cross_bf16 cross_lengths"  # H = K
ALL = "cross cross_square cross_bf16 cross_lengths"
for name, stage, kind, change, cases, figures in (
    ("queries_by_wk", "weights", "values", lambda w, q: (w[1], w[1], w[2]), SQUARE,
     {"words": r"\bw[qk]\b"}),
    ("queries_of_memory", "sources", "residual", lambda s, q: (s[1], s[1], s[1]), "cross_square",
     {"words": r"memory"}),
    ("values_of_x", "sources", "values", lambda s, q: (s[0], s[1], s[0]), "cross_square",
     {"words": r"memory|\bx\b"}),
    ("bq_not_scaled", "biases", "bias", lambda b, q: (b[0] * width(q), b[1], b[2]), ALL,
     {"words": r"\bbq"}),
    ("bo_of_every_head", "bo", "factor", lambda b, q: b * q.H, "cross cross_square",
     {"words": r"\bbo|bias", "ratio": lambda q: q.H}),
    ("queries_split_as_DH", "inner", "layout",
     lambda i, q: with_queries(i, lambda y, r: y.reshape(r.S, r.D, r.H).transpose(2, 0, 1)), ALL,
     {"words": r"layout|interleav|order|transpos|permut|head|wq"}),
    ("memory_cut_at_S", "visible", "keys_lost", lambda v, q: v & (np.arange(q.T) < q.S),
     "cross cross_bf16", {}),
    ("last_head_not_added", "mean", "rows_zero",
     lambda m, q: np.where(np.arange(q.H * q.D) >= (q.H - 1) * q.D, 0, m), ALL,
     {"words": r"head|columns? \d|\bwo\b|mean"}),
):
    one("cross_attention", stage, name, kind, change, cases, **figures)
TABLE.add("cross_attention", "fused_kv_split_by_head", "values", {
    "weights": lambda w, q: (w[0], *fused_by_head(w[1:])),
    "biases": lambda b, q: (b[0], *fused_by_head(b[1:]))}, "cross cross_bf16 cross_lengths",
          words=r"interleav|fused|head|order|layout|exchang|swap|permut|"
          + both("wk|keys?", "wv|values?"))

# Relative positions.
RELATIVE = "relative relative_bf16 relative_cached"
for name, stage, kind, change, cases, figures in (
    ("table_times_keys", "relative", "table", lambda r, q: np.einsum(
        "bhtd,std->bhst", q.k, q.key_table[q.seen["row"]]), RELATIVE,
     {"words": r"(product|times|dot|multipl|with|of) (the )?(k\b|keys)|k\[t\]|keys? instead"
      r"|\bk ?[.*] ?"}),
    ("content_not_scaled", "content", "scale", lambda c, q: c * width(q), RELATIVE,
     {"words": both(r"content|q ?[.*] ?k|product|key_table|relative|scale",
                    r"scale|times|factor|multipl|divid")}),
    ("zero_beyond_clip", "relative", "clip",
     lambda r, q: np.where(np.abs(q.seen["distance"]) > q.clip, 0, r), RELATIVE,
     {"words": r"clip|beyond|outside|farther|distance"}),
    ("zero_for_later_keys", "relative", "table",
     lambda r, q: np.where(q.seen["distance"] > 0, 0, r), RELATIVE,
     {"words": r"later|future|distance|positive|row"}),
    ("clip_of_2_in_value_table", "added", "clip", lambda y, q: np.einsum(
        "bhst,std->bhsd", q.seen["weight"],
        q.value_table[np.clip(q.seen["distance"], -2, 2) + q.clip]), RELATIVE,
     {"value": 2, "words": r"clip|distance|value_table|row"}),
    ("keys_in_ring_of_16", "distance", "position_wrapped",
     lambda d, q: q.key_position[None] % 16 - q.query_position[:, None], "relative_cached",
     {"limit": 16}),
    ("distances_of_first_query", "distance", "position_constant", lambda d, q: d[:1] + 0 * d,
     RELATIVE,
     {"words": r"first query|query 0|same|constant|all queries|query_position|position_is"}),
    ("key_table_in_bf16", "key_table", "table", rounded("bf16"), "relative relative_cached",
     {"words": FORMAT}),
    ("scale_of_2D", "scale", "scale", lambda s, q: s / np.sqrt(EXACT(2)), RELATIVE,
     {"ratio": lambda q: [float(np.sqrt(EXACT("0.5"))), float(np.sqrt(EXACT("0.5")) / width(q))]}),
):
    one("relative_attention", stage, name, kind, change, cases, **figures)

# Softmax.
ROWS = "rows rows_bf16 wide"


def by_blocks_of_32(total, q):
    terms = q.seen["exponential"]
    return np.concatenate([0 * part + part.sum(-1, keepdims=True) for part in
                           np.split(terms, range(32, q.M, 32), -1)], -1)


def tail_overlaps(total, q):
    """The last vector of 16 ends with the row: what it shares with the one before counts twice."""
    return total + q.seen["exponential"][:, q.M - 16:q.M // 16 * 16].sum(-1, keepdims=True)


for name, stage, kind, change, cases, figures in (
    ("largest_not_subtracted", "exponential", "rows_zero",
     lambda e, q: np.exp(q.x.astype(np.float32)).astype(EXACT), "large",
     {"words": r"overflow|nan|largest|subtract|infin|\binf\b"}),
    ("differences_at_least_minus_3", "exponential", "limit", lambda e, q: np.maximum(
        e, np.exp(EXACT(-3))), ROWS, {"value": [3, float(np.exp(-3))],
                                      "words": r"limit|clamp|clip|at (least|most)|floor|below"}),
    ("sums_of_blocks_of_32", "sum", "groups", by_blocks_of_32, ROWS,
     {"words": r"group|block|tile|part|half|halves|32|separate"}),
    ("tail_vector_overlaps", "sum", "columns", tail_overlaps, "rows wide rows_f16",
     {"words": r"twice|overlap|lanes|tail|vector|columns?.*(count|add|sum)"}),
    ("sum_of_row_before", "sum", "shared_rows", lambda s, q: np.roll(s, 1, 0), ROWS, {}),
    ("log2_of_e_1.4269", "exponential", "scale", lambda e, q: np.exp2(
        EXACT("1.4269") * (q.x - q.seen["largest"])), "rows wide rows_f16",
     {"ratio": [0.98905, 1.4269, 2.6886], "words": r"scale|temperature|multipl|times|base|log"}),
    ("in_uint8", "output", "function", lambda y, q: np.rint(y * 256) / 256, ROWS,
     {"words": r"256|2\^-8|bits|quanti|uint8|int8|multiple|steps"}),
    ("exponential_of_256_factors", "exponential", "function",
     lambda e, q: (1 + (q.x - q.seen["largest"]) / 256) ** 256, ROWS,
     {"words": r"exponential|approxim|\(1 \+|power|polynom|series|256"}),
):
    one("softmax", stage, name, kind, change, cases, **figures)
