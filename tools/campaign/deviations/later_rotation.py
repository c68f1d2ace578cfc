"""Deviations of rotations and tables, written without knowledge of the diagnosis: tables that are
too short, ids of another width, axes of pictures, branches of scalings, growth."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

TABLE = Table()
PI = EXACT("3.14159265358979323846264338327950288")
PRECISION = r"round|bits|precision|truncat|grid|quanti"


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def token(q):
    return np.arange(q.S)[:, None]


def head(q):
    return np.arange(q.H)[:, None, None]


def places(q):
    """The given positions, as they broadcast to x."""
    return q.position[:, None, :, None]


def nearest(values, bits):
    m, e = np.frexp(values.astype(np.float64))
    return np.ldexp(np.round(np.ldexp(m, bits)), e - bits).astype(EXACT)


def k(f):
    return np.arange(f.shape[-1])


# rope: positions.
def p(name, kind, change, cases, operations="rope", **rest):
    one(operations, "position", name, kind, change, cases, **rest)


p("largest_of_batch", "position_of_batch", lambda p, q: p.max(0, keepdims=True) + 0 * p, "batch",
  words=r"batch|largest|maximum|longest")
p("ids_transposed", "position_of_batch",
  lambda p, q: p.ravel()[np.arange(q.S) * q.B + np.arange(q.B)[:, None]][:, None, :, None], "batch",
  words=r"batch|transpos|another|other token|order")
p("early_from_2048", "position_offset", lambda p, q: np.where(p >= 2048, p - 1, p),
  "far llama3 far_bf16 yarn", shift=1,
  words=r"offset|shift|off.by|added|early|less|minus|- ?1|above|beyond|from 20")
p("chunk_offset_twice", "position_of_token", lambda p, q: p + token(q) // 16 * 16,
  "near inter_bf16 medium",
  words=r"offset|shift|plus|added|late|tokens? (from )?16|from (token |position )?16|block|chunk"
  r"|restart")
p("negative_as_uint32", "position_wrapped", lambda p, q: p % 2**32, "negative",
  limit=[2**32, 32], words=r"wrap|modulo|overflow|unsigned|bits|negative")
p("last_head_one_late", "position_is_head", lambda p, q: p + (head(q) == q.H - 1),
  "near inter_bf16 medium", words=r"head|\bH\b")
p("first_3_tokens_at_1", "position_of_token", lambda p, q: np.where(token(q) < 3, 1, p),
  "near inter inter_bf16", words=r"first|act as|constant|same|pad|clamp|at position 1\b")
p("int64_read_as_int32", "position_of_token",
  lambda p, q: np.where(token(q) % 2 == 0, p[:, :, np.arange(q.S) // 2], 0), "near inter medium",
  words=r"int64|int32|another|other token|half|even|odd|twice|stride|place")
p("second_tile_at_first", "position_of_token", lambda p, q: p[:, :, np.arange(q.S) % 64], "medium",
  words=r"\b64\b|tile|block|restart|repeat|another|other token|offset")
one("rope", "angle", "product_in_tf32", "position_rounded",
    lambda a, q: nearest(q.seen["position"], 11) * nearest(q.seen["frequency"], 11),
    "far inter llama3", words=rf"tf32|f16|{PRECISION}")
one("rope", "angle", "angle_in_f16", "position_rounded", rounded("f16"), "inter f64 near_f16",
    words=rf"f16|{PRECISION}")
one("rope", "angle", "sine_table_of_4096", "position_rounded",
    lambda a, q: np.round(a * 4096 / (2 * PI)) * 2 * PI / 4096, "near f64 inter",
    words=rf"{PRECISION}|table|step|multiple")
one("rope", "sin_table", "sin_table_in_bf16", "amplitude_one_side", rounded("bf16"),
    "near f64 inter", words=rf"bf16|{PRECISION}")

# Tables that are too short: JAX's take gives NaN, others nothing or zeros.
one("rope", "output", "unrotated_from_4096", "rows_still",
    lambda y, q: np.where(places(q) >= 4096, q.x, y), "llama3 llama3_bf16 far",
    words=r"zero|unwritten|unchanged|not (computed|written|rotated)|copied|still|position|act as")
one("rope", "output", "nan_from_8192", "elements",
    lambda y, q: np.where(places(q) >= 8192, EXACT("nan"), y), "far far_bf16 llama3",
    words=r"nan|not a number|finite")

# rope: frequencies and scalings.


def f(name, kind, change, cases, stage="frequency", operations="rope", **rest):
    one(operations, stage, name, kind, change, cases, **rest)


def limits(q, logarithm=np.log):
    """YaRN's limits, not yet whole."""
    s = q.scaling
    turns = np.array([s["beta_fast"], s["beta_slow"]], dtype=float)
    return q.R * np.log(s["original_max_position_embeddings"] / (2 * np.pi * turns)) / (
        2 * logarithm(float(q.base)))


def limits_of_log2(lim, q):
    low, high = limits(q, np.log2)
    if q.scaling["truncate"]:
        low, high = np.floor(low), np.ceil(high)
    return EXACT(max(low, 0)), EXACT(min(high, q.R - 1))


def list_by_token(a, q):
    """longrope: each token takes the list of its own position."""
    s, position, frequency = q.scaling, q.seen["position"], q.seen["frequency"]
    ratio = np.array(s["long_factor"]).astype(EXACT) / np.array(s["short_factor"]).astype(EXACT)
    return np.where(position > 4096, a, position * frequency * ratio)


TABLE.add("rope", "base_times_factor", "base",
          {"question": lambda q, _: changed(base=8 * q.base, scaling={"type": "none"})["question"](
              q, q)},
          "linear", base=[80000, 8], words=r"base|ntk")
f("llama3_band_inverted", "scaling", lambda r, q: np.where((r > 0) & (r < 1), 1 - r, r),
  "llama3 llama3_bf16", "ramp")
f("llama3_low_band_plain", "scaling", lambda r, q: np.where(r == 0, 1, r), "llama3 llama3_bf16",
  "ramp", "rope rope_frequencies")
f("limits_of_log2", "scaling", limits_of_log2, "yarn yarn_bf16", "limits")
f("limits_rounded_inward", "scaling",
  lambda lim, q: (EXACT(np.ceil(limits(q)[0])), EXACT(np.floor(limits(q)[1]))), "yarn", "limits",
  "rope_frequencies")
f("longrope_list_by_token", "scaling", list_by_token, "longrope", "angle",
  words=r"short|long|scal|factor|frequenc|4096|context|seq_len")
f("frequencies_in_f16", "frequency_ramp", rounded("f16"), "llama3 plain_f64", "frequency",
  "rope_frequencies", words=rf"f16|{PRECISION}")
f("frequencies_of_f16_normals", "frequency_plateau", lambda f, q: np.where(f < 2.0**-14, 0, f),
  "inter inter_bf16 medium", words=r"pairs?.*(frequenc|turn|still|not rotat|unchanged)"
  r"|(frequenc|turn).*pairs?|flush|subnormal|underflow")
f("pairs_from_15_share", "frequency_plateau", lambda f, q: f[np.minimum(k(f), 15)],
  "inter inter_bf16 far", words=r"pairs?.*(frequenc|turn|angle)|(frequenc|turn|angle).*pairs?"
  r"|shar|same")
one("rope", "sin_table", "sin_not_scaled", "frequency_ratio",
    lambda t, q: np.sin(8 * q.seen["angle"]), "linear", words=r"\bsin")

# rope: amplitudes.
f("amplitude_of_log10", "amplitude", lambda a, q: (a - 1) / np.log(EXACT(10)) + 1,
  "yarn yarn_bf16", "amplitude")
f("amplitude_of_longrope", "amplitude", lambda a, q: np.sqrt(1 + np.log(EXACT(q.scaling["factor"]))
  / np.log(EXACT(q.scaling["original_max_position_embeddings"]))), "yarn yarn_bf16", "amplitude")
f("amplitude_of_yarn", "amplitude",
  lambda a, q: 1 + np.log(EXACT(q.scaling["factor"])) / 10, "longrope", "amplitude")
TABLE.add("rope", "amplitude_beyond_4096_only", "amplitude",
          {side: lambda t, q: t / np.where(q.seen["position"] < 4096, q.seen["amplitude"], 1)
           for side in ("cos_table", "sin_table")}, "yarn yarn_bf16",
          words=r"(gain|amplitude|factor|scal).*(token|position|row|below|under|before|up to|beyond"
          r"|above|4096|some)")
one("rope", "sin_table", "sin_without_amplitude", "amplitude_one_side",
    lambda t, q: t / q.seen["amplitude"], "yarn yarn_bf16 longrope")


# rope: layout and rows.
def halves_turned(x):
    a, b = np.split(x, 2, -1)
    return np.concatenate((-b, a), -1)


def pairs_turned(x):
    return np.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)


def table_of_halves(y, q):
    c, s = (np.concatenate((q.seen[t],) * 2, -1) for t in ("cos_table", "sin_table"))
    return q.x * c + pairs_turned(q.x) * s


def table_of_pairs(y, q):
    c, s = (np.repeat(q.seen[t], 2, -1) for t in ("cos_table", "sin_table"))
    return q.x * c + halves_turned(q.x) * s


def rest_of(other):
    return lambda y, q: np.concatenate((y[..., :q.R], (other(q.x) + 0 * y)[..., q.R:]), -1)


def rows(y):
    return np.arange(y[..., 0].size).reshape(y.shape[:-1])[..., None]


for name, kind, change, cases, figures in (
    ("table_of_halves_for_pairs", "pairing", table_of_halves, "near far far_bf16", {}),
    ("table_of_pairs_for_halves", "pairing", table_of_pairs, "inter inter_bf16", {}),
    ("rest_of_head_0", "rest", rest_of(lambda x: x[:, :1]), "partial",
     {"words": "rest|outside|channel|D 3|head"}),
    ("last_block_of_32_rows_still", "rows_still",
     lambda y, q: np.where(rows(y) >= y[..., 0].size // 32 * 32, q.x, y), "near partial far", {}),
    ("heads_of_group", "rows_moved", lambda y, q: y[:, np.arange(q.H) // 2],
     "inter_bf16 medium llama3_bf16", {}),
):
    one("rope", "output", name, kind, change, cases, **figures)
