"""Reads HTML pages of the program as the browser Chromium shows them."""

import html.parser
import os
import pathlib
import re
import signal
import subprocess
import tempfile


def shown_by_chromium(page, folder):
    """The page's text after its scripts ran. Chromium hangs now and then when it starts: a second one is
    asked then."""
    for attempt in ("first", "second"):
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={folder}/{attempt}", "--dump-dom", f"file://{page}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as chromium:
            try:
                text, errors = chromium.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(chromium.pid, signal.SIGKILL)  # its renderers hold its pipes open
                continue
            if chromium.returncode != 0:
                raise RuntimeError(f"Chromium cannot show {page}: {errors}")
            return text
    raise RuntimeError(f"Chromium did not show {page} within 60 s, twice")


class Page(html.parser.HTMLParser):
    """A page as Chromium shows it: its ids, the labels of its pictures, its tables as lists of rows,
    its report in JSON, and the addresses in it. `script` runs in the page before it is read."""

    def __init__(self, path, script=""):
        super().__init__()
        with tempfile.TemporaryDirectory() as folder:
            shown = pathlib.Path(folder) / "page.html"
            shown.write_text(path.read_text().replace("</body>", f"<script>{script}</script></body>"))
            self.text = shown_by_chromium(shown, folder)
        self.ids, self.labels, self.tables, self.links = [], [], {}, []
        self.report, self.table, self.in_report = "", None, False
        self.hidden = 0
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.append(given.get("id"))
        self.links += [given[key] for key in ("src", "href", "xlink:href") if key in given]
        if tag == "svg":
            self.labels.append(given.get("aria-label"))
        if tag == "table":
            self.table = self.tables.setdefault(given.get("id") or given.get("class"), [])
        if tag == "tr" and self.table is not None:
            self.table.append([])
        if tag in ("td", "th") and self.table:
            self.table[-1].append("")
        self.in_report = tag == "script" and given.get("id") == "data"
        self.hidden += "hidden" in given

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = None
        if tag == "script":
            self.in_report = False

    def handle_data(self, text):
        if self.in_report:
            self.report += text
        elif self.table and self.table[-1]:
            self.table[-1][-1] += text.strip()

    def assert_stands_alone(self, test):
        """No address leads out of the page, and no two elements have the same id."""
        for link in self.links:
            test.assertRegex(link, r"^(#|data:image/png;base64,)")
        test.assertFalse(re.search(r"url\((?!#)", self.text))
        ids = [own for own in self.ids if own is not None]
        test.assertEqual(len(ids), len(set(ids)))
