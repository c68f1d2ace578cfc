"""What `identify` returns."""

from __future__ import annotations

from ._results import Result


class Identification(Result):
    """What `identify` found. `text` is the report; `json` and `document` have all of it."""

    @property
    def conforms(self) -> bool:
        """True if all answers conform to `case`; else it is only the nearest."""
        return self.document["conforms"]

    @property
    def case(self) -> str:
        """The operation with the attributes that were found."""
        return self.document["case"]

    @property
    def recipe(self) -> str:
        """The recipe by which the answers conform; empty if they do not."""
        return self.document["recipe"]

    @property
    def elements(self) -> int:
        """The number of elements, in all answers, that could have failed."""
        return self.document["judged"]

    @property
    def numbers(self) -> dict[str, tuple[float, float, float]]:
        """Numbers of the case by attribute: (value, least, most); all between conform, too."""
        return {n["attribute"]: (float(n["value"]), float(n["least"]), float(n["most"]))
                for n in self.document["numbers"]}

    @property
    def equal(self) -> list[str]:
        """Other words that give the same answers: "window=[18,-1]"."""
        return self.document["equal"]

    @property
    def key_heads(self) -> list[int]:
        """The key head that each query head reads, if not floor(h / (H/K)); else empty."""
        return self.document["key_heads"]

    @property
    def nearest(self) -> str | None:
        """If `case` has measured frequencies: the nearest known form."""
        return self.document["nearest"]

    @property
    def details(self) -> list[str]:
        """If nothing conforms: what fails by the nearest case, and what was measured in it."""
        return self.document["details"]

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """Attributes that differ from the model: (as found, as the model has it)."""
        return {d["attribute"]: (d["subject"], d["model"]) for d in self.document["differences"]}

    @property
    def not_compared(self) -> list[str]:
        """Attributes that depend on the model, but of which the configuration says nothing."""
        return self.document["not_compared"]

    @property
    def not_shown(self) -> list[str]:
        """Words of the model that these answers do not show: a window wider than the keys."""
        return self.document["not_shown"]

    @property
    def text(self) -> str:
        return self.document["text"]

    def __bool__(self) -> bool:
        """True if the answers conform and, with `against`, are what the model needs."""
        return self.status_code == 0

    def __repr__(self) -> str:
        return f"<sextant.Identification {self.text.splitlines()[0]}>"
