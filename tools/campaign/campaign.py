"""One operation's campaign: its jobs, and what the program says about each."""

from dataclasses import dataclass

from deviations import SINGLES, held_out
from doubles import doubles
from honest import honest_recipes
from matching import named
from operations import FAMILY_OF
from program import catalog, check
from report import outcome
from truth import Truth


@dataclass(frozen=True)
class Job:
    name: str
    kind: str  # "singles", "doubles", "honest"
    subject: object  # a Deviation, a Double, or an honest.Recipe

    @property
    def held_out(self):
        return held_out(self.name)


class Campaign:
    def __init__(self, operation, program, work):
        self.operation, self.program = operation, program
        self.truth = Truth(operation, program, work)

    def jobs(self, kind=None):
        found = []
        if kind in (None, "singles"):
            found += [Job(d.name, "singles", d) for d in SINGLES.values()
                      if d.operation == self.operation]
        if kind in (None, "doubles"):
            found += [Job(d.name, "doubles", d) for d in doubles(self.truth)]
        if kind in (None, "honest"):
            found += [Job(r.name, "honest", r) for r in honest_recipes(self.operation)]
        return found

    def measure(self, job):
        return self.measure_honest(job) if job.kind == "honest" else self.measure_deviation(job)

    def measure_deviation(self, job):
        deviation, known = job.subject, catalog(self.program, self.operation)
        cases = self.truth.chosen(deviation)
        answers = check(self.program, self.operation, cases, job.name)
        seen = {}
        for case, answer in answers.items():
            truths = self.alternatives(deviation, case)
            said = named(answer["causes"], truths,
                         lambda name: self.parts_of_defect(name, deviation, case))
            seen[case] = {"status": answer["status"], "causes": answer["causes"],
                          "message": answer.get("message", ""), "parts": len(truths),
                          **said._asdict(), "found": len(said.found)}
        listed = all(self.is_listed(part, cases) for part in deviation.parts) or all(
            any(c["name"] in known and c not in row["wrong"] for c in row["causes"])
            for row in seen.values())
        return {"name": job.name, "kind": "+".join(p.kind for p in deviation.parts),
                "family": FAMILY_OF[self.operation], "held_out": job.held_out, "listed": listed,
                "double": len(deviation.parts) == 2, "cases": seen,
                "figures": {k: v for p in deviation.parts for k, v in p.figures.items()
                            if not callable(v)},
                "outcome": outcome(list(seen.values()))}

    def is_listed(self, part, cases):
        """Whether the catalog has this bug: a defect that the table names gives its answers."""
        known = catalog(self.program, self.operation)
        return any(all(self.truth.is_defect(defect, part.name, case) for case in cases)
                   for defect in set(part.listed) & known)

    def parts_of_defect(self, name, deviation, case):
        """The parts that a defect of the catalog names: those it is listed for, or whose answer it
        gives; all of them if it gives that of a double. None if there is no such defect."""
        if name not in catalog(self.program, self.operation):
            return None
        parts = deviation.parts
        found = {i for i, part in enumerate(parts)
                 if name in part.listed or self.truth.is_defect(name, part.name, case)}
        is_all = len(parts) == 2 and self.truth.is_defect(name, deviation.name, case)
        return set(range(len(parts))) if is_all else found

    def alternatives(self, deviation, case):
        """For each part, the deviations that would be right to name, with their figures: the part,
        and what gives the same answer as it does."""
        result = []
        for part in deviation.parts:
            names = [part.name, *self.truth.class_of(part.name, case)]
            if part is deviation.parts[0] and len(deviation.parts) == 2:
                names += self.truth.class_of(deviation.name, case)
            result.append([(SINGLES[n], self.truth.figures(SINGLES[n], case)) for n in names])
        return result

    def measure_honest(self, job):
        recipe = job.subject
        answers = check(self.program, self.operation, recipe.cases, job.name)
        accused = [c for case, a in answers.items() for c in a["causes"]
                   if not recipe.may_be(c, self.truth.dtype(case))]
        failed = [a for a in answers.values() if a["status"] != "conforms"]
        result = "accused" if accused else "fails" if failed else "conforms"
        if any(a["status"] in ("timeout", "crash", "could_not_run") for a in failed):
            result = "no report"
        seen = {c: {"status": a["status"], "causes": a["causes"], "message": a.get("message", "")}
                for c, a in answers.items()}
        return {"name": job.name, "kind": "honest", "options": " ".join(recipe.options),
                "family": FAMILY_OF[self.operation],
                "held_out": job.held_out, "cases": seen, "outcome": result}
