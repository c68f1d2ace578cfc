"""Pictures as SVG texts for a page. Colours are the variables of its style sheet, so that they follow
a light or dark scheme; styles of lines and hatches tell series apart without colour."""

import io
import math
import re

import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  after the choice of the backend

# Colours that no picture uses otherwise, and the variables that replace them.
INK, GRID, PAPER = "#010203", "#040506", "#070809"
SERIES = ["#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005", "#0a0006"]
VARIABLES = {INK: "--ink", GRID: "--grid", PAPER: "--paper",
             **{color: f"--series-{i}" for i, color in enumerate(SERIES)}}
DASHES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3))]
MARKERS = ["o", "s", "^", "D", "v", "x"]
HATCHES = ["", "///", "...", "xxx", "\\\\\\", "ooo"]
LEAST_ULPS = 2.0 ** -10  # smaller errors are drawn there: a logarithm has no zero

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "sextant", "font.family": "sans-serif", "font.size": 10,
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
    "ytick.color": INK, "grid.color": GRID, "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "axes.grid": True, "legend.frameon": False,
    "hatch.color": PAPER, "axes.spines.top": False, "axes.spines.right": False})


def number(value):
    """The number of a JSON report, in which infinities and NaN are texts."""
    return float(value)


def drawn(figure, title):
    """The SVG text of a figure, with the title for those who cannot see it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = out.getvalue()
    text = text[text.index("<svg"):]
    for color, variable in VARIABLES.items():
        text = text.replace(color, f"var({variable})")
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
                  rf'<svg role="img" aria-label="{title}" viewBox="\1" '
                  'xmlns:xlink="http://www.w3.org/1999/xlink">', text, count=1)
    prefix = re.sub(r"\W+", "-", title)  # ids are unique on the page
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", text)
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)


def axes(width=8.0, height=3.6):
    return plt.subplots(figsize=(width, height))


def legend_above(ax):
    ax.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def is_logarithmic(keys):
    positive = [key for key in keys if key > 0]
    return len(positive) > 8 and min(keys) >= 0 and max(positive) / min(positive) > 64


def pair_band(ax, report, color):
    """The band between the best and the worst pair at each key; names the worst of all."""
    rows, columns = report["map"]["rows"], report["map"]["columns"]
    known = [[number(x) for x in row if number(x) >= 0] for row in report["map"]["largest"]]
    ax.fill_between(rows, [max(min(row), LEAST_ULPS) for row in known],
                    [max(max(row), LEAST_ULPS) for row in known], color=color, alpha=0.2,
                    linewidth=0, label="largest of each pair, " + report["subject"])
    top = max(range(len(rows)), key=lambda i: max(known[i]))
    pair = columns[[number(x) for x in report["map"]["largest"][top]].index(max(known[top]))]
    ax.annotate(f"worst pair {pair:g} at {rows[top]:g}", (rows[top], max(known[top])),
                xytext=(-8, 8), textcoords="offset points", ha="right",
                arrowprops={"arrowstyle": "-", "color": INK})


def error_over_key(data):
    figure, ax = axes()
    keys = [number(group["key"]) for report in data["subjects"] for group in report["groups"]]
    keys = [key for key in keys if math.isfinite(key)]
    largest = [number(report["errors"]["ulps"]["largest"]) for report in data["subjects"]]
    for i, report in enumerate(data["subjects"]):
        if report["map"] and largest[i] == max(largest):
            pair_band(ax, report, SERIES[i % len(SERIES)])
        for name, label, width in (("p99", "99 %", 1.6), ("median", "median", 0.9)):
            points = [(number(g["key"]), max(number(g["errors"]["ulps"][name]), LEAST_ULPS))
                      for g in report["groups"] if math.isfinite(number(g["key"]))]
            ax.plot(*zip(*points), linestyle=DASHES[i % len(DASHES)], color=SERIES[i % len(SERIES)],
                    marker=MARKERS[i % len(MARKERS)] if name == "p99" else None, markersize=3,
                    markevery=max(1, len(points) // 24), linewidth=width,
                    label=f"{label}, {report['subject']}")
    ax.set_yscale("log", base=2)
    if is_logarithmic(keys):
        ax.set_xscale("symlog" if min(keys) <= 0 else "log")
    ax.set_xlabel(data["subjects"][0]["axis"])
    ax.set_ylabel("error in ulps of the output")
    legend_above(ax)
    return drawn(figure, "error over " + data["subjects"][0]["axis"])


def logarithms(report):
    return [[math.log2(max(number(x), LEAST_ULPS)) if number(x) >= 0 else math.nan for x in row]
            for row in report["map"]["largest"]]


def error_map(report, all_reports):
    """Rows of keys, columns of pairs: brightness grows with the error, on one scale for all."""
    table = report["map"]
    figure, ax = axes(height=4.2)
    every = [x for other in all_reports if other["map"] for row in logarithms(other) for x in row
             if not math.isnan(x)]
    image = ax.imshow(logarithms(report), aspect="auto", cmap="cividis", origin="lower",
                      interpolation="none", vmin=min(every), vmax=max(every))
    ax.grid(False)
    for axis, keys in ((ax.yaxis, table["rows"]), (ax.xaxis, table["columns"])):
        at = sorted({round(i * (len(keys) - 1) / 8) for i in range(9)})
        axis.set_ticks(at, [f"{number(keys[i]):g}" for i in at])
    ax.set_xlabel(table["column_axis"])
    ax.set_ylabel(table["row_axis"])
    bar = figure.colorbar(image, ax=ax, format=lambda x, _: f"{2 ** x:.3g}")
    bar.set_label("largest error in ulps")
    return drawn(figure, f"map of errors of {report['subject']}")


def histogram(data):
    limits = data["histogram_limits"]
    counted = [i for i in range(len(limits))
               if data["honest_shares"][i] > 0 or any(r["histogram"][i] for r in data["subjects"])]
    last = max(counted) + 1
    figure, ax = axes()
    width = 0.8 / len(data["subjects"])
    for i, report in enumerate(data["subjects"]):
        all_of = sum(report["histogram"]) or 1
        ax.bar([x + (i + 0.5) * width - 0.4 for x in range(last)],
               [max(100 * n / all_of, 0) for n in report["histogram"][:last]], width,
               color=SERIES[i % len(SERIES)], hatch=HATCHES[i % len(HATCHES)],
               label=report["subject"])
    ax.step([x - 0.5 for x in range(last + 1)],
            [100 * s for s in data["honest_shares"][:last]] + [0], where="post", color=INK,
            linewidth=1.4, label="honest rounding: the exact value, rounded once")
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    ax.set_xticks(range(last), [f"{x:g}" for x in limits[:last]], rotation=60, fontsize=8)
    ax.set_xlabel("error in ulps, at least")
    ax.set_ylabel("elements in %")
    legend_above(ax)
    return drawn(figure, "histogram of errors")


def step_bars(report):
    steps = report["steps"]["steps"]
    figure, ax = axes(height=0.9 + 0.42 * len(steps))
    for i, (name, values) in enumerate((
            ("this step alone", [number(s["only"]["p99"]) for s in steps]),
            ("added to the steps before", [max(number(s["added"]), 0) for s in steps]),
            ("all but this step", [number(s["all_but"]["p99"]) for s in steps]))):
        bars = ax.barh([k + 0.27 * (i - 1) for k in range(len(steps))], values, 0.25,
                       color=SERIES[i], hatch=HATCHES[i], label=name)
        ax.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=7)
    ax.axvline(number(report["steps"]["total"]["p99"]), color=INK, linestyle="--", linewidth=1,
               label="all steps")
    ax.set_yticks(range(len(steps)), [f"{s['step']} = {s['rule']}" for s in steps])
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlabel("error in ulps that 99 % of the elements do not exceed")
    legend_above(ax)
    return drawn(figure, f"costs of the steps of {report['recipe']}")
