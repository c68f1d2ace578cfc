"""Bugs of attention and softmax that kernels, ports and servers have had. The comments name where;
rows without a name are of experience."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

from .later_attention import LN_2, PADDED, both, heads, queries, weigh, width

TABLE = Table()
FORMAT = r"b?f16|half|fp8|int8|e4m3|round|precision|bits|quanti|accura|coarse"
KEYS = (r"mask|causal|sees|seen|keys?.*(hidden|lost|missing|unseen|later|future|beyond|up to|leak)"
        r"|leak|align|offset|diagonal|shift")
ORDER = r"order|layout|transpos|permut|moved|another|other|stride|shift|swap|exchang|read (from|as)"


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def seen(name, kind, function, cases, operations="attention", **rest):
    """function(visible, i, t, q): `i` is the query's place among the keys (bottom right)."""
    one(operations, "visible", name, kind,
        lambda v, q: function(v, queries(q) + q.T - q.S, np.arange(q.T)[None], q), cases, **rest)


def dot_with(keys):
    """keys(q): [B,K,T,D]"""
    return lambda d, q: np.einsum("bhsd,bhtd->bhst", q.q, keys(q)[:, q.seen["key_head"]])


def weighing(values):
    """values(q): [B,K,T,E]"""
    return lambda y, q: weigh(q.seen["weight"], values(q)[:, q.seen["value_head"]])


def cache(name, kind, read, cases, **rest):
    """read(keys or values, q)"""
    TABLE.add("attention", name, kind, {"dot": dot_with(lambda q: read(q.k, q)),
                                        "weighed": weighing(lambda q: read(q.v, q))}, cases, **rest)


def values_not_rescaled(y, q):
    """The sum is rescaled when a tile of 16 has a larger score, what is read is not."""
    score, last = q.seen["masked"], np.minimum(np.arange(q.T) // 16 * 16 + 15, q.T - 1)
    weight = np.exp(score - np.maximum.accumulate(score, -1)[..., last]) / q.seen["sum"]
    return weigh(np.nan_to_num(weight), q.v[:, q.seen["value_head"]])


def e4m3(x):
    """Four significant bits; steps of 2^-9 below 2^-6."""
    step = np.exp2(np.maximum(np.frexp(x)[1] - 1, -6) - EXACT(3))
    return np.rint(x / step) * step


def term(sink, q):
    return np.exp(sink[None, :, None, None] - q.seen["largest"])


def with_16_keys(inner, q):
    inner.T = inner.k.shape[2]
    return inner


def padded_to_16(x):
    return np.pad(x, ((0, 16 - len(x)), (0, 0)))


def linear_between_powers(e, q):
    exponent = (q.x - q.seen["largest"]) / LN_2
    return np.exp2(np.floor(exponent)) * (1 + exponent - np.floor(exponent))


# Which keys are seen.
# transformers #39408, zml #763: what flash attention calls window has not the query's own key.
TABLE.add("attention", "window_16", "window", changed(window=[16, 0]), "window_bf16",
          listed="window_one_more", value=[16, 17])
# vllm #3385: the paged kernel takes whole pages, and so 8 of 13 keys.
TABLE.add("attention", "window_in_whole_pages_of_8", "window", changed(window=[7, 0]), "window",
          value=[7, 8], words=r"window|sees|last \d|page|block|distance")
# The same, mended twice: in the model and in what calls the kernel.
TABLE.add("attention:sink", "window_6", "window", changed(window=[6, 0]), "sink_bf16",
          value=[6, 7])
# mlx-vlm #1715, ollama #15591: a ring that has wrapped, masked by slots instead of positions.
seen("mask_by_slot_of_ring", "diagonal", lambda v, i, t, q: (t + 5) % q.T <= i,
     "causal cached cached_bf16",
     words=KEYS + r"|ring|slot|rotat|roll|wrap|order|newest|last 5")
# gemma 3 in transformers, sglang: tokens of a picture see one another.
seen("picture_of_tokens_5_to_10", "mask", lambda v, i, t, q:
     v | ((i >= 5) & (i <= 10) & (t >= 5) & (t <= 10)), "causal f16 cap_causal",
     words=KEYS + r"|block|bidirect|both (ways|directions)|prefix|picture|image|further")
# pie #84: queries of all sequences are subtracted from the length of one.
seen("start_by_queries_of_batch", "align", lambda v, i, t, q:
     (t < PADDED) & (t <= PADDED - q.B * q.S + queries(q)), "lengths",
     words=KEYS + r"|earlier|before|batch|length|start|position")
# Of what is cached, whole pages are counted.
seen("past_in_whole_pages_of_16", "align",
     lambda v, i, t, q: t <= queries(q) + (q.T - q.S) // 16 * 16, "cached cached_bf16",
     words=KEYS + r"|earlier|before|page|block|round|past|start|position")
# FastDeploy #3514: the last key tile of a tile of queries is that of its first one.
seen("key_tiles_of_first_query", "keys_lost", lambda v, i, t, q:
     v & (t < ((queries(q) // 8 * 8 + q.T - q.S) // 8 + 1) * 8), "cached cached_bf16 cap_causal",
     words=KEYS + r"|tile|block|ignored|not read|never|newest|number of keys")
# torch.onnx #165780: True of a boolean mask hides, not shows.
seen("mask_inverted", "mask", lambda v, i, t, q: ~v, "causal cached padded",
     words=r"invert|opposite|negat|complement|revers|polarity|exchang|mask|(only|later|future)"
           r".*keys?|keys?.*(only|later|future|after|padd|beyond)|padding|sees")
# onnxscript #580: a boolean mask is cast to numbers and added.
one("attention", "masked", "boolean_mask_added", "mask_value",
    lambda s, q: q.seen["biased"] + q.seen["visible"], "causal f16 padded", value=[1, np.exp(1)],
    words=r"mask|finite|sentinel|leak|hidden|unseen|visible|added")

# Caches: pages, layouts, strides.
# onnxruntime #32391: a page that is not mapped is page 0.
cache("last_page_is_page_0", "rows_moved", lambda x, q:
      x[:, :, np.where(np.arange(q.T) < q.T // 16 * 16, np.arange(q.T), np.arange(q.T) % 16)],
      "cached cached_bf16 long",
      words=both(r"key|value|token|row|\bT\b|\b[kv]\b|cache", ORDER + r"|page|block|repeat|stale|"
                 r"same|first|copied|twice|missing|lost|wrap|modulo"))
# flash-attention wants [B,T,K,D], scaled_dot_product_attention [B,K,T,D].
cache("cache_as_BTKD", "order",
      lambda x, q: x.reshape(q.B, q.T, q.K, -1).swapaxes(1, 2), "plain causal cached",
      words=ORDER + r"|place|interleav|heads? .*tokens?|tokens? .*heads?")
# llama.cpp keeps values transposed when flash attention is off.
one("attention", "weighed", "values_kept_transposed", "values",
    weighing(lambda q: q.v.reshape(q.B, q.K, q.E, q.T).swapaxes(2, 3)), "plain causal f16",
    words=both(r"values?|\bv\b|token|channel", ORDER + r"|column") + r"|transpos")
# Values have E channels, but rows begin every D.
one("attention", "weighed", "value_rows_by_D", "values", weighing(
    lambda q: q.v.reshape(q.B, q.K, -1)[..., np.arange(q.T)[:, None] * q.D + np.arange(q.E)]),
    "causal cached cached_bf16", words=both(r"values?|\bv\b", ORDER + r"|row|overlap|half|\bD\b"))
# mni-ml/framework #39: a block has 32 threads, one for a channel.
one("attention", "output", "channels_from_32_zero", "rows_zero",
    lambda y, q: np.where(np.arange(q.E) >= 32, 0, y), "window window_bf16 cached_bf16",
    words=r"zero|unwritten|lost|missing|not (computed|written)|channel|column|\bE\b|is 0")
# Keys in int8, with one scale for each token.
one("attention", "dot", "keys_in_int8", "columns", dot_with(lambda q: np.rint(
    q.k * 127 / np.abs(q.k).max(-1, keepdims=True)) * np.abs(q.k).max(-1, keepdims=True) / 127),
    "plain causal cached", words=FORMAT + r"|127|256|levels|steps")

# Scales.
for name, factor, operations, cases in (
    # karpathy/ng-video-lecture #6: the width of the model.
    ("of_model_width", lambda q: 1 / np.sqrt(EXACT(q.H)), "attention attention:sink",
     "plain causal f16 sink sink_bf16"),
    # attorch #14: a constant.
    ("of_half", lambda q: width(q) / 2, "attention attention:sink", "f16 cached_bf16 sink_bf16"),
    # SageAttention #24: queries are quantized with log2(e), and the kernel has it too.
    ("log2e_twice", lambda q: 1 / LN_2, "attention attention:bias",
     "plain causal cached_bf16 f16 bias bias_bf16"),
    # DeepSeek-V3: factor 40 of YaRN, of a model that has none.
    ("yarn_of_40", lambda q: (EXACT("0.1") * np.log(EXACT(40)) + 1)**2,
     "attention attention_scores", "plain causal cached scores scores_bf16"),
    # whisper: both operands take the fourth root, the port only queries.
    ("of_queries_alone", lambda q: EXACT(q.D)**EXACT("0.25"), "cross_attention",
     "cross cross_square cross_bf16"),
):
    one(operations, "scale", f"scale_{name}", "scale", lambda s, q, f=factor: s * f(q), cases,
        ratio=lambda q, f=factor: [float(f(q) / width(q)), float(f(q))])
# The factor of the configuration is applied to queries that have the usual one.
one("attention", "scale", "scale_given_and_usual", "scale", lambda s, q: s / width(q), "scaled",
    ratio=lambda q: [0.25, 1 / 64])
# FlagGems #424: the scale is multiplied by log2(e) in each step over tiles.
one("attention", "score", "scale_grows_with_tiles_of_16", "scale",
    lambda s, q: s * LN_2 ** -(np.arange(q.T) // 16), "cached long cached_bf16",
    words=both(r"scale|temperature|multipl|times|factor|ratio|grow",
               r"tile|block|keys? |step|\bT\b|16"))

# Caps.
CAPS = "cap cap_bf16 cap_causal"
# flash-attention #1181, onnxruntime #21683: the kernel wants the inverse.
one("attention", "capped", "cap_inverted", "soft_cap",
    lambda s, q: np.tanh(q.seen["score"] * q.soft_cap) / q.soft_cap, CAPS,
    value=lambda q: q.soft_cap)
# sgl-kernel-xpu #491: the cap has log2(e) already, the scores not yet.
one("attention", "capped", "cap_times_log2e", "soft_cap",
    lambda s, q: q.soft_cap / LN_2 * np.tanh(q.seen["score"] * LN_2 / q.soft_cap), CAPS,
    value=lambda q: [float(q.soft_cap / LN_2), float(1 / LN_2)])
# A rational function for tanh, in shaders and on small devices.
one("soft_cap", "tanh", "tanh_by_pade", "function",
    lambda t, q: q.seen["ratio"] * (27 + q.seen["ratio"]**2) / (27 + 9 * q.seen["ratio"]**2),
    "fifty thirty", words=r"approx|rational|pad(e|\u00e9)|polynom|series|tanh|27|grow|exceed|above"
    r"|large|beyond|cap|linear|satur")

# Weights.
# KarhouTam/cuda-kernels #1, in attention.
one("attention", "weighed", "values_not_rescaled_in_tiles_of_16", "sum", values_not_rescaled,
    "cached long cached_bf16", words=r"tile|block|rescal|sum|divi|denominator|largest|max|weight")
# flash-attention 3 with fp8: weights are not scaled before they are rounded.
one("attention", "weighed", "weights_in_e4m3", "weights", lambda y, q: weigh(
    e4m3(q.seen["exponential"]) / q.seen["sum"], q.v[:, q.seen["value_head"]]),
    "plain causal long", words=FORMAT + r"|2\^-9|small|steps")
# pytorch #124464, torchtune #1791: scaled_dot_product_attention drops in inference too.
one("attention", "weight", "dropout_of_0.1", "weights", lambda w, q: np.where(
    (7 * queries(q) + 5 * np.arange(q.T) + 3 * heads(q)) % 10 == 0, 0, w / EXACT("0.9")),
    "plain causal cached long",
    words=r"drop|random|(weight|key|score)s?.*(zero|\b0\b|lost|missing|hidden|unseen|not seen)"
          r"|1\.11|0\.9|10/9")

# Sinks.
SINKS = "sink sink_bf16"
# ROCm/rocm-libraries #12227 and others: the scale has log2(e), and the sink is multiplied by both.
one("attention:sink", "sink", "sink_times_log2e", "sink", lambda s, q: term(q.sink / LN_2, q),
    SINKS, words=both("sink", r"log2|log_2|1\.44|0\.69|ln|base|times|scale|multipl|factor|larger"))
# sgl-kernel-xpu #254: in packed groups a head is known by its place in the group.
one("attention:sink", "sink", "sink_of_place_in_group", "sink",
    lambda s, q: term(q.sink[np.arange(q.H) % (q.H // q.K)], q), "sink")
# sgl-kernel-npu #216, as the review asks: the sink is a key that has a value.
one("attention:sink", "weight", "sink_reads_value_0", "sink", lambda w, q: np.where(
    np.arange(q.T) == 0, w + 1 - w.sum(-1, keepdims=True), w), SINKS,
    words=r"(key|value|token) 0|first (key|value|token)|v\[0\]|sink.*(value|key|read|row)")

# Biases.
BIAS = "bias bias_bf16 bias_scaled"
for name, changes, words in (
    # flash-sparse-attention #167: of [B,K,S,T], and read by h mod K.
    ("of_head_mod_K", {"bias": lambda b, q: b[:, np.arange(q.H) % q.K]},
     both("bias", ORDER + r"|head|\bH\b|\bK\b|group|shared|mod")),
    # candle #899, optimum-graphcore #449: the row of the newest token.
    ("of_last_query", {"bias": lambda b, q: b[:, :, -1:] + 0 * b},
     both("bias", ORDER + r"|quer|row|\bS\b|last|newest|same")),
    # Swin, NATTEN: the axis of keys runs backwards.
    ("of_keys_backwards", {"bias": lambda b, q: b[..., ::-1]},
     both("bias", ORDER + r"|key|revers|backward|flip|mirror|\bT\b")),
    ("added_to_weights", {"bias": lambda b, q: 0 * b, "weight": lambda w, q: w + q.bias},
     r"after.*softmax|weights?.*(added|plus)|bias.*(weight|after|output|probab|softmax)"),
):
    TABLE.add("attention:bias", f"bias_{name}", "bias", changes, BIAS, words=words)

# Scores alone.
# jax #1856, maxtext #891: products of f32 are of bf16 if no precision is asked.
one("attention_scores", "operands", "operands_in_bf16", "columns",
    lambda o, q: tuple(rounded("bf16")(x, q) for x in o), "scores", words=FORMAT + "|tf32")

# Relative positions.
RELATIVE = "relative relative_bf16 relative_cached"
for name, stage, kind, change, cases, figures in (
    # transformers BERT, relative_key: distances begin at another row.
    ("row_one_later", "row", "position_offset", lambda r, q: np.minimum(r + 1, 2 * q.clip),
     RELATIVE, {"shift": 1, "words": r"row|offset|shift|off.by|later|table|distance|added|more"}),
    # tensor2tensor, cache: the distances of one query, the last.
    ("distances_of_last_query", "distance", "position_constant", lambda d, q: d[-1:] + 0 * d,
     RELATIVE, {"words": r"last query|newest|same|constant|all queries|every query|query_position"
                r"|(quer|position).*(last|ignored|\d)|position_is"}),
    # Negative rows are counted from the end of the table.
    ("row_without_clip_added", "row", "table", lambda r, q: r - q.clip, RELATIVE,
     {"words": r"table|row|wrap|negativ|offset|roll|shift|order|modulo|distance|clip"}),
):
    one("relative_attention", stage, name, kind, change, cases, **figures)

# Another sequence.
SQUARE = "cross_square cross_bf16 cross_lengths"  # H = K
# nn.MultiheadAttention has one matrix, and the port takes its parts as k, q, v.
TABLE.add("cross_attention", "wq_and_wk_exchanged", "values", {
    "weights": lambda w, q: (w[1], w[0], w[2]), "biases": lambda b, q: (b[1], b[0], b[2])}, SQUARE,
          words=r"\bwq\b|\bwk\b|exchang|swap|quer.*key|key.*quer|order|memory|\bbq\b|\bbk\b")
# FasterTransformer #270: rows of padding have the biases as keys and values.
TABLE.add("cross_attention", "memory_padded_to_16", "sum", {
    "sources": lambda s, q: (s[0], padded_to_16(s[1]), padded_to_16(s[2])),
    "inner": with_16_keys}, "cross cross_square cross_bf16",
          words=r"padd|sum|denominator|divi|extra|more (key|row|token)|zero|16|length|\bb[kv]\b")
# cs224n-win2223 #5: the causal mask of the decoder, here from the last key backwards.
seen("causal_from_last_key", "mask", lambda v, i, t, q: v & (t <= i), "cross cross_bf16",
     "cross_attention", words=KEYS)
# [H,S,D] is viewed as [S,H*D] without a transposition.
one("cross_attention", "mean", "heads_viewed_not_transposed", "order",
    lambda m, q: m.reshape(q.S, q.H, -1).swapaxes(0, 1).reshape(q.S, -1),
    "cross cross_square cross_bf16", words=ORDER + r"|head|place|view|mixed|rows?\b")

# Parts merged.
MERGE = "merge merge_bf16"
# sglang #35045: FlashInfer's logarithms are of base 2, those of the merging kernel of base e.
one("attention_merge", "logarithms", "lse_of_base_2_given", "base_of_exponential",
    lambda p, q: (p[0] / LN_2, p[1] / LN_2), MERGE,
    words=r"base|2\^|log2|ln\b|1\.44|0\.69|times|multipl|scale|factor|temperature")
# ring-flash-attention: lse - logsigmoid(lse - block_lse), with the first sign wrong.
one("attention_merge", "lse", "lse_less_not_more", "function",
    lambda y, q: q.lse1 - np.log1p(np.exp(q.lse2 - q.lse1)), MERGE, words=r"\blse\b")

# Softmax.
ROWS = "rows rows_bf16 wide"
# llama.cpp #10069, openvino #37857: the bits of a float as its logarithm.
one("softmax", "exponential", "exponential_by_bits", "function", linear_between_powers,
    "rows wide rows_f16",
    words=r"exponential|\bexp|approx|linear|polynom|interpol|piece|bits|fraction|1 \+|power"
          r"|precision|series|function")
# The temperature of sampling is left in.
one("softmax", "input", "temperature_over_0.7", "scale", lambda x, q: x / EXACT("0.7"), ROWS,
    ratio=0.7)
# Routers: the kernel for experts has the largest 8, and their sum.
one("softmax", "exponential", "largest_8_alone", "columns",
    lambda e, q: np.where(e >= np.sort(e, -1)[:, -8:-7], e, 0), ROWS,
    words=r"top|largest|\b8\b|small|below|drop|threshold|kept|few|zero|columns?|sum")
