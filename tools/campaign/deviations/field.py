"""Bugs of the kinds that are reported of kernels and ports, in no list of the program: rotations,
attention and softmax. Caches that evict, tiles and vectors that end in a row, tables that are read
at the wrong place."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


# Rotations: positions.
TOKENS = "near inter inter_bf16 medium"


def token(q):
    return np.arange(q.S)[:, None]


for name, kind, change, cases, figures in (
    # ChunkKV, H2O: the offset is the number of rows that are kept.
    ("one_of_4_evicted", "position_of_token", lambda p, q: p - token(q) // 4, TOKENS,
     {"words": "token|position"}),
    ("cache_restarts_at_16", "position_restarts", lambda p, q: np.where(token(q) < 16, p, p - 16),
     "near inter medium", {"token": 16}),
    ("padding_counted", "position_of_batch",
     lambda p, q: p + np.array([0, 5, 11])[:q.B, None, None, None], "batch", {}),
    ("first_of_block_late", "position_of_token",
     lambda p, q: p - (token(q) % 8 == 0) * (token(q) > 0), TOKENS, {"words": "token|position"}),
    ("drafts_share_position", "position_of_token",
     lambda p, q: p - np.maximum(token(q) - 12, 0), "near", {"words": "token|position"}),
    ("past_counted_twice", "position_scaled", lambda p, q: p + p[:, :, :1], "inter medium",
     {"words": "first|position"}),
    ("negative_by_length", "position_of_token", lambda p, q: np.where(p < 0, p + 2048, p),
     "negative", {"words": "negative|2048"}),
    ("every_second_token_only", "position_of_token",
     lambda p, q: np.where(token(q) % 2 == 0, p, 0), TOKENS, {"words": "token|position|odd"}),
    ("int8", "position_wrapped", lambda p, q: (p + 128) % 256 - 128, "inter far",
     {"limit": [256, 128]}),
    ("mantissa_of_16", "position_rounded", lambda p, q: np.round(p / 16) * 16, "inter far", {}),
):
    one("rope", "position", name, kind, change, cases, **figures)
TABLE.add("rope", "base_65504", "base", changed(base=65504), "inter inter_bf16", base=65504)
TABLE.add("rope", "base_100", "base", changed(base=100), "near far_bf16", base=100)

# Rotations: frequencies, amplitude.
for name, stage, kind, change, cases, figures in (
    ("scaled_twice", "frequency", "frequency_ratio", lambda f, q: f / 8, "linear",
     {"ratio": 0.125}),
    ("ramp_of_channel", "ramp", "scaling",
     lambda r, q: np.clip(2 * (r - r[0]) + r[0], 0, 1), "yarn yarn_bf16", {}),
    ("ramp_inverted", "ramp", "scaling", lambda r, q: 1 - r, "llama3 yarn yarn_bf16", {}),
    ("ramp_hard", "ramp", "scaling", lambda r, q: np.round(r), "llama3 yarn", {}),
    ("mscale_0.707", "amplitude", "amplitude", lambda a, q: 1 + (a - 1) * EXACT("0.707"),
     "yarn yarn_bf16", {"gain": None}),
    ("mscale_ratio", "amplitude", "amplitude", lambda a, q: a / (1 + (a - 1) * 2), "yarn", {}),
    ("scaled_by_length_ratio", "frequency", "frequency_ratio", lambda f, q: f / EXACT("2.5"),
     "inter far", {"ratio": 0.4}),
    ("pairs_over_half_head", "frequency", "frequency_order",
     lambda f, q: np.concatenate((f[::2], f[::2])), "near inter", {}),
    ("lower_half_still", "frequency", "frequency_plateau",
     lambda f, q: np.where(np.arange(len(f)) < len(f) // 2, 0, f), "near inter inter_bf16", {}),
    ("last_four_of_first", "frequency", "frequency_order",
     lambda f, q: np.append(f[:-4], f[:4]), "near inter inter_bf16", {}),
    ("exponent_of_pairs_less_one", "exponent", "exponent_scaled",
     lambda e, q: e * q.R / (q.R - 2), "near inter f64", {}),
):
    figures = {k: v for k, v in figures.items() if v is not None}
    one("rope", stage, name, kind, change, cases, **figures)

# Rotations: layout and rows.
for name, stage, kind, change, cases, figures in (
    ("tail_of_vectors_still", "rotated", "pairs_still",
     lambda r, q: tuple(np.where(np.arange(q.R // 2) >= q.R // 2 // 8 * 8 - 4, old, new)
                        for old, new in zip(q.seen["operands"], r)), "near inter", {}),
    ("tokens_of_last_block_still", "output", "rows_still",
     lambda y, q: np.where((np.arange(q.S) >= q.S // 16 * 16)[:, None], q.x, y),
     "near inter_bf16 partial", {}),
    ("odd_tokens_still", "output", "rows_still",
     lambda y, q: np.where((np.arange(q.S) % 2 == 1)[:, None], q.x, y), TOKENS, {}),
    ("rest_rotated_too", "output", "rest",
     lambda y, q: np.concatenate((y[..., :q.R], np.roll(y[..., q.R:], 1, -1)), -1), "partial",
     {"words": "rest|outside|channel|D"}),
    ("rest_doubled", "output", "rest",
     lambda y, q: np.concatenate((y[..., :q.R], 2 * y[..., q.R:]), -1), "partial",
     {"words": "rest|outside|twice|2 times|D 32"}),
    ("sin_of_next_token", "sin_table", "position_of_token",
     lambda t, q: np.sin((q.seen["position"] + 1) * q.seen["frequency"]), "near inter",
     {"words": "sin|position|angle"}),
    ("half_table_of_cos", "cos_table", "frequency_order",
     lambda t, q: np.concatenate((t[..., :q.R // 4], t[..., :q.R // 4]), -1), "near inter",
     {"words": "cos|channel|pair|frequenc"}),
    ("heads_0_and_1_exchanged", "output", "order",
     lambda y, q: y[:, [1, 0, *range(2, q.H)]], "near inter far", {}),
    ("batch_of_other", "output", "rows_moved", lambda y, q: np.roll(y, 1, 0), "batch", {}),
):
    one("rope", stage, name, kind, change, cases, **figures)
for name, change in (
    ("of_channels", lambda a, q: np.repeat(np.arange(3), q.sections)[np.arange(len(a)) // 2 * 2]),
    ("width_for_height_in_tail", lambda a, q: np.where(np.arange(len(a)) >= 24, 1, a)),
    ("time_and_height_only", lambda a, q: np.minimum(a, 1)),
):
    TABLE.add("rope_sections", f"axis_{name}", "axis", {"axis": change}, "sections dealt")
for name, change, figures in (
    ("of_index", lambda g, q: np.exp(np.log(g) * 0 + np.log(g[:, :, :1])), {}),
    ("inverted_for_odd_pairs",
     lambda g, q: np.where(np.arange(g.shape[-1]) % 2 == 1, 1 / g, g), {}),
    ("repeated_for_interleaved",
     lambda g, q: np.concatenate((g[..., ::2], g[..., ::2]), -1), {}),
    ("rooted", lambda g, q: np.sqrt(g), {}),
    ("of_last_pair", lambda g, q: g[..., -1:] + 0 * g, {}),
):
    one("xpos", "growth", f"growth_{name}", "growth", change, "xpos xpos_key xpos_bf16", **figures)
one("xpos", "cos_table", "cos_without_growth", "amplitude_one_side",
    lambda t, q: t / q.seen["growth"], "xpos xpos_key", words="cos|growth")

# Attention: keys and masks.
SOME = "plain causal cached cached_bf16 f16"


def seen(name, kind, function, cases, operations="attention", **rest):
    """function(visible, i, t, q): `i` is the query's place among the keys."""
    one(operations, "visible", name, kind,
        lambda v, q: function(v, np.arange(q.S)[:, None] + q.T - q.S, np.arange(q.T)[None], q),
        cases, **rest)


seen("window_both_sides", "mask", lambda v, i, t, q: np.abs(t - i) <= q.window[0], "window",
     words="mask|window|up to its own|further")
seen("window_without_causal", "mask", lambda v, i, t, q: t >= i - q.window[0],
     "window window_bf16", words="mask|causal|up to its own|further")
seen("window_of_index", "window",
     lambda v, i, t, q: (t <= i) & (t >= np.arange(q.S)[:, None] - q.window[0]), "window_bf16",
     words="window|first key")
seen("window_in_tiles_of_4", "window", lambda v, i, t, q: (t <= i) & (t // 4 >= (i - 12) // 4),
     "window", words="window|tile|keys|sees")
seen("padding_at_start", "key_length",
     lambda v, i, t, q: t >= q.T - np.array([9, 20, 14])[:, None, None, None] + 0 * i, "padded")
seen("lengths_of_first", "key_length", lambda v, i, t, q: (t < 9) & v, "padded lengths")
seen("lengths_rolled", "key_length",
     lambda v, i, t, q: t < np.array([14, 9, 20])[:, None, None, None] + 0 * i, "padded")
seen("keys_of_newest_block_lost", "keys_lost", lambda v, i, t, q: v & (t < q.T // 4 * 4),
     "cached plain f16", tile=4)
seen("every_16th_key_lost", "keys_lost", lambda v, i, t, q: v & (t % 16 != 0),
     "cached long cached_bf16", words="key")
seen("evicted_middle", "keys_lost", lambda v, i, t, q: v & ((t < 4) | (t >= q.T - 8)),
     "cached long cached_bf16", words="key")
seen("causal_by_blocks_of_4", "diagonal", lambda v, i, t, q: t // 4 <= i // 4, "causal f16",
     tile=4)
seen("causal_before_last_block", "diagonal", lambda v, i, t, q: (t <= i) | (t >= q.T // 8 * 8),
     "causal cached f16", words="key|mask|leak|sees")
seen("chunk_of_index", "chunk",
     lambda v, i, t, q: (t <= i) & (t // q.chunk >= (i - 1) // q.chunk), "chunk",
     words="chunk|key|sees")
TABLE.add("attention", "cap_after_mask", "mask_value", {"masked": lambda s, q: np.where(
    np.isinf(s), -q.soft_cap, s)}, "cap_causal", value=-5)
one("attention", "masked", "masked_at_zero", "mask_value", lambda s, q: np.where(np.isinf(s), 0, s),
    "causal f16", value=0)
one("attention", "masked", "masked_at_minus_1", "mask_value",
    lambda s, q: np.where(np.isinf(s), -1, s), "causal f16 cached", value=-1)

# Attention: heads, sums over tiles, sinks.
BOTH = "attention attention:sink"
for name, heads in (
    ("across_tiles", lambda h, q: h[np.arange(q.H) // 2 * 2]),
    ("strided", lambda h, q: np.arange(q.H) * q.K % q.H // (q.H // q.K)),
    ("all_but_last_of_group", lambda h, q: np.maximum(h - (np.arange(q.H) % (q.H // q.K) == 0), 0)),
):
    one(BOTH, "key_head", f"heads_{name}", "key_head", heads, "plain causal cached f16 sink")


def running(tile):
    """Weights of a tile are relative to the largest score up to that tile."""

    def change(e, q):
        score = q.seen["masked"] if "masked" in q.seen else q.x
        t, largest = score.shape[-1], np.maximum.accumulate(score, -1)
        ends = np.minimum((np.arange(t) // tile + 1) * tile, t) - 1
        with np.errstate(all="ignore"):
            return np.nan_to_num(np.exp(score - largest[..., ends]))

    return change


one("attention", "exponential", "tiles_of_8_not_rescaled", "sum", running(8), "plain cached long",
    words="tile|rescal|largest", tile=8)
one("attention", "exponential", "last_8_twice", "keys_lost",
    lambda e, q: e * np.where((np.arange(q.T) >= q.T - 8) & (np.arange(q.T) < q.T // 8 * 8), 2, 1),
    "plain cached long", words="twice|2 times|count")
one("attention", "weighed", "half_of_keys", "values",
    lambda y, q: np.einsum("bhst,bhte->bhse", q.seen["weight"][..., :q.T // 2],
                           q.v[:, q.seen["value_head"], :q.T // 2]), "plain cached long",
    words="value|key|half|sum")
one("attention", "weighed", "values_of_batch_0", "values",
    lambda y, q: np.einsum("bhst,bhte->bhse", q.seen["weight"],
                           q.v[:1, q.seen["value_head"]] + 0 * q.v[:, q.seen["value_head"]]),
    "padded lengths", words="batch|value")
for name, change in (
    ("of_key_head", lambda s, q: sink(q, np.arange(q.H) // (q.H // q.K))),
    ("tiled", lambda s, q: sink(q, np.arange(q.H) % q.K)),
    ("of_first_head", lambda s, q: sink(q, 0 * np.arange(q.H))),
    ("scaled", lambda s, q: np.exp((q.sink / np.sqrt(EXACT(q.D)))[None, :, None, None]
                                   - q.seen["largest"])),
    ("subtracted", lambda s, q: np.exp(-q.sink[None, :, None, None] - q.seen["largest"])),
    ("in_base_2", lambda s, q: np.exp2(q.sink[None, :, None, None]) * np.exp(-q.seen["largest"])),
):
    one("attention:sink", "sink", f"sink_{name}", "sink", change, "sink sink_bf16")


def sink(q, heads):
    return np.exp(q.sink[heads][None, :, None, None] - q.seen["largest"])


# Softmax.
ROWS = "rows rows_bf16 rows_f16 wide"
for name, stage, kind, change, cases, figures in (
    ("tiles_of_16_not_rescaled", "exponential", "sum", running(16), ROWS,
     {"words": "tile|rescal|largest"}),
    ("remainder_of_8_not_divided", "output", "columns",
     lambda y, q: np.where(np.arange(q.M) >= q.M // 8 * 8, q.seen["exponential"], y), "rows wide",
     {"words": "M |column|divid"}),
    ("fourth_rows_nan", "output", "rows_zero",
     lambda y, q: np.where((np.arange(q.N) % 4 == 3)[:, None], EXACT("nan"), y), ROWS,
     {"words": "nan"}),
    ("small_terms_dropped", "exponential", "sum", lambda e, q: np.where(e < 0.05, 0, e), ROWS,
     {"words": "small|below|0.05|zero"}),
    ("sum_of_other_tile", "sum", "columns",
     lambda s, q: q.seen["exponential"][..., -16:].sum(-1, keepdims=True) + 0 * s, ROWS, {}),
    ("half_base", "exponential", "base_of_exponential",
     lambda e, q: np.exp((q.x - q.seen["largest"]) / 2), ROWS, {}),
    ("uniform", "output", "weights", lambda y, q: 0 * y + 1 / EXACT(q.M), ROWS,
     {"words": "weight|uniform|1/|0.0|same|is "}),
    ("one_hot", "output", "weights",
     lambda y, q: (q.x == q.x.max(-1, keepdims=True)).astype(EXACT), ROWS,
     {"words": "largest|argmax|1 "}),
):
    one("softmax", stage, name, kind, change, cases, **figures)
