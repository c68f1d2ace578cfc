"""Files of expected results (tools/report/README.md), for pytest."""

from __future__ import annotations

import datetime
import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from ._results import Verdict

OUTCOMES = ("fails", "unlikely", "unsupported", "unverified", "could_not_run")
_TEXTS = {"cases", "outcome", "cause", "reason", "link"}


class ExpectationError(ValueError):
    """The file is wrong."""


def matches(line: str, pattern: str) -> bool:
    """`*` stands for any characters, `?` for one character, every other one for itself."""
    words = {"*": ".*", "?": "."}
    return re.fullmatch("".join(words.get(c, re.escape(c)) for c in pattern), line, re.S) is not None


@dataclass
class Expectation:
    """A known result of cases."""

    where: str  # "known.toml, entry 2"
    cases: str
    outcome: str
    reason: str
    outputs: list[str] = field(default_factory=list)  # empty: all
    ranges: dict[str, list[int]] = field(default_factory=dict)  # axis -> [first] or [first, last]
    cause: str = ""
    link: str = ""
    until: datetime.date | None = None  # the last day on which it counts, in UTC

    @property
    def expired(self) -> bool:
        today = datetime.datetime.now(datetime.timezone.utc).date()
        return self.until is not None and self.until < today

    def contradiction(self, outcome: str, verdict: Verdict | None) -> str:
        """How a result differs from this; empty if it is as expected."""
        if outcome != self.outcome:
            return f"it is expected to be '{self.outcome}', but is '{outcome}'"
        if verdict is None:
            return ""
        for tensor in verdict.document["tensors"] + verdict.document.get("trace", []):
            if tensor["grade"] != outcome:
                continue
            if self.outputs and tensor["name"] not in self.outputs:
                return f"{tensor['name']} is '{outcome}', which is expected only of {self.outputs}"
            for axis in tensor["failing"]:
                if self._is_outside(axis):
                    return (f"{tensor['name']} fails at {axis['axis']} in {axis['ranges']}, expected "
                            f"only {self.ranges[axis['axis']]}")
        if self.cause and self.cause not in verdict.causes:
            return f"the likely cause is expected to be {self.cause}, but is {verdict.causes}"
        return ""

    def _is_outside(self, axis: dict[str, Any]) -> bool:
        wanted = self.ranges.get(axis["axis"])
        if wanted is None:
            return False
        first, last = wanted[0], wanted[1] if len(wanted) > 1 else float("inf")
        return (axis.get("elsewhere", False) or axis["more_ranges"] > 0
                or any(low < first or high > last for low, high in axis["ranges"]))


def read(path: str) -> list[Expectation]:
    """The entries of a file. Raises ExpectationError that names the file and the entry."""
    toml = _toml_reader()
    if toml is None:
        raise ExpectationError(f"{path}: reading TOML needs Python 3.11 or tomli")
    try:
        with open(path, "rb") as file:
            document = toml.load(file)
    except (OSError, ValueError) as error:
        raise ExpectationError(f"{path}: {error}") from None
    entries = document.pop("expect", [])
    if document or not isinstance(entries, list):
        raise ExpectationError(f"{path}: expected only tables [[expect]], found {sorted(document)}")
    return [_entry(f"{path}, entry {number}", entry) for number, entry in enumerate(entries, 1)]


def _toml_reader() -> Any:
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            pass
    return None


def _entry(where: str, entry: dict[str, Any]) -> Expectation:
    for name in ("cases", "outcome", "reason"):
        if not entry.get(name):
            raise ExpectationError(f"{where}: {name} is missing")
    for name in _TEXTS & entry.keys():
        if not isinstance(entry[name], str):
            raise ExpectationError(f"{where}: {name} is {entry[name]!r}, expected a text")
    if entry["outcome"] not in OUTCOMES:
        raise ExpectationError(f"{where}: outcome is {entry['outcome']!r}, expected one of: "
                               + " ".join(OUTCOMES))
    known = {name: entry[name] for name in _TEXTS & entry.keys()}
    outputs = entry.get("outputs", [])
    if not isinstance(outputs, list) or not all(isinstance(name, str) for name in outputs):
        raise ExpectationError(f"{where}: outputs is {outputs!r}, expected a list of names")
    until = entry.get("until")
    if until is not None and type(until) is not datetime.date:
        raise ExpectationError(f"{where}: until is {until!r}, expected a date: 2027-06-30")
    ranges = {name: values for name, values in entry.items()
              if name not in _TEXTS | {"outputs", "until"}}
    for name, values in ranges.items():
        if not (isinstance(values, list) and 1 <= len(values) <= 2
                and all(type(value) is int for value in values) and values == sorted(values)):
            raise ExpectationError(f"{where}: {name} is {values!r}, expected a range [first] or "
                                   "[first, last], or a key of an expectation")
    return Expectation(where, outputs=outputs, ranges=ranges, until=until, **known)
