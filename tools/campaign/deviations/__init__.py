"""All deviations and honest recipes, by name."""

from deviation import is_held_out
from honest import recipe

from . import attention, composed, field, field_layer, growth, layer, layout, linear, position
from . import later_attention, later_layer, later_linear, later_rotation
from . import later_functions, later_merged, later_position, later_tables  # noqa: F401, more rows
from . import more_attention, more_layer, more_rotation, rotation
from . import real_attention, real_layer, real_rotation

MORE = (more_rotation, more_layer, more_attention, later_rotation, later_layer, later_linear,
        later_attention, real_attention, real_layer, real_rotation)
TABLES = (rotation, layout, growth, attention, position, layer, linear, composed, field,
          field_layer, *MORE)


def usable():
    """The deviations with the cases of their operation. The tables name the cases of several
    operations at once."""
    from cases import CASES
    from dataclasses import replace

    for module in TABLES:
        for row in module.TABLE.rows:
            kept = tuple(c for c in row.cases if c in CASES[row.operation])
            if kept:
                yield replace(row, cases=kept)


SINGLES = {row.name: row for row in usable()}
# The program was mended while all results of these were looked at: none is held out, and no double
# has them.
SHOWN = {row.name for module in MORE for row in module.TABLE.rows}
LATER = {row.name for module in (composed, field, field_layer) for row in module.TABLE.rows}
assert len(SINGLES) == len(list(usable())), "two deviations have the same name"


def held_out(name):
    """Whether results are figures only: half of all names, but none of MORE."""
    return is_held_out(name) and name not in SHOWN


def changes_of(name):
    """The changes of stages that a name stands for; "right" is none."""
    if name == "right":
        return []
    if "/honest_" in name:
        return [recipe(*name.split("/honest_")).changes]
    return [SINGLES[part].changes for part in name.split("+")]
