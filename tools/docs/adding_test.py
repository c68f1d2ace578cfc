"""Tests that the lists of reference/ADDING.md and the table of steps in RECIPES.md are correct.

    python3 tools/docs/adding_test.py
"""

import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "reference/ADDING.md").read_text()
RECIPES_PAGE = (ROOT / "reference/RECIPES.md").read_text()
RECIPES = ("native", "f32_compute", "exact_table")


def line_of_16_bits(recipe):
    """The line of a standard recipe for f16 and bf16, the second of its row in recipe.cc."""
    text = (ROOT / "reference/number/recipe/recipe.cc").read_text()
    row = re.search(rf'{{"{recipe}",((?:\s*"[^"]*")+),((?:\s*"[^"]*")+),', text)
    return "".join(re.findall(r'"([^"]*)"', row[2]))


def steps():
    text = (ROOT / "reference/number/recipe/recipe.h").read_text()
    return re.findall(r'"(\w+)"', re.search(r"kStepNames = {(.*?)};", text, re.S)[1])


class Adding(unittest.TestCase):
    def test_table_of_steps_matches_the_recipes(self):
        rules = [dict(word.split("=") for word in line_of_16_bits(r).split()) for r in RECIPES]
        expected = [[step, *(rule.get(step, rule["*"]) for rule in rules)] for step in steps()]
        table = re.search(r"\| step \| native \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", RECIPES_PAGE)[1]
        listed = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
        self.assertEqual(listed, expected)

    def test_examples_exist_in_every_room(self):
        rows = re.search(r"## The shortest examples\n\n.*\n.*\n((?:\|.*\n)+)", PAGE)[1]
        for row in rows.splitlines():
            for room, name in zip(("reference", "fast", "oracle"), re.findall(r"`(\w+/\w+)`", row)):
                self.assertTrue((ROOT / room / f"{name}.cc").exists(), f"{room}/{name}")

    def test_every_list_of_element_types_is_checked(self):
        section = PAGE[PAGE.index("## An element type") :]
        files = re.findall(r"^\d\. `([^`]+)`", section, re.M)
        self.assertEqual(len(files), 4)
        files += ["reference/number/tensor/dtype_codes_test.cc", "tools/c/sextant_subject_hpp_test.cc",
                  "reference/layer/cast.h", "fixtures/cases/cast.cases", "reference/CASES.md",
                  "oracle/subject/PROTOCOL.md"]
        others = ["fixtures/cases/dequantize.cases"]  # which has the types of codes alone
        script = ROOT / ".ci/check-rooms"
        for changed in files:
            with tempfile.TemporaryDirectory() as folder:
                for file in files + others:
                    text = (ROOT / file).read_text()
                    if file == changed:
                        text = re.sub(r"\bf8_e5m2\b|DType::kF8E5M2\b|using F8E5M2 ", "", text)
                    copy = pathlib.Path(folder) / file
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text(text)
                rooms = {"__file__": str(script), "__name__": "rooms"}
                exec(compile(script.read_text(), script, "exec"), rooms)
                rooms["ROOT"] = pathlib.Path(folder)
                rooms["check_element_types"]()
            self.assertEqual(len(rooms["breaches"]), 1, (changed, rooms["breaches"]))

    def test_helpers_are_declared(self):
        headers = "".join(path.read_text() for path in (ROOT / "oracle").rglob("*.h"))
        headers += (ROOT / "reference/case/case.h").read_text()
        section = PAGE[PAGE.index("## Helpers") :]
        for name in set(re.findall(r"`(?:\w+\.)?([A-Z]\w+)", section)):
            self.assertRegex(headers, rf"\b{name}\b")


if __name__ == "__main__":
    unittest.main()
