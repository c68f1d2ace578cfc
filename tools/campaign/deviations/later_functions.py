"""Further rows of later_layer: activations, gates, the soft cap."""

import numpy as np

from stages import EXACT, changed, layer, to_format

from .later_layer import (TABLE, LN2, one, columns)

# Activations.
def phi(x):
    """The distribution function, without the cancellation below 0."""
    return np.where(x == 0, EXACT("0.5"), layer.gelu(x) / np.where(x == 0, 1, x))


def swish(beta):
    return lambda x: x * layer.sigmoid(beta * x)


def tanh_form(argument):
    return lambda x: x * layer.sigmoid(2 * argument(x))


ROOT = np.sqrt(2 / layer.PI)
C = EXACT("0.044715")
TANHS = "gelu_tanh gelu_tanh_f16"
for name, kind, function, cases, figures in (
    # The cubic coefficient times sqrt(2/pi), and that times sqrt(2/pi) again.
    ("cubic_0.0356774", "cubic", lambda x: layer.gelu_tanh(x, EXACT("0.0356774081")), TANHS,
     {"value": 0.0356774}),
    ("cubic_outside_root", "cubic", tanh_form(lambda x: ROOT * x + C * x**3), TANHS,
     {"value": [float(C / ROOT), 0.044715]}),
    ("square_for_cube", "function", tanh_form(lambda x: ROOT * (x + C * x**2)), TANHS,
     {"words": r"x\^2|x\*\*2|squar|quadrat|power|x \* x"}),
    ("erf_without_one", "function", lambda x: x * (phi(x) - EXACT("0.5")), "gelu gelu_bf16",
     {"words": r"\bone\b|1 \+|\+ 1|plus|0\.5 ?\*? ?x|x ?/ ?2|half of x|erf\(|\beven\b|symmetric"}),
    ("cdf_alone", "function", phi, "gelu gelu_bf16",
     {"words": r"\bx\b.*(missing|not multiplied|left out)|without.*\bx\b|phi|cdf|distribution|erf|"
               r"not multiplied"}),
    ("erf_of_half_x", "function",
     lambda x: x * phi(x / np.sqrt(EXACT(2))), "gelu gelu_bf16",
     {"words": r"erf|argument|times|scale|beta|multipl|sqrt|0\.707|x ?/ ?2"}),
    ("table_of_f16", "function", lambda x: layer.gelu_tanh(to_format(x, "f16").astype(EXACT)),
     "gelu_tanh", {"words": r"f16|half|round|table|precision|step|bits"}),
    ("tanh_by_exp_overflows", "elements",
     lambda x: np.where(2 * ROOT * (x + C * x**3) > np.log(EXACT(65520)), EXACT("nan"),
                        layer.gelu_tanh(x)), "gelu_tanh_f16",
     {"words": r"nan|overflow|infinit|\binf\b"}),
    ("saturated_at_4", "function",
     lambda x: np.where(x > 4, x, np.where(x < -4, 0, x * layer.sigmoid(x))), "swish swish_bf16",
     {"words": r"\b4\b|saturat|clip|clamp|beyond|outside|limited|hard"}),
    ("exp2_without_log2e", "beta", swish(LN2), "swish swish_bf16 swish_f64",
     {"value": float(LN2)}),
    ("times_x_again", "function", lambda x: x * x * layer.sigmoid(x), "swish swish_bf16",
     {"words": r"squar|\^2|x \* x|twice|again|power|times x|multiplied by x"}),
    ("minus_one_missing", "offset", lambda x: 2 * layer.sigmoid(2 * x), "tanh", {"value": 1}),
    ("relu2_without_relu", "function", lambda x: x * np.abs(x), "relu2",
     {"words": r"abs|sign|\|x\||negative|below|min\(x|relu.*(missing|not)|not rectif|odd"}),
    ("relu2_not_squared", "function", lambda x: np.maximum(x, 0), "relu2",
     {"words": r"kind=relu\b|relu\b|not squared|square.*missing|max\(x|rectif"}),
):
    one("activation", "function", name, kind, lambda f, q, g=function: g, cases, **figures)
TABLE.add("activation", "beta_ignored", "beta", changed(beta=1), "beta")
TABLE.add("activation", "beta_inverted", "beta", changed(beta=1 / 1.702), "beta", value=1 / 1.702)
one("activation", "function", "beta_outside_too", "factor",
    lambda f, q: lambda x: EXACT(q.beta) * f(x), "beta", ratio=1.702)
# The second element of each pair is not unpacked.
one("activation", "output", "odd_columns_raw", "elements",
    lambda y, q: np.where(columns(q) % 2 == 1, q.x, y), "swish gelu gelu_bf16 tanh",
    words=r"odd|every (2|second|other)|each 2|mod(ulo)? 2|column|F \d")
# The count of blocks is rounded down.
one("activation", "output", "blocks_of_256_rounded_down", "rows_zero",
    lambda y, q: np.where((np.arange(y.size) < y.size // 256 * 256).reshape(y.shape), y, 0),
    "swish gelu relu2")

# Gates.
GATES = "swiglu swiglu_bf16 geglu glu reglu"


def both(halves):
    return np.concatenate(halves, -1)


def shards(halves, q):
    """[gate, up] of each of two ranks."""
    half = max(q.F // 2, 1)
    parts = [both(halves)[:, i:i + half] for i in range(0, 2 * q.F, half)]
    return both(parts[::2])[:, :q.F], both(parts[1::2])[:, :q.F]


def split_at(column):
    return lambda h, q: (h[0], both(h)[:, max(column(q), 0):][:, :q.F])


def with_stride_of_half(halves, q):
    """Rows are 2 F long, but begin every F."""
    rows = both(halves).reshape(2 * q.N, q.F)
    return rows[:q.N], rows[1:q.N + 1]


for name, stage, kind, change, cases, figures in (
    ("shards_of_2", "halves", "halves", shards, GATES,
     {"words": r"half|halves|block|shard|interleav|gate.*up"}),
    ("split_8_early", "halves", "halves", split_at(lambda q: q.F - 8), GATES,
     {"words": r"half|halves|up|offset|shift|split|roll|moved"}),
    ("stride_of_one_half", "halves", "halves", with_stride_of_half, GATES,
     {"words": r"half|halves|stride|rows?\b|gate.*up|up.*gate"}),
    ("up_of_first_32", "halves", "halves", lambda h, q: (h[0], h[1][:, columns(q) % 32]), GATES,
     {"words": r"\bup\b.*(column|F |32|another|other|moved|first|repeat)|column|F \d|modulo|"
               r"half|halves"}),
    ("odd_columns_not_gated", "output", "product",
     lambda y, q: np.where(columns(q) % 2 == 1, q.seen["activated"], y), GATES, {}),
    ("log2e_twice", "function", "beta", lambda f, q: swish(1 / LN2), "swiglu swiglu_bf16",
     {"value": float(1 / LN2)}),
    ("alpha_outside", "function", "beta",
     lambda f, q: lambda x: EXACT(q.alpha) * x * layer.sigmoid(x), "oss oss_bf16", {}),
    ("swish_for_sigmoid", "function", "function", lambda f, q: swish(EXACT(1)), "glu",
     {"words": r"swi|silu|x \* sigmoid|times x|multiplied by x"}),
    ("gate_unlimited", "limited", "limit", lambda h, q: (q.gate, h[1]), "oss oss_bf16", {}),
    ("limits_exchanged", "limited", "limit",
     lambda h, q: (np.clip(q.gate, -q.limit, q.limit), np.minimum(q.up, q.limit)), "oss oss_bf16",
     {}),
    ("up_limited_to_positive", "limited", "limit", lambda h, q: (h[0], np.clip(q.up, 0, q.limit)),
     "oss oss_bf16", {"words": r"limit|clamp|clip|relu|negative|below|rectif"}),
    ("plus_one_before_limit", "up", "limit",
     lambda u, q: np.clip(q.up + q.plus_one, -q.limit, q.limit), "oss oss_bf16",
     {"words": r"limit|clamp|clip|plus|order|before"}),
    ("plus_one_on_gate", "output", "plus",
     lambda y, q: (q.seen["activated"] + 1) * (q.seen["up"] - 1), "oss oss_bf16",
     {"words": r"plus|\bone\b|\+ 1|added"}),
):
    one("gated", stage, name, kind, change, cases, **figures)
TABLE.add("gated", "alpha_ignored", "beta", changed(alpha=1), "oss oss_bf16")
TABLE.add("gated", "limit_7_unasked", "limit", changed(limit=7), "swiglu swiglu_bf16 geglu reglu",
          value=7)


# The soft cap.
BOTH = "fifty thirty"
TABLE.add("soft_cap", "cap_of_logits_30", "soft_cap", changed(cap=30), "fifty", value=30)
TABLE.add("soft_cap", "cap_of_attention_50", "soft_cap", changed(cap=50), "thirty", value=50)
for name, stage, kind, change, figures in (
    ("not_divided_by_cap", "ratio", "soft_cap", lambda r, q: q.x,
     {"words": r"divi|ratio|steep|tanh\(x\)|slope|satur|sign|times|scaled"}),
    ("times_cap_twice", "output", "factor", lambda y, q: y * EXACT(q.cap),
     {"ratio": lambda q: q.cap}),
    ("capped_twice", "output", "soft_cap",
     lambda y, q: EXACT(q.cap) * np.tanh(y / EXACT(q.cap)),
     {"words": r"twice|again|two times|second|tanh\(tanh|double"}),
    ("columns_from_32_uncapped", "output", "columns",
     lambda y, q: np.where(columns(q) < 32, y, q.x),
     {"words": r"column|M \d|32|uncapped|not capped|unchanged|copied"}),
    ("largest_subtracted", "ratio", "offset",
     lambda r, q: (q.x - q.x.max(-1, keepdims=True)) / EXACT(q.cap),
     {"words": r"max|largest|subtract|shift|minus"}),
    ("sign_lost", "output", "sign", lambda y, q: np.abs(y),
     {"words": r"abs|sign|negative|negat|\|"}),
    ("sigmoid_without_2", "ratio", "scale", lambda r, q: r / 2,
     {"ratio": lambda q: [0.5, 2 * q.cap, q.cap / 2],
      "words": r"half|0\.5|tanh|sigmoid|scale|slope|cap|times"}),
):
    one("soft_cap", stage, name, kind, change, BOTH, **figures)
one("soft_cap", "ratio", "x_in_bf16", "function",
    lambda r, q: to_format(q.x, "bf16").astype(EXACT) / EXACT(q.cap), "fifty",
    words=r"bf16|round|bits|precision")
