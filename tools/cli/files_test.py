"""Tests of the files that the program reads and writes.

    SEXTANT=build/sextant python3 tools/cli/files_test.py
"""

import json
import os
import resource
import signal
import subprocess
import time
import unittest

import h5py

from program import ONE_CASE, PROGRAM, ProgramTest


class Files(ProgramTest):
    def test_file_names_may_contain_spaces(self):
        self.path("my cases").write_text(f"{ONE_CASE}\n")
        self.assertEqual(self.run_it("check", "my cases", "--subject", "fast").returncode, 0)
        for name in "your cases.cases", "your answers.h5", "a folder/your questions":
            result = self.run_it("check", name, "--subject", "fast")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, f"{name}.*(there is no such file|does not exist)")
        result = self.run_it("check", "rms_norm N=1 @x=a/b.npy#0", "--subject", "fast")
        self.assertNotIn("a/b.npy#0: ", result.stderr)  # a case line, which lacks M

    def test_unwritable_standard_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            for command in (("list",), ("--help",), ("check", "--help"), ("--version",),
                            ("check", ONE_CASE, "--subject", "fast")):
                result = subprocess.run([PROGRAM, *command], stdout=full, stderr=subprocess.PIPE,
                                        text=True)
                self.assertEqual((result.returncode, result.stderr),
                                 (2, "sextant: standard output cannot be written: "
                                     "No space left on device\n"))

    # The report is complete although nobody reads the text.
    def test_a_closed_pipe_ends_quietly(self):
        read, write = os.pipe()
        os.close(read)
        defect = "--subject", "defect:rms_norm/mean_subtracted"
        for command in (("list",), ("completion", "bash"),
                        ("check", ONE_CASE, "--subject", "fast", "--json-lines", "-"),
                        ("check", ONE_CASE, "rms_norm N=2 M=2", *defect, "--json", "a")):
            result = subprocess.run([PROGRAM, *command], stdout=write, stderr=subprocess.PIPE,
                                    text=True, cwd=self.folder.name)
            self.assertEqual((result.returncode, result.stderr), (141, ""))
        os.close(write)
        self.assertEqual(self.files(), ["a"])
        self.assertEqual(len(json.loads(self.path("a").read_text())["cases"]), 2)

    def test_a_signal_ends_the_program_and_leaves_no_partial_file(self):
        large = "linear N=256 M=4096 F=256 dtype=f64"  # about 10 s
        for command in (("golden", large, "-o"), ("eval", *large.split(), "-o"),
                        ("check", ONE_CASE, "--subject", "exec:sleep 100", "--json")):
            for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
                with subprocess.Popen([PROGRAM, *command, "a"], cwd=self.folder.name) as program:
                    while not self.files():
                        time.sleep(0.01)
                    program.send_signal(number)
                self.assertEqual((program.returncode, self.files()), (-number, []))

    def test_a_signal_that_the_caller_ignores_stays_ignored(self):
        command = [PROGRAM, "check", ONE_CASE, "--subject", "exec:sleep 1", "--json", "a"]
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, preexec_fn=ignore) as program:
            while not self.files():
                time.sleep(0.01)
            program.send_signal(signal.SIGHUP)
        self.assertEqual(program.returncode, 3)

    # With a limit of 8 KiB a later write fails, with a limit of 0 the first one.
    def test_a_file_size_limit_gives_one_error_and_leaves_no_file(self):
        large = "rms_norm N=64 M=64"
        for size in 0, 8192:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            for command in (("golden", large, "-o", "a"), ("inputs", large, "-o", "a"),
                            ("eval", *large.split(), "-o", "a"),
                            ("check", *(f"{large} seed={i}" for i in range(20)), "--subject", "fast",
                             "--json", "a"),
                            ("check", *(f"{large} seed={i}" for i in range(20)), "--subject",
                             "defect:rms_norm/mean_subtracted", "--junit", "a")):
                result = self.run_it(*command, preexec_fn=limit)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"^sextant: a\b.*File too large")
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertEqual(self.files(), [])

    def test_targets_of_symbolic_links_are_replaced(self):
        for name, *command in (
            ("a.h5", "golden", ONE_CASE, "-o"),
            ("a.json", "check", ONE_CASE, "--subject", "fast", "--json"),
            ("a.xml", "check", ONE_CASE, "--subject", "fast", "--junit"),
        ):
            self.path(name).write_text("old")
            self.path("link").symlink_to(name)
            self.assertEqual(self.run_it(*command, "link").returncode, 0)
            self.assertEqual(os.readlink(self.path("link")), name)
            self.assertNotEqual(self.path(name).read_bytes(), b"old")
            self.path("link").unlink()

    # Pipes represent all special files here: a faulty program could replace a real device.
    def test_pipes_are_not_replaced(self):
        os.mkfifo(self.path("pipe"))
        self.path("link").symlink_to("pipe")
        for command in (("golden", ONE_CASE, "-o"), ("eval", *ONE_CASE.split(), "-o"),
                        ("check", ONE_CASE, "--subject", "fast", "--json")):
            for name in ("pipe", "link"):
                result = self.run_it(*command, name)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"sextant: {name}: is not a regular file", result.stderr)
                self.assertTrue(self.path("pipe").is_fifo())
                self.assertTrue(self.path("link").is_symlink())

    # The error comes before the work: no missing input is read and no subject is started.
    def test_unwritable_files_are_an_error_before_the_work(self):
        missing = ONE_CASE + " @x=missing.npy#" + 64 * "0"
        mark = ("--subject", "exec:touch mark")
        for command in (("eval", *missing.split(), "-o"), ("golden", missing, "-o"),
                        ("inputs", missing, "-o"), ("audit-suite", missing, "--json"),
                        ("check", ONE_CASE, *mark, "--json"), ("check", ONE_CASE, *mark, "--junit")):
            result = self.run_it(*command, "nowhere/a")
            self.assertEqual(result.returncode, 2)
            self.assertIn("sextant: nowhere/a: cannot be written", result.stderr)
        result = self.run_it("check", ONE_CASE, *mark, "--json", "a", "--junit", "a")
        self.assertEqual(result.stderr, "sextant: --json and --junit both name a, expected two files\n")
        self.assertEqual(self.files(), [])
        result = self.run_it("check", ONE_CASE, *mark, "--json", "./a", "--junit", "a")
        self.assertIn("--json and --junit both name a,", result.stderr)

    def test_an_input_is_not_replaced_by_the_output(self):
        cases = self.path("a")
        cases.write_text(ONE_CASE + "\n")
        for command in ("golden", "inputs"):
            result = self.run_it(command, "a", "-o", "./a")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("./a would replace its own input: expected another name", result.stderr)
            self.assertEqual(cases.read_text(), ONE_CASE + "\n")

    def test_a_limit_is_a_number(self):
        result = self.run_it("check", ONE_CASE, "--subject", "fast", "--timeout", "nan")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--timeout: expected a number", result.stderr)

    def test_empty_file_names_are_refused(self):
        for option, *command in (("-o", "eval", *ONE_CASE.split()), ("-o", "golden", ONE_CASE),
                                 ("-o", "inputs", ONE_CASE), ("--json", "audit-suite", ONE_CASE),
                                 ("--json", "check", ONE_CASE, "--subject", "fast"),
                                 ("--junit", "check", ONE_CASE, "--subject", "fast"),
                                 ("--config", "eval", *ONE_CASE.split())):
            result = self.run_it(*command, option, "")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("expected the name of a file", result.stderr)

    def test_cases_may_come_from_pipes_and_have_a_byte_order_mark(self):
        command = [PROGRAM, "check", "/dev/stdin", "--subject", "fast"]
        for text in (f"{ONE_CASE}\n", f"\ufeff{ONE_CASE}\r\n"):
            result = subprocess.run(command, input=text.encode(), capture_output=True)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertIn(b" 1 case: ", result.stdout)
        result = self.run_it("check", "", "--subject", "fast")
        self.assertEqual((result.returncode, result.stderr), (2, "sextant: an empty line is no case\n"))

    # A pipe that a shell makes has somebody at its other end.
    def test_pipes_without_another_end_are_an_error(self):
        os.mkfifo(self.path("pipe"))
        self.path("a.cases").write_text(f"{ONE_CASE}\n")
        for command in (("check", "pipe", "--subject", "fast"),
                        ("check", "a.cases", "--subject", "fast", "--expect", "pipe"),
                        ("audit-suite", "a.cases", "--as-supported-by", "pipe"),
                        ("merge", "pipe")):
            result = self.run_it(*command)
            self.assertEqual(result.returncode, 2)
            self.assertIn("pipe: nobody writes into this pipe, expected", result.stderr)
        result = self.run_it("check", "a.cases", "--subject", "fast", "--json-lines", "pipe")
        self.assertEqual(result.returncode, 2)
        self.assertIn("pipe cannot be written: nobody reads this pipe", result.stderr)
        shell = f"'{PROGRAM}' check <(echo {ONE_CASE}) --subject fast --json-lines >(cat)"
        result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn('"type":"summary"', result.stdout.replace(" ", ""))
        result = self.run_it("audit-suite", "a.cases", "--as-supported-by", "/dev/zero")
        self.assertIn("/dev/zero: is longer than 1024 MiB", result.stderr)

    def test_replaced_files_keep_their_permissions(self):
        report = self.path("report.json")
        report.touch()
        report.chmod(0o640)
        command = "check", ONE_CASE, "--subject", "fast", "--json", "report.json"
        self.assertEqual(self.run_it(*command).returncode, 0)
        self.assertEqual(report.stat().st_mode & 0o777, 0o640)
        text = report.read_bytes()
        report.chmod(0o444)
        result = self.run_it(*command)
        self.assertEqual(result.returncode, 2)
        self.assertIn("report.json: is read-only: it is not replaced", result.stderr)
        self.assertEqual(report.read_bytes(), text)

    def test_a_limit_of_processor_time_ends_with_a_message_and_without_a_file(self):
        line = "attention H=8 S=2048 T=2048 D=64"
        shell = f"ulimit -t 2; '{PROGRAM}' golden '{line}' -o big.h5 -j 1"
        result = subprocess.run(["bash", "-c", shell], cwd=self.folder.name, capture_output=True,
                                text=True)
        self.assertIn("the limit of processor time (ulimit -t) is reached", result.stderr)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(self.files(), [])

    def test_case_lines_are_text_and_repeated_ones_are_counted(self):
        self.path("a.cases").write_bytes(b"\n" + ONE_CASE.encode() + b"  # caf\xe9\n")
        result = self.run_it("check", "a.cases", "--subject", "fast")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"a.cases:2: byte \d+ is no printable character of UTF-8")
        self.path("a.cases").write_text(f"{ONE_CASE}\n" * 4)
        result = self.run_it("check", "a.cases", "--subject", "fast")
        self.assertEqual(result.returncode, 0)
        self.assertIn("3 case lines repeat a case before and count once", result.stderr)

    # Neither a module of the user nor a folder for temporary files takes part in pages.
    def test_pages_are_written_whatever_the_environment_is(self):
        self.path("json.py").write_text("raise SystemExit('a module of the user')")
        environment = dict(os.environ, PYTHONPATH=".", TMPDIR="/nowhere")
        command = [PROGRAM, "check", ONE_CASE, "--subject", "fast", "--html", "page.html"]
        result = subprocess.run(command, cwd=self.folder.name, env=environment,
                                capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("<html", self.path("page.html").read_text())

    def test_case_files_without_end_are_refused(self):
        result = self.run_it("check", "/dev/zero", "--subject", "fast")
        self.assertEqual((result.returncode, result.stderr), (2, "sextant: /dev/zero: is longer than "
                                                                 "64 MiB, expected a file of case lines\n"))
        with subprocess.Popen(["yes", ONE_CASE], stdout=subprocess.PIPE) as lines:
            result = subprocess.run([PROGRAM, "check", "/dev/stdin", "--subject", "fast"],
                                    stdin=lines.stdout, capture_output=True, text=True)
            lines.stdout.close()
        self.assertEqual(result.returncode, 2)
        self.assertIn("sextant: /dev/stdin: is longer than 64 MiB", result.stderr)

    def test_nul_bytes_in_case_files_are_refused(self):
        self.path("a.cases").write_bytes(f"{ONE_CASE}\nrms_norm\0 N=1\n".encode())
        result = self.run_it("check", "a.cases", "--subject", "fast")
        self.assertEqual((result.returncode, result.stderr),
                         (2, "sextant: a.cases:2: byte 9 is NUL (\\0), expected text in UTF-8\n"))

    # Text from files is printed without control characters.
    def test_escape_sequences_are_not_printed(self):
        result = self.run_it("check", "rms_norm \x1b[2J=1", "--subject", "fast")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the word '?[2J=1' of a case has", result.stderr)
        with h5py.File(self.path("a.h5"), "w") as file:
            file["cases/\x1b[2J"] = 1
            file["cases/0/inputs/\x1b[2J"] = 1
            file["cases/0"].attrs["case"] = "\x1b[2J"
        with h5py.File(self.path("b.h5"), "w") as file:
            file["cases/\x1b[2J"] = 2
        for command in ("verify", "a.h5"), ("compare", "a.h5", "b.h5"), ("compare", "b.h5", "a.h5"):
            result = self.run_it(*command)
            self.assertEqual(result.returncode, 1)
            self.assertIn("?[2J", result.stdout)
            self.assertNotIn("\x1b", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
