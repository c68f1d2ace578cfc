"""Sextant: verdicts on your own tensors.

    import sextant
    sextant.assert_conforms("rope pairing=half base=500000", {"x": x, "position": p}, {"y": y})

The question has the operation and its attributes (`sextant describe rope`); dimensions and dtypes are
those of the tensors. A tensor whose axes are in another order is given with their names:
{"x (B S H D)": x}. The recipe says how the implementation computes
(reference/RECIPES.md of the project). README.md of this package describes pytest, kept tensors and budgets.

    sextant.identify(my_rope, "rope", D=128)              what does the function compute?
    sextant.assert_computes(my_rope, "rope")              does it compute, or know answers?
    sextant.profile("rope pairing=half D=128", {"mine": my_rope, "native": "recipe:native"})
"""

from . import mark
from ._adversarial import NotComputed, assert_computes
from ._ask import Identification, Profile, identify, profile
from ._calls import (DoesNotConform, NotVerified, PartlyJudged, assert_close, assert_conforms, cases, draw, judge,
                     prove, tolerance)
from ._library import InputError, version
from ._results import Golden, Output, ToleranceGrade, Verdict
from .adapter import Unsupported, round_to, serve
from .case import Case

__all__ = ["Case", "DoesNotConform", "Golden", "Identification", "InputError", "NotComputed", "NotVerified",
           "Output",
           "PartlyJudged", "Profile", "ToleranceGrade", "Unsupported", "Verdict", "assert_close", "assert_computes",
           "assert_conforms", "cases", "draw",
           "identify", "judge", "mark", "profile", "prove", "round_to", "serve", "tolerance"]
__version__ = version()
