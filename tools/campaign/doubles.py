"""Pairs of deviations of different factors, chosen by a hash of their names."""

import hashlib
from itertools import combinations

from deviation import Double
from deviations import LATER, SHOWN, SINGLES
from kinds import KINDS

COUNTS = {"rope": 48, "rope_sections": 8, "xpos": 8, "rope_cos_sin": 5, "rope_frequencies": 4,
          "sinusoidal": 3, "attention": 32, "attention:sink": 8, "alibi": 5, "softmax": 4,
          "rms_norm": 10, "layer_norm": 10, "add_rms_norm": 5, "activation": 5, "gated": 12,
          "linear": 6, "feed_forward": 5, "embedding": 3}
# With a deviation of a later table: those before it keep their doubles.
LATER_COUNTS = {"rope": 16, "xpos": 10, "rope_sections": 4, "attention": 10, "attention:sink": 6,
                "attention:bias": 8, "attention_scores": 6, "relative_attention": 12,
                "cross_attention": 8, "attention_merge": 4, "alibi": 8, "softmax": 8,
                "rms_norm": 6, "layer_norm": 6, "add_rms_norm": 6, "activation": 6, "gated": 10,
                "linear": 16, "feed_forward": 8, "embedding": 6}


def differ(one, other):
    """Whether they change different factors. A divisor and a gain are one factor."""
    factors = {KINDS[d.kind].factor for d in (one, other)}
    return len(factors) == 2 and factors != {"divisor", "gain"}


def has_rows(pair):
    return any(KINDS[part.kind].factor == "rows" for part in pair.parts)


def doubles(truth):
    """The doubles of an operation that show in some case: both parts do, and their answer is not
    that of one part. In at most a fifth of them one part is about rows that are lost or moved."""
    singles = [d for d in SINGLES.values()
               if d.operation == truth.operation and d.name not in SHOWN]
    pairs = [Double((a, b)) for a, b in combinations(singles, 2) if differ(a, b)]
    pairs.sort(key=lambda pair: hashlib.sha256(pair.name.encode()).digest())
    return (chosen([pair for pair in pairs if not has_later(pair)], COUNTS, truth)
            + chosen([pair for pair in pairs if has_later(pair)], LATER_COUNTS, truth))


def has_later(pair):
    return any(part.name in LATER for part in pair.parts)


def chosen(pairs, counts, truth):
    """The first of the pairs, as many as `counts` has for the operation."""
    count = counts.get(truth.operation, 0)
    found = []
    for pair in pairs:
        if len(found) == count:
            break
        too_many_rows = has_rows(pair) and 5 * sum(map(has_rows, found)) >= count
        if not too_many_rows and truth.chosen(pair, count=1):
            found.append(pair)
    return found
