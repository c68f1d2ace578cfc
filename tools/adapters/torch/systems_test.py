"""Judges the systems of systems.toml and compares the verdicts with the expected ones.

  SEXTANT=build/sextant python3 systems_test.py [NAME [I/N]]

NAME is a system, or a program of systems.toml with all its systems; default: all systems. I/N
selects the I-th of N parts of them, which have equal sizes.

Each program is started once by its own command, later by a process that has imported torch.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from imported import Imported
from subject import FOLDER, TABLE

ROOT = FOLDER.parents[2]
EXIT = {"conforms": 0, "fails": 1, "incomplete": 5}  # tools/api/exit_status.h


def subject_of(name):
    return f"/usr/bin/python3 {FOLDER.relative_to(ROOT) / TABLE[name]['program']} {name}"


def command(sextant, check, subject):
    here = FOLDER.relative_to(ROOT)
    if "properties" in check:
        question = ["properties", check["properties"], "--seed", "1"]
    else:
        question = ["check", str(here / "cases" / f"{check['cases']}.cases")]
    recipe = ["--recipe", check["recipe"]] if "recipe" in check else []
    return [sextant, *question, "--subject", f"exec:{subject}", "--timeout", "300", *recipe]


def properties(report, status):
    return set(re.findall(rf"^{status} +\w+/(\w+)", report, re.MULTILINE))


def surprises(check, done):
    """Differences between the report of a finished run and the table."""
    expected = EXIT[check["verdict"]]
    if done.returncode != expected:
        yield f"exit status {done.returncode}, expected {expected}"
    named = set(re.findall(r"(?:likely|possible) cause:? (?:defect:)?(?:\w+/)?([^\s:]+)", done.stdout))
    named |= properties(done.stdout, "BROKEN")
    if "names" in check and not any(re.search(check["names"], name) for name in named):
        yield f"the report names {sorted(named)}, expected '{check['names']}'"
    skipped, due = properties(done.stdout, "skipped"), set(check.get("skips", []))
    if check["verdict"] == "incomplete" and skipped != due:
        yield f"the report skips {sorted(skipped)}, expected {sorted(due)}"
    if check["verdict"] == "incomplete" and not properties(done.stdout, "(?:holds|partly)"):
        yield "the report has no property with an answered case"


def judge(sextant, name, check, subject):
    """Judges a system, prints the result, and returns whether the verdict is the expected one."""
    words = command(sextant, check, subject)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900)
    wrong = list(surprises(check, done))
    what = f"{name} {check.get('cases', 'properties')}"
    print(f"{what}: {', '.join(wrong) or check['verdict']}", flush=True)
    if wrong:
        words = command(sextant, check, subject_of(name))
        print("  " + " ".join(repr(w) if " " in w else w for w in words))
        print(done.stdout + done.stderr)
    return not wrong


def main(wanted=None, part="1/1"):
    sextant = str(Path(os.environ.get("SEXTANT", "build/sextant")).resolve())
    names = [name for name in TABLE if wanted in (None, name, TABLE[name]["program"])]
    if not names:
        sys.exit(f"{wanted} is not a system or program of systems.toml")
    first, parts = map(int, part.split("/"))
    started, right = set(), True
    with Imported() as imported:
        for name in names[first - 1::parts]:
            program = TABLE[name]["program"]
            for check in TABLE[name]["checks"]:
                subject = subject_of(name)
                if program in started:
                    subject = imported.command(FOLDER / program, name)
                started.add(program)
                right = judge(sextant, name, check, subject) and right
    return not right


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
