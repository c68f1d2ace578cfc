"""Honest implementations with odd recipes: steps in other formats, orders of sums, other forms of
the same function. Some err more than the recipe `native` permits; no cause may accuse them of a bug
that they do not have. A cause that names their precision rightly is no accusation.

A recipe takes one option for every step of its family, by a hash of its name.
"""

import hashlib
import re
from dataclasses import dataclass, field

import cases as case_lines
from honest_steps import STEPS
from operations import FAMILY_OF

COUNTS = {"rope": 12, "rope_sections": 2, "xpos": 3, "rope_frequencies": 2, "rope_cos_sin": 3,
          "sinusoidal": 2, "attention": 8, "attention:sink": 2, "alibi": 2, "softmax": 4,
          "soft_cap": 2, "temperature_scale": 2, "log_n_scale": 2, "rms_norm": 5, "layer_norm": 5,
          "add_rms_norm": 2, "activation": 4, "gated": 3, "linear": 6, "feed_forward": 2,
          "embedding": 2}
LARGE = ("medium", "long", "wide", "chunk", "forty")  # too slow by loops in numpy


@dataclass(frozen=True)
class Recipe:
    name: str
    changes: dict = field(hash=False, compare=False)
    cases: tuple
    options: tuple  # "angle=f32": what is odd

    def may_be(self, cause, dtype):
        """Whether the cause only says a precision that this recipe has in a case of the dtype."""
        formats = {w for o in self.options for w in re.findall(r"bf16|f16|f32|f64|tf32", o)}
        formats |= {dtype} if any(o.endswith("=T") for o in self.options) else set()
        forms = ("iterated", "exp_log", "power_chain", "one_pass")
        if any(form in cause["name"] and any(form in o for o in self.options) for form in forms):
            return True
        said = re.findall(r"bf16|f16|f32|f64|tf32|in_the_dtype", cause["name"])
        return bool(said) and all(f in formats or f == "in_the_dtype" for f in said)


def honest_recipes(operation):
    return [recipe(operation, i) for i in range(COUNTS.get(operation, 0))]


def recipe(operation, i):
    """The recipe number i; a number may be text."""
    name = f"{operation}/honest_{i}"
    digest = hashlib.sha256(name.encode()).digest()
    steps = {s: o for s, o in STEPS[FAMILY_OF[operation]].items()}
    chosen = {step: sorted(options)[digest[n] % len(options)]
              for n, (step, options) in enumerate(steps.items())}
    changes = {step: steps[step][option] for step, option in chosen.items() if option != "exact"}
    names = [c for c in case_lines.CASES[operation] if c not in LARGE]
    used = (names[digest[-1] % len(names)], names[(digest[-1] + 1 + digest[-2] % 3) % len(names)])
    return Recipe(name, changes, tuple(dict.fromkeys(used)),
                  tuple(f"{s}={o}" for s, o in chosen.items() if o != "exact"))
