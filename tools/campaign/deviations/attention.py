"""Deviations of attention: which keys are seen, caches, heads, scales, sums, sinks and biases."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add
LN_2 = np.log(EXACT(2))
SOME = "plain causal cached cached_bf16 f16"
BOTH = "attention attention:sink"
LENGTHS = np.array([9, 20, 14])[:, None, None, None]  # of the cases padded, lengths
# Words that fair sentences have.
KEYS = (r"mask|causal|sees|seen|keys?.*(hidden|lost|missing|unseen|later|future|beyond|up to|leak)"
        r"|leak|align|offset|diagonal|shift")
ORDER = r"order|layout|transpos|permut|moved|another|other|stride|shift|swap|exchang|read (from|as)"


def both(one, other):
    """A regular expression: both words, in any order."""
    return rf"({one}).*({other})|({other}).*({one})"


def seen(name, kind, function, cases, operations="attention", table=one, **rest):
    """function(visible, i, t, q): `i` is the query's place among the keys (bottom right)."""
    table(operations, "visible", name, kind, lambda v, q: function(
        v, queries(q) + q.T - q.S, np.arange(q.T)[None], q), cases, **rest)


def queries(q):
    return np.arange(q.S)[:, None]


def heads(q):
    return np.arange(q.H)[:, None, None]


def width(q):
    return np.sqrt(EXACT(q.D))


# Which keys are seen.
for name, words, cases, figures in (
    ("mask_missing", dict(mask="none"), "causal cached f16 top_left", {"listed": "mask=none"}),
    ("window_9", dict(window=[9, 0]), "window window_bf16 causal", {"value": 9}),
    ("chunk_6", dict(chunk=6), "chunk", {"value": 6}),
):
    add("attention", name, next(iter(words)), changed(**words), cases, **figures)
add("attention", "lengths_13", "key_length", changed(key_length=[13]), "lengths causal")
add("attention", "query_offset_9", "align", changed(query_offset=[9]),
    "cached cached_bf16 top_left")
seen("window_of_index", "window", lambda v, i, t, q: (t <= i) & (t >= queries(q) - q.window[0]),
     "window_bf16", words="window|first key")
seen("padding_at_start", "key_length",
     lambda v, i, t, q: t >= q.T - LENGTHS + 0 * i, "padded")
seen("evicted_middle", "keys_lost", lambda v, i, t, q: v & ((t < 4) | (t >= q.T - 8)),
     "cached long cached_bf16", words="key")
seen("first_two_always_seen", "sink_tokens", lambda v, i, t, q: v | (t < 2), "window window_bf16",
     count=2)
seen("sees_3_further", "diagonal", lambda v, i, t, q: t <= i + 3,
     "causal cached cached_bf16 f16 sink", BOTH, shift=3)
# transformers, zml: what flash attention calls window has not the query's own key.
add("attention", "window_16", "window", changed(window=[16, 0]), "window_bf16", shown=True,
    listed="window_one_more", value=[16, 17])
# mlx-vlm, ollama: a ring that has wrapped, masked by slots instead of positions.
seen("mask_by_slot_of_ring", "diagonal", lambda v, i, t, q: (t + 5) % q.T <= i,
     "causal cached cached_bf16", words=KEYS + r"|ring|slot|rotat|roll|wrap|order|newest|last 5",
     table=shown)
# gemma 3 in transformers, sglang: tokens of a picture see one another.
seen("picture_of_tokens_5_to_10", "mask", lambda v, i, t, q: v | (
    (i >= 5) & (i <= 10) & (t >= 5) & (t <= 10)), "causal f16 cap_causal", table=shown,
     words=KEYS + r"|block|bidirect|both (ways|directions)|prefix|picture|image|further")
# pie: queries of all sequences are subtracted from the length of one.
seen("start_by_queries_of_batch", "align", lambda v, i, t, q: (t < LENGTHS) & (
    t <= LENGTHS - q.B * q.S + queries(q)), "lengths", table=shown,
     words=KEYS + r"|earlier|before|batch|length|start|position")
# FastDeploy: the last key tile of a tile of queries is that of its first one.
seen("key_tiles_of_first_query", "keys_lost", lambda v, i, t, q: v & (
    t < ((queries(q) // 8 * 8 + q.T - q.S) // 8 + 1) * 8), "cached cached_bf16 cap_causal",
     table=shown, words=KEYS + r"|tile|block|ignored|not read|never|newest|number of keys")
# onnxscript: a boolean mask is cast to numbers and added.
shown("attention", "masked", "boolean_mask_added", "mask_value",
      lambda s, q: q.seen["biased"] + q.seen["visible"], "causal f16 padded", value=[1, np.exp(1)],
      words=r"mask|finite|sentinel|leak|hidden|unseen|visible|added")


# Caches.
def dot_with(keys):
    """keys(q): [B,K,T,D]"""
    return lambda d, q: np.einsum("bhsd,bhtd->bhst", q.q, keys(q)[:, q.seen["key_head"]])


def weighing(values):
    """values(q): [B,K,T,E]"""
    return lambda y, q: np.einsum("bhst,bhte->bhse", q.seen["weight"],
                                  values(q)[:, q.seen["value_head"]])


def cache(name, kind, read, cases, **rest):
    """read(keys or values, q)"""
    add("attention", name, kind, {"dot": dot_with(lambda q: read(q.k, q)), "weighed": weighing(
        lambda q: read(q.v, q))}, cases, shown=True, **rest)


# onnxruntime: a page that is not mapped is page 0.
cache("last_page_is_page_0", "rows_moved", lambda x, q: x[:, :, np.where(
    np.arange(q.T) < q.T // 16 * 16, np.arange(q.T), np.arange(q.T) % 16)],
      "cached cached_bf16 long",
      words=both(r"key|value|token|row|\bT\b|\b[kv]\b|cache", ORDER + r"|page|block|repeat|stale|"
                 r"same|first|copied|twice|missing|lost|wrap|modulo"))
# flash-attention wants [B,T,K,D], scaled_dot_product_attention [B,K,T,D].
cache("cache_as_BTKD", "order", lambda x, q: x.reshape(q.B, q.T, q.K, -1).swapaxes(1, 2),
      "plain causal cached",
      words=ORDER + r"|place|interleav|heads? .*tokens?|tokens? .*heads?")
# llama.cpp keeps values transposed when flash attention is off.
shown("attention", "weighed", "values_kept_transposed", "values",
      weighing(lambda q: q.v.reshape(q.B, q.K, q.E, q.T).swapaxes(2, 3)), "plain causal f16",
      words=both(r"values?|\bv\b|token|channel", ORDER + r"|column") + r"|transpos")

# Heads.
one(BOTH, "key_head", "heads_across_tiles", "key_head", lambda h, q: h[np.arange(q.H) // 2 * 2],
    "plain causal cached f16 sink")
one("attention:bias", "key_head", "heads_reversed", "key_head", lambda h, q: h[::-1],
    "bias bias_bf16 bias_scaled")
one("attention", "value_head", "value_heads_tiled", "value_head",
    lambda h, q: np.arange(q.H) % q.K, SOME + " sink medium", listed="value_heads_tiled")

# Scales and caps.
for name, factor, operations, cases in (
    # karpathy/ng-video-lecture: the width of the model.
    ("of_model_width", lambda q: 1 / np.sqrt(EXACT(q.H)), BOTH, "plain causal f16 sink sink_bf16"),
    # SageAttention: queries are quantized with log2(e), and the kernel has it too.
    ("log2e_twice", lambda q: 1 / LN_2, "attention attention:bias",
     "plain causal cached_bf16 f16 bias bias_bf16"),
    # DeepSeek-V3: factor 40 of YaRN, of a model that has none.
    ("yarn_of_40", lambda q: (EXACT("0.1") * np.log(EXACT(40)) + 1)**2, "attention_scores",
     "plain causal cached scores scores_bf16"),
    # whisper: both operands take the fourth root, the port only queries.
    ("of_queries_alone", lambda q: EXACT(q.D)**EXACT("0.25"), "cross_attention",
     "cross cross_square cross_bf16"),
):
    shown(operations, "scale", f"scale_{name}", "scale", lambda s, q, f=factor: s * f(q), cases,
          ratio=lambda q, f=factor: [float(f(q) / width(q)), float(f(q))])
# FlagGems: the scale is multiplied by log2(e) in each step over tiles.
shown("attention", "score", "scale_grows_with_tiles_of_16", "scale",
      lambda s, q: s * LN_2 ** -(np.arange(q.T) // 16), "cached long cached_bf16",
      words=both(r"scale|temperature|multipl|times|factor|ratio|grow",
                 r"tile|block|keys? |step|\bT\b|16"))
add("attention", "cap_7", "soft_cap", changed(soft_cap=7), "cap", value=7)
# flash-attention, onnxruntime: the kernel wants the inverse.
shown("attention", "capped", "cap_inverted", "soft_cap",
      lambda s, q: np.tanh(q.seen["score"] * q.soft_cap) / q.soft_cap, "cap cap_bf16 cap_causal",
      value=lambda q: q.soft_cap)

# Sums and weights.
one(BOTH, "sum", "eps_in_the_sum", "sum", lambda s, q: s + EXACT("0.001"), "plain causal f64 sink")
one(BOTH, "sink", "one_more_zero", "sum", lambda s, q: s + np.exp(-q.seen["largest"]),
    SOME + " sink medium f64")
one("attention", "exponential", "base_2", "base_of_exponential",
    lambda e, q: np.exp2(q.seen["masked"] - q.seen["largest"]), SOME + " sink medium")
one("attention", "weighed", "value_of_best_key", "weights", lambda y, q: np.take_along_axis(
    q.v[:, q.seen["value_head"]], q.seen["weight"].argmax(-1)[..., None], 2), "plain causal")


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
# pytorch, torchtune: scaled_dot_product_attention drops in inference too.
shown("attention", "weight", "dropout_of_0.1", "weights", lambda w, q: np.where(
    (7 * queries(q) + 5 * np.arange(q.T) + 3 * heads(q)) % 10 == 0, 0, w / EXACT("0.9")),
      "plain causal cached long",
      words=r"drop|random|(weight|key|score)s?.*(zero|\b0\b|lost|missing|hidden|unseen|not seen)"
      r"|1\.11|0\.9|10/9")
one("attention", "output", "times_1.1", "factor", lambda y, q: y * EXACT("1.1"),
    SOME + " sink medium", ratio=1.1)
one("attention", "output", "heads_exchanged", "order", lambda y, q: y[:, ::-1],
    SOME + " sink medium")
one("attention", "output", "head_0_for_all", "rows_moved", lambda y, q: y[:, :1] + 0 * y,
    SOME + " sink medium")
# mni-ml/framework: a block has 32 threads, one for a channel.
shown("attention", "output", "channels_from_32_zero", "rows_zero",
      lambda y, q: np.where(np.arange(q.E) >= 32, 0, y), "window window_bf16 cached_bf16",
      words=r"zero|unwritten|lost|missing|not (computed|written)|channel|column|\bE\b|is 0")


# Sinks and biases.
def term(sink, q):
    return np.exp(sink[None, :, None, None] - q.seen["largest"])


SINKS = "sink sink_bf16"
one("attention:sink", "sink", "sink_of_key_head", "sink",
    lambda s, q: term(q.sink[np.arange(q.H) // (q.H // q.K)], q), SINKS)
# ROCm/rocm-libraries and others: the scale has log2(e), and the sink is multiplied by both.
shown("attention:sink", "sink", "sink_times_log2e", "sink", lambda s, q: term(q.sink / LN_2, q),
      SINKS, words=both("sink", r"log2|log_2|1\.44|0\.69|ln|base|times|scale|multipl|factor"
                        r"|larger"))
# sgl-kernel-npu, as the review asks: the sink is a key that has a value.
shown("attention:sink", "weight", "sink_reads_value_0", "sink", lambda w, q: np.where(
    np.arange(q.T) == 0, w + 1 - w.sum(-1, keepdims=True), w), SINKS,
      words=r"(key|value|token) 0|first (key|value|token)|v\[0\]|sink.*(value|key|read|row)")
BIAS = "bias bias_bf16 bias_scaled"
for name, changes, words in (
    # flash-sparse-attention: of [B,K,S,T], and read by h mod K.
    ("of_head_mod_K", {"bias": lambda b, q: b[:, np.arange(q.H) % q.K]},
     both("bias", ORDER + r"|head|\bH\b|\bK\b|group|shared|mod")),
    ("added_to_weights", {"bias": lambda b, q: 0 * b, "weight": lambda w, q: w + q.bias},
     r"after.*softmax|weights?.*(added|plus)|bias.*(weight|after|output|probab|softmax)"),
):
    add("attention:bias", f"bias_{name}", "bias", changes, BIAS, shown=True, words=words)
shown("attention:bias", "bias", "bias_in_base_2", "factor", lambda b, q: b * LN_2, BIAS,
      words="bias", ratio=[float(LN_2), 2])
add("attention:bias", "bias_is_scaled", "bias", changed(add_bias="before_scale"), "bias bias_bf16")
one("attention:bias", "visible", "last_key_lost", "keys_lost",
    lambda v, q: v & (np.arange(q.T) < q.T - 1), "bias bias_scaled")
