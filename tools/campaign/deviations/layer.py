"""Deviations of norms, activations and gates."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add

# Norms.
NORMS = "rms_norm layer_norm add_rms_norm"
ROWS = "rows rows_bf16 rows_f64 small shifted wide"
SMALL = "small small_bf16"


def variance(q):
    return q.seen["mean_square" if "mean_square" in q.seen else "variance"]


def values(q):
    return q.seen["centered"] if "centered" in q.seen else q.seen.get("normed", q.x)


def mean_of(values):
    return values.mean(-1, keepdims=True)


def by_groups(values, width, function):
    """function([N, groups, width]) -> [N, groups, 1], for every column of its group."""
    parts = values.reshape(len(values), -1, width)
    return np.repeat(function(parts)[..., 0], width, -1)


add("rms_norm", "eps_0", "eps", changed(eps=0), SMALL, listed="eps_missing", value=0)
add(NORMS, "eps_2e-05", "eps", changed(eps=2e-5), SMALL, value=2e-5)
for stage, name, kind, change, cases, operations, figures in (
    ("root", "eps_outside", "eps_place", lambda r, q: np.sqrt(variance(q)) + EXACT(q.eps), SMALL,
     "rms_norm add_rms_norm", {"listed": "eps_outside_the_root"}),
    ("eps_added", "eps_as_floor", "eps_place", lambda v, q: np.maximum(variance(q), EXACT(q.eps)),
     SMALL, "rms_norm", {"listed": "eps_as_floor"}),
    ("count", "divided_by_M-2", "divisor", lambda c, q: c - 2, ROWS, NORMS,
     {"value": lambda q: [q.M - 2, 2]}),
    ("root", "with_next_rows_start", "columns_of_sum", lambda r, q: np.sqrt(
        (np.concatenate((values(q), np.roll(values(q), -1, 0)[:, :16]), -1) ** 2).sum(
            -1, keepdims=True) / q.M + EXACT(q.eps)), ROWS, NORMS, {"words": "row|column|16"}),
    ("root", "largest_absolute_for_root", "root",
     lambda r, q: np.abs(values(q)).max(-1, keepdims=True), ROWS, "add_rms_norm",
     {"words": "largest|max|absolute|divisor"}),
    ("root", "of_row_before", "shared_rows", lambda r, q: np.roll(r, 1, 0), ROWS, NORMS, {}),
    ("weight", "weight_tail_of_start", "weight", lambda w, q: np.append(w[:-16], w[:16]), ROWS,
     NORMS, {}),
    ("weight", "weight_halved", "weight_factor", lambda w, q: w / 2, ROWS, "layer_norm", {}),
    ("output", "first_half_only", "columns_of_sum",
     lambda y, q: np.where(np.arange(q.M) < q.M // 2, y, q.x), ROWS, "layer_norm add_rms_norm",
     {"words": "column|M "}),
    ("output", "times_1.1", "factor", lambda y, q: y * EXACT("1.1"), ROWS, "rms_norm",
     {"ratio": 1.1}),
    ("output", "columns_from_40_zero", "rows_zero",
     lambda y, q: np.where(np.arange(q.M) >= 40, 0, y), "rows rows_bf16 wide", NORMS,
     {"first": 40}),
    ("output", "last_row_unchanged", "rows_still",
     lambda y, q: np.where((np.arange(q.N) == q.N - 1)[:, None], q.x, y), ROWS,
     "rms_norm layer_norm", {}),
    ("bias", "bias_in_first_half", "bias", lambda b, q: np.where(np.arange(q.M) < q.M // 2, b, 0),
     ROWS, "layer_norm", {}),
    ("residual", "residual_of_row_before", "residual",
     lambda t, q: q.x + np.roll(q.residual, 1, 0), "rows rows_bf16", "add_rms_norm", {}),
    ("output", "residual_after_norm", "residual", lambda y, q: (
        q.x / np.sqrt(mean_of(q.x ** 2) + EXACT(q.eps))) * q.weight + q.residual,
     "rows rows_bf16", "add_rms_norm", {}),
):
    one(operations, stage, name, kind, change, cases, **figures)
for operation, stage, name, kind, change, cases, figures in (
    # llm-foundry: rsqrt is computed, and then divided by.
    ("rms_norm", "root", "divided_by_reciprocal_root", "root", lambda r, q: 1 / r,
     "rows rows_bf16 shifted",
     {"words": r"root|recipro|invers|rsqrt|power|not divided|multiplied by (its|the) (rms|norm)"}),
    # LightLLM: the stride of columns of a transposed x counts in the sum alone.
    ("rms_norm", "scaled", "values_read_down_the_columns", "rows_moved", lambda s, q: (
        q.x.T.ravel()[np.arange(q.N)[:, None] + np.arange(q.M)] / q.seen["root"]),
     "rows rows_bf16 rows_f64",
     {"words": r"transpos|stride|other (row|element|column)|moved|layout|\bread\b|order"}),
    # The first published code: 1e-8, outside of the root.
    ("rms_norm", "root", "eps_1e-08_outside", "eps",
     lambda r, q: np.sqrt(q.seen["mean_square"]) + EXACT("1e-8"), SMALL, {"value": [1e-8, 0]}),
    # Norms of queries and keys: by heads, where the model has one of all heads.
    ("rms_norm", "root", "root_of_each_head_of_12", "groups", lambda r, q: by_groups(
        q.x, 12, lambda p: np.sqrt(mean_of(p**2) + EXACT(q.eps))), "rows shifted small", {}),
    # tt-mlir: means of the devices are added up.
    ("rms_norm", "mean_square", "means_of_4_ranks_added", "divisor", lambda v, q: 4 * v,
     "rows rows_bf16 rows_f64", {"value": lambda q: [q.M / 4, 4, 2]}),
    # torch.var in place of the mean of squares, in a port.
    ("rms_norm", "mean_square", "variance_for_square", "mean",
     lambda v, q: v - mean_of(q.seen["input"]) ** 2, "shifted rows rows_bf16",
     {"words": r"mean|cent(er|re)|variance|deviation|std"}),
    # The sum is written in place, and the second pass adds x once more.
    ("add_rms_norm", "scaled", "x_again_in_second_pass", "residual",
     lambda s, q: (q.seen["normed"] + q.x) / q.seen["root"], "rows rows_bf16 small",
     {"words": r"\bx\b|residual|\bsum\b|added|twice|again"}),
    # Every rank adds the residual before the sum over ranks.
    ("add_rms_norm", "residual", "residual_of_each_of_4_ranks", "factor",
     lambda t, q: q.x + 4 * q.residual, "rows rows_bf16 small",
     {"ratio": 4, "words": r"residual|\bsum\b|rank"}),
    # The annotated transformer: std() and 1e-6 beside it.
    ("layer_norm", "root", "unbiased_and_eps_outside", "divisor",
     lambda r, q: np.sqrt(q.seen["variance"] * q.M / (q.M - 1)) + EXACT("1e-6"),
     "rows rows_f64 shifted",
     {"value": lambda q: [q.M - 1, 1],
      "words": r"divi|count|M ?- ?1|one less|unbias|bessel|\beps|\bstd"}),
    # TPLinker: ** 2 for ** 0.5.
    ("layer_norm", "root", "squared_for_root", "root", lambda r, q: q.seen["eps_added"] ** 2,
     "rows rows_f64 rows_bf16", {}),
    # The mean of a whole tile of lanes.
    ("layer_norm", "mean", "mean_over_padded_64", "mean", lambda m, q: m * q.M / 64,
     "shifted rows rows_f64", {"words": r"mean|cent(er|re)|pad|64"}),
    ("layer_norm", "mean", "mean_of_row_before", "shared_rows", lambda m, q: np.roll(m, 1, 0),
     "shifted rows", {"words": r"mean.*(row|another|other|before)|row.*mean|center.*row"}),
):
    shown(operation, stage, name, kind, change, cases, **figures)
add("layer_norm", "group_norm_of_4", "groups", {
    "mean": lambda m, q: by_groups(q.x, q.M // 4, mean_of),
    "variance": lambda v, q: by_groups(q.seen["centered"] ** 2, q.M // 4, mean_of)},
    "rows rows_bf16 shifted rows_f64", shown=True,
    words=r"group|part|quarter|fourth|block|head|separate")

# Activations and gates.
SMOOTH = ("swish swish_bf16 gelu gelu_bf16 gelu_tanh gelu_tanh_f16 swiglu swiglu_bf16 geglu"
          " geglu_tanh")
SWISH = "swish swish_bf16 swish_f64 swiglu swiglu_bf16"
TANHS = "gelu_tanh gelu_tanh_f16"
GATES = "swiglu swiglu_bf16 geglu glu reglu"
PAIR = "activation gated"
ROOT, C = np.sqrt(2 / layer.PI), EXACT("0.044715")


def swish(beta):
    return lambda x: x * layer.sigmoid(beta * x)


for table, operations, name, kind, function, cases, figures in (
    (one, "gated", "beta_1.1", "beta", swish(EXACT(1.1)), SWISH + " oss", {"value": 1.1}),
    (one, "gated", "cubic_0.05", "cubic", lambda x: layer.gelu_tanh(x, EXACT(0.05)),
     "gelu_tanh gelu_tanh_f16 geglu_tanh", {"value": 0.05}),
    (one, PAIR, "leaky_0.2", "leak", lambda x: np.where(x > 0, x, x / 5), "relu reglu",
     {"value": 0.2}),
    (one, "gated", "relu_to_4", "clamp", lambda x: np.clip(x, 0, 4), "relu reglu", {"value": 4}),
    (one, PAIR, "tabulated", "function",
     lambda x: np.round(x * 8) / 8 * layer.sigmoid(np.round(x * 8) / 8), SWISH,
     {"words": "table|step|round|0.125|1/8"}),
    # MLX before it was 1.702.
    (shown, "activation", "quick_gelu_1.773", "beta", swish(EXACT("1.773")), "gelu gelu_bf16",
     {"value": 1.773}),
    # Shaders that clamp the argument.
    (shown, "activation", "tanh_of_x_clamped_at_2", "clamp", lambda x: np.tanh(np.clip(x, -2, 2)),
     "tanh", {"value": [2, float(np.tanh(2))],
              "words": r"clamp|clip|limit|at most|saturat|cut"}),
    # The polynomial for erf holds for x > 0, and its sign is not restored.
    (shown, "activation", "erf_of_absolute_x", "function",
     lambda x: np.sign(x) * layer.gelu(np.abs(x)), "gelu gelu_bf16",
     {"words": r"abs|sign|\|x\||negative|x < 0|\bodd\b|\beven\b|symmetr"}),
    # sqrt(2) / pi for sqrt(2 / pi).
    (shown, "activation", "root_of_2_over_pi", "cubic",
     lambda x: layer.gelu_tanh(x, root=np.sqrt(EXACT(2)) / layer.PI), TANHS,
     {"value": [float(np.sqrt(2) / np.pi), float(1 / np.sqrt(np.pi))],
      "words": r"root|sqrt|constant|coefficient|argument|pi\b|times|multipl"}),
    # BitNet in llama.cpp: the configuration says relu2.
    (shown, "activation", "silu_for_relu2", "function", swish(1), "relu2",
     {"words": r"swish|silu|x \* sigmoid|times sigmoid"}),
):
    table(operations, "function", name, kind, lambda f, q, g=function: g, cases, **figures)
for table, operations, stage, name, kind, change, cases, figures in (
    (one, PAIR, "function", "negated_input", "sign", lambda f, q: lambda x: f(-x),
     SMOOTH + " tanh sigmoid", {}),
    (one, PAIR, "output", "plus_0.1", "offset", lambda y, q: y + EXACT("0.1"), SMOOTH + " relu",
     {"value": 0.1}),
    (one, PAIR, "output", "last_column_zero", "rows_zero",
     lambda y, q: np.where(np.arange(q.F) == q.F - 1, 0, y), SMOOTH, {}),
    (one, "activation", "output", "first_row_only", "rows_still",
     lambda y, q: np.where((np.arange(q.N) > 0)[:, None], q.x, y), SMOOTH, {}),
    (one, "gated", "halves", "blocks_of_8", "halves", lambda h, q: tuple(np.concatenate(
        h, -1).reshape(q.N, -1, 2, 8)[:, :, i].reshape(q.N, -1) for i in (0, 1)), GATES,
     {"words": "block|8|half|halves"}),
    (one, "gated", "activated", "squared_gate", "function", lambda a, q: a * a, GATES,
     {"words": "squar|twice|\\^2"}),
    (one, "gated", "up", "up_absolute", "product", lambda u, q: np.abs(u), GATES,
     {"words": "abs|up"}),
    (one, "gated", "output", "gate_not_multiplied", "product", lambda y, q: q.seen["up"] + 0 * y,
     GATES, {}),
    (one, "gated", "output", "limited_after_product", "limit", lambda y, q: np.clip(
        layer.function_of(q.kind, q.alpha)(q.gate) * (q.up + 1), -7, 7), "oss oss_bf16", {}),
    (one, "gated", "limited", "up_unlimited", "limit", lambda h, q: (h[0], q.up), "oss oss_bf16",
     {"listed": "up_not_limited"}),
    # TensorRT-LLM, NVFP4: the fused halves share the greater scale.
    (shown, "gated", "limited", "gate_with_scale_of_up", "factor",
     lambda h, q: (EXACT("1.2547") * h[0], h[1]), "swiglu swiglu_bf16 geglu",
     {"ratio": 1.2547, "words": r"gate|input|\bx\b|beta|times|factor|multipl|scale"}),
):
    table(operations, stage, name, kind, change, cases, **figures)
add("gated", "alpha_1.5", "beta", changed(alpha=1.5), "oss oss_bf16", value=1.5)
add("gated", "plus_one_added", "plus", changed(plus_one=True), "swiglu geglu glu swiglu_bf16",
    listed="plus_one=true")
add("activation", "beta_ignored", "beta", changed(beta=1), "beta", shown=True)
# Mixtures of experts in several servers: this path has the plain gate.
add("gated", "plain_swiglu_for_oss", "limit", changed(limit=None, alpha=1, plus_one=False),
    "oss oss_bf16", shown=True,
    words=r"limit|clamp|clip|plus|\bone\b|\+ 1|alpha|beta|1\.702|plain")
# Step 3.5 and others: the limit comes after the function.
add("gated", "gate_limited_after_function", "limit", {
    "limited": lambda h, q: (q.gate, h[1]),
    "activated": lambda a, q: np.minimum(a, EXACT(q.limit))}, "oss", shown=True,
    words=r"limit|clamp|clip|after|order")
