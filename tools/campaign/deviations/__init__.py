"""All deviations and honest recipes, by name. A comment with the name of a project is about a bug
that was reported of it."""

from dataclasses import replace

from cases import CASES
from deviation import is_held_out
from honest import recipe

from . import attention, composed, layer, linear, position, rotation, tables

MODULES = rotation, tables, attention, composed, position, layer, linear


def usable():
    """The deviations with the cases of their operation. The tables name the cases of several
    operations at once."""
    for module in MODULES:
        for row in module.TABLE.rows:
            kept = tuple(c for c in row.cases if c in CASES[row.operation])
            if kept:
                yield replace(row, cases=kept)


SINGLES = {row.name: row for row in usable()}
assert len(SINGLES) == len(list(usable())), "two deviations have the same name"


def held_out(name):
    """Whether results are figures only: half of all names, but none of those that were shown."""
    return is_held_out(name) and not (name in SINGLES and SINGLES[name].shown)


def changes_of(name):
    """The changes of stages that a name stands for; "right" is none."""
    if name == "right":
        return []
    if "/honest_" in name:
        return [recipe(*name.split("/honest_")).changes]
    return [SINGLES[part].changes for part in name.split("+")]
