"""Tests the page of the scoreboard in a browser, with rows from reports written by hand.

  /usr/bin/python3 -B tools/frameworks/scoreboard_page_test.py
"""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
sys.dont_write_bytecode = True
from browser import Page  # noqa: E402
from scoreboard_test import case  # noqa: E402
import scoreboard  # noqa: E402

loader = importlib.machinery.SourceFileLoader("frameworks_run", str(HERE / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("frameworks_run", loader))
loader.exec_module(run)

OFF = {"got": 1.0, "exact": 1.5, "error": 2**-22}
FILTER = """
const filter = document.getElementById("filter");
filter.text.value = "%s";
filter.%s.value = "%s";
filter.dispatchEvent(new Event("input"));
"""


def rows():
    """Two frameworks: one conforms, the other fails as known, unexpectedly, and not at all."""
    def of(framework, operation, *cases):
        return scoreboard.rows(framework, "1", operation, "native", {"native": {"cases": [*cases]}})

    known = case("rope D=2 dtype=f32", "fails", "fails", OFF, "adds in <f16>")
    known["causes"] = [{"name": "base_wrong"}]
    return [*of("good", "rope", case("rope D=2 dtype=f32", grade="faithful", worst=OFF)),
            *of("bad", "rope", known, case("rope D=4 dtype=f32"),
                case("rope D=6 dtype=f32", "could_not_run", None, reason="refused")),
            *of("bad", "softmax", case("softmax M=2 dtype=f16", "fails", "fails"),
                case("softmax M=2 dtype=bf16"))]  # fmt: skip


class ScoreboardPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name, "scoreboard.html")
        cls.rows = rows()
        run.write_page(cls.path, cls.rows, {"good": "good 1.0", "bad": "bad 2.0"})

    def test_shows_the_numbers_of_the_report(self):
        page = Page(self.path)
        page.assert_stands_alone(self)
        self.assertEqual(json.loads(page.report),
                         {"frameworks": {"good": "good 1.0", "bad": "bad 2.0"}, "rows": self.rows})
        shown = [row for row in page.tables["row"] if row[0] != "conforming cases"]
        for row, report in zip(shown, self.rows, strict=True):
            all_, not_run = report["cases"], report["not_run"]
            share = "" if report["conforming"] == all_ else f"{report['conforming']} of "
            self.assertEqual(row[0], f"{share}{all_}" + (f", {not_run} not run" if not_run else ""))
            self.assertEqual(row[1:5], [str(report["unsupported"]), report["grade"],
                                        f"{report['ulps']:.3g} ulp", report["claim"]])  # fmt: skip
            self.assertEqual(row[5], ", ".join(report["conforms_to"]).replace(", ", ",") or "none")

    def test_the_overview_has_every_framework_and_operation(self):
        overview = Page(self.path).tables["overview"]
        self.assertEqual(overview[0], ["operation", "good", "bad"])
        self.assertEqual(overview[1], ["rope", "✓ f32: 1", "✗ f32: 1 of 2, 1 not run"])
        self.assertEqual(overview[2], ["softmax", "", "✗ f16: 0 of 1✓ bf16: 1"])

    def test_names_reasons_and_causes(self):
        page = Page(self.path)
        for text in ("adds in &lt;f16&gt;", "base_wrong", "fails as known", "fails unexpectedly",
                     "tools/frameworks/run bad --case 'rope D=6 dtype=f32'"):  # fmt: skip
            self.assertIn(text, page.text)

    def test_filters_rows(self):
        for text, select, value, hidden in (("", "framework", "bad", 1), ("", "outcome", "conforms", 2),
                                            ("REFUSED rope", "outcome", "", 3),
                                            ("softmax", "outcome", "fails unexpectedly", 3)):
            with self.subTest(text=text, value=value):
                page = Page(self.path, FILTER % (text, select, value))
                self.assertEqual(page.hidden, hidden)
                self.assertIn(f">{4 - hidden} rows</output>", page.text)


if __name__ == "__main__":
    unittest.main()
