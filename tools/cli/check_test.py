"""Tests of `sextant check`: misbehaving subjects and likely causes.

    SEXTANT=build/sextant python3 tools/cli/check_test.py
"""

import json
import pathlib
import subprocess
import unittest

from program import ONE_CASE, PROGRAM, ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"

# Answers correctly, but writes one more word when its input ends.
WRITES_AFTER_LAST_ANSWER = """
import json, struct, sys
def send(words, body=b"", **tensors):
    header = json.dumps({"__metadata__": words, **tensors}).encode()
    sys.stdout.buffer.write(struct.pack("<Q", len(header)) + header + body)
    sys.stdout.buffer.flush()
while size := sys.stdin.buffer.read(8):
    header = json.loads(sys.stdin.buffer.read(struct.unpack("<Q", size)[0]))
    words = header.pop("__metadata__")
    body = sys.stdin.buffer.read(max([t["data_offsets"][1] for t in header.values()], default=0))
    reply = {"id": words["id"], "status": "ok"}
    if words["operation"] == "hello":
        send({**reply, "name": "a", "version": "1", "recipe": "native", "sextant": "2",
              "operations": '["rms_norm"]'})
    else:
        x = struct.unpack("<2f", body[slice(*header["x"]["data_offsets"])])
        weight = struct.unpack("<2f", body[slice(*header["weight"]["data_offsets"])])
        root = (sum(v * v for v in x) / 2 + 1e-5) ** 0.5
        y = struct.pack("<2f", *(v / root * w for v, w in zip(x, weight)))
        send(reply, y, y={"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]})
sys.stdout.write("surplus")
"""

# A subject that raises an exception; the test writes two lines before this text.
BROKEN = """
import sextant_adapter
def rms_norm(**given): 1 / 0
sextant_adapter.serve({"rms_norm": rms_norm}, name="a", version="1", recipe="native")
"""


# Answers by numpy: the sums of the first row are beyond binary16.
LINEAR = """
import numpy, sextant_adapter
def linear(x, weight):
    with numpy.errstate(over="ignore"):
        return (x.astype("f8") @ weight.astype("f8").T).astype("f2")
sextant_adapter.serve({"linear": linear}, name="a", version="1", recipe="f32_compute")
"""


class Check(ProgramTest):
    # A right kernel cannot make a row fail in which every answer passes.
    def test_rows_that_cannot_fail_are_counted_and_accepted(self):
        self.path("linear.py").write_text(f"import sys\nsys.path.insert(0, {str(ADAPTER)!r})\n" + LINEAR)
        case = "linear N=2 M=2 F=2 dtype=f16 @x=60000,60000,1,1 @weight=30,40,1,2"
        result = self.run_it("check", case, "--subject", "exec:/usr/bin/python3 linear.py")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("1 row cannot fail", result.stdout)
        self.assertEqual(self.run_it("check", case, "--subject", "recipe:f32_compute").returncode, 5)

    # Without /proc the supervisor cannot list the children of a process.
    def test_check_warns_if_it_cannot_end_every_process(self):
        without = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                   'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        command = [*without, PROGRAM, "check", ONE_CASE, "--subject", "exec:exit 3"]
        stderr = subprocess.run(command, capture_output=True, text=True).stderr
        self.assertEqual(stderr.count("may outlive it"), 1, stderr)
        self.assertNotIn("may outlive it", subprocess.run(command[len(without):],
                                                          capture_output=True, text=True).stderr)

    # Sextant ignores SIGXFSZ, but a subject has the default action, and the report names the signal.
    def test_a_limit_of_file_sizes_ends_a_subject(self):
        subject = "exec:ulimit -f 1; exec head -c 100000 /dev/zero >big"
        result = self.run_it("check", ONE_CASE, "--subject", subject)
        self.assertEqual(result.returncode, 3)
        self.assertIn("was killed by SIGXFSZ", result.stderr)

    def test_bytes_after_the_last_answer_are_an_error(self):
        self.path("subject.py").write_text(WRITES_AFTER_LAST_ANSWER)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py",
                             "--json", "a.json", "--junit", "a.xml")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("misbehaved: it wrote 'surplus' after its answer", result.stdout)
        report = json.loads(self.path("a.json").read_text())
        self.assertEqual(report["exit_status"], 3)
        self.assertIn("surplus", report["after_last_answer"])
        self.assertRegex(self.path("a.xml").read_text(), 'errors="1"')

    def test_stderr_of_a_subject_is_shown_with_its_error(self):
        self.path("subject.py").write_text(f"import sys\nsys.path.append({str(ADAPTER)!r})\n" + BROKEN)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py")
        self.assertEqual(result.returncode, 3)
        self.assertIn("it reported an error: ZeroDivisionError", result.stdout)
        self.assertIn("stderr: ", result.stdout)
        self.assertIn('subject.py", line 5, in rms_norm', result.stdout)

    def test_a_subject_that_hangs_is_asked_three_times(self):
        self.path("subject.py").write_text(f"import sys\nsys.path.append({str(ADAPTER)!r})\n" +
                                           BROKEN.replace("1 / 0", "__import__('time').sleep(50)"))
        cases = [f"rms_norm N={n} M=2" for n in range(1, 11)]
        result = self.run_it("check", *cases, "--timeout", "0.2", "--json", "a.json", "--subject",
                             "exec:/usr/bin/python3 subject.py")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stdout.count("no complete answer to request"), 3)
        self.assertEqual(result.stdout.count("not asked, because the subject did not answer 3 cases"), 4)
        self.assertRegex(result.stdout, r"could_not_run: 7 cases: not asked.*; without -v, the first 3 are")
        report = json.loads(self.path("a.json").read_text())
        self.assertEqual(report["counts"]["could_not_run"], 10)

    # There the subject is correct, which would look as if the defect had been missed.
    def test_cases_of_other_operations_say_nothing_about_a_defect(self):
        subject = "--subject", "defect:rms_norm/mean_subtracted", "--json", "a.json"
        other = "softmax N=1 M=2"
        for cases, status, statuses in (((other,), 5, ["unsupported"]),
                                        ((ONE_CASE, other), 1, ["fails", "unsupported"])):
            result = self.run_it("check", *cases, *subject)
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertIn("the defect is in rms_norm: a case of softmax cannot show it", result.stdout)
            report = json.loads(self.path("a.json").read_text())
            self.assertEqual([case["status"] for case in report["cases"]], statuses)

    def test_open_rows_do_not_include_cases_without_specified_elements(self):
        result = self.run_it("check", "softmax N=1 M=64 @x=nonfinite", "--open-rows", "--subject", "fast")
        self.assertEqual(result.returncode, 5)
        self.assertIn("the case specifies no element of the answer, for example because every element "
                      "depends on a NaN", result.stdout)

    def test_check_counts_the_cases_that_a_cause_explains(self):
        result = self.run_it("check", "rms_norm N=1 M=2", "rms_norm N=2 M=3", "--subject",
                             "defect:rms_norm/mean_subtracted")
        self.assertIn("\n2 of 2 failing cases: possible cause defect:rms_norm/mean_subtracted (", result.stdout)

    # With 1024 squares, the effect of a missing eps is within the permitted worst case of the sum, but
    # larger than the likely error.
    def test_check_names_likely_causes_of_unlikely_cases(self):
        case = "rms_norm N=1 M=1024 @x=uniform(0,1)", "--subject", "defect:rms_norm/eps_missing"
        for options, status, word in ((), 0, "unlikely "), (("--strict",), 1, "FAILS "):
            result = self.run_it("check", *case, *options, "--json", "a.json")
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertTrue(result.stdout.startswith(word), result.stdout)
            self.assertIn("\n  likely cause: eps_missing (", result.stdout)
            (judged,) = json.loads(self.path("a.json").read_text())["cases"]
            self.assertEqual((judged["status"], judged["grade"]), ("conforms", "unlikely"))
            self.assertIn("eps_missing", [cause["name"] for cause in judged["causes"]])


if __name__ == "__main__":
    unittest.main()
