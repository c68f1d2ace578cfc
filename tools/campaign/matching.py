"""Whether a cause that the program names is the truth."""

import re
from math import sqrt
from typing import NamedTuple

from kinds import KINDS

NUMBER = r"(?:2\^-?\d+|sqrt\(\d+\)|(?<![\w.^])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
FIGURE = re.compile(rf"{NUMBER}(?:\s*[/*]\s*{NUMBER}|\^2)?", re.IGNORECASE)
# Measured tables without a name -> the factor that they describe, as far as it goes.
VAGUE = {"positions_differ": "position", "frequency_of_some_pairs": "frequency",
         "frequencies_differ": "frequency", "unknown_function": "function"}
# Numbers that say nothing of their reason: measured tables of any factor.
SCALED = {f"{of}_{how}" for of in ("rows", "columns", "numbers") for how in ("multiplied", "shifted")}
SCALED |= {"other_means", "other_divisors", "wrong_in_range"}
NAMELESS = {"unknown_function"}  # says itself that it has no name
CLOSE = 0.006  # a measured figure, rounded for a sentence


def numbers_of(text):
    """The figures of a sentence: 12345, 1e-05, 1/8, 1/sqrt(64), 2^-7, 2 * 1e-05, 1e-05^2."""
    return [number_of(found) for found in FIGURE.findall(text)]


def number_of(text):
    text = text.replace(" ", "").lower()
    for sign, combined in (("*", lambda a, b: a * b), ("/", lambda a, b: a / (b or float("inf")))):
        left, found, right = text.partition(sign)
        if found:
            return combined(number_of(left), number_of(right))
    if text.startswith("sqrt"):
        return sqrt(int(text[5:-1]))
    base, _, power = text.partition("^")
    return float(base) ** int(power or 1)


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


class Said(NamedTuple):
    found: set  # parts of the truth that are named
    right: int  # sentences
    vague: int  # sentences that measure a part but give it no name
    wrong: list  # causes


def named(causes, truths, same_defect):
    """What is right about the causes of one case. `truths`: for each part of the truth the
    deviations, with figures, that give the same answer. `same_defect`: name of a cause -> None if
    the catalog has no such defect, else the parts whose answer it gives."""
    found, right, vague, wrong = set(), 0, 0, []
    for cause in causes:
        parts = same_defect(cause["name"]) or set()
        # Measured, perhaps under the name of a defect: that one gives another answer.
        if not parts and cause["name"] not in NAMELESS:
            parts = {i for i, alternatives in enumerate(truths)
                     if any(is_right(cause, d, f) for d, f in alternatives)}
        is_table = cause["name"] in SCALED or any(
            KINDS[d.kind].factor == VAGUE.get(cause["name"])
            for alternatives in truths for d, _ in alternatives)
        if not parts and is_table:
            vague += 1
            continue
        found |= parts
        right += bool(parts)
        wrong += [] if parts else [cause]
    return Said(found, right, vague, wrong)
