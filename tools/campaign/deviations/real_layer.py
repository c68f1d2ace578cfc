"""Bugs of real kernels, ports and converters: norms, activations, gates, linear layers, gated
layers, embeddings. Most were reported; comments name the project. Written without knowledge of the
diagnosis."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer, to_format

TABLE = Table()
PRECISION = r"precision|mantissa|\bbits?\b|quanti|round|grid|coarse|int4|q4"
APPROXIMATE = r"approx|polynom|saturat|piecewise|clip|clamp|hard"
INPUTS = r"column|channel|input|\bM\b"
LIMIT = r"limit|clamp|clip"


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def in_bf16(values):
    return to_format(values, "bf16").astype(EXACT)


def mean_of(values):
    return values.mean(-1, keepdims=True)


def by_groups(values, width, function):
    """function([N, groups, width]) -> [N, groups, 1], for every column of its group."""
    parts = values.reshape(len(values), -1, width)
    return np.repeat(function(parts)[..., 0], width, -1)


# RMS norm.
def down_the_columns(q):
    """A transposed x, read as if its columns were adjacent."""
    return q.x.T.ravel()[np.arange(q.N)[:, None] + np.arange(q.M)]


def column_0_by_root_before(y, q):
    late = (np.arange(q.M) == 0) & (np.arange(q.N) > 0)[:, None]
    return np.where(late, q.x / np.roll(q.seen["root"], 1, 0) * q.seen["weight"], y)


for name, stage, kind, change, cases, figures in (
    # llm-foundry: rsqrt is computed, and then divided by.
    ("divided_by_reciprocal_root", "root", "root", lambda r, q: 1 / r, "rows rows_bf16 shifted",
     {"words": r"root|recipro|invers|rsqrt|power|not divided|multiplied by (its|the) (rms|norm)"}),
    # LightLLM: the stride of columns counts in the sum alone.
    ("values_read_down_the_columns", "scaled", "rows_moved",
     lambda s, q: down_the_columns(q) / q.seen["root"], "rows rows_bf16 rows_f64",
     {"words": r"transpos|stride|other (row|element|column)|moved|layout|\bread\b|order"}),
    # aiter: a vector at the end of a row also writes the first column of the next one.
    ("column_0_by_root_of_row_before", "output", "elements", column_0_by_root_before,
     "rows rows_bf16 shifted",
     {"words": r"column 0|first (column|element)|\bM 0|element|row before|previous row|, ?0\]"}),
    # The first published code: 1e-8, outside of the root.
    ("eps_1e-08_outside", "root", "eps",
     lambda r, q: np.sqrt(q.seen["mean_square"]) + EXACT("1e-8"), "small small_bf16",
     {"value": [1e-8, 0]}),
    # Norms of queries and keys: by heads, where the model has one of all heads.
    ("root_of_each_head_of_12", "root", "groups", lambda r, q: by_groups(
        q.x, 12, lambda p: np.sqrt(mean_of(p**2) + EXACT(q.eps))), "rows shifted small", {}),
    # tt-mlir: means of the devices are added up.
    ("means_of_4_ranks_added", "mean_square", "divisor", lambda v, q: 4 * v,
     "rows rows_bf16 rows_f64", {"value": lambda q: [q.M / 4, 4, 2]}),
    # The paper's partial norm: 6.25 % of the columns.
    ("partial_of_a_sixteenth", "root", "columns_of_sum",
     lambda r, q: np.sqrt(mean_of(q.x[:, :q.M // 16] ** 2) + EXACT(q.eps)),
     "rows rows_bf16 shifted", {}),
):
    one("rms_norm", stage, name, kind, change, cases, **figures)


# The sum with the residual.
def with_stride_of_x(q):
    """x is a part of wider rows; the residual is not."""
    place = np.arange(q.N)[:, None] * (q.M + 16) + np.arange(q.M)
    return q.residual.ravel()[place % q.residual.size]


for name, stage, kind, change, figures in (
    # TensorRT-LLM: one stride of rows for both.
    ("residual_with_stride_of_x", "residual", "residual", lambda t, q: q.x + with_stride_of_x(q),
     {"words": r"residual|stride"}),
    # The sum is written in place, and the second pass adds x once more.
    ("x_again_in_second_pass", "scaled", "residual",
     lambda s, q: (q.seen["normed"] + q.x) / q.seen["root"],
     {"words": r"\bx\b|residual|\bsum\b|added|twice|again"}),
    # Every rank adds the residual before the sum over ranks.
    ("residual_of_each_of_4_ranks", "residual", "factor", lambda t, q: q.x + 4 * q.residual,
     {"ratio": 4, "words": r"residual|\bsum\b|rank"}),
):
    one("add_rms_norm", stage, name, kind, change, "rows rows_bf16 small", **figures)


# Layer norm.
for name, stage, kind, change, cases, figures in (
    # tt-metal: one pass, both moments in bf16.
    ("variance_of_bf16_moments", "variance", "mean", lambda v, q: np.maximum(
        in_bf16(mean_of(q.x**2)) - in_bf16(q.seen["mean"]) ** 2, 0), "shifted rows rows_f64",
     {"words": r"bf16|round|precision|\bbits|cancel|one.?pass|E\[|moment|mean of squares"}),
    # Flux.jl: the root of f32's machine epsilon, beside the deviation.
    ("eps_0.000345_outside", "root", "eps",
     lambda r, q: np.sqrt(q.seen["variance"]) + EXACT(2) ** EXACT("-11.5"), "small",
     {"value": 2**-11.5}),
    # The annotated transformer: std() and 1e-6 beside it.
    ("unbiased_and_eps_outside", "root", "divisor",
     lambda r, q: np.sqrt(q.seen["variance"] * q.M / (q.M - 1)) + EXACT("1e-6"),
     "rows rows_f64 shifted",
     {"value": lambda q: [q.M - 1, 1],
      "words": r"divi|count|M ?- ?1|one less|unbias|bessel|\beps|\bstd"}),
    # TPLinker: ** 2 for ** 0.5.
    ("squared_for_root", "root", "root", lambda r, q: q.seen["eps_added"] ** 2,
     "rows rows_f64 rows_bf16", {}),
    # The mean of a whole tile of lanes.
    ("mean_over_padded_64", "mean", "mean", lambda m, q: m * q.M / 64, "shifted rows rows_f64",
     {"words": r"mean|cent(er|re)|pad|64"}),
    # pytorch, MPS: small variances are taken for 0; here with f16's least normal number.
    ("small_variance_is_0", "variance", "root",
     lambda v, q: np.where(v < EXACT(2) ** -14, 0, v), "small",
     {"words": r"flush|underflow|subnormal|denormal|f16|variance.*(\b0\b|zero|missing|lost|ignored)"
               r"|eps alone|only eps|root of eps|constant|below|clamp|same (root|divisor)"}),
):
    one("layer_norm", stage, name, kind, change, cases, **figures)
TABLE.add("layer_norm", "group_norm_of_4", "groups", {
    "mean": lambda m, q: by_groups(q.x, q.M // 4, mean_of),
    "variance": lambda v, q: by_groups(q.seen["centered"] ** 2, q.M // 4, mean_of)},
          "rows rows_bf16 shifted rows_f64", words=r"group|part|quarter|fourth|block|head|separate")

# Activations.
ROOT, C = np.sqrt(2 / layer.PI), EXACT("0.044715")


def rational_tanh(t):
    """Near 0 only: it does not saturate."""
    return t * (27 + t * t) / (27 + 9 * t * t)


def sigmoid_of_lines(x):
    """Lines between 0, 1 and 2, and 1 beyond."""
    size, (at_0, at_1, at_2) = np.abs(x), layer.sigmoid(np.arange(3).astype(EXACT))
    lines = np.where(size < 1, at_0 + size * (at_1 - at_0), at_1 + (size - 1) * (at_2 - at_1))
    upper = np.where(size < 2, lines, 1)
    return np.where(x < 0, 1 - upper, upper)


TANHS = "gelu_tanh gelu_tanh_f16"
for name, kind, function, cases, figures in (
    # transformers, TF's gelu_fast: the two constants are exchanged.
    ("gelu_constants_exchanged", "function",
     lambda x: x * layer.sigmoid(2 * C * x * (1 + ROOT * x * x)), TANHS,
     {"words": r"swap|exchang|constant|coefficient|cubic|root|argument|0\.0447|0\.79|0\.035"}),
    # MLX before it was 1.702.
    ("quick_gelu_1.773", "beta", lambda x: x * layer.sigmoid(EXACT("1.773") * x), "gelu gelu_bf16",
     {"value": 1.773}),
    # RuVector, the vector path.
    ("tanh_is_rational", "function",
     lambda x: x / 2 * (1 + rational_tanh(ROOT * (x + C * x**3))), TANHS,
     {"words": r"rational|pad[eé]|fraction|\b27\b|tanh.*(inexact|differ|large)|" + APPROXIMATE}),
    # tt-metal: a table of three lines.
    ("sigmoid_of_three_lines", "function", sigmoid_of_lines, "sigmoid",
     {"words": r"linear|lines|table|\blut\b|interpol|knot|" + APPROXIMATE}),
    # Shaders that clamp the argument.
    ("tanh_of_x_clamped_at_2", "clamp", lambda x: np.tanh(np.clip(x, -2, 2)), "tanh",
     {"value": [2, float(np.tanh(2))], "words": r"clamp|clip|limit|at most|saturat|cut"}),
    # The polynomial for erf holds for x > 0, and its sign is not restored.
    ("erf_of_absolute_x", "function", lambda x: np.sign(x) * layer.gelu(np.abs(x)),
     "gelu gelu_bf16", {"words": r"abs|sign|\|x\||negative|x < 0|\bodd\b|\beven\b|symmetr"}),
    # sqrt(2) / pi for sqrt(2 / pi).
    ("root_of_2_over_pi", "cubic",
     lambda x: layer.gelu_tanh(x, root=np.sqrt(EXACT(2)) / layer.PI), TANHS,
     {"value": [float(np.sqrt(2) / np.pi), float(1 / np.sqrt(np.pi))],
      "words": r"root|sqrt|constant|coefficient|argument|pi\b|times|multipl"}),
    # BitNet in llama.cpp: the configuration says relu2.
    ("silu_for_relu2", "function", lambda x: x * layer.sigmoid(x), "relu2",
     {"words": r"swish|silu|x \* sigmoid|times sigmoid"}),
):
    one("activation", "function", name, kind, lambda f, q, g=function: g, cases, **figures)

# Gates. Step 3.5 and others: the limit comes after the function.
TABLE.add("gated", "gate_limited_after_function", "limit",
          {"limited": lambda h, q: (q.gate, h[1]),
           "activated": lambda a, q: np.minimum(a, EXACT(q.limit))}, "oss",
          words=LIMIT + r"|after|order")
# Mixtures of experts in several servers: this path has the plain gate.
TABLE.add("gated", "plain_swiglu_for_oss", "limit", changed(limit=None, alpha=1, plus_one=False),
          "oss oss_bf16", words=LIMIT + r"|plus|\bone\b|\+ 1|alpha|beta|1\.702|plain")
# TensorRT-LLM, NVFP4: the fused halves share the greater scale.
one("gated", "limited", "gate_with_scale_of_up", "factor",
    lambda h, q: (EXACT("1.2547") * h[0], h[1]), "swiglu swiglu_bf16 geglu",
    ratio=1.2547, words=r"gate|input|\bx\b|beta|times|factor|multipl|scale")


# Linear layers.
def past_the_rows(operands, q):
    """Tiles of 32 columns: the last one goes on into the next rows."""
    def longer(rows):
        rest = np.concatenate((rows[1:, :-q.M % 32], np.zeros((1, -q.M % 32), EXACT)))
        return np.concatenate((rows, rest), -1)

    return longer(operands[0]), longer(operands[1])


def by_activity(operands, q):
    order = np.argsort(-(operands[0] ** 2).sum(0), kind="stable")
    return operands[0][:, order], operands[1]


def by_ranks(y, q):
    return y.reshape(q.N, 3, 2, -1).swapaxes(1, 2).reshape(q.N, -1)


for name, stage, kind, change, cases, figures in (
    # MLX, quantised.
    ("tail_of_32_reads_next_row", "operands", "columns", past_the_rows, "narrow square wide",
     {"words": INPUTS + r"|next row|past|beyond|tail|tile|remainder|padd"}),
    # An fp8 kernel that loads its first tile of x in front of the loop.
    ("first_tile_of_x_for_all", "operands", "columns",
     lambda o, q: (o[0][:, np.arange(q.M) % 16], o[1]), "narrow wide wide_bf16",
     {"words": INPUTS + r"|tile|repeat|again|modulo"}),
    # GPTQ's order of columns, of the weights and not of x.
    ("columns_of_x_not_in_act_order", "operands", "columns", by_activity,
     "narrow square wide_bf16", {"words": INPUTS + r"|order|permut|shuffl|moved|sorted"}),
    # nnsight, NeMo: q0 q1 k0 k1 v0 v1 are taken for q0 k0 v0 q1 k1 v1.
    ("fused_outputs_by_rank", "output", "order", by_ranks, "narrow square",
     {"words": r"output|order|permut|exchang|swap|interleav|moved|another|block|third|\bF\b"}),
    # T5 in MLX: the head is scaled, although it is not tied.
    ("scaled_as_a_tied_head", "output", "factor", lambda y, q: y / np.sqrt(EXACT(q.M)),
     "narrow square wide_bf16", {"ratio": lambda q: float(q.M) ** -0.5}),
):
    one("linear", stage, name, kind, change, cases, **figures)
# TGI, nano-vLLM: each of eight ranks adds the bias. MinivLLM: all have the first shard of it.
one("linear", "bias", "bias_of_8_ranks", "bias", lambda b, q: 8 * b, "bias bias_bf16 bias_f16")
one("linear", "bias", "bias_of_first_shard_of_2", "bias",
    lambda b, q: b[np.arange(q.F) % (q.F // 2)], "bias bias_bf16")

# Feed-forward.
for name, changes, kind, cases, figures in (
    # TensorRT-LLM: rows of gate and up alternate in groups for one kernel, and another reads them.
    ("groups_of_8_alternate", {"halves": lambda h, q: tuple(
        np.concatenate(h, -1).reshape(q.N, -1, 2, 8)[:, :, i].reshape(q.N, -1) for i in (0, 1))},
     "halves", "swiglu swiglu_bf16", {"words": r"block|group|alternat|interleav|half|halves|gate"}),
    # transformers, BitNet: a norm before the last layer, which this checkpoint has not.
    ("sub_norm", {"hidden": lambda h, q: h / np.sqrt(mean_of(h**2) + EXACT("1e-6"))},
     "root", "swiglu geglu swiglu_bf16", {"words": r"norm|\brms|root|mean square"}),
    # Meta's w2 is down; if M = F nothing else notices.
    ("w2_and_w3_exchanged", {"halves": lambda h, q: (h[0], q.x @ q.down.T),
                             "down": lambda d, q: q.up},
     "halves", "geglu", {"words": r"down|w2|w3|\bup\b"}),
    # The fused kernel has the function already.
    ("activated_twice", {"activated": lambda a, q: q.seen["function"](a)}, "function",
     "swiglu geglu swiglu_bf16",
     {"words": r"twice|again|two times|second time|(silu|swish|gelu\w*)\((silu|swish|gelu|act)"}),
):
    TABLE.add("feed_forward", name, kind, changes, cases, **figures)


# Embeddings.
def in_q4_0(table):
    """ggml's q4_0, of groups of 8."""
    parts = table.reshape(len(table), -1, 8)
    largest = np.take_along_axis(parts, np.abs(parts).argmax(-1)[..., None], -1)
    step = np.where(largest == 0, 1, largest / -8)
    return ((np.clip(np.floor(parts / step + EXACT("8.5")), 0, 15) - 8) * step).reshape(table.shape)


def of_padded_shards(y, q):
    """Four shards of V / 4 rows are looked up as if they were padded to a multiple of 16."""
    rows = -(-q.V // 4)
    shard, row = np.divmod(q.token, -(-rows // 16) * 16)
    place = shard * rows + row
    found = (row < rows) & (place < q.V)
    return np.where(found[:, None], q.scale * q.table[np.minimum(place, q.V - 1)], 0)


for name, stage, kind, change, cases, figures in (
    # The vocabulary was enlarged, and the new rows are not loaded.
    ("last_4_rows_not_loaded", "table", "rows_zero",
     lambda t, q: np.where((np.arange(q.V) >= q.V - 4)[:, None], 0, t), "square rows",
     {"words": r"token|\brows?\b|zero|\bis 0"}),
    # torch's max_norm=1.
    ("max_norm_of_1", "table", "root", lambda t, q: t / np.maximum(
        np.sqrt((t * t).sum(-1, keepdims=True)), 1), "rows square",
     {"words": r"norm|length|\brms|root|at most 1|sum of squares|magnitude"}),
    ("table_in_q4_0", "table", "operand", lambda t, q: in_q4_0(t), "rows square",
     {"words": PRECISION + r"|steps?\b|multiple|levels"}),
    ("shards_padded_to_16", "output", "row_read", of_padded_shards, "rows scaled", {}),
    # Tokens are [time, batch] here and [batch, time] there.
    ("tokens_of_4_sequences_transposed", "token", "row_read",
     lambda t, q: t.reshape(4, -1).T.ravel(), "rows scaled square",
     {"words": r"\brows?\b|token|transpos|permut|order"}),
):
    one("embedding", stage, name, kind, change, cases, **figures)
