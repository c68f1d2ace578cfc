"""Judges correct implementations with --strict: no case may be unlikely or fail.

    /usr/bin/python3 tools/adapters/native/strict_campaign.py build/sextant            everything
    /usr/bin/python3 tools/adapters/native/strict_campaign.py build/sextant softmax    one operation
    ... --quick                 few rows, one seed, four orders of sums
    ... --seeds 5               five draws of every case
    ... --only numpy            numpy only; the other choices are `fast` and `recipe`

Operations with long sums are judged for native.py with every order of sums in orders.py; all
operations are judged for `fast` and the recipe itself. Each case is proven once. Prints a line per
operation and subject with the numbers of answers, elements and false alarms; the exit status is 1
if there are false alarms.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from orders import ORDERS

NATIVE = Path(__file__).resolve().parent / "native.py"
QUICK_ORDERS = ("sequential", "halves", "blocks_64", "lanes_16")

# Distributions of the inputs: both signs or one sign, large and small spreads.
SPREADS = ("normal", "normal(3)", "normal(0.01)", "uniform(0,1)", "uniform(0.9,0.90001)",
           "uniform(0.69548872,0.69548873)", "one_hot")

# Operation -> its shape, and the inputs that are drawn from SPREADS. The judge tests the mean error
# only with at least 32 rows and 32 columns.
LONG = {
    "softmax": ("N={n} M=4096", "x"),
    "rms_norm": ("N={n} M=4096", "x"),
    "add_rms_norm": ("N={n} M=4096", "x residual"),
    "layer_norm": ("N={n} M=4096", "x"),
    "linear": ("N={n} F=40 M=4096", "x weight"),
    "linear with=bias": ("N={n} F=40 M=4096", "x weight"),
    "feed_forward": ("N={n} M=40 F=2048", "x down"),
    "feed_forward with=gate_bias,up_bias,down_bias": ("N={n} M=40 F=2048", "x down"),
    "gated": ("N={n} F=4096", "gate"),
    "activation": ("kind=swish N={n} F=4096", "x"),
    "attention": ("S={n} T=2048 H=2 K=1 D=16 E=40", "q v"),
    "attention with=bias": ("S={n} T=2048 H=2 K=1 D=16 E=40", "bias v"),
    "attention with=sink": ("S={n} T=2048 H=2 K=1 D=16 E=40", "q v"),
    "attention_scores": ("S={n} T=40 H=1 D=4096", "q k"),
    "relative_attention": ("clip=16 S={n} T=1024 H=1 D=40", "q v"),
    "decoder_block": ("pairing=half S={n} M=64 H=4 K=2 D=16 F=512", "x down"),
    "decoder": ("pairing=half L=1 V=40 S={n} M=64 H=4 K=2 D=16 F=512", "table down"),
}
ROWS, QUICK_ROWS = 64, 34
# Rows so long, with such a spread, that a sequential sum loses thousands of terms.
LONGEST = {"softmax": ["softmax N=34 M=16384 @x=normal(4.2)"],
           "rms_norm": ["rms_norm N=34 M=16384 @x=uniform(0,1)"]}

# The other operations; except composite ones, they add only a few numbers.
SHORT = [
    "sinusoidal S=64 M=64",
    "rope_frequencies R=128",
    "rope_table S=64 R=64",
    "rope_rotate pairing=half S=64 H=4 D=64",
    "rope_given pairing=half S=64 H=4 D=64",
    "rope pairing=half S=64 H=4 D=64",
    "rope_matrix pairing=half S=4 D=32",
    "rope_complex S=64 H=4 D=64",
    "rope_relayout from=half to=interleaved M=64 H=4 D=16",
    "rope_sections pairing=half order=contiguous sections=[8,12,12] S=64 H=2 D=64",
    "rope_axial frequencies=lang arrangement=blocks pairing=half A=2 S=64 H=2 D=64",
    "rope_shift pairing=half T=64 K=2 D=64",
    "log_n_scale original_max_position_embeddings=16 S=64 H=2 D=64",
    "temperature_scale S=64 H=2 D=64",
    "xpos pairing=half role=query S=64 H=2 D=64",
    "alibi_slopes H=64",
    "alibi H=4 S=64 T=64",
    "relative_bias bidirectional=true P=32 H=4 S=64 T=64",
    "embedding V=50 S=64 M=64",
    "soft_cap cap=30 N=64 M=512",
    "attention_merge N=256 E=64",
    "rope_attention pairing=half S=34 T=512 H=1 K=1 D=16 E=34",
    "cross_attention S=34 T=64 M=64 H=4 K=2 D=16",
    "encoder_block S=34 M=64 H=4 K=2 D=16 F=256",
    "decoder_block pairing=half placement=sandwich qk_norm=head S=34 M=64 H=4 K=2 D=16 F=256",
]


def lines_of(operation, dtype, arguments):
    shape, inputs = LONG[operation]
    head = f"{operation} {shape.format(n=QUICK_ROWS if arguments.quick else ROWS)}"
    lines = [head] + [head + "".join(f" @{name}={spread}" for name in inputs.split())
                      for spread in SPREADS]
    seeds = range(1, 1 + (1 if arguments.quick else arguments.seeds))
    longest = [] if arguments.quick else LONGEST.get(operation, [])
    return [f"{line} dtype={dtype} seed={seed}" for line in lines + longest for seed in seeds]


def sextant(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode == 2:
        sys.exit(done.stderr)
    return done


class Count:
    def __init__(self):
        self.sums = collections.Counter()

    def judge(self, title, program, cases, folder, subject, recipe):
        report = folder / "report.json"
        sextant(program, "check", cases, "--subject", subject, "--recipe", recipe, "--strict",
                "--json", report)
        found = json.loads(report.read_text())["cases"]
        alarms = [case for case in found if case["grade"] in ("unlikely", "fails")
                   or case["status"] == "could_not_run"]
        declined = sum(case["status"] == "unsupported" for case in found)
        elements = sum(t["elements"] for case in found for t in case["tensors"])
        print(f"{title:40} {len(found) - declined:4} answers {elements:10} elements "
              f"{len(alarms):3} false alarms" + f", {declined} declined" * (declined > 0),
              flush=True)
        for case in alarms:
            print(f"    {case['status']}, {case['grade']}: {case['case']}")
        self.sums.update(answers=len(found) - declined, elements=elements, false_alarms=len(alarms))


def recipes_of(dtype):
    return ("native",) if dtype == "f32" else ("native", "f32_compute")


def judge_all(name, lines, dtype, subjects, arguments, count):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        cases, golden = folder / "long.cases", folder / "long.h5"
        cases.write_text("".join(f"{line}\n" for line in lines))
        sextant(arguments.program, "golden", cases, "-o", golden)
        for title, subject in subjects:
            for recipe in recipes_of(dtype):
                count.judge(f"{name} {dtype} {recipe} {title}", arguments.program, golden, folder,
                            subject, recipe)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("operations", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--dtypes", nargs="+", default=["f32", "bf16", "f16"])
    parser.add_argument("--only", nargs="+", default=["numpy", "fast", "recipe"])
    return parser.parse_args()


def main():
    arguments, count = parsed(), Count()
    orders = QUICK_ORDERS if arguments.quick else ORDERS
    numpy = [(order, f"exec:/usr/bin/python3 -B {NATIVE} {order}") for order in orders]
    others = [(name, subject) for name, subject in (("fast", "fast"), ("recipe", "recipe:native"))
              if name in arguments.only]
    for dtype in arguments.dtypes:
        for operation in arguments.operations or LONG:
            if operation in LONG:
                subjects = numpy * ("numpy" in arguments.only) + others
                judge_all(operation, lines_of(operation, dtype, arguments), dtype, subjects,
                          arguments, count)
        short = [line for line in SHORT if not arguments.operations
                 or line.split()[0] in arguments.operations]
        if short and others:
            judge_all("other operations", [f"{line} dtype={dtype}" for line in short], dtype,
                      others, arguments, count)
    totals = (f"{n} {word.replace('_', ' ')}" for word, n in count.sums.items())
    print("total: " + ", ".join(totals))
    return 1 if count.sums["false_alarms"] else 0


if __name__ == "__main__":
    sys.exit(main())
