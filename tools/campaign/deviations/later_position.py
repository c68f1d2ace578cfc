"""Further rows of later_linear: ALiBi, factors of positions, relative positions."""

import numpy as np

from stages import EXACT, changed, to_format

from .later_linear import (TABLE, PRECISION, one, in_bf16)

# ALiBi.
ALIBI = "distance key distance_bf16"
for name, stage, kind, change, cases, figures in (
    # Every device numbers its heads from 0.
    ("slopes_restart_at_half", "slope", "slope", lambda s, q: s[np.arange(q.H) % (q.H // 2)], ALIBI,
     {"words": r"slope|head"}),
    # Scores of exp2: the bias is multiplied by log2(e) once more.
    ("times_log2_e", "slope", "slope", lambda s, q: s / np.log(EXACT(2)), ALIBI,
     {"ratio": 1.442695, "words": r"slope|factor|times|multipl|scale|log2|ln ?\(?2|base"}),
    ("heads_from_8_zero", "output", "rows_zero",
     lambda b, q: np.where((np.arange(q.H) >= 8)[:, None, None], 0, b), "distance_bf16",
     {"words": r"zero|missing|lost|unwritten|head|\bH\b|is 0"}),
    ("slope_of_query_row", "output", "slope",
     lambda b, q: 0 * b - q.slope[np.arange(q.S) % q.H][None, :, None] * q.seen["distance"], ALIBI,
     {"words": r"slope|head|axis|query|row"}),
    ("queries_at_most_290", "queries", "position_clamped", lambda p, q: np.minimum(p, 290),
     "distance_bf16", {"limit": 290}),
    # The second chunk of a prompt numbers its queries as the first.
    ("queries_restart_at_8", "queries", "position_restarts",
     lambda p, q: np.where(np.arange(q.S) < 8, p, p - 8), "distance distance_bf16",
     {"token": lambda q: [8, int(q.query_position[8])],
      "words": r"restart|reset|counted|from|start|above|later|another position|act as|repeat"
               r"|numbers of S - 8 at S 8"}),
    ("keys_of_ring_rolled_5", "keys", "position_of_token", lambda p, q: np.roll(p, 5), ALIBI,
     {"words": r"key|order|roll|shift|ring|moved|another|offset|wrap"}),
    ("future_hidden", "output", "mask",
     lambda b, q: np.where(q.seen["distance"] < 0, -np.inf, b), "distance",
     {"words": r"mask|causal|-inf|infin|future|later keys|hidden"}),
):
    one("alibi", stage, name, kind, change, cases, **figures)
TABLE.add("alibi", "positions_in_bf16", "position_rounded",
          {"queries": lambda p, q: in_bf16(p), "keys": lambda p, q: in_bf16(p)}, "distance_bf16",
          words=r"(position|distance|quer|key).*(round|cut|truncat|bits|multiple|block|f16|even)")
TABLE.add("alibi", "key_form_for_distance", "form", changed(form="key"), "distance distance_bf16",
          listed="form=key", words=r"form|quer.*(0|zero|ignored|missing|same|constant)")
TABLE.add("alibi", "distance_form_for_key", "form", changed(form="distance"), "key",
          listed="form=distance", words=r"form|distance|quer")

# Slopes of ALiBi. Of H heads, `power` are a power of two, and the others are extra.
SLOPES = "twelve eight forty"


def power(q):
    return 1 << (q.H.bit_length() - 1)


def of_half(q):
    """The exponents of H / 2 heads, twice."""
    count = q.H // 2
    n, h = 1 << (count.bit_length() - 1), np.arange(count).astype(EXACT)
    return np.tile(EXACT(q.max_bias) * np.where(h < n, (h + 1) / n, (2 * (h - n) + 1) / (2 * n)), 2)


def powers_of_f16(q):
    """Powers of a root that is kept in f16."""
    n, h = power(q), np.arange(q.H)
    root, extra = (to_format(EXACT(2) ** (-EXACT(q.max_bias) / m), "f16").astype(EXACT)
                   for m in (n, 2 * n))
    return np.where(h < n, root ** (h + 1), extra ** (2 * (h - n) + 1))


HEADS = r"head|slope|index|order|\bH\b"
for name, stage, kind, change, cases, figures in (
    ("extra_first", "exponent", "head_index", lambda e, q: np.roll(e, q.H - power(q)),
     "twelve forty", {"words": HEADS}),
    ("sorted", "exponent", "head_index", lambda e, q: np.sort(e), "twelve forty",
     {"words": HEADS + r"|sort|monoton"}),
    # [::2] of the extra slopes is forgotten.
    ("extra_not_every_second", "exponent", "head_index",
     lambda e, q: np.where(np.arange(q.H) < power(q), e, EXACT(q.max_bias)
                           * (np.arange(q.H) - power(q) + 1) / (2 * power(q))), "twelve forty",
     {"words": HEADS + r"|extra|beyond"}),
    ("of_half_the_heads", "exponent", "head_index", lambda e, q: of_half(q), SLOPES,
     {"words": HEADS}),
    ("exponent_is_integer", "exponent", "head_index", lambda e, q: np.floor(e), "twelve forty",
     {"words": r"floor|round|integer|cut|truncat|whole"}),
    ("power_is_8", "powers", "head_index", lambda n, q: 8, "forty", {"words": HEADS + r"|power"}),
    ("start_doubled", "exponent", "max_bias", lambda e, q: e / 2, SLOPES,
     {"value": [4, 0.5, 2 ** 0.5], "words": r"max_bias|slope|root|exponent|base"}),
    ("negative", "output", "sign", lambda s, q: -s, SLOPES, {}),
    ("powers_of_f16", "output", "head_index", lambda s, q: powers_of_f16(q), "twelve forty",
     {"words": PRECISION + r"|iterat|power|root|base"}),
):
    one("alibi_slopes", stage, name, kind, change, cases, **figures)

# Factors of positions.
FACTORS = "temperature_scale log_n_scale"
BOTH = "temperature temperature_bf16 log_n log_n_bf16"
one(FACTORS, "position", "position_in_16_bits", "position_wrapped", lambda p, q: p % 65536,
    "temperature temperature_bf16 log_n", limit=65536)
one("temperature_scale", "factor", "factor_missing", "function", lambda f, q: 0 * f + 1, BOTH,
    words=r"missing|not (scaled|applied)|factor (is )?1|beta.*0|unchanged|q itself|without|ignored"
    r"|input")
one(FACTORS, "factor", "factor_of_token_before", "position_of_token", lambda f, q: np.roll(f, 1),
    BOTH, words=r"(position|row|factor|token).*(another|other token|moved|before|previous|shift"
    r"|next|late|offset|less)")
one("temperature_scale", "factor", "factor_in_bf16", "function", lambda f, q: in_bf16(f),
    "temperature", words=PRECISION)
one("temperature_scale", "output", "head_1_not_scaled", "rows_still",
    lambda y, q: np.where((np.arange(q.H) == 1)[:, None, None], q.q, y), BOTH, words=r"head|\bH\b")
for name, stage, change, cases, figures in (
    ("logarithm_of_block", "factor",
     lambda f, q: 1 + EXACT(q.beta) * np.log(np.maximum(q.seen["block"], 1)),
     "temperature temperature_bf16", {"words": r"log|\+ ?1|plus|one|block|earlier|less"}),
    ("one_times_beta", "factor",
     lambda f, q: (1 + EXACT(q.beta)) * np.log(1 + q.seen["block"]),
     "temperature temperature_bf16", {"words": r"beta|log|product|plus|one\b|1 \+|1\.1|1\.5"}),
):
    one("temperature_scale", stage, name, "function", change, cases, **figures)
TABLE.add("temperature_scale", "floor_scale_16384", "floor_scale", changed(floor_scale=16384),
          "temperature", value=[16384, 2],
          words=r"floor_scale|block|length|positions? are (mult|div)")


def ratio(q):
    return np.log(np.maximum(q.seen["position"] + 1, 1)) / np.log(q.seen["trained"])


for name, change, cases, figures in (
    ("minimum_for_maximum", lambda f, q: np.minimum(1, ratio(q)), "log_n_bf16",
     {"words": r"min|below|clamp|at most|max|smaller|only"}),
    ("one_plus_logarithm", lambda f, q: np.maximum(1, 1 + np.log((q.seen["position"] + 1)
                                                                 / q.seen["trained"])),
     "log_n log_n_bf16", {"words": r"log|ln\b|1 \+|plus|divid"}),
    ("not_logarithm", lambda f, q: np.maximum(1, (q.seen["position"] + 1) / q.seen["trained"]),
     "log_n log_n_bf16", {"words": r"log|ln\b|linear|itself|divid|ratio|/"}),
    # The table of factors ends, and what is beyond is not scaled.
    ("beyond_65536_not_scaled", lambda f, q: np.where(q.position >= 65536, 1, f), "log_n",
     {"words": r"(position|token|row).*(1\b|not scaled|unscaled|factor|missing|unchanged|above"
               r"|from|beyond|act as|clamp)|unchanged.*position"}),
):
    one("log_n_scale", "factor", name, "function", change, cases, **figures)
one("log_n_scale", "position", "offset_4", "position_offset", lambda p, q: p + 4, "log_n_bf16",
    shift=4)

# Relative positions.
RELATIVE = "relative relative_bf16 relative_cached"
for name, stage, kind, change, figures in (
    ("past_clipped_at_2", "row", "clip", lambda r, q: np.maximum(r, q.clip - 2), {"value": 2}),
    ("term_of_next_query", "relative", "table", lambda r, q: np.roll(r, -1, 2),
     {"words": r"row|quer|relative.*(shift|moved|roll)"}),
    ("term_in_head_0_only", "relative", "table",
     lambda r, q: np.where((np.arange(q.H) == 0)[:, None, None], r, 0), {"words": r"head|\bH\b"}),
    ("value_table_upper_channels_lost", "value_table", "table",
     lambda t, q: np.where(np.arange(q.D) < q.D // 2, t, 0), {"words": r"table|channel|half"}),
):
    one("relative_attention", stage, name, kind, change, RELATIVE, **figures)

# Another sequence.
CROSS = "cross cross_square cross_bf16 cross_lengths"
for name, stage, kind, change, cases, figures in (
    ("wv_transposed", "weights", "transposed", lambda w, q: (w[0], w[1], w[2].T), "cross_square",
     {}),
    # [D, K] for [K, D], as a converter leaves it.
    ("heads_of_wk_interleaved", "weights", "order",
     lambda w, q: (w[0], w[1].reshape(q.D, q.K, -1).swapaxes(0, 1).reshape(q.K * q.D, -1), w[2]),
     CROSS, {"words": r"order|permut|interleav|layout|head|wk|channel"}),
    ("keys_of_row_before", "sources", "rows_moved",
     lambda s, q: (s[0], np.roll(s[1], 1, 0), s[2]), "cross cross_square cross_bf16",
     {"words": r"key|memory|row|roll|shift|another"}),
    ("last_head_lost", "mean", "columns",
     lambda m, q: np.where(np.arange(q.H * q.D) >= (q.H - 1) * q.D, 0, m), CROSS,
     {"words": r"head|column|channel|\bwo\b"}),
):
    one("cross_attention", stage, name, kind, change, cases, **figures)
