"""Deviations of norms, activations, gates and the soft cap, written without knowledge of the
diagnosis, after bugs of other projects."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded, sequential, to_format

TABLE = Table()
MACHINE_EPS_BF16 = 2.0**-7
EPS_IN_F16 = float(np.float16(1e-5))
LN2 = np.log(EXACT(2))


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def several(operations, name, kind, changes, cases, **rest):
    TABLE.add(operations, name, kind, changes, cases, **rest)


def columns(q):
    return np.arange(q.M if hasattr(q, "M") else q.F)


def lines(q):
    return np.arange(q.N)[:, None]


# Norms.
def operand(q):
    """What is squared: of all three norms."""
    return q.seen["centered"] if "centered" in q.seen else q.seen["input"]


def variance(q):
    return q.seen["mean_square" if "mean_square" in q.seen else "variance"]


def root_counting(times):
    """The root if column m is counted times(m, M) times in the sum."""
    return lambda r, q: np.sqrt((operand(q) ** 2 * times(columns(q), q.M)).sum(-1, keepdims=True)
                                / q.M + EXACT(q.eps))


def whole(count, width):
    """The columns of the whole tiles."""
    return count // width * width


WARPS = "rows rows_f64 shifted"
ALL = "rows rows_bf16 rows_f64 shifted small"
DOWN = (r"axis|down|over (the )?(rows|tokens|N)|column.*(row|divi|root)|rows?.*share|transpos"
        r"|batch")

# torch's RMSNorm(eps=None) took the machine epsilon of the input's dtype.
TABLE.add("rms_norm", "eps_machine_bf16", "eps", changed(eps=MACHINE_EPS_BF16), "small_bf16",
          value=MACHINE_EPS_BF16)
TABLE.add("rms_norm", "eps_stored_in_f16", "eps", changed(eps=EPS_IN_F16), "small",
          value=EPS_IN_F16)
TABLE.add("layer_norm", "eps_of_keras_1e-07", "eps", changed(eps=1e-7), "small", value=1e-7)
one("layer_norm", "root", "eps_inside_and_outside", "eps_place",
    lambda r, q: np.sqrt(variance(q) + EXACT(q.eps)) + EXACT(q.eps), "small")
one("rms_norm", "count", "divided_by_whole_warps", "divisor",
    lambda c, q: EXACT(max(whole(q.M, 32), 1)), WARPS,
    value=lambda q: [whole(q.M, 32), q.M - whole(q.M, 32), whole(q.M, 32) / q.M])
one("add_rms_norm", "count", "divided_by_root_of_M", "divisor",
    lambda c, q: np.sqrt(EXACT(q.M)), "rows rows_bf16",
    value=lambda q: float(np.sqrt(q.M)))
one("layer_norm", "count", "divided_by_768", "divisor", lambda c, q: EXACT(768), "rows rows_f64",
    value=lambda q: [768, 768 / q.M])
# The last tile of 32 starts at M - 32, and so some columns are in two tiles.
one("rms_norm", "root", "last_tile_overlaps", "columns_of_sum",
    root_counting(lambda m, M: 1 + ((m >= M - 32) & (m < whole(M, 32)) & (M % 32 > 0))), WARPS,
    words=r"column|twice|two times|M \d|overlap|tile")
one("rms_norm", "root", "fourth_of_vector_forgotten", "columns_of_sum",
    root_counting(lambda m, M: m % 4 != 3), ALL + " wide",
    words=r"column|every (4|fourth)|each 4|M \d|lane|modulo|mod 4")
one("layer_norm", "root", "third_of_vector_for_fourth", "columns_of_sum",
    root_counting(lambda m, M: np.choose(m % 4, [1, 1, 2, 0])), ALL,
    words=r"column|every (4|fourth)|each 4|M \d|lane|modulo|mod 4")
# A sum in bf16 does not grow any more beyond 256 times a term.
one("rms_norm", "add", "squares_added_in_bf16", "columns_of_sum",
    lambda add, q: lambda terms: sequential(terms, "bf16"), "wide",
    words=r"bf16|accumul|sum.*(round|bits|precision|format|dtype)|in_the_dtype|saturat|stagnat")
one("rms_norm", "square", "squares_underflow_in_f16", "columns_of_sum",
    lambda s, q: np.where(s < EXACT(2) ** -14, 0, s), "small",
    words=r"f16|underflow|flush|subnormal|denormal|small (x|square|value|element)|below|2\^-14")
one("rms_norm", "root", "fast_inverse_root", "root", lambda r, q: 1 / quake(q.seen["eps_added"]),
    "rows small", words=r"root|approx|newton|reciprocal|rsqrt|divi.*(differ|precision|round)")


def quake(v):
    """One step of Newton after the shifted exponent."""
    v = np.ascontiguousarray(v, np.float32)
    y = (np.int32(0x5F3759DF) - (v.view(np.int32) >> 1)).view(np.float32)
    return (y * (np.float32(1.5) - np.float32(0.5) * v * y * y)).astype(EXACT)


# A block of 8 rows: those after it have the root of its last row.
one("add_rms_norm", "root", "stale_root_after_row_7", "shared_rows",
    lambda r, q: r[np.minimum(np.arange(q.N), 7)], "rows rows_bf16 small",
    words=r"row (7|8)|rows? .*(7|8)|of row|another row|root.*row|stale|share")
one("rms_norm", "mean_square", "down_the_rows", "shared_rows",
    lambda v, q: (q.seen["input"] ** 2).mean(0, keepdims=True), "rows rows_f64 rows_bf16",
    words=DOWN)
several("layer_norm", "over_the_rows", "shared_rows",
        {"mean": lambda m, q: q.x.mean(0, keepdims=True),
         "variance": lambda v, q: (q.seen["centered"] ** 2).mean(0, keepdims=True)},
        "rows rows_f64 rows_bf16",
        words=DOWN)
one("layer_norm", "mean", "mean_of_row_before", "shared_rows", lambda m, q: np.roll(m, 1, 0),
    "shifted rows", words=r"mean.*(row|another|other|before)|row.*mean|center.*row")
# torch.var in place of the mean of squares, in a port.
one("rms_norm add_rms_norm", "mean_square", "variance_for_square", "mean",
    lambda v, q: v - q.seen["input"].mean(-1, keepdims=True) ** 2, "shifted rows rows_bf16",
    words=r"mean|cent(er|re)|variance|deviation|std")
one("rms_norm", "scaled", "centered_above_alone", "mean",
    lambda s, q: (q.seen["input"] - q.seen["input"].mean(-1, keepdims=True)) / q.seen["root"],
    "shifted rows")
one("layer_norm", "variance", "square_of_mean_kept", "mean",
    lambda v, q: (q.x ** 2).mean(-1, keepdims=True), "shifted rows",
    words=r"mean|cent(er|re)|second moment|E\[x|raw")
one("layer_norm", "variance", "padding_centered", "mean",
    lambda v, q: v + ((1 << (q.M - 1).bit_length()) - q.M) * q.seen["mean"] ** 2 / q.M,
    "shifted rows_f64", words=r"mean|pad|lane|masked|zeros? (are )?counted|64|next power")
one("layer_norm", "mean", "mean_in_f16", "mean", rounded("f16"), "shifted rows",
    words=r"(mean|cent).*(f16|round|bits|precision|half)|(f16|half).*mean|mean_in")
one("layer_norm", "scaled", "mean_subtracted_after_division", "mean",
    lambda s, q: q.x / q.seen["root"] - q.seen["mean"], "shifted small")
one("layer_norm", "centered", "mean_kept_from_column_32", "mean",
    lambda c, q: np.where(columns(q) >= 32, q.x, c), "shifted rows_f64 rows",
    words=r"mean|cent(er|re)|column|M ")
# Weights and biases.
one("rms_norm", "weight", "weight_missing_in_rest_of_32", "weight",
    lambda w, q: np.where(columns(q) < whole(q.M, 32), w, 1), WARPS)
one("add_rms_norm", "weight", "weight_of_first_tile_of_16", "weight",
    lambda w, q: w[columns(q) % 16], "rows rows_bf16")
one("rms_norm", "weight", "unit_offset_twice", "weight", lambda w, q: w + 1, "offset",
    words=r"weight|unit_offset")
one("rms_norm", "output", "unit_offset_after_product", "weight",
    lambda y, q: q.seen["scaled"] * (q.seen["weight"] - EXACT(q.unit_offset))
    + EXACT(q.unit_offset), "offset", words=r"offset|plus|added|\bone\b|\+ 1|weight")
one("rms_norm", "weight", "one_minus_weight", "weight",
    lambda w, q: EXACT(q.unit_offset) - q.weight, "offset", words=r"weight|sign|negat|minus")
one("rms_norm", "output", "normed_twice", "weight",
    lambda y, q: y / np.sqrt((y * y).mean(-1, keepdims=True) + EXACT(q.eps)) * q.seen["weight"],
    "rows rows_bf16 shifted", words=r"twice|again|squared|\^2|two times|second time|double")
several("layer_norm", "weight_and_bias_exchanged", "weight",
        {"weight": lambda w, q: q.bias, "bias": lambda b, q: q.weight}, "rows rows_bf16 rows_f64",
        words=r"weight|bias")
one("layer_norm", "bias", "bias_is_weight", "bias", lambda b, q: q.weight,
    "rows rows_bf16 shifted")
one("layer_norm", "output", "bias_before_division", "bias",
    lambda y, q: (q.seen["centered"] + q.bias) / q.seen["root"] * q.seen["weight"],
    "shifted rows small")
one("layer_norm", "bias", "bias_rolled_8", "bias", lambda b, q: np.roll(b, 8),
    "rows rows_bf16 shifted")
one("layer_norm", "bias", "bias_in_rows_before_8", "bias",
    lambda b, q: np.where(lines(q) < 8, b, 0), "rows rows_bf16 shifted",
    words=r"bias|row")
# A block of 256 threads without a loop.
one("rms_norm", "output", "columns_from_256_raw", "columns_of_sum",
    lambda y, q: np.where(columns(q) < 256, y, q.seen["input"]), "wide",
    words=r"column|M (\d|>|from)|256|unchanged|copied|not (normal|computed|written)|still")


# The sum with the residual.
def true_sum(q):
    return to_format(q.x + q.residual, q.dtype).astype(EXACT)


def normed(x, q):
    return (x / np.sqrt((x * x).mean(-1, keepdims=True) + EXACT(q.eps))
            * (q.weight + EXACT(q.unit_offset)))


def truncated_to_bf16(values):
    """The lower 16 bits are dropped."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(EXACT)


SUMS = "rows rows_bf16 small"
for name, total in (("x", lambda q: q.x), ("residual", lambda q: q.residual),
                    ("output", lambda q: normed(true_sum(q), q))):
    several("add_rms_norm", f"sum_is_{name}", "residual",
            {"residual": lambda t, q, f=total: f(q), "normed": lambda t, q: true_sum(q)}, SUMS)
for name, stage, change, cases, figures in (
    ("norm_of_residual", "normed", lambda t, q: q.residual, SUMS, {}),
    ("residual_lost_from_32", "residual", lambda t, q: np.where(columns(q) < 32, t, q.x), SUMS, {}),
    ("residual_rolled_8", "residual", lambda t, q: q.x + np.roll(q.residual, 8, -1), SUMS, {}),
    ("sum_in_f16", "residual", rounded("f16"), "rows",
     {"words": r"(sum|residual|stream|x \+).*(f16|half|round|bits|precision)|f16"}),
    ("sum_truncated", "residual", lambda t, q: truncated_to_bf16(t), "rows_bf16",
     {"words": r"trunc|toward|cut|round|chop"}),
    ("residual_again_after_norm", "output", lambda y, q: y + q.seen["normed"], SUMS, {}),
    ("root_of_x_alone", "mean_square", lambda v, q: (q.x ** 2).mean(-1, keepdims=True), SUMS,
     {"words": r"residual|sum|added|norm_of|\bx\b|root"}),
    ("x_over_root_of_sum", "scaled", lambda s, q: q.x / q.seen["root"], SUMS, {}),
):
    one("add_rms_norm", stage, name, "residual", change, cases, **figures)


# Granite's residual_multiplier, of a model without one.
one("add_rms_norm", "residual", "x_times_0.22", "factor",
    lambda t, q: EXACT("0.22") * q.x + q.residual, SUMS, ratio=0.22,
    words=r"\bx\b|factor|times|scale|multipl|residual|sum")
