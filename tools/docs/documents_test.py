"""Tests the form of every document: its links and files exist, its lines and cells are short, and the
README of a room is one page.

    python3 tools/docs/documents_test.py
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("reference", "fast", "fixtures", "oracle", "tools")
DOCUMENTS = [ROOT / "README.md", *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.md"))]
WIDTH = 110  # of a line, except in code and tables
CELL = 200  # characters
PAGE = 70  # lines


def prose(document):
    """(number, line) of the lines that are not code."""
    fenced = False
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(document):
    """The names of the headings, as GitHub makes them."""
    headings = [line.lstrip("#").strip() for _, line in prose(document) if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lines():
    """(document, line, its place for messages) of all documents."""
    for document in DOCUMENTS:
        for number, line in prose(document):
            yield document, line, f"{document.relative_to(ROOT)}:{number}"


class Documents(unittest.TestCase):
    def test_links_exist(self):
        for document, line, place in lines():
            for link in re.findall(r"\]\(([^)]+)\)", line):
                if link.startswith("http"):
                    continue
                path, _, anchor = link.partition("#")
                target = document.parent / path if path else document
                self.assertTrue(target.exists(), f"{place}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(target), f"{place}: {link}")

    def test_files_exist(self):
        """Paths from the root of the project, except those of the example in ADDING.md."""
        for _, line, place in lines():
            for path in re.findall(rf"`((?:{'|'.join(ROOMS)}|\.ci)/[\w/.-]+)`", line):
                if "scaled_sum" not in path:
                    self.assertTrue((ROOT / path).exists(), f"{place}: {path}")

    def test_lines_and_cells_are_short(self):
        for _, line, place in lines():
            if line.startswith("|"):
                for cell in re.split(r"(?<!\\)\|", line):
                    self.assertLessEqual(len(cell.strip()), CELL, f"{place}: {cell}")
            elif "](http" not in line:  # an address cannot be wrapped
                self.assertLessEqual(len(line), WIDTH, place)

    def test_the_readme_of_a_room_is_one_page(self):
        for room in ROOMS:
            text = (ROOT / room / "README.md").read_text()
            self.assertLessEqual(text.count("\n"), PAGE, room)


if __name__ == "__main__":
    unittest.main()
