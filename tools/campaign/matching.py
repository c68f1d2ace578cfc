"""Whether a cause that the program names is the truth."""

import re
from fractions import Fraction
from math import sqrt

from kinds import KINDS

NUMBER = re.compile(r"2\^-?\d+|sqrt\(\d+\)|(?<![\w.^])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
                    r"(?:\s*/\s*(?:sqrt\(\d+\)|\d+))?", re.IGNORECASE)
CLOSE = 0.006  # a measured figure, rounded for a sentence


def numbers_of(text):
    """The numbers of a sentence: 12345, 0.125, 1e-05, 1/8, 1/sqrt(64), 2^-7."""
    return [number_of(found) for found in NUMBER.findall(text)]


def number_of(text):
    top, _, bottom = text.replace(" ", "").partition("/")
    if bottom:
        return number_of(top) / (number_of(bottom) or float("inf"))
    if top.lower().startswith("sqrt"):
        return sqrt(int(top[5:-1]))
    if top.startswith("2^"):
        return float(Fraction(2) ** int(top[2:]))
    return float(top)


def says(sentence, figure):
    """Whether the figure, its inverse, or either with the other sign is among the numbers. A list
    has the same figure in several units."""
    if isinstance(figure, list):
        return any(says(sentence, f) for f in figure)
    if abs(figure) < 1e-300:
        return re.search(r"\b0\b|zero|not |without|missing|ignored", sentence) is not None
    wanted = [abs(figure), 1 / abs(figure)]
    return any(abs(abs(n) - w) <= CLOSE * w for n in numbers_of(sentence) for w in wanted)


def is_right(cause, deviation, figures):
    """cause: {"name", "why"}, not of the catalog."""
    kind, text = KINDS[deviation.kind], f"{cause['name']}: {cause['why']}"
    if not re.search(figures.get("words", kind.words), text, re.IGNORECASE):
        return False
    return all(says(text, figures[key]) for key in kind.figures if key in figures)


def named(causes, truths, same_defect):
    """What is right about the causes of one case. `truths`: for each part of the truth the
    deviations, with figures, that give the same answer. `same_defect`: name of a cause -> None if
    the catalog has no such defect, else the parts whose answer it gives.

    Returns (found parts, number of right causes, wrong causes)."""
    found, right, wrong = set(), 0, []
    for cause in causes:
        parts = same_defect(cause["name"])
        if parts is None:
            parts = {i for i, alternatives in enumerate(truths)
                     if any(is_right(cause, d, f) for d, f in alternatives)}
        found |= parts
        right += bool(parts)
        wrong += [] if parts else [cause]
    return found, right, wrong
