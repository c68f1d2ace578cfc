"""Pairs of deviations of different factors, chosen by a hash of their names."""

import hashlib
from itertools import combinations

from deviation import Double
from deviations import SINGLES
from kinds import KINDS

COUNTS = {"rope": 14, "rope_sections": 3, "xpos": 4, "rope_frequencies": 2, "rope_cos_sin": 2,
          "sinusoidal": 2, "attention": 10, "attention:sink": 3, "attention:bias": 3,
          "attention_scores": 2, "relative_attention": 3, "cross_attention": 3,
          "attention_merge": 2, "alibi": 4, "softmax": 4, "rms_norm": 5, "layer_norm": 5,
          "add_rms_norm": 4, "activation": 4, "gated": 6, "linear": 6, "feed_forward": 4,
          "embedding": 3}


def differ(one, other):
    """Whether they change different factors. A divisor and a gain are one factor."""
    factors = {KINDS[d.kind].factor for d in (one, other)}
    return len(factors) == 2 and factors != {"divisor", "gain"}


def has_rows(pair):
    return any(KINDS[part.kind].factor == "rows" for part in pair.parts)


def doubles(truth):
    """The doubles of an operation that show in some case: both parts do, and their answer is not
    that of one part. In at most a fifth of them, or in one, a part is about rows that are lost or
    moved. No double has a deviation that was shown."""
    singles = [d for d in SINGLES.values() if d.operation == truth.operation and not d.shown]
    pairs = [Double((a, b)) for a, b in combinations(singles, 2) if differ(a, b)]
    pairs.sort(key=lambda pair: hashlib.sha256(pair.name.encode()).digest())
    count = COUNTS.get(truth.operation, 0)
    found = []
    for pair in pairs:
        if len(found) == count:
            break
        too_many_rows = has_rows(pair) and 5 * sum(map(has_rows, found)) >= count
        if not too_many_rows and truth.chosen(pair, count=1):
            found.append(pair)
    return found
