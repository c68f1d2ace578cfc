"""Deviations of rotations: who is paired with whom, signs, and rows that are not computed."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
ALL = "rope rope_sections xpos"
CASES = "near inter inter_bf16 far sections xpos xpos_key"
ODD_SIGN = EXACT(-1) ** np.arange(512)

# The two channels of each pair, in other ways. A rotation by -angle is the same as the two channels
# of each pair exchanged.
for name, change, listed in (
    ("reversed_second", lambda p, q: (p[0], p[1][::-1]), ""),
    ("exchanged", lambda p, q: (p[1], p[0]), "rotates_backwards direction=transpose"),
    ("next_second", lambda p, q: (p[0], np.roll(p[1], -1)), ""),
    ("ends", lambda p, q: from_both_ends(q), ""),
    ("blocks_of_8", lambda p, q: blocks(q, 8), ""),
    ("blocks_of_16", lambda p, q: blocks(q, 16), ""),
):
    TABLE.add(ALL, f"pairs_{name}", "pairing", {"pairs": change}, CASES, listed=listed)


def from_both_ends(q):
    k = np.arange(q.R // 2)
    return q.offset + k, q.offset + q.R - 1 - k


def blocks(q, width):
    """Halves within blocks of `width` channels."""
    k, half = np.arange(q.R // 2), width // 2
    first = q.offset + k // half * width + k % half
    return first, first + half


for pairing in ("half", "interleaved"):
    cases = "near far sections xpos" if pairing == "interleaved" else "inter inter_bf16 xpos_key"
    TABLE.add(ALL, f"pairing_{pairing}", "pairing", changed(pairing=pairing), cases,
              listed=f"pairing={pairing}")
for offset in (0, 8, 24):
    TABLE.add("rope", f"window_at_{offset}", "channel_window",
              {"pairs": lambda p, q, o=offset: (p[0] - q.offset + o, p[1] - q.offset + o)},
              "window", listed="offset=0" if offset == 0 else "", offset=offset)
TABLE.add("rope", "window_at_end", "channel_window",
          {"pairs": lambda p, q: (p[0] + q.D - q.R, p[1] + q.D - q.R)}, "partial", offset=16)
TABLE.add("rope", "paired_over_head", "channel_window",
          {"pairs": lambda p, q: (p[0], p[0] + q.D // 2)}, "partial",
          listed="paired_over_head_width")


def still(name, choose, operations="rope", cases="near inter inter_bf16 far_bf16", **figures):
    """The pairs for which choose(k, count) keep their operands."""

    def change(rotated, q):
        k = np.arange(rotated[0].shape[-1])
        return tuple(np.where(choose(k, len(k)), old, new)
                     for old, new in zip(q.seen["operands"], rotated))

    TABLE.add(operations, name, "pairs_still", {"rotated": change}, cases, **figures)


still("last_pair_still", lambda k, n: k == n - 1, "rope rope_sections", "near inter sections",
      listed="last_pair_left_out")
still("last_3_pairs_still", lambda k, n: k >= n - 3, count=3)
still("first_pair_still", lambda k, n: k == 0, ALL, CASES, count=1)
still("from_pair_8_still", lambda k, n: k >= 8, ALL, CASES, first=8)
still("every_fourth_still", lambda k, n: k % 4 == 3)


def rotated(name, kind, change, operations="rope", cases=CASES, **rest):
    TABLE.add(operations, name, kind, {"rotated": change}, cases, **rest)


def tables(q):
    return (*q.seen["operands"], q.seen["cos_table"], q.seen["sin_table"])


def with_tables(function):
    """function(a, b, cos, sin) -> the two channels of each pair."""
    return lambda new, q: function(*tables(q))


rotated("sin_negated", "direction", with_tables(lambda a, b, c, s: (a * c + b * s, b * c - a * s)),
        ALL, listed="rotates_backwards direction=transpose")
rotated("minus_missing", "sign", with_tables(lambda a, b, c, s: (a * c + b * s, a * s + b * c)),
        ALL,
        listed="minus_missing")
rotated("second_subtracted", "sign",
        with_tables(lambda a, b, c, s: (a * c - b * s, b * c - a * s)), ALL)
rotated("cos_sin_swapped", "cos_and_sin",
        with_tables(lambda a, b, c, s: (a * s - b * c, a * c + b * s)),
        ALL, listed="cos_and_sin_swapped")
rotated("hazard", "hazard",
        with_tables(lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c)), ALL,
        listed="overwrites_its_input")
rotated("hazard_of_second", "hazard",
        with_tables(lambda a, b, c, s: (a * c - (a * s + b * c) * s, a * s + b * c)), ALL)
rotated("first_operand_only", "term_missing",
        with_tables(lambda a, b, c, s: (a * c, a * s)))
rotated("sin_terms_missing", "term_missing", with_tables(lambda a, b, c, s: (a * c, b * c)))
rotated("second_negated", "sign", lambda new, q: (new[0], -new[1]))
rotated("both_negated", "sign", lambda new, q: (-new[0], -new[1]))
rotated("odd_pairs_backwards", "direction", with_tables(
    lambda a, b, c, s: (a * c - b * s * ODD_SIGN[:a.shape[-1]],
                        a * s * ODD_SIGN[:a.shape[-1]] + b * c)))
rotated("odd_heads_backwards", "direction", with_tables(
    lambda a, b, c, s: (a * c - b * s * odd_heads(a), a * s * odd_heads(a) + b * c)))
rotated("added", "added", lambda new, q: tuple(o + n for o, n in zip(q.seen["operands"], new)))
rotated("next_table_for_second", "frequency_order", with_tables(
    lambda a, b, c, s: (a * c - b * s, a * np.roll(s, -1, -1) + b * np.roll(c, -1, -1))))


def odd_heads(a):
    return ODD_SIGN[:a.shape[1], None, None]


def output(name, kind, change, cases="near inter inter_bf16 far", operations="rope", **rest):
    TABLE.add(operations, name, kind, {"output": change}, cases, **rest)


def rows(choose, other, axis):
    """y, but `other(y, q)` at the indices of `axis` for which choose(i, count)."""

    def change(y, q):
        shape = [-1 if a == axis else 1 for a in range(4)]
        i = np.arange(y.shape[axis]).reshape(shape)
        return np.where(choose(i, y.shape[axis]), other(y, q), y)

    return change


def old(y, q):
    return q.x


def zero(y, q):
    return 0 * y


output("evens_then_odds", "order", lambda y, q: np.concatenate((y[..., ::2], y[..., 1::2]), -1),
       "inter inter_bf16", listed="output_in_other_order")
output("channels_reversed", "order", lambda y, q: y[..., ::-1])
output("channels_rolled", "order", lambda y, q: np.roll(y, 1, -1))
output("halves_exchanged", "order", lambda y, q: np.roll(y, y.shape[-1] // 2, -1))
output("heads_reversed", "order", lambda y, q: y[:, ::-1])
output("rest_zero", "rest", lambda y, q: np.where(np.arange(q.D) < q.R, y, 0), "partial",
       listed="rest_zeroed")
output("heads_from_2_still", "rows_still", rows(lambda h, n: h >= 2, old, 1), "near medium",
       first=2)
output("last_head_still", "rows_still", rows(lambda h, n: h == n - 1, old, 1))
output("odd_heads_still", "rows_still", rows(lambda h, n: h % 2 == 1, old, 1))
output("last_token_still", "rows_still", rows(lambda s, n: s == n - 1, old, 2))
output("tokens_from_16_still", "rows_still", rows(lambda s, n: s >= 16, old, 2), first=16)
output("first_batch_alone", "rows_still", rows(lambda b, n: b >= 1, old, 0), "batch", first=1)
output("last_token_zero", "rows_zero", rows(lambda s, n: s == n - 1, zero, 2))
output("head_1_zero", "rows_zero", rows(lambda h, n: h == 1, zero, 1))
output("batch_2_zero", "rows_zero", rows(lambda b, n: b == 2, zero, 0), "batch")
output("last_channel_zero", "rows_zero", rows(lambda d, n: d == n - 1, zero, 3))
output("rows_of_token_before", "rows_moved", lambda y, q: np.roll(y, 1, 2))
output("head_0_for_all", "rows_moved", lambda y, q: y[:, :1] + 0 * y)
output("first_batch_for_all", "rows_moved", lambda y, q: y[:1] + 0 * y, "batch")
output("output_times_1.5", "factor", lambda y, q: y * EXACT("1.5"), "near inter", ratio=1.5)
output("tokens_and_heads", "order", lambda y, q: y.swapaxes(1, 2).reshape(y.shape), "near inter")
