"""Deviations of ALiBi, its slopes, and of factors that grow with the position (B117)."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()


def one(operation, stage, name, kind, change, cases, **rest):
    TABLE.add(operation, name, kind, {stage: change}, cases, **rest)


ALIBI = "distance key distance_bf16"
for ratio in (0.5, 1.4142135623730951, 3, 0.9):
    one("alibi", "slope", f"slope_times_{ratio:.3g}", "slope", lambda s, q, r=ratio: s * EXACT(r),
        ALIBI, ratio=ratio)
one("alibi", "slope", "slopes_reversed", "slope", lambda s, q: s[::-1], ALIBI,
    listed="slopes_reversed")
one("alibi", "slope", "slopes_rolled", "slope", lambda s, q: np.roll(s, 1), ALIBI)
one("alibi", "slope", "slope_of_first_head", "slope", lambda s, q: 0 * s + s[0], ALIBI,
    listed="slope_of_first_head")
one("alibi", "slope", "slopes_geometric", "slope",
    lambda s, q: EXACT(2) ** -np.arange(1, q.H + 1).astype(EXACT), ALIBI)
one("alibi", "queries", "queries_plus_3", "position_offset", lambda p, q: p + 3,
    "distance distance_bf16", shift=3)
one("alibi", "queries", "queries_from_zero", "position_relative", lambda p, q: p - p[0],
    "distance distance_bf16", listed="queries_counted_from_zero")
one("alibi", "keys", "keys_minus_2", "position_offset", lambda p, q: p - 2, "distance key", shift=2)
one("alibi", "keys", "keys_clamped_15", "position_clamped", lambda p, q: np.minimum(p, 15),
    "distance key distance_bf16", limit=15)
one("alibi", "distance", "sign", "sign", lambda d, q: -d, ALIBI, listed="sign")
one("alibi", "distance", "absolute", "form", lambda d, q: np.abs(d), "distance",
    listed="form=symmetric")
one("alibi", "distance", "clamped_at_8", "position_clamped", lambda d, q: np.clip(d, -8, 8), ALIBI,
    limit=8)
one("alibi", "distance", "wrapped_at_16", "position_wrapped", lambda d, q: d % 16, "distance_bf16",
    limit=16)
one("alibi", "distance", "one_more", "position_offset", lambda d, q: d + 1, ALIBI, shift=1)
one("alibi", "distance", "root", "function", lambda d, q: np.sign(d) * np.sqrt(np.abs(d)), ALIBI)
one("alibi", "distance", "squared", "function", lambda d, q: d * np.abs(d), ALIBI,
    listed="squared_distance")
one("alibi", "output", "future_zero", "function",
    lambda b, q: np.where(q.seen["distance"] < 0, 0, b), "distance", listed="future_has_no_bias")
one("alibi", "output", "scaled_by_8", "factor", lambda b, q: b / 8, ALIBI, ratio=0.125)
one("alibi", "output", "last_head_zero", "rows_zero",
    lambda b, q: np.where((np.arange(q.H) == q.H - 1)[:, None, None], 0, b), ALIBI)

SLOPES = "twelve eight forty"
for value in (10, 6, 7):
    TABLE.add("alibi_slopes", f"max_bias_{value}", "max_bias", changed(max_bias=value), SLOPES,
              value=value)
one("alibi_slopes", "exponent", "one_earlier", "head_index", lambda e, q: e - e[0], SLOPES,
    listed="head_counted_from_zero")
one("alibi_slopes", "exponent", "one_later", "head_index", lambda e, q: e + e[0], SLOPES)
one("alibi_slopes", "exponent", "linear_in_heads", "head_index",
    lambda e, q: EXACT(8) * np.arange(1, q.H + 1) / q.H, "twelve forty",
    listed="any_head_count_as_power_of_two")
one("alibi_slopes", "exponent", "heads_reversed", "head_index", lambda e, q: e[::-1], SLOPES,
    listed="heads_reversed")
one("alibi_slopes", "root", "base_e", "base", lambda b, q: np.exp(EXACT(1)), SLOPES,
    listed="base_e")
one("alibi_slopes", "root", "base_3", "base", lambda b, q: EXACT(3), SLOPES, value=3)
one("alibi_slopes", "output", "times_0.9", "factor", lambda s, q: s * EXACT("0.9"), SLOPES,
    ratio=0.9)

FACTORS = "temperature_scale log_n_scale"
CASES = "temperature temperature_bf16 log_n log_n_bf16"
for word, value, operation in (("beta", 0.2, "temperature_scale"),
                               ("beta", 0.07, "temperature_scale"),
                               ("floor_scale", 4096, "temperature_scale"),
                               ("floor_scale", 900, "temperature_scale"),
                               ("original_max_position_embeddings", 4096, "log_n_scale"),
                               ("original_max_position_embeddings", 1000, "log_n_scale"),
                               ("original_max_position_embeddings", 12, "log_n_scale")):
    TABLE.add(operation, f"{word}_{value}", word, changed(**{word: value}), CASES, value=value)
one(FACTORS, "position", "offset_50", "position_offset", lambda p, q: p + 50, CASES, shift=50)
one(FACTORS, "position", "clamped_30000", "position_clamped", lambda p, q: np.minimum(p, 30000),
    "temperature temperature_bf16 log_n", limit=30000)
one(FACTORS, "factor", "inverted", "function", lambda f, q: 1 / f, CASES, listed="inverted")
one(FACTORS, "factor", "squared", "function", lambda f, q: f * f, CASES, listed="applied_twice")
one(FACTORS, "factor", "root", "function", lambda f, q: np.sqrt(f), CASES)
one(FACTORS, "factor", "of_last_token", "position_of_token", lambda f, q: 0 * f + f[-1], CASES,
    listed="factor_of_last_token", words="last")
one("temperature_scale", "block", "not_cut", "function",
    lambda b, q: (q.position + q.start) / EXACT(q.floor_scale), CASES, listed="without_floor")
one("temperature_scale", "block", "one_more", "function", lambda b, q: b + 1, CASES)
one("temperature_scale", "factor", "logarithm_to_10", "function",
    lambda f, q: 1 + (f - 1) / np.log(EXACT(10)), CASES)
