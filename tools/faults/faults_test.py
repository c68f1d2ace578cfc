"""Tests the injection of faults: with programs that write wrongly, each of which must be reported, and with
some places of sextant.

    SEXTANT=build/sextant python3 tools/faults/faults_test.py
"""

import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import trial
from commands import Command

HERE = pathlib.Path(__file__).resolve().parent
WRITES_RIGHTLY = """
import os, subprocess, sys, time
try:
    with open("a.tmp", "wb") as file:
        file.write(b"a" * 20000)
    os.rename("a.tmp", "a")
except OSError as error:
    if os.path.exists("a.tmp"): os.unlink("a.tmp")
    sys.exit(f"a: {error.strerror}")
"""
# What is changed in it; a fault, and a call that has it; and what must be said.
RENAMES, REMOVES = 'os.rename("a.tmp", "a")', 'if os.path.exists("a.tmp"): os.unlink("a.tmp")'
EXITS = 'sys.exit(f"a: {error.strerror}")'
WRONG = (
    ('open("a.tmp", "wb")', 'open("a", "wb")', "KILL", "write", "a has 0 bytes, neither"),
    ('open("a.tmp", "wb")', 'open("a", "wb", 0)', "SHORT", "write", "but not the right files: a"),
    (EXITS, "pass", "ENOSPC", "rename", "but not the right files"),
    (REMOVES, "pass", "EIO", "write", "leaves a.tmp"),
    (EXITS, "sys.exit(1)", "ENOSPC", "write", "status 1 and 0 errors"),
    (EXITS, 'sys.exit("a: is bad\\na: is bad")', "ENOSPC", "write", "status 1 and 2 errors"),
    (EXITS, "sys.exit(error.strerror)", "ENOSPC", "write", "the error does not name a: No space"),
    (EXITS, 'sys.exit("a: is bad")', "ENOSPC", "write", "does not say 'No space left on device': a: is bad"),
    (EXITS, "time.sleep(60)", "EIO", "rename", "hangs"),
    (EXITS, "os.abort()", "EIO", "rename", "ended by 6"),
    (EXITS, 'subprocess.Popen("sleep 60", shell=True); ' + EXITS, "EIO", "close", "leaves a child: s"),
    (RENAMES, "try: " + RENAMES + "\n    except OSError: pass", "EIO", "rename", "leaves a.tmp"),
    ('"wb"', '"xb"', "KILL", "write", "the next run ends with 1"),
)


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.injector = trial.Injector()
        cls.addClassCleanup(cls.injector.folder.cleanup)

    def trial_of(self, text, before={"a": b"older"}, **options):
        command = Command("test", (sys.executable, "-IBSc", text), **options)
        return trial.Trial(self.injector, command, before)

    def test_a_program_that_writes_rightly_passes_at_every_place(self):
        of_right = self.trial_of(WRITES_RIGHTLY)
        self.assertEqual([call.name for call in of_right.right.calls],
                         ["openat", "write", "close", "rename"])  # fmt: skip
        for place in of_right.places():
            self.assertEqual(of_right.attempt(*place)[1], [], place)

    def test_each_wrong_program_is_reported(self):
        for old, new, fault, name, said in WRONG:
            with self.subTest(new=new):
                self.assertIn(old, WRITES_RIGHTLY)
                of_wrong = self.trial_of(WRITES_RIGHTLY.replace(old, new, 1))
                number = 1 + [call.name for call in of_wrong.right.calls].index(name)
                with unittest.mock.patch.object(trial, "SECONDS", 2 if said == "hangs" else 60):
                    self.assertIn(said, "\n".join(of_wrong.attempt(fault, number)[1]))

    def test_a_second_try_to_write_is_reported_and_finds_a_full_disk_full(self):
        line = 'file.write(b"a" * 20000)'
        once = line.replace("file.write(", "os.write(file.fileno(), ")
        of_retry = self.trial_of(
            WRITES_RIGHTLY.replace(line, f"try: {once}\n        except OSError: {once}"))  # fmt: skip
        number = 1 + [call.name for call in of_retry.right.calls].index("write")
        self.assertEqual(of_retry.attempt("ENOSPC", number),
                         ("right", ["write of a.tmp: status 0 as if nothing had failed"]))  # fmt: skip
        self.assertEqual(of_retry.attempt("FULL", number), ("refused", []))

    def test_an_index_without_its_files_is_reported(self):
        text = 'open("index", "w").close()\nopen("a", "w").close()'
        wrong = self.trial_of(text, before={}, last=("index",)).attempt("KILL", 3)[1]
        self.assertEqual(wrong, ["openat of a: index is there without a"])

    def test_places_of_sextant(self):
        command = [HERE / "faults", "--only", "golden .", "--only", "check reports", "--places", "24"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main()
