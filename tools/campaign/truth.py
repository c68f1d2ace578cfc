"""What is true of a deviation in a case: whether it shows, and which other deviations give the same
answer. Exact values and permitted errors are those that the program proves; all answers are those
of numpy."""

import pickle
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import h5py
import numpy as np

import stages
from cases import CASES
from deviations import SINGLES, changes_of
from operations import OPERATIONS, operation_of

UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}

HERE = Path(__file__).resolve().parent


class Truth:
    """All about one operation's cases. `program`: the path of sextant; `work`: a folder."""

    def __init__(self, operation, program, work):
        self.operation, self.program, self.defects = operation, program, {}
        self.formula = OPERATIONS[operation_of(operation)]
        folder = Path(work) / operation
        folder.mkdir(parents=True, exist_ok=True)
        self.lines = lines = folder / "lines.cases"
        lines.write_text("\n".join(CASES[operation].values()) + "\n")
        if not (folder / "golden.h5").exists() or stale(folder / "golden.h5", HERE / "cases.py"):
            record(program, lines, folder)
        with h5py.File(folder / "golden.h5") as golden:
            self.golden = {name: proven(golden, i)
                           for i, name in enumerate(CASES[operation])}
        self.questions = {name: pickle.loads((folder / f"{i}.question").read_bytes())
                          for i, name in enumerate(CASES[operation])}
        self.classes = {}

    def dtype(self, case):
        return self.questions[case]["attributes"]["dtype"]

    @lru_cache(maxsize=4096)
    def answer(self, name, case):
        """The answer to a case as one array of doubles, or None if it cannot be computed."""
        try:
            outputs = stages.answer(self.formula, **self.questions[case],
                                    changes=changes_of(name))
        except (TypeError, KeyError, AttributeError, IndexError, ValueError):
            return None  # a deviation of another kind of case
        shapes = {name: exact.shape for name, (exact, _) in self.golden[case].items()}
        if any(values.shape != shapes[name] for name, values in outputs.items()):
            return None
        return np.concatenate([np.ravel(outputs[n]).astype(np.float64) for n in sorted(outputs)])

    def exact(self, case):
        """The proven values, and the permitted errors, in the order of `answer`."""
        pairs = [self.golden[case][n] for n in sorted(self.answer_names(case))]
        return tuple(np.concatenate([np.ravel(p[i]) for p in pairs]) for i in (0, 1))

    @lru_cache(maxsize=64)
    def answer_names(self, case):
        return set(stages.answer(self.formula, **self.questions[case]))

    @lru_cache(maxsize=8192)
    def shows(self, name, case):
        """Whether some error exceeds the permitted one."""
        answer, (exact, permitted) = self.answer(name, case), self.exact(case)
        return answer is not None and bool((distance(answer, exact) > permitted).any())

    def same(self, one, other, case):
        """Whether both answers are the same within twice the permitted error."""
        a, b = self.answer(one, case), self.answer(other, case)
        if a is None or b is None or len(a) != len(b):
            return False
        return bool((distance(a, b) <= 2 * self.exact(case)[1]).all())

    def class_of(self, name, case):
        """The single deviations with the same answer to this case; without `name` itself."""
        if (name, case) not in self.classes:
            others = [s for s, d in SINGLES.items() if d.operation == self.operation and s != name]
            self.classes[name, case] = [s for s in others if self.same(name, s, case)]
        return self.classes[name, case]

    def is_defect(self, defect, name, case):
        """Whether a listed defect of the program gives the same answer as `name`. The program's
        answer has the rounding errors of its recipe at that answer, which are unknown: they are
        taken to be at most three times the largest permitted one of the row, or the median one of
        the case (rows may be exact), and four units in the last place."""
        if defect not in self.defects:
            self.defects[defect] = self.answers_of(defect)
        a, b = self.answer(name, case), self.defects[defect].get(case)
        if a is None or b is None or len(a) != len(b):
            return False
        permitted = np.maximum(self.largest_of_rows(case), np.median(self.exact(case)[1]))
        allowed = 3 * permitted + 8 * UNIT[self.dtype(case)] * np.abs(a)
        return bool((distance(a, b) <= allowed).all())

    def largest_of_rows(self, case):
        rows = [self.golden[case][n][1] for n in sorted(self.answer_names(case))]
        return np.concatenate([np.ravel(r.max(-1, keepdims=True) + 0 * r) if r.ndim else np.ravel(r)
                               for r in rows])

    def answers_of(self, defect):
        """Case -> the answer of a listed defect."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "answers.h5"
            subprocess.run([self.program, "answer", self.lines, "--subject",
                            f"defect:{operation_of(self.operation)}/{defect}", "-o", file], capture_output=True)
            with h5py.File(file) as answers:
                groups = {int(i): group["outputs"] for i, group in answers["cases"].items()}
                return {name: flat(groups[i], self.answer_names(name))
                        for i, name in enumerate(CASES[self.operation]) if i in groups}

    def chosen(self, deviation, count=2):
        """Cases in which the deviation shows, in different dtypes if there are such. Of a double:
        in which both parts show, and neither part alone is the answer."""
        name, parts = deviation.name, deviation.parts
        good = [c for c in deviation.cases if self.shows(name, c) and
                (len(parts) == 1 or all(self.shows(p.name, c) and not self.same(p.name, name, c)
                                        for p in parts))]
        dtypes = [self.dtype(c) for c in good]
        first_of_dtype = [c for i, c in enumerate(good) if dtypes.index(dtypes[i]) == i]
        return (first_of_dtype + [c for c in good if c not in first_of_dtype])[:count]

    def figures(self, deviation, case):
        """The deviation's figures; some depend on the case."""
        question = stages.question_of(**{k: self.questions[case][k]
                                         for k in ("attributes", "tensors")})
        return {key: value(question) if callable(value) else value
                for key, value in deviation.figures.items()}


def distance(a, b):
    """Infinite where only one of them is NaN, 0 where they are equal or both NaN."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(a - b)
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(equal, 0, np.where(np.isnan(difference), np.inf, difference))


def record(program, lines, folder):
    """The questions and the proven answers of the cases, as files."""
    subprocess.run([program, "golden", lines, "-o", folder / "golden.h5"], check=True,
                   capture_output=True)
    command = f"exec:{sys.executable} {HERE / 'record.py'} {folder}"
    subprocess.run([program, "check", lines, "--subject", command], capture_output=True)


def proven(golden, i):
    outputs = golden[f"cases/{i:04}/golden"]
    result = {}
    for name, data in outputs.items():
        exact = data["high"][()] + data["low"][()] if "high" in data else data["value"][()]
        permitted = data["permitted"][()] + (data["radius"][()] if "radius" in data else 0)
        result[name] = np.asarray(exact, np.float64), np.asarray(permitted, np.float64)
    return result


def flat(outputs, names):
    return np.concatenate([np.ravel(outputs[n][()]).astype(np.float64) for n in sorted(names)])


def stale(file, source):
    return file.stat().st_mtime < source.stat().st_mtime
