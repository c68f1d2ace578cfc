"""Tests of `sextant audit-suite`.

    SEXTANT=build/sextant python3 tools/cli/audit_suite_test.py
"""

import hashlib
import json
import unittest

import numpy

from program import ONE_CASE, ProgramTest


class AuditSuite(ProgramTest):
    def test_audit_suite_reads_inputs_from_files(self):
        numpy.save(self.path("x.npy"), numpy.array([[1, 7]], "f4"))
        digest = hashlib.sha256(self.path("x.npy").read_bytes()).hexdigest()
        self.path("some.cases").write_text(f"{ONE_CASE} @x=x.npy#{digest}\n")
        self.assertEqual(self.run_it("check", "some.cases", "--subject", "fast").returncode, 0)
        result = self.run_it("audit-suite", "some.cases")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("caught   rms_norm/(one element pushed)", result.stdout)

    # Position 0 does not rotate, so only positions 1 and 2 show the direction of rotation.
    def test_audit_suite_prints_which_case_catches_which_defect(self):
        lines = [f"rope pairing=half H=2 D=8 @position={p}" for p in (0, 1, 2)]
        self.path("some.cases").write_text("".join(f"{line}  # why\n" for line in lines))
        result = self.run_it("audit-suite", "some.cases", "--minimal", "--json", "a.json")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("caught   rope/rotates_backwards  by  2 3\n", result.stdout)
        self.assertRegex(result.stdout, r"\nrope: \d of 3 cases catch all \d+ defects that are "
                                        r"caught; no smaller set does\n  case ")
        report = json.loads(self.path("a.json").read_text())
        self.assertFalse(report["passed"])
        self.assertEqual([case["number"] for case in report["cases"]], [1, 2, 3])
        by = {defect["name"]: defect["caught_by"] for defect in report["defects"]}
        self.assertEqual(by["rotates_backwards"], [2, 3])
        self.assertEqual(by["positions_of_first_batch"], [])
        missing = {defect["name"]: defect["missing"] for defect in report["defects"]}
        self.assertEqual([one["dtype"] for one in missing["rotates_backwards"]],
                         ["f64", "f16", "bf16"])
        self.assertIn("dtype=f64", missing["rotates_backwards"][0]["would_be_caught_by"])
        self.assertIn("SURVIVES rope/rotates_backwards in bf16  (", result.stdout)
        (minimal,) = report["minimal"]
        self.assertTrue(minimal["is_smallest"])
        for numbers in by.values():
            self.assertTrue(not numbers or set(numbers) & set(minimal["cases"]))

    def test_audit_suite_counts_defects_and_coverage_goals_separately(self):
        result = self.run_it("audit-suite", "softmax N=17 M=3", "--json", "a.json")
        self.assertRegex(result.stdout, r"\n\d+ of 1\d defects and 0 of 15 coverage goals caught by 1 "
                                        r"case, in every dtype that can show them; \d+ times a dtype "
                                        r"cannot show one\n$")
        goals = [defect["name"] for defect in json.loads(self.path("a.json").read_text())["defects"]
                 if defect["is_coverage_goal"]]
        self.assertIn("N>=17", goals)
        self.assertNotIn("masked_as_zero", goals)
        self.assertEqual(len(goals), 15)

    # Each operation is in one share, and the shares together have all.
    def test_shares_have_whole_operations(self):
        lines = ("rms_norm N=2 M=4", "softmax N=1 M=3", "rms_norm N=1 M=5 dtype=bf16")
        self.path("some.cases").write_text("".join(f"{line}\n" for line in lines))
        self.run_it("audit-suite", "some.cases", "--json", "all.json")
        whole = json.loads(self.path("all.json").read_text())["defects"]
        caught = lambda defect: (defect["operation"], defect["name"], len(defect["caught_by"]))
        together = []
        for share in range(1, 4):
            result = self.run_it("audit-suite", "some.cases", "--shard", f"{share}/3",
                                 "--json", "share.json")
            report = json.loads(self.path("share.json").read_text())
            self.assertEqual(report["shard"], f"{share}/3")
            self.assertEqual(result.returncode, 1 if report["defects"] else 0)
            self.assertEqual(len({defect["operation"] for defect in report["defects"]}),
                             1 if report["defects"] else 0)
            together += map(caught, report["defects"])
        self.assertEqual(sorted(together), sorted(map(caught, whole)))
        result = self.run_it("audit-suite", "some.cases", "--shard", "0/3")
        self.assertEqual(result.returncode, 2)

    # These need masked inputs, and long rows that are whole vectors.
    def test_audit_suite_suggests_masked_inputs_and_whole_vectors(self):
        result = self.run_it("audit-suite", "softmax N=2 M=3", "--suggest")
        self.assertNotIn("no case was found", result.stdout)
        self.assertRegex(result.stdout, r"\nsoftmax M=80 .*  # catches ")
        self.assertIn("@x=masked", result.stdout)

    # The suggested cases catch the surviving defects: after appending them, nothing is suggested.
    def test_audit_suite_suggests_missing_cases(self):
        path = self.path("some.cases")
        path.write_text("rms_norm N=2 M=3  # why\n")
        for _ in range(4):
            result = self.run_it("audit-suite", "some.cases", "--suggest")
            lines = [line for line in result.stdout.splitlines() if "  # catches " in line]
            if not lines:
                break
            with path.open("a") as file:
                file.writelines(line + "\n" for line in lines)
        self.assertGreater(len(path.read_text().splitlines()), 4)
        survivors = [line for line in result.stdout.splitlines() if line.startswith("SURVIVES")]
        unknown = [line for line in result.stdout.splitlines() if line.startswith("no case was")]
        self.assertEqual(len(survivors), len(unknown))

    # The f32 case alone does not catch a wrong order of rows, which needs two rows.
    def test_audit_suite_names_what_supported_cases_miss(self):
        cases = "rms_norm N=1 M=3", "rms_norm N=2 M=3", "rms_norm N=2 M=3 dtype=bf16", "softmax N=1 M=3"
        subject = "--subject", "recipe:native", "--json", "report.json"
        self.run_it("check", cases[0], *subject)
        command = "audit-suite", *cases, "--as-supported-by", "report.json", "--json", "a.json"
        result = self.run_it(*command)
        self.assertEqual(result.returncode, 1)
        self.assertIn("\nno case of softmax is supported\n", result.stdout)
        self.assertRegex(result.stdout, r"\nMISSED   rms_norm/\S+  \(.*\)\n  caught only by unsupported cases"
                                        r"  [23 ]+\n")
        self.assertRegex(result.stdout, r"\nreport\.json supports 1 of 4 cases: they miss \d+ of \d+ "
                                        r"defects and \d+ of \d+ coverage goals? that all cases catch\n$")
        report = json.loads(self.path("a.json").read_text())
        caught_by = {defect["name"]: defect["caught_by"] for defect in report["defects"]
                     if defect["operation"] == "rms_norm"}
        missed = report["as_supported_by"]["missed"]
        self.assertEqual({one["name"] for one in missed},
                         {name for name, by in caught_by.items() if by and 1 not in by})
        self.assertTrue(all(one["dtypes"] == [] for one in missed))
        # With the bf16 case supported, f32 defects of two rows are caught, but not in f32.
        self.run_it("check", cases[0], cases[2], *subject)
        self.run_it(*command)
        missed = json.loads(self.path("a.json").read_text())["as_supported_by"]["missed"]
        self.assertIn(["f32"], [one["dtypes"] for one in missed])
        self.assertTrue(all(one["caught_by"] == [2] for one in missed if one["dtypes"] == ["f32"]))

    def test_audit_suite_refuses_what_is_no_report_of_its_cases(self):
        for text, message in (("{", "is not JSON"), ("[]", "it has no list 'cases'"),
                              ('{"cases": [3]}', "a case is 3"), ('{"cases": [{"case": "x"}]}', "no text 'status'"),
                              ('{"cases": []}', "it judged none of these cases")):
            self.path("report.json").write_text(text)
            result = self.run_it("audit-suite", ONE_CASE, "--as-supported-by", "report.json")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("sextant: report.json: ", result.stderr)
            self.assertIn(message, result.stderr)
        result = self.run_it("audit-suite", ONE_CASE, "--as-supported-by", "none.json")
        self.assertIn("none.json: cannot be read", result.stderr)


if __name__ == "__main__":
    unittest.main()
