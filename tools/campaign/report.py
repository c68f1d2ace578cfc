"""The tables of a campaign."""

from collections import Counter, defaultdict

OUTCOMES = ("rightly", "half", "wrongly", "vaguely", "silent", "not caught", "no report")


def outcome(cases):
    """Of one deviation over its cases: each has `status`, `found`, `parts`, `wrong`."""
    failed = [c for c in cases if c["status"] == "fails"]
    if any(c["status"] in ("timeout", "crash", "could_not_run") for c in cases):
        return "no report"
    if not failed:
        return "not caught"
    if any(c["wrong"] for c in failed):
        return "wrongly"
    best = max(c["found"] for c in failed)
    if best == 0:
        return "vaguely" if any(c["vague"] for c in failed) else "silent"
    return "rightly" if best == failed[0]["parts"] else "half"


def table(title, rows, key):
    """A Markdown table of the outcomes of `rows`, grouped by key(row)."""
    groups = defaultdict(Counter)
    for row in rows:
        groups[key(row)][row["outcome"]] += 1
        groups["all"][row["outcome"]] += 1
    head = ["", "deviations", *OUTCOMES, "rightly, of the caught"]
    lines = [f"## {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in sorted(groups, key=lambda n: (n == "all", n)):
        count = groups[name]
        total, caught = sum(count.values()), sum(count[o] for o in OUTCOMES[:5])
        share = f"{100 * count['rightly'] / caught:.0f} %" if caught else ""
        cells = [name, total, *(count[o] for o in OUTCOMES), share]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def sentences(rows):
    """The share of wrong sentences among all that were said."""
    said = sum(c["right"] + c["vague"] + len(c["wrong"]) for r in rows for c in r["cases"].values())
    wrong = sum(len(c["wrong"]) for r in rows for c in r["cases"].values())
    share = f" ({100 * wrong / said:.1f} %)" if said else ""
    return f"{wrong} of {said} sentences are wrong{share}"


def held_out_counts(rows):
    """{operation: {outcome: number}} of the held-out half."""
    counts = defaultdict(Counter)
    for row in rows:
        if row["held_out"]:
            counts[row["name"].split("/")[0]][row["outcome"]] += 1
    return counts


def honest_table(rows):
    count = Counter(row["outcome"] for row in rows)
    lines = ["## Honest recipes", "", "| recipes | conform | fail, without a cause | accused |",
             "|---|---|---|---|",
             f"| {len(rows)} | {count['conforms']} | {count['fails']} | {count['accused']} |"]
    return "\n".join(lines) + "\n"


def markdown(rows, honest):
    parts = []
    for held, name in ((False, "seen half"), (True, "held-out half")):
        half = [r for r in rows if r["held_out"] == held]
        for double, what in ((False, "Single"), (True, "Double")):
            some = [r for r in half if r["double"] == double]
            if some:
                parts.append(table(f"{what} deviations, {name}", some, lambda r: r["family"]))
                parts.append(table(f"{what} deviations, {name}: in a list or not", some,
                                   lambda r: "listed" if r["listed"] else "unlisted"))
        if half:
            parts.append(f"{name}: {sentences(half)}\n")
    if honest:
        parts.append(honest_table(honest))
    return "\n".join(parts)
