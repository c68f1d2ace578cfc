#!/usr/bin/python3
"""Writes ONNX node tests, runs them by ONNX Runtime, and judges its outputs.

    tools/frameworks/onnx_node_tests.py fixtures/cases/rms_norm.cases

prints the cases that have no node test by their reasons, and a table: operator, type, number of
tests, how many conform and by which recipe, and how many ONNX Runtime cannot run, with its messages.
The exit status is 1 if an output conforms by no recipe. tools/frameworks/setup installs ONNX Runtime in
build/frameworks; --node-modules names another folder that has it.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy
import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
SEXTANT = os.environ.get("SEXTANT", "build/sextant")
RECIPES = ("native", "native flush", "f32_compute", "all_native")  # the first that permits an answer
TYPES = {"float32": "float32", "float16": "float16", "bool": "bool"}  # of numpy: of ONNX Runtime


def read_tensor(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor.name, numpy_helper.to_array(tensor)


class NodeTest:
    """A folder test_*: its model, its case line and its inputs."""

    def __init__(self, folder):
        self.folder = folder
        self.model = onnx.load(str(folder / "model.onnx"))
        (self.line,) = [entry.value for entry in self.model.metadata_props if entry.key == "case"]
        self.operator = self.model.graph.node[0].op_type
        data = folder / "test_data_set_0"
        self.inputs = dict(read_tensor(path) for path in sorted(data.glob("input_*.pb")))
        self.name, self.expected = read_tensor(data / "output_0.pb")
        self.output = self.error = None

    def describe(self, number):
        """Writes the inputs and returns the test's entry of tests.json."""
        inputs = {}
        for name, array in self.inputs.items():
            file = f"{self.folder.name}/{name}.bin"
            (self.folder / f"{name}.bin").write_bytes(array.tobytes())
            inputs[name] = {"type": TYPES[array.dtype.name], "dims": array.shape, "file": file}
        return {"model": f"{self.folder.name}/model.onnx", "inputs": inputs, "output": f"{number}.out"}

    def take(self, result, path):
        if "error" in result:
            self.error = result["error"].splitlines()[0]
            return
        assert TYPES[self.expected.dtype.name] == result["type"], (self.line, result)
        self.output = numpy.frombuffer(path.read_bytes(), self.expected.dtype).reshape(result["dims"])


def run_all(folder, node_modules):
    tests = [NodeTest(path) for path in sorted(folder.glob("test_*"))]
    entries = [test.describe(number) for number, test in enumerate(tests)]
    (folder / "tests.json").write_text(json.dumps(entries))
    subprocess.run(["node", HERE / "onnx_node_tests.js", folder], check=True,
                   env={**os.environ, "NODE_PATH": str(node_modules)})
    results = json.loads((folder / "results.json").read_text())
    for number, (test, result) in enumerate(zip(tests, results)):
        test.take(result, folder / f"{number}.out")
    return tests


def judge(tests, folder, recipe):
    """The status of each case by its line."""
    answers, lines, report = folder / "answers.h5", folder / "ran.cases", folder / "report.json"
    with h5py.File(answers, "w") as file:
        for number, test in enumerate(tests):
            file[f"cases/{number}/outputs/{test.name}"] = test.output
            file[f"cases/{number}"].attrs["case"] = test.line
    lines.write_text("".join(test.line + "\n" for test in tests))
    subprocess.run([SEXTANT, "check", lines, "--subject", f"files:{answers}", "--recipe", recipe,
                    "--open-rows", "--json", report], stdout=subprocess.DEVNULL)
    cases = json.loads(report.read_text())["cases"]
    return {case["case"]: case["status"] for case in cases}


def print_skipped(lines):
    """The reasons for which cases have no node test: each follows the line of its case."""
    reasons = collections.Counter(why for line, why in zip(lines, lines[1:]) if line.startswith("skipped "))
    for reason, count in sorted(reasons.items()):
        print(f"skipped {count:4}: {reason.strip()}")
    print(lines[-1].split(": ", 1)[1])


def print_table(tests, recipe_of):
    groups = collections.defaultdict(list)
    for test in tests:
        groups[test.operator, test.expected.dtype.name].append(test)
    for (operator, dtype), group in sorted(groups.items()):
        ran = [test for test in group if test.output is not None]
        recipes = collections.Counter(recipe_of.get(test.line, "no recipe") for test in ran)
        words = [f"{count} by {recipe}" for recipe, count in recipes.items()]
        if len(ran) < len(group):
            words.append(f"{len(group) - len(ran)} not run")
        print(f"{operator:18} {dtype:8} {len(group):4} tests: {', '.join(words)}")
    for test in tests:
        if test.output is not None and test.line not in recipe_of:
            print(f"conforms by none of {', '.join(RECIPES)}: {test.line}")
    for error in sorted({f"{test.operator}: {test.error}" for test in tests if test.error}):
        print(f"not run: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", help="files of cases, or case lines")
    parser.add_argument("--node-modules", default="build/frameworks/node_modules", type=pathlib.Path,
                        help="the folder that has onnxruntime-node (default: %(default)s)")
    options = parser.parse_args()
    if not (options.node_modules / "onnxruntime-node").is_dir():
        parser.error(f"{options.node_modules} has no onnxruntime-node; tools/frameworks/setup installs it")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "tests"
        made = subprocess.run([SEXTANT, "golden", *options.cases, "-o", f"onnx:{folder}"],
                              capture_output=True, text=True)
        if not folder.exists():
            print(made.stdout, made.stderr, sep="", end="")
            sys.exit(made.returncode)
        print_skipped(made.stdout.splitlines())
        tests = run_all(folder, options.node_modules.resolve())
        recipe_of = {}
        for recipe in RECIPES:
            left = [test for test in tests if test.output is not None and test.line not in recipe_of]
            for line, status in (judge(left, folder, recipe) if left else {}).items():
                if status == "conforms":
                    recipe_of[line] = recipe
        print_table(tests, recipe_of)
    sys.exit(0 if all(test.output is None or test.line in recipe_of for test in tests) else 1)


if __name__ == "__main__":
    main()
