"""Deviations of ALiBi, its slopes, and of factors that grow with the position."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add
ALIBI = "distance key distance_bf16"
NEAR = "distance distance_bf16"
SLOPES = "twelve eight forty"
FACTORS = "temperature temperature_bf16 log_n log_n_bf16"
BOTH = "temperature_scale log_n_scale"
HEADS = r"head|slope|index|order|\bH\b|extra|exchang|repeat|rank|zero|missing|times|multipl|factor"

for table, stage, name, kind, change, cases, figures in (
    (one, "distance", "blocks_of_4", "position_rounded", lambda d, q: d // 4 * 4, ALIBI,
     {"words": "distance|block|round|multiple|position"}),
    (one, "distance", "clamped_at_8", "position_clamped", lambda d, q: np.clip(d, -8, 8), ALIBI,
     {"limit": 8}),
    (one, "distance", "one_more", "position_offset", lambda d, q: d + 1, ALIBI, {"shift": 1}),
    (one, "distance", "root", "function", lambda d, q: np.sign(d) * np.sqrt(np.abs(d)), ALIBI, {}),
    (one, "distance", "absolute", "form", lambda d, q: np.abs(d), "distance",
     {"listed": "form=symmetric"}),
    (one, "queries", "queries_from_zero", "position_relative", lambda p, q: p - p[0], NEAR,
     {"listed": "queries_counted_from_zero"}),
    (one, "output", "cut_at_minus_8", "function", lambda b, q: np.maximum(b, -8), ALIBI,
     {"words": "-8|clamp|clip|at least|below"}),
    # MPT for a causal mask: one row, the distances to the last key, for all queries.
    (shown, "queries", "distance_to_last_key", "position_constant",
     lambda p, q: 0 * p + q.key_position[-1], NEAR,
     {"words": r"last|constant|same|all (the )?quer|(every|each) quer|query_position|act as|form"
               r"|row"}),
    # keras-hub's Falcon: in a step with a cache, the bias is built over the new tokens alone.
    (shown, "output", "cached_keys_without_bias", "rows_zero",
     lambda b, q: np.where(np.arange(q.T) < q.T - q.S, 0, b), NEAR,
     {"words": r"zero|unwritten|missing|lost|is 0|not (computed|written)|\bT\b|key|column|cache"}),
    # Megatron-DeepSpeed, FlashInfer: each of 4 ranks has the slopes of the first.
    (shown, "slope", "slopes_of_first_rank", "slope", lambda s, q: s[np.arange(q.H) % (q.H // 4)],
     ALIBI, {"words": HEADS}),
    # BLOOM counts the tokens of a mask: 5 of padding on the left are at 0.
    (shown, "keys", "padding_of_5_not_counted", "position_offset",
     lambda p, q: np.maximum(p - 5, 0), "distance key",
     {"shift": 5, "words": r"offset|shift|less|early|padd|minus|subtract|clamp"
                           r"|late|more|added|further|T 0 to \d+ at T 5 to"}),
):
    table("alibi", stage, name, kind, change, cases, **figures)


def slopes_of_mpt(e, q):
    """Those of the next power of two: the first, third ... before the second, fourth ..."""
    n = 1 << (q.H - 1).bit_length()
    every = EXACT(q.max_bias) * np.arange(1, n + 1) / n
    return np.append(every[::2], every[1::2])[:q.H]


shown("alibi_slopes", "exponent", "halves_of_mpt_exchanged", "head_index", slopes_of_mpt,
      "twelve forty", words=HEADS)
add("alibi_slopes", "max_bias_7", "max_bias", changed(max_bias=7), SLOPES, value=7)
one("alibi_slopes", "exponent", "one_later", "head_index", lambda e, q: e + e[0], SLOPES)
one("alibi_slopes", "root", "base_3", "base", lambda b, q: EXACT(3), SLOPES, value=3)
one("alibi_slopes", "output", "times_0.9", "factor", lambda s, q: s * EXACT("0.9"), SLOPES,
    ratio=0.9)

add("temperature_scale", "beta_0.07", "beta", changed(beta=0.07), FACTORS, value=0.07)
add("temperature_scale", "floor_scale_900", "floor_scale", changed(floor_scale=900), FACTORS,
    value=900)
add("log_n_scale", "original_max_position_embeddings_12", "original_max_position_embeddings",
    changed(original_max_position_embeddings=12), FACTORS, value=12)
one(BOTH, "position", "clamped_30000", "position_clamped", lambda p, q: np.minimum(p, 30000),
    "temperature temperature_bf16 log_n", limit=30000)
one("temperature_scale", "block", "one_more", "function", lambda b, q: b + 1, FACTORS)
one("log_n_scale", "factor", "root", "function", lambda f, q: np.sqrt(f), FACTORS)
one("temperature_scale", "factor", "of_last_token", "position_of_token",
    lambda f, q: 0 * f + f[-1], FACTORS, listed="factor_of_last_token", words="last")
# vLLM turned Llama 4's factor on for contexts above 32768.
shown("temperature_scale", "factor", "only_from_32768", "function",
      lambda f, q: np.where(q.position < 32768, 1, f), "temperature temperature_bf16",
      words=r"(position|token|row).*(\b1\b|not scaled|unscaled|missing|unchanged|below|from|beyond"
      r"|above|under|clamp|act as)|32768|\bshort|unchanged.*position")
# Qwen: the start of the slice was taken from another axis, so that it is 0.
shown("log_n_scale", "position", "slice_from_0", "position_is_index",
      lambda p, q: np.arange(q.S).astype(EXACT), "log_n",
      words=r"index|slot|place|count|0, 1, 2|missing|not (scaled|applied)|unscaled|\b1\b"
      r"|unchanged|itself|without|ignored|zero|act as")
