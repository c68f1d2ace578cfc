"""Tests of check by several processes: shards, their merged reports, and MPI.

    SEXTANT=build/sextant python3 tools/cli/shards_test.py
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest

CASES = ("softmax", "rms_norm", "rope")
SUBJECT = ("--subject", "defect:rope/positions_in_bf16")
MPI = PROGRAM.parent / "sextant-mpi"
REPORTS = ("--json", "r.json", "--junit", "r.xml", "--html", "r.html")


class Shards(ProgramTest):
    def shards(self, count, *options, cases=CASES):
        statuses = []
        for i in range(1, count + 1):
            result = self.run_it("check", *cases, *SUBJECT, *options, "--shard", f"{i}/{count}",
                                 "--json-lines", f"{i}.jsonl")
            statuses.append(result.returncode)
        return statuses

    def merge(self, *arguments):
        return self.run_it("merge", *arguments)

    def reports(self):
        return {name: self.path(name).read_bytes() for name in ("r.json", "r.xml", "r.html")}

    def test_the_merged_report_is_that_of_one_run(self):
        whole = self.run_it("check", *CASES, *SUBJECT, *REPORTS)
        expected = self.reports()
        self.assertEqual(self.shards(3), [1, 1, 1])
        merged = self.merge("3.jsonl", "1.jsonl", "2.jsonl", *REPORTS)
        self.assertEqual((merged.returncode, merged.stdout), (whole.returncode, whole.stdout))
        self.assertEqual(self.reports(), expected)

    def test_expectations_are_those_of_the_whole(self):
        self.run_it("check", *CASES, *SUBJECT, "--write-expect", "known.toml")
        known = self.path("known.toml")
        known.write_text(known.read_text().replace('reason = "..."', 'reason = "known"'))
        self.assertEqual(self.shards(2, "--expect", "known.toml"), [0, 0])
        self.assertEqual(self.merge("1.jsonl", "2.jsonl", "--expect", "known.toml").returncode, 0)
        known.write_text(known.read_text() + '\n[[expect]]\ncases = "xpos*"\n'
                         'outcome = "fails"\nreason = "never"\n')
        stale = self.merge("1.jsonl", "2.jsonl", "--expect", "known.toml")
        self.assertEqual(stale.returncode, 1, stale.stdout)

    def test_fresh_cases_follow_their_own(self):
        whole = self.run_it("check", "softmax", *SUBJECT[:1], "fast", "--fresh=7", *REPORTS)
        expected = self.reports()
        for i in (1, 2):
            self.run_it("check", "softmax", "--subject", "fast", "--fresh=7", "--shard", f"{i}/2",
                        "--json-lines", f"{i}.jsonl")
        merged = self.merge("1.jsonl", "2.jsonl", *REPORTS)
        self.assertEqual((merged.returncode, merged.stdout), (whole.returncode, whole.stdout))
        self.assertEqual(self.reports(), expected)

    def test_more_shards_than_cases(self):
        statuses = self.shards(3, cases=("rope pairing=half S=2 H=1 D=4 @position=0,1",))
        self.assertEqual(sorted(statuses), [0, 0, 0])
        self.assertEqual(self.merge("1.jsonl", "2.jsonl", "3.jsonl").returncode, 0)

    def test_wrong_shares_are_errors(self):
        self.shards(3)
        lines = {i: self.path(f"{i}.jsonl").read_text() for i in (1, 2, 3)}

        def refused(files, *texts):
            for name, text in files.items():
                self.path(name).write_text(text)
            result = self.merge(*files)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            for text in texts:
                self.assertIn(text, result.stderr)

        refused({"a": lines[1], "b": lines[3]}, "the share 2 of 3 is missing")
        refused({"a": lines[1], "b": lines[2], "c": lines[3], "d": lines[2]}, "d: is share 2 of 3")
        refused({"a": lines[1], "b": lines[2], "c": lines[3][:-200]}, "c: ")
        refused({"a": lines[1], "b": lines[2], "c": ""}, "c: has no summary")
        refused({"a": lines[1], "b": lines[2], "c": "no report\n"}, "c: line 1: is not JSON")
        refused({"a": lines[1], "b": lines[2], "c": lines[3] + lines[3]}, "after the summary")
        cases = lines[3].splitlines(keepends=True)
        refused({"a": lines[1], "b": lines[2], "c": "".join(cases[:4] + cases[3:])}, "c: ")
        refused({"a": lines[1], "b": lines[2], "c": "".join(cases[:3] + cases[4:])},
                f"c: has {len(cases) - 2} cases, but its summary counts {len(cases) - 1}")
        first, summary = cases[0], json.loads(cases[-1])
        summary["shard"]["sha256"] = "0"
        refused({"a": lines[1], "b": lines[2], "c": "".join(cases[:-1]) + json.dumps(summary)},
                "in 'sha256'")
        for key, value in (("recipe", "exact"), ("subject", "fast"), ("strict", True),
                           ("open_rows", True), ("engine", "mpfr"), ("program", "9")):
            other = {**json.loads(cases[-1]), key: value}
            refused({"a": lines[1], "b": lines[2], "c": "".join(cases[:-1]) + json.dumps(other)},
                    f"in '{key}'")
        one = json.loads(first)
        one["case"] = "softmax M=2 N=2 dtype=f32 seed=1"
        refused({"a": lines[1], "b": lines[2], "c": json.dumps(one) + "\n" + "".join(cases[1:])},
                "are not those of the run")
        del one["tensors"]
        refused({"a": lines[1], "b": lines[2], "c": json.dumps(one) + "\n" + "".join(cases[1:])},
                "c: line 1: ", "expected a file of check --json-lines")
        later = {**json.loads(cases[-1]), "version": 1}
        refused({"a": lines[1], "b": lines[2], "c": json.dumps(one) + "\n" + json.dumps(later)},
                "c: is a report of version 1, expected 0")
        beyond = json.loads(cases[-1])
        beyond["shard"]["cases"][-1] = beyond["shard"]["all_cases"]
        refused({"a": lines[1], "b": lines[2], "c": "".join(cases[:-1]) + json.dumps(beyond)},
                "c: its cases are not those of its share")
        every = {}
        for i in (1, 2, 3):
            own = json.loads(lines[i].splitlines()[-1])
            own["shard"]["all_cases"] = 10**6
            every[f"{i}"] = "".join(lines[i].splitlines(keepends=True)[:-1]) + json.dumps(own)
        refused(every, "of 1000000 cases")
        self.run_it("check", "softmax", *SUBJECT, "--json", "report")
        refused({"report": self.path("report").read_text()}, "expected a file of check --json-lines")
        self.run_it("check", "softmax", *SUBJECT, "--json-lines", "whole")
        result = self.merge("whole")
        self.assertIn("the report of a whole run", result.stderr)
        self.assertIn("does not exist", self.merge("none").stderr)

    # A share that did not end is never a part of a green whole.
    def test_a_share_that_stopped_is_said(self):
        for i in (1, 2):
            self.run_it("check", *CASES, *SUBJECT, "--fail-fast", "--shard", f"{i}/2",
                        "--json-lines", f"{i}.jsonl")
        merged = self.merge("1.jsonl", "2.jsonl")
        self.assertEqual(merged.returncode, 1)
        self.assertIn("stopped at the first failure", merged.stdout)


# The commands of the examples for schedulers, as plain processes.
class Examples(ProgramTest):
    FOLDER = pathlib.Path(__file__).resolve().parent.parent / "mpi"

    def setUp(self):
        super().setUp()
        self.path("bin").mkdir()
        self.path("bin/sextant").symlink_to(PROGRAM)

    def command(self, file, start):
        """The line of an example that begins so, without the keys of YAML before it."""
        lines = [line.strip() for line in (self.FOLDER / file).read_text().splitlines()]
        found = [line[line.index(start):] for line in lines if start in line and line[0] != "#"]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def run_shell(self, command, **variables):
        path = f"{self.path('bin')}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-c", command], cwd=self.folder.name, capture_output=True,
                              text=True, env={**os.environ, "PATH": path, **variables})

    def test_matrix(self):
        judge = self.command("matrix.yml", "sextant check")
        for shard in range(1, 9):
            result = self.run_shell(judge, SHARD=str(shard))
            self.assertEqual(result.returncode, 0, result.stderr)
        merged = self.run_shell(self.command("matrix.yml", "sextant merge"))
        whole = self.run_shell("sextant check rope --subject fast")
        self.assertEqual((merged.returncode, merged.stdout), (whole.returncode, whole.stdout))
        self.assertTrue(self.path("report.xml").exists())

    def test_array(self):
        for task in range(1, 4):
            result = self.run_shell(f"bash {self.FOLDER / 'array.sbatch'}", CASES="softmax",
                                    SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="3")
            self.assertIn(result.returncode, (0, 5), result.stderr)
        merged = self.run_shell("sextant merge shard-*.jsonl")
        whole = self.run_shell("sextant check softmax --subject fast")
        self.assertEqual((merged.returncode, merged.stdout), (whole.returncode, whole.stdout))

    def test_indexed_job(self):
        prove = self.command("indexed_job.yaml", "sextant golden")
        for index in (5, 0, 7, 2, 1, 3, 4, 6):
            result = self.run_shell(prove, JOB_COMPLETION_INDEX=str(index))
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.run_shell("sextant verify golden/").returncode, 0)


@unittest.skipUnless(MPI.exists() and shutil.which("mpirun"), "sextant-mpi is not built")
class Mpi(ProgramTest):
    def mpirun(self, processes, *arguments):
        return [shutil.which("mpirun"), "--oversubscribe", "-n", str(processes), MPI, *arguments]

    def run_mpi(self, processes, *arguments):
        return subprocess.run(self.mpirun(processes, *arguments), cwd=self.folder.name,
                              capture_output=True, text=True, env=self.environment())

    def environment(self):
        return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "ASAN_OPTIONS": "detect_leaks=0"}  # of MPI

    def test_check_reports_as_one_process(self):
        whole = self.run_it("check", *CASES, *SUBJECT, *REPORTS)
        names = ("r.json", "r.xml", "r.html")
        expected = {name: self.path(name).read_bytes() for name in names}
        for processes in 2, 4:
            result = self.run_mpi(processes, "check", *CASES, *SUBJECT, *REPORTS)
            self.assertEqual(result.stdout, whole.stdout)
            self.assertEqual({name: self.path(name).read_bytes() for name in names}, expected)
            self.assertEqual(result.returncode, 1)

    def test_golden_writes_the_same_folder(self):
        golden = ("golden", "attention H=2 S=700 T=700 D=32 mask=causal dtype=bf16",
                  "softmax N=3 M=5", "--part-size", "0.25", "-o")
        self.assertEqual(self.run_it(*golden, "whole/").returncode, 0)
        for processes in 2, 4:
            result = self.run_mpi(processes, *golden, f"by{processes}/")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(subprocess.run(["diff", "-r", self.path("whole"),
                                             self.path(f"by{processes}")]).returncode, 0)
            self.assertEqual(self.run_mpi(processes, "verify", "whole/").returncode, 0)
        self.assertEqual(self.run_it("merge", "by2/", "-o", "merged.h5").returncode, 0)
        self.run_it(*golden[:3], "-o", "one.h5")
        self.assertEqual(self.path("merged.h5").read_bytes(), self.path("one.h5").read_bytes())

    # If a process dies all end, and the next run goes on.
    def test_a_killed_process_ends_the_run_and_the_next_one_goes_on(self):
        golden = ("golden", "attention H=4 S=1024 T=1024 D=64 mask=causal", "--part-size", "0.25",
                  "-j", "1", "-o")
        self.assertEqual(self.run_it(*golden, "whole/").returncode, 0)
        with subprocess.Popen(self.mpirun(2, *golden, "g/"), cwd=self.folder.name,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=self.environment()) as run:
            while not list(self.path("").glob("g/part-*.h5")):
                time.sleep(0.01)
            children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
            os.kill(int(children[0]), signal.SIGKILL)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse(self.path("g/index.json").exists())
        result = self.run_mpi(2, *golden, "g/")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("there before", result.stdout)
        self.assertEqual(subprocess.run(["diff", "-r", "-x", "*.partial-*", self.path("whole"),
                                         self.path("g")]).returncode, 0)

    def test_errors_are_said(self):
        for arguments, text in ((("golden", "softmax N=2", "-o", "x/"), "needs dimension M="),
                                (("golden", "softmax N=2 M=2", "-o", "x.h5"), "FOLDER/"),
                                (("chek",), "is no command here"),
                                (("check", "softmax", "--subject", "fast", "--shard", "1/2"),
                                 "the processes are the shards"),
                                (("golden", "softmax N=2 M=2", "-o", "x/", "--shard", "1/2"),
                                 "the processes are the shards"),
                                (("verify", "x/", "--shard", "1/2"), "the processes are the shards"),
                                (("check", "softmax", "--subject", "fast", "--json-lines", "x"),
                                 "--json-lines")):
            result = self.run_mpi(2, *arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
