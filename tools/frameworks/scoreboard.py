"""From reports of `sextant check --json` to a table: framework, operation, dtype.

A row has these keys:
  framework, version, operation, dtype
  cases        the number of judged cases: they conform or fail
  conforming   of these, the number that conforms to the claim
  not_run      the number of cases that end the framework, or that it refuses by an error
  unsupported  the number of cases that the framework does not have
  grade        of the worst judged case, by the claim
  ulps         the error of the element that is worst by its permitted error, in ulps of the dtype
               of its tensor, in all cases; null if it is infinite or NaN; 0 of codes and indices
  claim        the recipe that frameworks.toml states
  conforms_to  the names of the recipes to which all judged cases conform
  defects      the cases that fail or do not run: case, outcome, causes, reason, repeat
"""

import math
import textwrap

GRADES = ("exact", "faithful", "within recipe", "unlikely", "fails")
SIGNIFICAND = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "f8_e4m3fn": 4}
SMALLEST_EXPONENT = {"f64": -1022, "f32": -126, "f16": -14, "bf16": -126, "f8_e4m3fn": -6}
WIDE = ("lse", "weights", "scale")  # at least f32, unless the case says another dtype
JUDGED = ("conforms", "fails")


def words(case):
    """The words of a case line, operation first: {"": operation, "dtype": ...}"""
    first, *rest = case.split()
    return {"": first, **dict(word.partition("=")[::2] for word in rest)}


def ulps(worst, dtype):
    """The error of an element in units in the last place of the exact value."""
    error, exact = (float(worst[name]) for name in ("error", "exact"))
    if worst["got"] == worst["exact"]:
        return 0.0
    if not (math.isfinite(error) and math.isfinite(exact)):
        return None
    exponent = math.frexp(exact)[1] - 1 if exact else SMALLEST_EXPONENT[dtype]
    quantum = max(exponent, SMALLEST_EXPONENT[dtype]) - SIGNIFICAND[dtype] + 1
    return math.ldexp(error, -quantum)


def largest_error(cases, dtype):
    """The largest error in ulps; 0 if no element could have failed; None if one is not finite. What
    is chosen has no permitted error."""
    wide = "f32" if dtype in ("f16", "bf16") else dtype
    errors = []
    for case in cases:
        for tensor in case["tensors"]:
            if tensor["judged"] and tensor["worst"]["permitted"] not in (None, "inf"):
                own = wide if tensor["name"] in WIDE else dtype
                own = words(case["case"]).get("dtype." + tensor["name"], own)
                errors.append(ulps(tensor["worst"], own))
    return None if None in errors else max(errors, default=0.0)


def worst_grade(cases):
    return GRADES[max(GRADES.index(case["grade"]) for case in cases)]


def by_dtype(report):
    """dtype -> cases of a report, in the order of the report."""
    groups = {}
    for case in report["cases"]:
        groups.setdefault(words(case["case"])["dtype"], []).append(case)
    return groups


def rows(framework, version, operation, claim, reports):
    """The rows of one operation. reports: recipe -> report; the claim is one of the recipes."""
    result = []
    for dtype, cases in by_dtype(reports[claim]).items():
        judged = [case for case in cases if case["status"] in JUDGED]
        if judged:
            result.append({
                "framework": framework, "version": version, "operation": operation,
                "dtype": dtype, "cases": len(judged),
                "conforming": count(cases, "conforms"), "not_run": count(cases, "could_not_run"),
                "unsupported": count(cases, "unsupported"),
                "grade": worst_grade(judged), "ulps": largest_error(judged, dtype), "claim": claim,
                "conforms_to": [recipe for recipe, report in reports.items()
                                if conforms(by_dtype(report).get(dtype, []))],
                "defects": [defect(case, framework) for case in cases
                            if case["status"] in ("fails", "could_not_run")],
            })  # fmt: skip
    return result


def count(cases, status):
    return sum(case["status"] == status for case in cases)


def conforms(cases):
    """True if all judged cases conform, and there is one."""
    return {case["status"] for case in cases} & set(JUDGED) == {"conforms"}


def defect(case, framework):
    return {"case": case["case"], "outcome": case["outcome"],
            "causes": [cause["name"] for cause in case["causes"]],
            "reason": (case["expected"] or {}).get("reason"),
            "repeat": f"tools/frameworks/run {framework} --case '{case['case']}'"}  # fmt: skip


HEADING = """\
# Scoreboard of frameworks

Written by `tools/frameworks/run` ([README.md](README.md)) on {date}. Each heading has the version of its
framework.

- conforming cases: of the cases that the framework has. "not run": it refuses the case, or ends.
- [grade](../../oracle/judge/README.md#grades): of the worst case, by the recipe that `frameworks.toml`
  claims.
- worst error: of the element with the largest share of its permitted error, in units in the last place
  of its exact value; large where a result is small by cancellation. Of codes and indices there is none.
- conforms to: the recipes to which all these cases conform; more than `native`, `f32_compute` and
  `all_native` if the claim is another recipe.
"""


def markdown(table, frameworks, date):
    """The scoreboard as Markdown. frameworks: name -> version; date: of the run."""
    lines = [HEADING.format(date=date)]
    for framework, version in frameworks.items():
        own = [row for row in table if row["framework"] == framework]
        lines += [f"## {framework} ({version})", "",
                  "| operation | dtype | conforming cases | grade | worst error, ulp | conforms to |",
                  "|---|---|---|---|---|---|"]  # fmt: skip
        lines += [_line(row) for row in own]
        lines += ["", *_defects(own), ""]
    return "\n".join(lines).rstrip() + "\n"


def _line(row):
    cases = str(row["cases"])
    if row["conforming"] < row["cases"]:
        cases = f"{row['conforming']} of {cases}"
    if row["not_run"]:
        cases += f", {row['not_run']} not run"
    error = "not finite" if row["ulps"] is None else f"{row['ulps']:.3g}"
    recipes = ", ".join(f"`{recipe}`" for recipe in row["conforms_to"]) or "none"
    return (f"| {row['operation']} | {row['dtype']} | {cases} | {row['grade']} | {error} | "
            f"{recipes} |")  # fmt: skip


def _defects(own):
    """The defects of one framework, each reason once, with its first case."""
    reasons = {}
    for row in own:
        for found in row["defects"]:
            reasons.setdefault(found["reason"] or "UNEXPECTED", []).append(found)
    for reason, found in reasons.items():
        text = f"{reason} ({len(found)} {'case' if len(found) == 1 else 'cases'})"
        yield textwrap.fill(text, 110, initial_indent="- ", subsequent_indent="  ")
        yield f"\n      {found[0]['repeat']}\n"
