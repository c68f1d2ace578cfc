"""Feeds text of others that would command a terminal or a runner through every door, and tests every
output: no control or bidirectional character, and no line that begins with that text.

    SEXTANT=build/sextant python3 tools/cli/hostile_text_test.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy

from program import ONE_CASE, PROGRAM, ProgramTest

ADAPTER = pathlib.Path(__file__).resolve().parents[1] / "adapters/python"
sys.path.insert(0, str(PROGRAM.parent / "python"))

import sextant  # noqa: E402
import sextant.expectations  # noqa: E402

# PLANTED stands after everything that ends a line or moves to its beginning.
CONTROLS = "\x07\x1b[2J\x7f\x9b\u061c\u200e\u202e\u2066 ##[error]a ##vso[task.complete]\u2028PLANTED\r"
LINES = "::error::a" + CONTROLS + "\nPLANTED\n \u00a0::error::PLANTED"
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|##[\[\w]")
BEGINS = re.compile(r"^\s*(::|##\[|PLANTED)", re.MULTILINE)

SUBJECT = """
import sys
sys.path.append({adapter!r})
import sextant_adapter
text = {text!r}
def rms_norm(x, **given): {body}
sextant_adapter.serve({{"rms_norm": rms_norm}}, name=text, version=text, recipe="native")
"""
# Answers hello with these words.
HELLO = """
import json, struct, sys
header = json.dumps({{"__metadata__": {words!r}}}).encode()
sys.stderr.write({text!r})
sys.stdout.buffer.write(struct.pack("<Q", len(header)) + header)
"""
GOOD_HELLO = {"id": "1", "status": "ok", "sextant": "2", "name": "a", "version": "1", "recipe": "native",
              "operations": "[]"}


class HostileText(ProgramTest):
    def assert_harmless(self, data):
        text = data.decode()  # strict: no ill-formed UTF-8
        self.assertIsNone(FORBIDDEN.search(text), repr(text))
        self.assertIsNone(BEGINS.search(text), text)

    def run_harmlessly(self, *arguments, status=None, **options):
        """What it prints; also tests all reports that it wrote. JSON must decode to harmless texts."""
        result = subprocess.run([PROGRAM, *arguments], cwd=self.folder.name, capture_output=True,
                                stdin=subprocess.DEVNULL, **options)
        for output in result.stdout, result.stderr:
            self.assert_harmless(output)
        for path in pathlib.Path(self.folder.name).glob("report.*"):
            self.assert_harmless(path.read_bytes())
            for line in path.read_text().splitlines() if path.suffix in (".json", ".jsonl") else ():
                self.assert_texts_are_harmless(line)
            path.unlink()
        if status is not None:
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return (result.stdout + result.stderr).decode()

    def assert_texts_are_harmless(self, line):
        for text in re.findall(r'"(?:[^"\\]|\\.)*"', line):
            self.assert_harmless(json.loads(text).encode())

    def check(self, *arguments, status=None, reports=("json", "jsonl", "xml")):
        options = {"json": "--json", "jsonl": "--json-lines", "xml": "--junit", "html": "--html"}
        written = [word for kind in reports for word in (options[kind], f"report.{kind}")]
        environment = {**os.environ, "GITHUB_STEP_SUMMARY": "report.md"}
        return self.run_harmlessly("check", *arguments, *written, status=status, env=environment)

    def subject(self, body, text=LINES):
        self.path("subject.py").write_text(SUBJECT.format(adapter=str(ADAPTER), text=text, body=body))
        return "--subject", "exec:/usr/bin/python3 subject.py"

    def test_messages_of_a_subject(self):
        for body, status in (("raise sextant_adapter.Unsupported(text)", 5), ("raise ValueError(text)", 3),
                             ("return {text: x}", 3), ("sys.stderr.write(text); sys.exit(1)", 3),
                             ("return x * 0", 1)):
            subject = self.subject(body)
            self.check(ONE_CASE, *subject, status=status, reports=("json", "jsonl", "xml", "html"))
            self.check(ONE_CASE, *subject, "--supported-only", "-v", reports=())
            if "raise" not in body:
                continue
            for command in (("ask", ONE_CASE), ("ask", ONE_CASE, "--json"), ("identify", ONE_CASE),
                            ("recipe", ONE_CASE, "--json", "report.json"), ("profile", ONE_CASE),
                            ("properties", "rms_norm", "--count", "2"),
                            ("answer", ONE_CASE, "-o", "answers.h5")):
                self.run_harmlessly(*command, *subject)

    def test_the_first_message_of_a_subject(self):
        for changed in ({"status": LINES}, {"recipe": LINES}, {"sextant": LINES}, {"name": LINES}, {LINES: LINES},
                        {"operations": json.dumps([LINES])}, {"operations": LINES}, {"id": LINES},
                        {"status": "error", "message": LINES}):
            words = {**GOOD_HELLO, **changed}
            self.path("hello.py").write_text(HELLO.format(words=words, text=LINES))
            subject = "--subject", "exec:/usr/bin/python3 hello.py"
            self.check(ONE_CASE, *subject, status=5 if "name" in changed else 3)
            self.run_harmlessly("ask", ONE_CASE, *subject)

    def test_the_command_of_a_subject(self):
        for command in f"exec:true\n{LINES}", f"lib:{LINES}", f"files:{LINES}", LINES:
            for name in "check", "ask", "identify", "recipe", "profile", "answer", "properties":
                case = () if name == "properties" else (ONE_CASE,)
                output = ("-o", "answers.h5") if name == "answer" else ()
                self.run_harmlessly(name, *case, "--subject", command, *output)
        self.subject("return x * 0")
        command = f"exec:exec /usr/bin/python3 subject.py '\n{LINES}'"
        output = self.check(ONE_CASE, "--subject", command, status=1, reports=("xml", "html"))
        repeat = re.search(r"^  repeat: sextant (.*)$", output, re.MULTILINE)[1]  # on one line, and exact
        again = subprocess.run(["bash", "-c", f'"$0" {repeat}', PROGRAM], cwd=self.folder.name,
                               capture_output=True, text=True)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn(repeat, again.stdout)
        self.run_harmlessly("profile", ONE_CASE, "--subject", command, "-o", "report.html")
        self.run_harmlessly("recipe", ONE_CASE, "--subject", command, "--json", "report.json")

    def test_names_and_texts_in_a_file_of_goldens(self):
        self.run_harmlessly("golden", ONE_CASE, "-o", "a.h5", status=0)
        other = LINES.replace("/", "").replace("\n", "\n ")
        changes = (lambda f: f.move("cases/0000", "cases/" + other),
                   lambda f: f.move("cases", other), lambda f: f.create_group("cases/0000/inputs/" + other),
                   lambda f: f.move("cases/0000/golden/y/value", "cases/0000/golden/y/" + other),
                   lambda f: f.move("cases/0000/golden/y", "cases/0000/golden/" + other),
                   lambda f: f.create_dataset("cases/0000/inputs/" + other, data=numpy.ones(2)),
                   lambda f: f["cases/0000"].attrs.__setitem__("case", LINES),
                   lambda f: f["cases/0000"].attrs.__setitem__("case", ONE_CASE + " " + LINES),
                   lambda f: f["cases/0000"].attrs.__setitem__("recipe", LINES),
                   lambda f: f["cases/0000"].attrs.__setitem__(other, LINES),
                   lambda f: f.attrs.__setitem__("sextant", LINES),
                   lambda f: f["cases/0000/inputs/x"].attrs.__setitem__("dtype", LINES))
        for change in changes:
            shutil.copy(self.path("a.h5"), self.path("b.h5"))
            with h5py.File(self.path("b.h5"), "r+") as file:
                change(file)
            for command in (("verify", "b.h5"), ("compare", "a.h5", "b.h5"), ("compare", "b.h5", "a.h5"),
                            ("check", "b.h5", "--subject", "fast"), ("ask", "b.h5", "--subject", "fast"),
                            ("judge", "rms_norm", f"x=b.h5:/cases/0000/inputs/{other}", "y=b.h5:/y")):
                self.run_harmlessly(*command)
            self.check(ONE_CASE, "--subject", "files:b.h5")
        self.run_harmlessly("verify", "b.h5", status=1)

    def test_expectations(self):
        self.subject("raise sextant_adapter.Unsupported(text)")
        quoted = json.dumps(LINES).replace("\x7f", "\\u007f").replace("\x9b", "\\u009b")
        entry = "[[expect]]\ncases = '*'\noutcome = 'unsupported'\n"
        for text in (f"{entry}reason = {quoted}\nlink = {quoted}", f"{entry}reason = 'r'\n{quoted} = 1",
                     f"{entry}reason = 'r'\ncause = {quoted}", f"[[expect]]\ncases = {quoted}\nreason = {quoted}",
                     f"{entry}reason = 'r'\nuntil = {quoted}", f"{quoted} = 1", f"reason = {LINES}", f"[{LINES}"):
            for name in "known.toml", "::error::known\nPLANTED.toml":
                self.path(name).write_text(text, newline="")
                self.check(ONE_CASE, "--subject", "exec:/usr/bin/python3 subject.py", "--expect", name)
                self.check(ONE_CASE, "--subject", "fast", "--expect", name)

    def test_lines_of_cases(self):
        for line in f"{ONE_CASE} # {CONTROLS}", f"{ONE_CASE} @x=file:{CONTROLS}", CONTROLS, f"{ONE_CASE} {CONTROLS}=1":
            self.path("a.cases").write_text(line + "\n", newline="")
            self.check("a.cases", "--subject", "defect:rms_norm/mean_subtracted")
            self.run_harmlessly("audit-suite", "a.cases", "--minimal", "--json", "report.json")
            self.run_harmlessly("golden", "a.cases", "-o", "a.npz")
            self.run_harmlessly("eval", line)
            self.run_harmlessly("check", line, "--subject", "fast", "--filter", LINES, "--recipe", LINES)
        self.assertIn("has characters that are not printable",
                      self.run_harmlessly("eval", f"{ONE_CASE} @x=file:a\u202e.npy", status=2))

    def test_names_of_files(self):
        name = "::error::a\x1b\u202e\nPLANTED"
        self.path(name + ".cases").write_text(ONE_CASE + "\n")
        self.path("config.json").write_text("{}")
        for ending in ".h5", ".npz", ".safetensors":
            for command in "golden", "inputs":
                self.run_harmlessly(command, ONE_CASE, "-o", name + ending, status=0)
        self.run_harmlessly("answer", ONE_CASE, "--subject", "fast", "-o", name + ".h5", status=0)
        self.run_harmlessly("golden", ONE_CASE, "-o", name + ".h5", status=0)
        self.run_harmlessly("verify", name + ".h5", status=0)
        self.run_harmlessly("compare", name + ".h5", name + ".h5", status=0)
        self.run_harmlessly("golden", "softmax N=1 M=2", "-o", "other.h5", status=0)
        for files in ((name + ".h5", "other.h5"), ("other.h5", name + ".h5")):
            self.run_harmlessly("compare", *files, status=1)
        for file in (name, name + ".cases", name + ".h5", name + ".npz", name + ".none"):
            for command in (("verify", file), ("compare", file, "config.json"), ("models", file),
                            ("judge", "softmax", f"x={file}", f"y={file}:{name}"),
                            ("eval", "softmax N=1 M=2", "--config", file), ("golden", ONE_CASE, "-o", file),
                            ("audit-suite", file, "--as-supported-by", file), (file,), ("list", file)):
                self.run_harmlessly(*command)
            self.check(file, "--subject", "fast")
            self.check(ONE_CASE, "--subject", f"files:{file}")
            self.run_harmlessly("check", ONE_CASE, "--subject", "fast", "--json", f"{name}/a.json", status=2)

    def test_tensors_and_configurations(self):
        header = json.dumps({LINES: {"dtype": LINES, "shape": [1], "data_offsets": [0, 4]},
                             "__metadata__": {LINES: 1}}).encode()
        self.path("a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
        numpy.savez(self.path("a.npz"), **{CONTROLS: numpy.ones(2)})
        self.path("a.npy").write_bytes(b"\x93NUMPY\x01\x00" + (200).to_bytes(2, "little") +
                                       f"{{'descr': '{CONTROLS}'}}".encode().ljust(200))
        for tensor in "a.safetensors:x", f"a.safetensors:{LINES}", "a.npz", "a.npy", f"{LINES}=a.npy":
            self.run_harmlessly("judge", "softmax", f"x={tensor}", "y=a.npy", status=2)
        for config in ({"model_type": LINES}, {LINES: 1, "model_type": "llama", "rope_scaling": {"rope_type": LINES}},
                       {"model_type": "llama", "rope_theta": LINES}, {"model_type": "llama", "layer_types": [LINES]}):
            self.path("config.json").write_text(json.dumps(config))
            for command in (("models", "config.json"), ("models", "config.json", "--json"),
                            ("eval", "rope S=2 H=1 D=4", "--config", "config.json"),
                            ("eval", "rope S=2 H=1", "--config", "config.json", "--layer", LINES)):
                self.run_harmlessly(*command)

    def test_errors_of_the_library(self):
        lists = {"x": numpy.ones((1, 2), "f4")}
        for call in (lambda: sextant.judge(LINES, lists, {}), lambda: sextant.judge(f"softmax {LINES}", lists, {}),
                     lambda: sextant.judge("softmax", {LINES: lists["x"]}, {}),
                     lambda: sextant.judge("softmax", lists, lists, recipe=LINES),
                     lambda: sextant.cases(LINES), lambda: sextant.expectations.read(LINES)):
            with self.assertRaises(sextant.InputError) as raised:
                call()
            self.assert_harmless(str(raised.exception).encode())


if __name__ == "__main__":
    unittest.main()
