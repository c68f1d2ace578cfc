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
LONGEST_NAME = 40  # of a subject in a legend
MOST_TICKS = 24
INFINITE = "#d1345b"  # in maps, which are images of pixels

plt.rcParams.update({
    "axes.axisbelow": True, "svg.fonttype": "none", "svg.hashsalt": "sextant", "font.family": "sans-serif", "font.size": 10,
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


def labels_of(reports):
    """Names of subjects that fit into a legend; those that are alike are numbered."""
    half = LONGEST_NAME // 2
    names = [report["subject"] for report in reports]
    names = [name if len(name) <= LONGEST_NAME else name[:half - 1] + "…" + name[-half:]
             for name in names]
    alike = len(set(names)) < len(names)
    names = [f"{i + 1}: {name}" if alike else name for i, name in enumerate(names)]
    return [name.replace("$", r"\$") for name in names]  # no formula of matplotlib


def style(i):
    """Colour and line of series i; lines differ where colours are the same again."""
    return {"color": SERIES[i % len(SERIES)], "linestyle": DASHES[(i + i // len(SERIES)) % len(DASHES)]}


def are_apart(keys):
    """True for few keys that can each have a tick."""
    known = sorted(set(keys))
    gaps = [b - a for a, b in zip(known, known[1:])]
    return len(known) == 1 or bool(gaps) and known[-1] - known[0] <= 12 * min(gaps)


def place_of_infinity(values):
    """Where infinite numbers are drawn: clearly above all others."""
    return 8 * max((value for value in values if math.isfinite(value)), default=0) or 1


def legend_above(ax):
    ax.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)


def is_logarithmic(keys):
    positive = [key for key in keys if key > 0]
    return len(positive) > 8 and min(keys) >= 0 and max(positive) / min(positive) > 64


def pair_band(ax, report, label, color, infinity):
    """The band between the best and the worst pair at each key; names the worst of all."""
    columns = report["map"]["columns"]
    known = [(number(key), [number(x) for x in row])
             for key, row in zip(report["map"]["rows"], report["map"]["largest"])]
    known = [(key, [min(x, infinity) for x in row]) for key, row in known
             if math.isfinite(key) and max(row) >= 0]
    if not known:
        return
    keys = [key for key, _ in known]
    ax.fill_between(keys, [max(min(x for x in row if x >= 0), LEAST_ULPS) for _, row in known],
                    [max(*row, LEAST_ULPS) for _, row in known], color=color, alpha=0.2,
                    linewidth=0, label="largest of each pair, " + label)
    key, row = max(known, key=lambda one: max(one[1]))
    on_the_right = keys.index(key) > len(keys) / 2
    ax.annotate(f"worst pair {number(columns[row.index(max(row))]):g} at {key:g}", (key, max(row)),
                xytext=(-8 if on_the_right else 8, 8), textcoords="offset points",
                ha="right" if on_the_right else "left", arrowprops={"arrowstyle": "-", "color": INK})


def error_over_key(data):
    figure, ax = axes()
    reports = data["subjects"]
    keys = [number(group["key"]) for report in reports for group in report["groups"]]
    keys = [key for key in keys if math.isfinite(key)]
    largest = [number(report["errors"]["ulps"]["largest"]) for report in reports]
    of_groups = [number(group["errors"]["ulps"][name]) for report in reports
                 for group in report["groups"] for name in ("median", "p99", "largest")]
    infinity = place_of_infinity(of_groups)
    drawn_largest = 0
    for i, (report, label) in enumerate(zip(reports, labels_of(reports))):
        if report["map"] and largest[i] == max(largest):
            pair_band(ax, report, label, style(i)["color"], infinity)
        for name, of, width in (("p99", "99 %", 1.6), ("median", "median", 0.9)):
            points = [(number(g["key"]), number(g["errors"]["ulps"][name]))
                      for g in report["groups"] if math.isfinite(number(g["key"]))]
            points = [(key, min(max(ulps, LEAST_ULPS), infinity)) for key, ulps in points]
            if not points:
                continue
            drawn_largest = max(drawn_largest, *(ulps for _, ulps in points))
            ax.plot(*zip(*points), **style(i),
                    marker=MARKERS[i % len(MARKERS)] if name == "p99" else None, markersize=3,
                    markevery=max(1, len(points) // 24), linewidth=width, label=f"{of}, {label}")
    ax.set_yscale("log", base=2)
    if drawn_largest == infinity or math.isinf(max(largest, default=0)):
        ax.axhline(infinity, color=INK, linestyle=":", linewidth=1, label="infinite or NaN")
    if is_logarithmic(keys):
        ax.set_xscale("symlog" if min(keys) <= 0 else "log")
    elif are_apart(keys):
        ax.set_xticks(sorted(set(keys)), [f"{key:g}" for key in sorted(set(keys))])
    ax.set_xlabel(reports[0]["axis"])
    ax.set_ylabel("error in ulps of the output")
    legend_above(ax)
    return drawn(figure, "error over " + reports[0]["axis"])


def logarithms(report):
    """Of the errors; infinite ones stay infinite."""
    return [[math.log2(max(number(x), LEAST_ULPS)) if number(x) >= 0 else math.nan for x in row]
            for row in report["map"]["largest"]]


def error_map(report, all_reports):
    """Rows of keys, columns of pairs: brightness grows with the error, on one scale for all. Infinite
    errors have a colour of their own."""
    table = report["map"]
    figure, ax = axes(height=4.2)
    every = [x for other in all_reports if other["map"] for row in logarithms(other) for x in row
             if math.isfinite(x)] or [0]
    colors = matplotlib.colormaps["cividis"].with_extremes(over=INFINITE)
    cells = [[min(x, max(every) + 1) for x in row] for row in logarithms(report)]
    image = ax.imshow(cells, aspect="auto", cmap=colors, origin="lower", interpolation="none",
                      vmin=min(every), vmax=max(every))
    ax.grid(False)
    for axis, keys in ((ax.yaxis, table["rows"]), (ax.xaxis, table["columns"])):
        at = sorted({round(i * (len(keys) - 1) / 8) for i in range(9)})
        axis.set_ticks(at, [f"{number(keys[i]):g}" for i in at])
    ax.set_xlabel(table["column_axis"])
    ax.set_ylabel(table["row_axis"])
    is_infinite = any(x == math.inf for row in logarithms(report) for x in row)
    bar = figure.colorbar(image, ax=ax, format=lambda x, _: f"{2 ** x:.3g}",
                          extend="max" if is_infinite else "neither")
    bar.set_label("largest error in ulps" + (", the tip: infinite or NaN" if is_infinite else ""))
    return drawn(figure, f"map of errors of {report['subject']}")


def histogram(data):
    limits = data["histogram_limits"]
    counted = [i for i in range(len(limits))
               if data["honest_shares"][i] > 0 or any(r["histogram"][i] for r in data["subjects"])]
    last = max(counted) + 1
    figure, ax = axes()
    width = 0.8 / len(data["subjects"])
    for i, (report, label) in enumerate(zip(data["subjects"], labels_of(data["subjects"]))):
        all_of = sum(report["histogram"]) or 1
        ax.bar([x + (i + 0.5) * width - 0.4 for x in range(last)],
               [max(100 * n / all_of, 0) for n in report["histogram"][:last]], width,
               color=SERIES[i % len(SERIES)], hatch=HATCHES[i % len(HATCHES)],
               label=label)
    ax.step([x - 0.5 for x in range(last + 1)],
            [100 * s for s in data["honest_shares"][:last]] + [0], where="post", color=INK,
            linewidth=1.4, label="honest rounding: the exact value, rounded once")
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(bottom=0)
    shown = range(0, last, 1 + last // MOST_TICKS)
    ax.set_xticks(shown, [f"{limits[i]:g}" for i in shown], rotation=60, fontsize=8)
    ax.set_xlabel("error in ulps, at least")
    ax.set_ylabel("elements in %")
    legend_above(ax)
    return drawn(figure, "histogram of errors")


def step_bars(report):
    steps = report["steps"]["steps"]
    figure, ax = axes(height=0.9 + 0.42 * max(len(steps), 1))
    series = (("this step alone", [number(s["only"]["p99"]) for s in steps]),
              ("added to the steps before", [number(s["added"]) for s in steps]),
              ("all but this step", [number(s["all_but"]["p99"]) for s in steps]))
    total = number(report["steps"]["total"]["p99"])
    infinity = place_of_infinity([total, *(value for _, values in series for value in values)])
    for i, (name, values) in enumerate(series):
        lengths = [min(max(value, 0), infinity) if value == value else 0 for value in values]
        bars = ax.barh([k + 0.27 * (i - 1) for k in range(len(steps))], lengths, 0.25,
                       color=SERIES[i], hatch=HATCHES[i], label=name)
        ax.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=7)
    if math.isfinite(total):
        ax.axvline(total, color=INK, linestyle="--", linewidth=1, label="all steps")
    longest = max([bar.get_width() for bar in ax.patches] + [total if math.isfinite(total) else 0])
    ax.set_xlim(0, 1.12 * longest or 1)
    ax.set_yticks(range(len(steps)), [f"{s['step']} = {s['rule']}" for s in steps])
    ax.invert_yaxis()
    ax.set_xlabel("error in ulps that 99 % of the elements do not exceed")
    legend_above(ax)
    return drawn(figure, f"costs of the steps of {report['recipe']}")
