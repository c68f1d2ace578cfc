"""Deviations of linear layers, of feed-forward layers and of embeddings."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add
BIASED = "bias bias_bf16 bias_f16"
COLUMNS = f"narrow square wide wide_bf16 {BIASED}"
FORWARD = "swiglu geglu swiglu_bf16"
ROWS = "rows scaled square"

for table, stage, name, kind, change, cases, figures in (
    (one, "operands", "group_scale_of_16", "columns", lambda o, q: (
        np.where(np.arange(q.M) // 8 % 2 == 1, o[0] * EXACT("1.5"), o[0]), o[1]), COLUMNS, {}),
    (one, "operands", "row_of_next_token", "rows_moved",
     lambda o, q: (np.roll(o[0], -1, 0), o[1]), COLUMNS, {}),
    (one, "operands", "transposed", "transposed", lambda o, q: (o[0], o[1].T), "square",
     {"listed": "weight_transposed"}),
    (one, "operands", "absolute_weight", "operand", lambda o, q: (o[0], np.abs(o[1])), COLUMNS,
     {}),
    (one, "product", "times_1.01", "factor", lambda y, q: y * EXACT("1.01"), "narrow wide",
     {"ratio": 1.01}),
    (one, "output", "rows_from_4_zero", "rows_zero",
     lambda y, q: np.where((np.arange(q.N) >= 4)[:, None], 0, y), COLUMNS, {"first": 4}),
    (one, "output", "row_before_added", "rows_added",
     lambda y, q: y + np.concatenate((0 * y[:1], y[:-1])), COLUMNS, {}),
    (one, "output", "relu_fused", "function", lambda y, q: np.maximum(y, 0), COLUMNS,
     {"words": "relu|negative|max|0"}),
    # GPTQ's order of columns, of the weights and not of x.
    (shown, "operands", "columns_of_x_not_in_act_order", "columns", lambda o, q: (
        o[0][:, np.argsort(-(o[0] ** 2).sum(0), kind="stable")], o[1]), "narrow square wide_bf16",
     {"words": r"column|channel|input|\bM\b|order|permut|shuffl|moved|sorted"}),
    # nnsight, NeMo: q0 q1 k0 k1 v0 v1 are taken for q0 k0 v0 q1 k1 v1.
    (shown, "output", "fused_outputs_by_rank", "order",
     lambda y, q: y.reshape(q.N, 3, 2, -1).swapaxes(1, 2).reshape(q.N, -1), "narrow square",
     {"words": r"output|order|permut|exchang|swap|interleav|moved|another|block|third|\bF\b"}),
    # T5 in MLX: the head is scaled, although it is not tied.
    (shown, "output", "scaled_as_a_tied_head", "factor", lambda y, q: y / np.sqrt(EXACT(q.M)),
     "narrow square wide_bf16", {"ratio": lambda q: float(q.M) ** -0.5}),
    # TGI, nano-vLLM: each of eight ranks adds the bias. MinivLLM: all have the first shard of it.
    (shown, "bias", "bias_of_8_ranks", "bias", lambda b, q: 8 * b, BIASED, {}),
    (shown, "bias", "bias_of_first_shard_of_2", "bias",
     lambda b, q: b[np.arange(q.F) % (q.F // 2)], "bias bias_bf16", {}),
):
    table("linear", stage, name, kind, change, cases, **figures)

for table, stage, name, kind, change, cases, figures in (
    (one, "halves", "gate_of_row_before", "halves", lambda h, q: (np.roll(h[0], 1, 0), h[1]),
     FORWARD, {}),
    (one, "hidden", "down_of_next_row", "rows_moved", lambda h, q: np.roll(h, -1, 0), FORWARD, {}),
    (one, "hidden", "upper_hidden_lost", "columns",
     lambda h, q: np.where(np.arange(q.F) < q.F // 2, h, 0), FORWARD, {}),
    (one, "hidden", "hidden_limited_at_1", "limit", lambda h, q: np.clip(h, -1, 1), FORWARD,
     {"value": 1}),
    (one, "hidden", "halves_added", "product", lambda h, q: q.seen["activated"] + q.seen["up"],
     FORWARD, {"listed": "halves_added"}),
    (one, "function", "beta_1.3", "beta", lambda f, q: lambda x: x * layer.sigmoid(
        EXACT("1.3") * x), FORWARD, {"value": 1.3}),
    (one, "up", "up_plus_one", "plus", lambda u, q: u + 1, FORWARD, {}),
    (one, "output", "residual_added", "residual", lambda y, q: y + q.x, FORWARD, {}),
    # transformers, BitNet: a norm before the last layer, which this checkpoint has not.
    (shown, "hidden", "sub_norm", "root", lambda h, q: h / np.sqrt(
        (h**2).mean(-1, keepdims=True) + EXACT("1e-6")), FORWARD,
     {"words": r"norm|\brms|root|mean square"}),
    # The fused kernel has the function already.
    (shown, "activated", "activated_twice", "function", lambda a, q: q.seen["function"](a),
     FORWARD,
     {"words": r"twice|again|two times|second time|(silu|swish|gelu\w*)\((silu|swish|gelu|act)"}),
):
    table("feed_forward", stage, name, kind, change, cases, **figures)
# Meta's w2 is down; if M = F nothing else notices.
add("feed_forward", "w2_and_w3_exchanged", "halves", {
    "halves": lambda h, q: (h[0], q.x @ q.down.T), "down": lambda d, q: q.up}, "geglu", shown=True,
    words=r"down|w2|w3|\bup\b")

for table, stage, name, kind, change, cases, figures in (
    (one, "token", "uint8", "row_read", lambda t, q: t % 256, "scaled", {"value": 256}),
    (one, "table", "halves_of_row", "order", lambda t, q: np.roll(t, q.M // 2, -1), ROWS, {}),
    (one, "output", "positions_added", "added",
     lambda y, q: y + np.arange(q.S)[:, None] / EXACT(64), ROWS, {}),
    # The vocabulary was enlarged, and the new rows are not loaded.
    (shown, "table", "last_4_rows_not_loaded", "rows_zero",
     lambda t, q: np.where((np.arange(q.V) >= q.V - 4)[:, None], 0, t), "square rows",
     {"words": r"token|\brows?\b|zero|\bis 0"}),
    # torch's max_norm=1.
    (shown, "table", "max_norm_of_1", "root", lambda t, q: t / np.maximum(
        np.sqrt((t * t).sum(-1, keepdims=True)), 1), "rows square",
     {"words": r"norm|length|\brms|root|at most 1|sum of squares|magnitude"}),
    # Tokens are [time, batch] here and [batch, time] there.
    (shown, "token", "tokens_of_4_sequences_transposed", "row_read",
     lambda t, q: t.reshape(4, -1).T.ravel(), ROWS,
     {"words": r"\brows?\b|token|transpos|permut|order"}),
):
    table("embedding", stage, name, kind, change, cases, **figures)
add("embedding", "scale_55.4256", "factor", changed(scale=55.42562584), ROWS, value=55.42562584)
