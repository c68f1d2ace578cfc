"""Deviations of linear layers, of the two layers of a gated one, and of embeddings."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, layer

TABLE = Table()
BIASED = "bias bias_bf16 bias_f16"
CASES = f"narrow square wide wide_bf16 {BIASED}"


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def without(choose):
    """Products of the columns for which choose(m, count) are missing."""

    def change(operands, q):
        m = np.arange(q.M)
        return np.where(choose(m, q.M), 0, operands[0]), operands[1]

    return change


for name, choose, figures in (
    ("last_column", lambda m, n: m == n - 1, {"listed": "last_column_missing"}),
    ("last_3_columns", lambda m, n: m >= n - 3, {"count": 3}),
    ("remainder_of_16", lambda m, n: m >= n // 16 * 16, {"tile": 16}),
    ("first_column", lambda m, n: m == 0, {}),
    ("columns_8_to_11", lambda m, n: (m >= 8) & (m < 12), {"first": 8}),
    ("odd_columns", lambda m, n: m % 2 == 1, {}),
):
    one("linear", "operands", f"without_{name}", "columns", without(choose), CASES, **figures)
one("linear", "operands", "column_5_twice", "columns",
    lambda o, q: (np.where(np.arange(q.M) == 5, 2 * o[0], o[0]), o[1]), CASES, column=5)
one("linear", "operands", "first_8_twice", "columns",
    lambda o, q: (np.where(np.arange(q.M) < 8, 2 * o[0], o[0]), o[1]), CASES, count=8)
one("linear", "operands", "columns_rolled", "columns", lambda o, q: (np.roll(o[0], 1, -1), o[1]),
    CASES)
one("linear", "operands", "columns_reversed", "columns", lambda o, q: (o[0][:, ::-1], o[1]), CASES)
one("linear", "operands", "transposed", "transposed", lambda o, q: (o[0], o[1].T), "square",
    listed="weight_transposed")
one("linear", "operands", "weight_read_by_columns", "transposed",
    lambda o, q: (o[0], o[1].ravel().reshape(q.M, q.F).T), "narrow wide bias bias_bf16",
    listed="weight_transposed")
one("linear", "operands", "absolute_weight", "operand", lambda o, q: (o[0], np.abs(o[1])), CASES)
one("linear", "product", "times_0.25", "factor", lambda y, q: y / 4, "narrow wide wide_bf16",
    ratio=0.25)
one("linear", "product", "times_1.01", "factor", lambda y, q: y * EXACT("1.01"), "narrow wide",
    ratio=1.01)
one("linear", "output", "outputs_reversed", "order", lambda y, q: y[:, ::-1], CASES)
one("linear", "output", "outputs_rolled", "order", lambda y, q: np.roll(y, 1, -1), CASES)
one("linear", "output", "last_output_zero", "rows_zero",
    lambda y, q: np.where(np.arange(q.F) == q.F - 1, 0, y), CASES)
one("linear", "output", "rows_from_4_zero", "rows_zero",
    lambda y, q: np.where((np.arange(q.N) >= 4)[:, None], 0, y), CASES, first=4)
one("linear", "output", "row_before_added", "rows_added",
    lambda y, q: y + np.concatenate((0 * y[:1], y[:-1])), CASES)
one("linear", "output", "sum_not_reset", "rows_added", lambda y, q: np.cumsum(y, -1), CASES,
    listed="sum_not_reset")
one("linear", "output", "first_row_for_all", "rows_moved", lambda y, q: y[:1] + 0 * y, CASES)
for name, change, listed in (
    ("missing", lambda b, q: 0 * b, "bias_missing"),
    ("twice", lambda b, q: 2 * b, "bias_added_twice"),
    ("three_times", lambda b, q: 3 * b, ""), ("halved", lambda b, q: b / 2, ""),
    ("reversed", lambda b, q: b[::-1], ""),
    ("subtracted", lambda b, q: -b, "bias_subtracted"),
    ("rolled", lambda b, q: np.roll(b, -1), "bias_of_next_column"),
    ("rolled_back", lambda b, q: np.roll(b, 1), ""),
    ("of_first", lambda b, q: b[0] + 0 * b, ""),
    ("by_row", lambda b, q: b[np.arange(q.N) % q.F][:, None], "bias_by_row"),
    ("in_first_row", lambda b, q: np.where((np.arange(q.N) == 0)[:, None], b, 0),
     "bias_of_first_row_only"),
    ("not_in_last_row", lambda b, q: np.where((np.arange(q.N) < q.N - 1)[:, None], b, 0), ""),
):
    one("linear", "bias", f"bias_{name}", "bias", change, BIASED, listed=listed)

FORWARD = "swiglu geglu swiglu_bf16"
for name, stage, change, kind, listed in (
    ("exchanged", "halves", lambda h, q: h[::-1], "halves", "gate_exchanged_with_up"),
    ("gate_twice", "halves", lambda h, q: (h[0], h[0]), "halves", ""),
    ("up_missing", "up", lambda u, q: EXACT(1), "product", "up_missing"),
    ("not_activated", "activated", lambda a, q: q.seen["halves"][0], "function", "not_activated"),
    ("product_activated", "hidden",
     lambda h, q: q.seen["function"](q.seen["halves"][0] * q.seen["halves"][1]), "product",
     "product_activated"),
    ("both_activated", "up", lambda u, q: q.seen["function"](u), "product", "both_activated"),
    ("halves_added", "hidden", lambda h, q: q.seen["activated"] + q.seen["up"], "product",
     "halves_added"),
    ("relu", "function", lambda f, q: lambda x: np.maximum(x, 0), "function", "kind=reglu"),
    ("gelu", "function", lambda f, q: layer.gelu, "function", "kind=geglu"),
    ("beta_1.3", "function", lambda f, q: lambda x: x * layer.sigmoid(EXACT("1.3") * x), "beta",
     ""),
    ("tanh", "function", lambda f, q: np.tanh, "function", ""),
    ("last_hidden_lost", "hidden", lambda h, q: np.where(np.arange(q.F) == q.F - 1, 0, h),
     "columns", ""),
    ("hidden_from_16_lost", "hidden", lambda h, q: np.where(np.arange(q.F) >= 16, 0, h), "columns",
     ""),
    ("hidden_rolled", "hidden", lambda h, q: np.roll(h, 1, -1), "columns", ""),
    ("up_plus_one", "up", lambda u, q: u + 1, "plus", ""),
    ("hidden_halved", "hidden", lambda h, q: h / 2, "factor", ""),
    ("residual_added", "output", lambda y, q: y + q.x, "residual", ""),
    ("last_row_zero", "output", lambda y, q: np.where((np.arange(q.N) == q.N - 1)[:, None], 0, y),
     "rows_zero", ""),
):
    figures = {"beta_1.3": {"value": 1.3}, "hidden_halved": {"ratio": 0.5},
               "not_activated": {"words": "identity|not.activated|linear|no activation"},
               "relu": {"words": "relu|rectif"}, "gelu": {"words": "gelu"},
               "tanh": {"words": "tanh"}}.get(name, {})
    one("feed_forward", stage, name, kind, change, FORWARD, listed=listed, **figures)
one("feed_forward", "down", "down_transposed", "transposed", lambda d, q: d.T, "geglu",
    listed="down_transposed")

ROWS = "rows scaled square"
for name, change, listed in (
    ("next", lambda t, q: np.minimum(t + 1, q.V - 1), "token_off_by_one"),
    ("two_later", lambda t, q: np.minimum(t + 2, q.V - 1), ""),
    ("modulo_32", lambda t, q: t % 32, ""), ("modulo_10", lambda t, q: t % 10, ""),
    ("at_most_20", lambda t, q: np.minimum(t, 20), ""),
    ("reversed", lambda t, q: q.V - 1 - t, ""),
    ("token_before", lambda t, q: np.roll(t, 1), ""),
    ("sorted", lambda t, q: np.sort(t), ""),
    ("first_for_all", lambda t, q: t[0] + 0 * t, "first_token_for_all"),
    ("halved", lambda t, q: t // 2, ""),
):
    kind = "row_read"
    figures = {"value": int(name.split("_")[-1])} if name[-1].isdigit() else {}
    one("embedding", "token", f"token_{name}", kind, change, ROWS, listed=listed, **figures)
for scale in (2, 4, 55.42562584, 0.5):
    TABLE.add("embedding", f"scale_{scale:g}", "factor", changed(scale=scale), ROWS, value=scale)
TABLE.add("embedding", "scale_missing", "factor", changed(scale=1), "scaled", listed="scale=1")
one("embedding", "table", "columns_rolled", "order", lambda t, q: np.roll(t, 1, -1), ROWS)
one("embedding", "table", "table_transposed", "transposed", lambda t, q: t.T, "square",
    listed="table_transposed")
one("embedding", "table", "row_0_zero", "rows_zero",
    lambda t, q: np.where((np.arange(q.V) == 0)[:, None], 0, t), "square",
    listed="padding_row_zero")
one("embedding", "output", "positions_added", "added",
    lambda y, q: y + np.arange(q.S)[:, None] / EXACT(64), ROWS)
