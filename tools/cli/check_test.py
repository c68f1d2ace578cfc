"""What `sextant check` tells of subjects and causes.

    SEXTANT=build/sextant python3 tools/cli/check_test.py
"""

import json
import pathlib
import subprocess
import unittest

from program import ONE_CASE, PROGRAM, ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"

# Answers rightly, and says one word more when its input ends.
TALKS_ON = """
import json, struct, sys
def say(words, body=b"", **tensors):
    header = json.dumps({"__metadata__": words, **tensors}).encode()
    sys.stdout.buffer.write(struct.pack("<Q", len(header)) + header + body)
    sys.stdout.buffer.flush()
while size := sys.stdin.buffer.read(8):
    header = json.loads(sys.stdin.buffer.read(struct.unpack("<Q", size)[0]))
    words = header.pop("__metadata__")
    body = sys.stdin.buffer.read(max([t["data_offsets"][1] for t in header.values()], default=0))
    reply = {"id": words["id"], "status": "ok"}
    if words["operation"] == "hello":
        say({**reply, "name": "a", "version": "1", "recipe": "native", "operations": '["rms_norm"]'})
    else:
        x = struct.unpack("<2f", body[slice(*header["x"]["data_offsets"])])
        weight = struct.unpack("<2f", body[slice(*header["weight"]["data_offsets"])])
        root = (sum(v * v for v in x) / 2 + 1e-5) ** 0.5
        y = struct.pack("<2f", *(v / root * w for v, w in zip(x, weight)))
        say(reply, y, y={"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]})
sys.stdout.write("surplus")
"""

# A function for the adapter for Python; two lines stand before it.
BROKEN = """
import sextant_adapter
def rms_norm(**given): 1 / 0
sextant_adapter.serve({"rms_norm": rms_norm}, name="a", version="1", recipe="native")
"""


class Check(ProgramTest):
    # Where there is no /proc, nobody lists the children of a process.
    def test_check_says_that_it_cannot_end_every_process(self):
        without = ["unshare", "--map-root-user", "--mount", "sh", "-c",
                   'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*without, "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespaces here")
        command = [*without, PROGRAM, "check", ONE_CASE, "--subject", "exec:exit 3"]
        told = subprocess.run(command, capture_output=True, text=True).stderr
        self.assertEqual(told.count("may outlive it"), 1, told)
        self.assertNotIn("may outlive it", subprocess.run(command[len(without):],
                                                          capture_output=True, text=True).stderr)

    # The limit is then the program's own again, whose death by it is told.
    def test_a_limit_of_file_sizes_ends_a_subject(self):
        subject = "exec:ulimit -f 1; exec head -c 100000 /dev/zero >big"
        result = self.run_it("check", ONE_CASE, "--subject", subject)
        self.assertEqual(result.returncode, 3)
        self.assertIn("was killed by SIGXFSZ", result.stderr)

    def test_what_a_subject_writes_after_its_last_answer_counts(self):
        self.path("subject.py").write_text(TALKS_ON)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py",
                             "--json", "a.json", "--junit", "a.xml")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("misbehaved: it wrote 'surplus' after its answer", result.stdout)
        report = json.loads(self.path("a.json").read_text())
        self.assertEqual(report["exit_status"], 3)
        self.assertIn("surplus", report["after_last_answer"])
        self.assertRegex(self.path("a.xml").read_text(), 'errors="1"')

    def test_what_a_subject_wrote_to_stderr_is_shown_with_its_error(self):
        self.path("subject.py").write_text(f"import sys\nsys.path.append({str(ADAPTER)!r})\n" + BROKEN)
        result = self.run_it("check", ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py")
        self.assertEqual(result.returncode, 3)
        self.assertIn("it reported an error: ZeroDivisionError", result.stdout)
        self.assertIn("stderr: ", result.stdout)
        self.assertIn('subject.py", line 5, in rms_norm', result.stdout)

    def test_check_counts_the_cases_that_a_cause_explains(self):
        result = self.run_it("check", "rms_norm N=1 M=2", "rms_norm N=2 M=3", "--subject",
                             "defect:rms_norm/mean_subtracted")
        self.assertIn("\n2 of 2 failing cases: likely cause defect:rms_norm/mean_subtracted\n", result.stdout)

    # The worst case of a sum of 1024 squares permits that eps is missing; likely errors do not.
    def test_check_names_causes_of_what_is_only_unlikely(self):
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
