"""Tests of what `sextant check` writes: as it comes, bounded, and in agreement with the exit status.

    SEXTANT=build/sextant python3 tools/cli/check_reports_test.py
"""

import html
import json
import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

import numpy

from program import ONE_CASE, PROGRAM, ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"

# {body}: what it does for each case.
SUBJECT = """
import sys
sys.path.append({adapter!r})
import sextant_adapter
def rms_norm(x, **given): {body}
sextant_adapter.serve({{"rms_norm": rms_norm}}, name="a", version="1", recipe="native")
"""


class CheckReports(ProgramTest):
    def subject(self, body):
        self.path("subject.py").write_text(SUBJECT.format(adapter=str(ADAPTER), body=body))
        return "--subject", "exec:/usr/bin/python3 subject.py"

    def is_red(self, name="a.xml"):
        return ' failures="0" errors="0"' not in self.path(name).read_text()

    # The subject waits for a file, which the test creates after it has read the first verdict.
    def test_verdicts_are_written_as_they_come_also_to_a_pipe(self):
        body = "\n    import pathlib, time\n    while x.shape[0] == 2 and not pathlib.Path('go').exists(): " \
               "time.sleep(.01)\n    raise sextant_adapter.Unsupported('no')"
        command = [PROGRAM, "check", ONE_CASE, "rms_norm N=2 M=2", *self.subject(body)]
        for option, word in ((), "unsupported rms_norm"), (("--json-lines", "-"), '{"type":"case"'):
            self.path("go").unlink(missing_ok=True)
            with subprocess.Popen([*command, *option], cwd=self.folder.name, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) as process:
                self.assertTrue(process.stdout.readline().startswith(word))
                self.assertIsNone(process.poll())
                self.path("go").touch()
                process.stdout.read()
            self.assertEqual(process.returncode, 5)

    def test_a_closed_pipe_ends_the_work(self):
        body = "\n    open('log', 'a').write('asked ')\n    return x"
        subject = self.subject(body)
        cases = [f"rms_norm N={n} M=2" for n in range(1, 1001)]
        self.path("subject.py").write_text(self.path("subject.py").read_text().replace(
            '{"rms_norm": rms_norm}', '{"rms_norm": rms_norm, "soft_cap": rms_norm}'))
        for command, most in (("check", *cases, "-v"), 900), (("properties", "rms_norm", *["soft_cap"] * 50), 9000):
            self.path("log").unlink(missing_ok=True)
            with subprocess.Popen([PROGRAM, *command, *subject], cwd=self.folder.name, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                process.stdout.readline()
                process.stdout.close()
                error = process.stderr.read()
            self.assertEqual((process.returncode, error), (141, ""))
            self.assertLess(self.path("log").read_text().count("asked"), most)

    def test_other_reports_are_complete_although_nobody_reads_lines(self):
        cases = [f"rms_norm N={n} M=2" for n in range(1, 1001)]
        command = [PROGRAM, "check", *cases, "--subject", "fast", "--json-lines", "-", "--json", "a.json"]
        with subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            process.stdout.close()
        self.assertEqual(process.returncode, 141)
        self.assertEqual(len(json.loads(self.path("a.json").read_text())["cases"]), 1000)

    def test_expectations_may_come_from_a_pipe_and_are_bounded(self):
        entry = "[[expect]]\ncases = 'softmax *'\noutcome = 'unsupported'\nreason = 'r'\n"
        command = [PROGRAM, "check", "softmax N=1 M=2", "--subject", "defect:rms_norm/mean_subtracted"]
        for text, status in (entry, 0), ("#" * (16 << 20) + "#", 2):
            result = subprocess.run(["bash", "-c", '"$@" --expect <(cat)', "bash", *command], text=True,
                                    capture_output=True, input=text, cwd=self.folder.name)
            self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn("is longer than 16 MiB, expected a file of expectations", result.stderr)

    def test_messages_of_a_subject_are_bounded(self):
        for body in ("raise sextant_adapter.Unsupported('x' * 60000)", "raise ValueError('x' * 60000)",
                     "raise ValueError('\u00e9' * 1000000)", "return {str(i): x for i in range(1000)}"):
            result = self.run_it("check", ONE_CASE, *self.subject(body), "--json", "a.json", "--junit",
                                 "a.xml", "--json-lines", "a.jsonl")
            self.assertIn(result.returncode, (3, 5))
            for text in (result.stdout, *(self.path(name).read_text() for name in self.files()
                                          if name.startswith("a."))):
                self.assertLess(len(text.encode()), 20000)

    def test_junit_is_red_if_and_only_if_the_status_is_not_0(self):
        empty = "rms_norm N=0 M=2"
        overflow = "linear N=1 M=2 F=2 dtype=f16 @x=60000,60000 @weight=30,40,1,2"
        defect = "--subject", "defect:rms_norm/mean_subtracted"
        for arguments, status in (
                ((ONE_CASE, "--subject", "fast"), 0), ((empty, "--subject", "fast"), 4),
                ((empty, ONE_CASE, "--subject", "fast"), 0), ((ONE_CASE, *defect), 1),
                (("softmax N=1 M=2", *defect), 5), ((overflow, "--subject", "recipe:native"), 5),
                (("softmax N=1 M=2", *defect, "--supported-only"), 5),
                ((ONE_CASE, *self.subject("1 / 0")), 3)):
            result = self.run_it("check", *arguments, "--junit", "a.xml", "--json", "a.json")
            self.assertEqual((result.returncode, self.is_red()), (status, status != 0), arguments)
            report = json.loads(self.path("a.json").read_text())
            self.assertEqual((report["exit_status"], bool(report["why_not_verified"])),
                             (status, status != 0))

    def test_every_report_says_how_many_elements_fail_and_where(self):
        case = "rope pairing=half H=2 S=4 D=4 @position=0,5,6,100"
        environment = {**os.environ, "GITHUB_STEP_SUMMARY": "summary.md"}
        result = self.run_it("check", case, "--subject", "defect:rope/rotates_backwards", "--junit", "a.xml",
                             "--json", "a.json", env=environment)
        self.assertEqual(result.returncode, 1)
        text = "24 of 32 elements of y fail; all at S=1..3 position=5..100"
        for report in (result.stdout, self.path("a.xml").read_text(), self.path("summary.md").read_text()):
            self.assertIn(text, report)
        (tensor,) = json.loads(self.path("a.json").read_text())["cases"][0]["tensors"]
        self.assertEqual(tensor["failed"], 24)
        ranges = {axis["axis"]: axis["ranges"] for axis in tensor["failing"]}
        self.assertEqual((ranges["S"], ranges["position"]), ([[1, 3]], [[5, 100]]))

    def test_a_summary_that_cannot_be_written_is_an_error(self):
        environment = {**os.environ, "GITHUB_STEP_SUMMARY": "nowhere/summary.md"}
        result = self.run_it("check", ONE_CASE, "--subject", "fast", env=environment)
        self.assertEqual(result.returncode, 2)
        self.assertIn("nowhere/summary.md, the file of GITHUB_STEP_SUMMARY, cannot be written", result.stderr)

    def test_a_subject_that_does_not_start_is_an_error_in_every_report(self):
        environment = {**os.environ, "GITHUB_STEP_SUMMARY": "a.md"}
        self.path("no.so").write_text("text")
        self.path("known.toml").write_text("[[expect]]\ncases = '*'\noutcome = 'could_not_run'\nreason = 'r'\n")
        cases = ONE_CASE, "rms_norm N=2 M=2"
        for subject, why in (("exec:echo lost >&2; no_command_of_ours", "exited with status 127"), ("exec:cat", ""),
                             ("exec:kill -SEGV $$", "was killed by SIGSEGV"), ("lib:none.so", "there is no file 'none.so'"),
                             ("lib:./no.so", "the library cannot be loaded"), ("files:none.h5", "none.h5"),
                             ("files:no.so", "is not an HDF5 file")):
            for more in (), ("--expect", "known.toml"), ("--supported-only", "--fail-fast"), ("--write-expect", "new.toml"):
                self.path("a.md").unlink(missing_ok=True)
                result = self.run_it("check", *cases, "--subject", subject, *more, "--json", "a.json", "--junit", "a.xml",
                                     "--html", "a.html", "--json-lines", "a.jsonl", env=environment)
                self.assertEqual(result.returncode, 3, (subject, result.stderr))
                self.assertIn(f"sextant: the subject could not be run: ", result.stderr)
                self.assertIn("could not be run: 2 cases not judged\n", result.stdout)
                self.assertFalse(self.path("new.toml").exists())
                for name in "a.json", "a.xml", "a.html", "a.jsonl", "a.md":
                    text = html.unescape(self.path(name).read_text())
                    self.assertIn(why, text, name)
                    self.assertEqual("lost" in text, "lost" in subject, name)
                self.assertIn(' tests="1" failures="0" errors="1" skipped="0"', self.path("a.xml").read_text())
                report = json.loads(self.path("a.json").read_text())
                line = json.loads(self.path("a.jsonl").read_text())
                self.assertEqual((report.pop("cases"), line.pop("type")), ([], "summary"))
                self.assertEqual(report, line)
                counts = {name: count for name, count in report["counts"].items() if count}
                self.assertEqual((report["exit_status"], counts), (3, {"not_reached": 2}))
                self.assertEqual(report["why_not_verified"], "2 cases not reached, the subject could not be started")
        stale = self.path("known.toml").read_text() + "[[expect]]\ncases = 'softmax *'\nreason = 'r'\n"
        self.path("known.toml").write_text(stale)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:false", "--expect", "known.toml", "--junit", "a.xml")
        self.assertEqual((result.returncode, self.is_red()), (1, True))

    # Each file is judged as the result of this run.
    def test_no_old_report_stays_if_the_run_ends_early(self):
        reports = "a.json", "a.xml", "a.jsonl"
        options = "--json", "a.json", "--junit", "a.xml", "--json-lines", "a.jsonl"
        self.path("exists.toml").touch()
        for command in (("check", "none.cases", "--subject", "fast", *options),
                        ("check", ONE_CASE, "--subject", "none", *options),
                        ("check", ONE_CASE, "--subject", "fast", *options, "--unknown"),
                        ("check", ONE_CASE, "--subject", "fast", *options, "--timeout", "soon"),
                        ("check", ONE_CASE, *options),
                        ("judge", "--json", "a.json"),
                        ("check", ONE_CASE, "--subject", "fast", "--expect", "none.toml", *options),
                        ("check", ONE_CASE, "--subject", "fast", "--write-expect", "exists.toml", *options),
                        ("check", ONE_CASE, "--subject", "fast", "--filter", "softmax", *options),
                        ("audit-suite", "none.cases", "--json", "a.json"),
                        ("judge", "softmax", "x=none.npy", "--json", "a.json"),
                        ("judge", "softmax", "x=none.npy", "--recipe", "none", "--json", "a.json")):
            given = [name for name in reports if name in command]
            for name in given:
                self.path(name).write_text("old")
            self.assertIn(self.run_it(*command).returncode, (2, 4), command)
            for name in given:
                self.assertTrue(not self.path(name).exists() or not self.path(name).read_text(), command)

    def test_no_old_report_stays_if_the_run_is_interrupted(self):
        self.path("target.xml").write_text("old")
        self.path("a.xml").symlink_to("target.xml")
        command = [PROGRAM, "check", ONE_CASE, "--subject", "exec:echo >started; sleep 50", "--junit", "a.xml"]
        with subprocess.Popen(command, cwd=self.folder.name) as process:
            while not self.path("started").exists():
                time.sleep(.01)
            process.terminate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(self.files(), ["a.xml", "started"])
        self.assertTrue(self.path("a.xml").is_symlink())

    def test_no_report_replaces_an_input(self):
        self.path("a").write_text(ONE_CASE + "\n")
        self.assertEqual(self.run_it("answer", "a", "--subject", "fast", "-o", "answers.h5").returncode, 0)
        before = {name: self.path(name).read_bytes() for name in self.files()}
        for command, report in (
                (("check", "a", "--subject", "fast", "--json"), "./a"),
                (("check", "a", "--subject", "fast", "--junit"), "./a"),
                (("check", "a", "--subject", "fast", "--json-lines"), "./a"),
                (("check", "a", "--subject", "files:answers.h5", "--json"), "answers.h5"),
                (("audit-suite", "a", "--json"), "a"),
                (("audit-suite", ONE_CASE, "--as-supported-by", "a", "--json"), "a"),
                (("judge", "softmax", "x=answers.h5:/x", "--json"), "answers.h5"),
                (("judge", "softmax", "x=a", "--json"), "a"),
                (("judge", "rope", "--config", "a", "x=x.npy", "--json"), "a")):
            result = self.run_it(*command, report)
            self.assertEqual(result.returncode, 2, command)
            self.assertIn(f"{report} would replace its own input: expected another name", result.stderr)
            self.assertEqual({name: self.path(name).read_bytes() for name in self.files()}, before)
            self.assertEqual(self.run_it(*command, report, "--unknown").returncode, 2)
            self.assertEqual({name: self.path(name).read_bytes() for name in self.files()}, before)

    def test_json_lines_without_summary_are_incomplete(self):
        self.run_it("check", ONE_CASE, "--subject", "fast", "--json-lines", "a.jsonl")
        lines = [json.loads(line) for line in self.path("a.jsonl").read_text().splitlines()]
        self.assertEqual([line["type"] for line in lines], ["case", "summary"])
        self.assertEqual((lines[1]["version"], lines[1]["exit_status"]), (0, 0))
        result = self.run_it("check", ONE_CASE, "--subject", "fast", "--json-lines", "/dev/full")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/dev/full cannot be written: No space left on device", result.stderr)

    def test_other_commands_name_the_case_that_needs_more_memory(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        if self.run_it("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("the sanitizer needs more address space")
        result = self.run_it("audit-suite", "rms_norm N=1000000000 M=4", preexec_fn=limit)
        self.assertEqual(result.returncode, 2)
        self.assertIn("sextant: out of memory: the tensors of this case have 8000000004 elements", result.stderr)
        self.assertIn(": rms_norm eps=1e-05", result.stderr)
        shape = 40000, 1000
        for name in "xy":
            with self.path(f"{name}.npy").open("wb") as file:
                numpy.lib.format.write_array_header_1_0(
                    file, {"descr": "<f4", "fortran_order": False, "shape": shape})
                file.truncate(file.tell() + 4 * shape[0] * shape[1])  # zeros without blocks on the disk
        for bytes_, text in (400 << 20, "out of memory when the tensors were read: softmax"), \
                            (1200 << 20, "80000000 elements and need at least 640000000 bytes: softmax M=1000 N=40000"):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
            result = self.run_it("judge", "softmax", "x=x.npy", "y=y.npy", preexec_fn=limit)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
