"""A deviation: what an implementation does wrong, as changes of stages, with the truth about it."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deviation:
    name: str  # "rope/clamped_32767"
    operation: str
    kind: str  # what deviates: a key of kinds.KINDS
    changes: dict = field(hash=False, compare=False)  # stage -> function
    cases: tuple = ()  # names of case lines, cases.CASES[operation]
    figures: dict = field(default_factory=dict, hash=False, compare=False)  # {"limit": 32767}
    listed: tuple = ()  # defects of the catalog that are this very bug
    shown: bool = False  # the program was mended with a look at its result

    @property
    def parts(self):
        return (self,)


@dataclass(frozen=True)
class Double:
    """Two deviations at once, in the cases of both."""

    parts: tuple

    @property
    def name(self):
        return "+".join(part.name for part in self.parts)

    @property
    def operation(self):
        return self.parts[0].operation

    @property
    def cases(self):
        first, second = (part.cases for part in self.parts)
        return tuple(case for case in first if case in second)


def is_held_out(name):
    """Half of all names, by a hash. Their results are figures only."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


class Table:
    """Collects the deviations of operations that share stages."""

    def __init__(self):
        self.rows = []

    def add(self, operations, name, kind, changes, cases, *, listed="", shown=False, **figures):
        for operation in operations.split():
            self.rows.append(Deviation(f"{operation}/{name}", operation, kind, changes,
                                       tuple(cases.split()), figures, tuple(listed.split()), shown))

    def one(self, operations, stage, name, kind, change, cases, **rest):
        self.add(operations, name, kind, {stage: change}, cases, **rest)

    def shown(self, *row, **rest):
        self.one(*row, shown=True, **rest)
