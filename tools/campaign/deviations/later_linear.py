"""Deviations of linear layers, embeddings, positions and composed parts, written without knowledge
of the diagnosis."""

import numpy as np

from deviation import Table
from stages import EXACT, layer, rounded, to_format

TABLE = Table()
PRECISION = r"bf16|f16|float16|tf32|round|precision|mantissa|\bbits?\b|quanti|coarse|grid"


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def in_bf16(values):
    return to_format(values, "bf16").astype(EXACT)


def read(count, places):
    """0, 1, 2 ... `count`, but for the first of every pair of `places`: the second instead."""
    index = np.arange(count)
    for here, there in places:
        index[here] = there
    return index


def in_groups(order):
    """The last axis in another order within every whole group."""
    def index(count):
        group = len(order)
        whole = count // group * group
        return [m if m >= whole else m // group * group + order[m % group] for m in range(count)]

    return index


# Linear layers: loops over input columns.
BIASED = "bias bias_bf16 bias_f16"
COLUMNS = f"narrow square wide wide_bf16 {BIASED}"
INPUTS = {"words": r"column|channel|input|tile|remainder|\bM\b|\bk\b"}


def scaled_columns(choose, factor):
    return lambda o, q: (np.where(choose(np.arange(q.M), q.M), EXACT(factor) * o[0], o[0]), o[1])


for name, operations, kind, change, cases, figures in (
    # for k in range(K // 64): the remainder is never reached.
    ("remainder_of_64_lost", "linear", "columns", scaled_columns(lambda m, n: m >= n // 64 * 64, 0),
     "wide wide_bf16", INPUTS),
    # Double buffering: the second tile of x is not yet there.
    ("second_tile_of_x_stale", "linear", "columns",
     lambda o, q: (o[0][:, np.where((np.arange(q.M) >= 32) & (np.arange(q.M) < 64),
                                    np.arange(q.M) - 32, np.arange(q.M))], o[1]),
     "wide wide_bf16", INPUTS),
    ("tiles_of_32_overlap_by_2", "linear", "columns",
     scaled_columns(lambda m, n: (m >= 30) & (m % 30 < 2), 2), "wide wide_bf16", INPUTS),
    # A group of quantised weights takes the scale of its neighbour.
    ("scale_of_third_group_of_16", "linear", "columns",
     scaled_columns(lambda m, n: (m >= 32) & (m < 48), 0.75), "wide wide_bf16", INPUTS),
    # GPTQ's zero points, stored less one or not.
    ("zero_point_off_by_1/16", "linear", "offset", lambda o, q: (o[0], o[1] + EXACT(1) / 16),
     "narrow square wide_bf16",
     {"value": 0.0625, "words": r"weight|sum of|zero.?point|row of x|all columns"}),
    ("weight_at_most_0.75", "linear", "limit",
     lambda o, q: (o[0], np.clip(o[1], EXACT("-0.75"), EXACT("0.75"))), "narrow square wide",
     {"value": 0.75, "words": r"clamp|clip|limit|at most|saturat"}),
    ("weight_in_64ths", "linear", "operand",
     lambda o, q: (o[0], np.round(o[1] * 64) / 64), "narrow wide",
     {"words": PRECISION + r"|1/64|0\.0156|multiple"}),
    # The leading dimension of a padded buffer, forgotten: row n starts 4 n elements too early.
    ("stride_of_rows_less_4", "linear", "rows_moved",
     lambda o, q: (o[0].ravel()[np.arange(q.N)[:, None] * (q.M - 4) + np.arange(q.M)], o[1]),
     "narrow square", {"words": r"row|stride|shift|moved|column"}),
    ("second_tile_of_rows_is_first", "linear", "rows_moved",
     lambda o, q: (o[0][np.where(np.arange(q.N) >= 4, np.arange(q.N) - 4, np.arange(q.N))], o[1]),
     "bias bias_bf16", {}),
):
    one(operations, "operands", name, kind, change, cases, **figures)


def in_tiles(x, weight):
    """Partial sums of 32 columns are kept in bf16."""
    total = EXACT(0)
    for m in range(0, x.shape[1], 32):
        total = in_bf16(total + x[:, m:m + 32] @ weight[:, m:m + 32].T)
    return total


one("linear", "dot", "tiles_summed_in_bf16", "operand", lambda d, q: in_tiles, "wide",
    words=PRECISION + r"|accumul|partial")
OUTPUTS = r"output|column|weight row|\bF\b|order|permut|revers|exchang|roll|shift|swap|another"
for name, operations, kind, change, cases, figures in (
    # AWQ packs eight outputs into a word in the order 0 2 4 6 1 3 5 7.
    ("outputs_in_awq_order", "linear", "order",
     lambda y, q: y[:, in_groups((0, 2, 4, 6, 1, 3, 5, 7))(q.F)], "square wide_bf16", {}),
    ("outputs_from_8_are_first", "linear", "rows_moved",
     lambda y, q: y[:, np.where(np.arange(q.F) >= 8, np.arange(q.F) % 8, np.arange(q.F))],
     "narrow square wide_bf16", {"words": OUTPUTS + r"|repeat|same|modulo|again"}),
    # A fused projection: the second part is multiplied by the scale of the first.
    ("outputs_from_8_times_1.25", "linear", "factor",
     lambda y, q: np.where(np.arange(q.F) >= 8, y * EXACT("1.25"), y),
     "bias bias_f16", {"ratio": 1.25}),
    ("last_row_is_row_before", "linear", "rows_moved", lambda y, q: y[read(q.N, [(-1, q.N - 2)])],
     COLUMNS, {}),
):
    one(operations, "output", name, kind, change, cases, **figures)

# The bias of a linear layer.
for name, change, cases, figures in (
    # Every tile over the input columns starts from the bias.
    ("in_each_tile_of_8", lambda b, q: b * -(-q.M // 8), BIASED, {}),
    ("in_rows_below_4", lambda b, q: np.where((np.arange(q.N) < 4)[:, None], b, 0), BIASED, {}),
    ("of_8_repeated", lambda b, q: b[np.arange(q.F) % 8], BIASED, {}),
    # Biases of q, k, v are concatenated as q, v, k.
    ("thirds_exchanged", lambda b, q: np.concatenate((b[:q.F // 3], b[2 * q.F // 3:],
                                                      b[q.F // 3:2 * q.F // 3])), "bias bias_bf16",
     {}),
    # gpt-oss: the bias of gate and up is parted, the outputs are not.
    ("deinterleaved", lambda b, q: np.concatenate((b[::2], b[1::2])), BIASED, {}),
    # Dynamic quantisation: the bias is multiplied by the scale of the row too.
    ("times_row_maximum", lambda b, q: b * np.abs(q.x).max(-1, keepdims=True), BIASED, {}),
    ("in_bf16", lambda b, q: in_bf16(b), "bias", {"words": PRECISION}),
):
    one("linear", "bias", f"bias_{name}", "bias", change, cases, **figures)
one("linear", "product", "product_times_0.75", "factor", lambda y, q: y * EXACT("0.75"),
    BIASED, ratio=0.75)

# The gated layer.
FORWARD = "swiglu geglu swiglu_bf16"
for name, stage, kind, change, cases, figures in (
    # hidden_act of the configuration is not read.
    ("silu_for_gelu", "function", "function", lambda f, q: lambda x: x * layer.sigmoid(x), "geglu",
     {"words": r"swish|silu|swiglu|beta"}),
    ("sigmoid_for_silu", "function", "function", lambda f, q: layer.sigmoid, "swiglu swiglu_bf16",
     {"words": r"sigmoid|\bglu\b|not multiplied|logistic"}),
    ("hard_swish", "function", "function", lambda f, q: lambda x: x * np.clip(x + 3, 0, 6) / 6,
     "swiglu swiglu_bf16", {"words": r"hard|relu6|clip|clamp|piecewise"}),
    ("cubic_0.44715", "function", "cubic",
     lambda f, q: lambda x: layer.gelu_tanh(x, EXACT("0.44715")), "geglu", {"value": 0.44715}),
    ("root_of_1/pi", "function", "cubic",
     lambda f, q: lambda x: layer.gelu_tanh(x, root=np.sqrt(1 / layer.PI)), "geglu",
     {"words": r"root|sqrt|constant|argument|tanh|beta|0\.56|0\.707|times|multipl"}),
    # Llama 4 and gpt-oss multiply the input or the output by the weight of the expert.
    ("input_halved", "halves", "factor", lambda h, q: (h[0] / 2, h[1] / 2), FORWARD,
     {"ratio": 0.5, "words": r"\bx\b|input|both|gate.*(half|times|multipl|factor|scale|0\.5|1/2)"}),
    ("gate_at_most_2", "halves", "limit", lambda h, q: (np.minimum(h[0], 2), h[1]), FORWARD,
     {"value": 2, "words": r"limit|clamp|clip|at most|min"}),
    # gate_up, merged and cut for two devices: [gate, up] of one is taken for gate of both.
    ("parts_of_two_shards", "halves", "halves",
     lambda h, q: tuple(np.concatenate(h, -1).reshape(q.N, 2, 2, -1)[:, :, i].reshape(q.N, -1)
                        for i in (0, 1)), FORWARD, {"words": r"block|half|halves|shard|gate|up"}),
    ("up_of_first_row", "halves", "halves", lambda h, q: (h[0], h[1][:1] + 0 * h[1]), FORWARD, {}),
    ("last_4_up_are_gate", "halves", "halves",
     lambda h, q: (h[0], np.where(np.arange(q.F) >= q.F - 4, h[0], h[1])), FORWARD, {}),
    # In vectors of 16; the remainder passes without the function.
    ("remainder_of_16_not_activated", "activated", "function",
     lambda a, q: np.where(np.arange(q.F) >= q.F // 16 * 16, q.seen["halves"][0], a), FORWARD,
     {"words": r"activat|identity|function|linear|hidden|\bF\b"}),
    ("hidden_deinterleaved", "hidden", "columns",
     lambda h, q: np.concatenate((h[:, ::2], h[:, 1::2]), -1), FORWARD,
     {"words": r"hidden|order|interleav|permut|column|\bF\b"}),
    ("hidden_in_bf16", "hidden", "operand", rounded("bf16"), "swiglu geglu",
     {"words": PRECISION}),
    ("output_times_0.22", "output", "factor", lambda y, q: y * EXACT("0.22"), FORWARD,
     {"ratio": 0.22}),
    # Tokens are sorted by expert, and the answers are not put back.
    ("rows_evens_first", "output", "order", lambda y, q: np.concatenate((y[::2], y[1::2])), FORWARD,
     {"words": r"order|permut|row|token|moved|another|\bN\b"}),
):
    one("feed_forward", stage, name, kind, change, cases, **figures)

# Embeddings.
ROWS = "rows scaled square"
for name, stage, kind, change, cases, figures in (
    # A table cut for two devices: the first row of the second is forgotten.
    ("second_shard_reads_first", "token", "row_read",
     lambda t, q: np.where(t >= q.V // 2, t - q.V // 2, t), ROWS, {}),
    # And tokens of the other device are not masked: they read its row 0, and the sum has both.
    ("other_shard_not_masked", "output", "rows_added",
     lambda y, q: y + q.scale * q.table[np.where(q.token < q.V // 2, q.V // 2, 0)], ROWS,
     {"words": r"add|sum|plus|accumul"}),
    ("token_int8", "token", "row_read", lambda t, q: np.where(t >= 128, t - 256, t) % q.V,
     "scaled", {"words": r"row|token|128|int8|bits"}),
    ("token_in_bf16", "token", "row_read",
     lambda t, q: np.minimum(in_bf16(t).astype(int), q.V - 1), "scaled",
     {"words": r"row|token|" + PRECISION}),
    ("added_tokens_unknown", "token", "row_read", lambda t, q: np.where(t >= 38, 3, t), "rows", {}),
    ("row_0_added", "output", "rows_added", lambda y, q: y + q.table[0] * q.scale, ROWS,
     {"words": r"add|plus|more|constant|row 0|token 0|offset"}),
    ("upper_half_of_next_token", "output", "row_read",
     lambda y, q: np.where(np.arange(q.M) >= q.M // 2, np.roll(y, -1, 0), y), ROWS,
     {"words": r"row|token|channel|column|half|\bM\b"}),
    ("one_element_late", "output", "order",
     lambda y, q: q.scale * q.table.ravel()[(q.token[:, None] * q.M + np.arange(q.M) + 1)
                                            % q.table.size], ROWS,
     {"words": r"element|shift|roll|offset|moved|order|column|channel|next"}),
    ("table_read_by_columns", "table", "transposed", lambda t, q: t.ravel().reshape(q.M, q.V).T,
     "rows scaled", {"words": r"transpos|by columns|column.major|stride|layout"}),
    ("table_in_f16", "table", "operand", rounded("f16"), "rows square", {"words": PRECISION}),
    # As Gemma does, although the scale is given.
    ("times_root_of_M", "scale", "factor", lambda s, q: s * np.sqrt(EXACT(q.M)), ROWS,
     {"ratio": lambda q: [float(q.M) ** 0.5, float(q.scale) * float(q.M) ** 0.5]}),
    ("scale_is_integer", "scale", "factor", lambda s, q: np.floor(s), "scaled",
     {"ratio": [55 / 55.5, 55]}),
    # Embeddings of an image come first, and are not scaled.
    ("first_6_not_scaled", "output", "factor",
     lambda y, q: np.where((np.arange(q.S) < 6)[:, None], y / q.scale, y), "scaled",
     {"words": r"scale|55\.5|0\.018"}),
):
    one("embedding", stage, name, kind, change, cases, **figures)
