"""Deviations of attention in its other forms, of softmax and of the soft cap."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

from .attention import KEYS, ORDER, running, width

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add
LN_2 = np.log(EXACT(2))

# Scores alone.
SCORES = "scores scores_bf16"
one("attention_scores", "key_head", "heads_reversed", "key_head", lambda h, q: h[::-1], SCORES)
one("attention_scores", "operands", "keys_of_next_token", "order",
    lambda o, q: (o[0], np.roll(o[1], -1, 2)), SCORES)
# jax, maxtext: products of f32 are of bf16 if no precision is asked.
shown("attention_scores", "operands", "operands_in_bf16", "columns",
      lambda o, q: tuple(rounded("bf16")(x, q) for x in o), "scores",
      words=r"b?f16|half|fp8|int8|e4m3|round|precision|bits|quanti|accura|coarse|tf32")

# Relative positions.
RELATIVE = "relative relative_bf16 relative_cached"
one("relative_attention", "scale", "scale_of_96", "scale", lambda s, q: 1 / np.sqrt(EXACT(96)),
    RELATIVE, ratio=lambda q: [float(1 / np.sqrt(EXACT(96))),
                               float(1 / np.sqrt(EXACT(96)) * width(q))])
for table, stage, name, kind, change, cases, figures in (
    (one, "distance", "distance_from_index", "position_is_index",
     lambda d, q: np.arange(q.T)[None] - np.arange(q.S)[:, None], RELATIVE, {}),
    (one, "distance", "distance_reversed", "sign", lambda d, q: -d, RELATIVE,
     {"listed": "distance_negated"}),
    (one, "row", "rows_wrapped", "clip",
     lambda r, q: (q.seen["distance"] + q.clip) % (2 * q.clip + 1), RELATIVE, {}),
    (one, "value_table", "value_table_is_other", "table", lambda t, q: q.key_table, RELATIVE, {}),
    (one, "relative", "relative_not_scaled", "table", lambda r, q: r * width(q), RELATIVE, {}),
    (one, "score", "future_hidden", "mask",
     lambda s, q: np.where(q.seen["distance"] <= 0, s, -np.inf), RELATIVE, {}),
    # transformers BERT, relative_key: distances begin at another row.
    (shown, "row", "row_one_later", "position_offset", lambda r, q: np.minimum(r + 1, 2 * q.clip),
     RELATIVE, {"shift": 1,
                "words": r"row|offset|shift|off.by|later|table|distance|added|more"}),
    # tensor2tensor, cache: the distances of one query, the last.
    (shown, "distance", "distances_of_last_query", "position_constant",
     lambda d, q: d[-1:] + 0 * d, RELATIVE,
     {"words": r"last query|newest|same|constant|all queries|every query|query_position"
               r"|(quer|position).*(last|ignored|\d)|position_is"}),
):
    table("relative_attention", stage, name, kind, change, cases, **figures)

# Another sequence.
CROSS = "cross cross_square cross_bf16 cross_lengths"
for table, stage, name, kind, change, cases, figures in (
    (one, "weights", "values_by_wk", "values", lambda w, q: (w[0], w[1], w[1]), CROSS, {}),
    (one, "biases", "bv_is_bk", "bias", lambda b, q: (b[0], b[1], b[1]), CROSS, {}),
    (one, "bo", "bo_twice", "bias", lambda b, q: 2 * b, CROSS, {}),
    (one, "wo", "wo_transposed", "transposed", lambda w, q: w.T, "cross_square", {}),
    (one, "sources", "memory_is_x", "residual", lambda s, q: (s[0], s[0], s[0]), "cross_square",
     {"words": "memory|sequence|x "}),
    (one, "key_head", "heads_tiled", "key_head", lambda h, q: np.arange(q.H) % q.K, "cross", {}),
    (one, "visible", "first_key_lost", "keys_lost", lambda v, q: v & (np.arange(q.T) > 0), CROSS,
     {}),
    (one, "visible", "lengths_ignored", "key_length", lambda v, q: v | True, "cross_lengths",
     {"listed": "key_length="}),
    (one, "answer", "residual_added", "residual", lambda y, q: y + q.x, CROSS, {}),
    # cs224n-win2223: the causal mask of the decoder, here from the last key backwards.
    (shown, "visible", "causal_from_last_key", "mask", lambda v, q: v & (
        np.arange(q.T)[None] <= np.arange(q.S)[:, None] + q.T - q.S), "cross cross_bf16",
     {"words": KEYS}),
    # [H,S,D] is viewed as [S,H*D] without a transposition.
    (shown, "mean", "heads_viewed_not_transposed", "order",
     lambda m, q: m.reshape(q.S, q.H, -1).swapaxes(0, 1).reshape(q.S, -1),
     "cross cross_square cross_bf16", {"words": ORDER + r"|head|place|view|mixed|rows?\b"}),
):
    table("cross_attention", stage, name, kind, change, cases, **figures)
# nn.MultiheadAttention has one matrix, and the port takes its parts as k, q, v.
add("cross_attention", "wq_and_wk_exchanged", "values", {
    "weights": lambda w, q: (w[1], w[0], w[2]), "biases": lambda b, q: (b[1], b[0], b[2])},
    "cross_square cross_bf16 cross_lengths", shown=True,
    words=r"\bwq\b|\bwk\b|exchang|swap|quer.*key|key.*quer|order|memory|\bbq\b|\bbk\b")

# Two parts merged.
for table, stage, name, kind, change, figures in (
    (one, "weights", "weights_exchanged", "halves", lambda w, q: w[::-1], {}),
    (one, "weights", "first_not_rescaled", "weights", lambda w, q: (w[0] * 0 + 1, w[1]), {}),
    (one, "sum", "not_divided", "sum", lambda s, q: 0 * s + 1, {}),
    (one, "lse", "lse_in_base_2", "factor", lambda y, q: y / LN_2, {"ratio": 1 / float(np.log(2))}),
    (one, "logarithms", "row_before", "rows_moved", lambda p, q: (np.roll(p[0], 1), p[1]), {}),
    # sglang: FlashInfer's logarithms are of base 2, those of the merging kernel of base e.
    (shown, "logarithms", "lse_of_base_2_given", "base_of_exponential",
     lambda p, q: (p[0] / LN_2, p[1] / LN_2),
     {"words": r"base|2\^|log2|ln\b|1\.44|0\.69|times|multipl|scale|factor|temperature"}),
    # ring-flash-attention: lse - logsigmoid(lse - block_lse), with the first sign wrong.
    (shown, "lse", "lse_less_not_more", "function",
     lambda y, q: q.lse1 - np.log1p(np.exp(q.lse2 - q.lse1)), {"words": r"\blse\b"}),
):
    table("attention_merge", stage, name, kind, change, "merge merge_bf16", **figures)

# Softmax and the soft cap.
ROWS = "rows rows_bf16 rows_f16 wide"
for table, stage, name, kind, change, cases, figures in (
    (one, "exponential", "base_10", "base_of_exponential",
     lambda e, q: 10 ** (q.x - q.seen["largest"]), ROWS, {}),
    (one, "exponential", "tiles_of_16_not_rescaled", "sum", running(16), ROWS,
     {"words": "tile|rescal|largest"}),
    (one, "sum", "padded_to_64", "sum",
     lambda s, q: s + (-q.M % 64) * np.exp(-q.seen["largest"]), ROWS, {}),
    (one, "sum", "of_pairs_of_rows", "shared_rows", lambda s, q: np.repeat(s[::2] + s[1::2], 2, 0),
     "rows rows_bf16", {}),
    (one, "output", "remainder_of_8_not_divided", "columns", lambda y, q: np.where(
        np.arange(q.M) >= q.M // 8 * 8, q.seen["exponential"], y), "rows wide",
     {"words": "M |column|divid"}),
    (one, "output", "fourth_rows_nan", "rows_zero", lambda y, q: np.where(
        (np.arange(q.N) % 4 == 3)[:, None], EXACT("nan"), y), ROWS, {"words": "nan"}),
    (one, "output", "one_hot", "weights",
     lambda y, q: (q.x == q.x.max(-1, keepdims=True)).astype(EXACT), ROWS,
     {"words": "largest|argmax|1 "}),
    (one, "output", "squared", "function", lambda y, q: y * y, ROWS, {}),
    (one, "output", "rows_rolled", "rows_moved", lambda y, q: np.roll(y, 1, 0), ROWS, {}),
    # The temperature of sampling is left in.
    (shown, "input", "temperature_over_0.7", "scale", lambda x, q: x / EXACT("0.7"),
     "rows rows_bf16 wide", {"ratio": 0.7}),
    # Routers: the kernel for experts has the largest 8, and their sum.
    (shown, "exponential", "largest_8_alone", "columns",
     lambda e, q: np.where(e >= np.sort(e, -1)[:, -8:-7], e, 0), "rows rows_bf16 wide",
     {"words": r"top|largest|\b8\b|small|below|drop|threshold|kept|few|zero|columns?|sum"}),
):
    table("softmax", stage, name, kind, change, cases, **figures)
add("soft_cap", "cap_45", "soft_cap", changed(cap=45), "fifty thirty", value=45)
one("soft_cap", "output", "arctan", "function", lambda y, q: q.cap * np.arctan(q.x / q.cap),
    "fifty thirty")
# A rational function for tanh, in shaders and on small devices.
shown("soft_cap", "tanh", "tanh_by_pade", "function", lambda t, q: (
    q.seen["ratio"] * (27 + q.seen["ratio"]**2) / (27 + 9 * q.seen["ratio"]**2)), "fifty thirty",
    words=r"approx|rational|pad(e|\u00e9)|polynom|series|tanh|27|grow|exceed|above"
    r"|large|beyond|cap|linear|satur")

# Single elements of any operation.
one("rope rms_norm softmax attention linear activation", "output", "elements_last_of_row_stale",
    "elements", lambda y, q: np.where(np.arange(y.shape[-1]) == y.shape[-1] - 1,
                                      np.roll(y.ravel(), 1).reshape(y.shape), y),
    "near inter_bf16 rows rows_bf16 plain causal wide narrow swish gelu_bf16")
