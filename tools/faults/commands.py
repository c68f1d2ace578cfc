"""The commands of sextant that write files, as `faults` runs them: each in a folder of its own."""

import dataclasses
import os
import pathlib

PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
CASES = ("rms_norm N=2 M=8 dtype=bf16", "softmax N=3 M=5")
# Its file has more than the 64 KiB that libhdf5 and the streams of C and C++ hold back.
LARGE = "rms_norm N=64 M=128"
DEFECT = "defect:rms_norm/mean_subtracted"


def older(outputs):
    """The files of a folder in which an earlier run has written other things."""
    return {path: b"older\n" * 100 for path in outputs}


def some_parts(outputs):
    """A folder of parts of a run that was killed."""
    return {path: data for path, data in list(outputs.items())[::2] if not path.endswith(".json")}


def empty_folder(outputs):
    return {path: None for path, data in outputs.items() if data is None and "/" not in path}


@dataclasses.dataclass(frozen=True)
class Command:
    name: str
    words: tuple  # the program and its arguments; {inputs} is the folder of `prepare`
    older: object = older  # function(outputs) -> the files of an earlier run; None: there may be none
    streams: tuple = ()  # files that grow while it runs: one that ends early has the first lines
    last: tuple = ()  # files that are there only if all are; ("*",): all files appear at once
    appends: bool = False  # to its streams
    stdout: str = ""  # the file of standard output; empty: it is not kept
    environment: dict = dataclasses.field(default_factory=dict)


def sextant(name, *words, **options):
    return Command(name, (PROGRAM, *words), **options)


# Commands whose files are inputs of others. "{inputs}" is their working folder.
PREPARE = (
    ("golden", *CASES, "--part-size", "0.0001", "-o", "parts/"),
    ("golden", CASES[1], "-o", "softmax.h5"),
    ("check", *CASES, "--subject", DEFECT, "--shard", "1/2", "--json-lines", "1.jsonl"),
    ("check", *CASES, "--subject", DEFECT, "--shard", "2/2", "--json-lines", "2.jsonl"),
)

_CHECK = ("check", *CASES, "-j1", "--subject", DEFECT)
COMMANDS = (
    sextant("golden .h5", "golden", *CASES, LARGE, "-j1", "-o", "a.h5"),
    sextant("golden .npz", "golden", *CASES, LARGE, "-j1", "-o", "a.npz"),
    sextant("golden .safetensors", "golden", *CASES, LARGE, "-j1", "-o", "a.safetensors"),
    sextant("golden onnx:", "golden", *CASES, "-j1", "-o", "onnx:tests", older=empty_folder,
            last=("*",)),
    sextant("golden parts", "golden", *CASES, "-j1", "--part-size", "0.0001", "-o", "parts/",
            older=some_parts, last=("parts/index.json",)),
    sextant("inputs .h5", "inputs", *CASES, "-o", "a.h5"),
    sextant("inputs .safetensors", "inputs", *CASES, "-o", "a.safetensors"),
    sextant("answer .npz", "answer", *CASES, "--subject", "fast", "-o", "a.npz"),
    sextant("answer exec:", "answer", CASES[0], "--subject", "exec:{adapter}", "-o", "a.h5"),
    sextant("eval .h5", "eval", *LARGE.split(), "-j1", "-o", "a.h5"),
    sextant("eval stdout", "eval", *LARGE.split(), "-j1", "--json", stdout="out", streams=("out",),
            older=None),
    sextant("ask .npz", "ask", CASES[0], "--subject", "fast", "-o", "a.npz"),
    sextant("check reports", *_CHECK, "--json", "a.json", "--junit", "a.xml", "--json-lines",
            "a.jsonl", streams=("a.jsonl",)),
    sextant("check --html", *_CHECK, "--html", "a.html"),
    sextant("check --write-expect", *_CHECK, "--write-expect", "a.toml", older=None),
    sextant("check summary", *_CHECK, streams=("summary.md",), appends=True,
            environment={"GITHUB_STEP_SUMMARY": "summary.md"}),
    sextant("merge parts", "merge", "{inputs}/parts", "-o", "a.h5"),
    sextant("merge reports", "merge", "{inputs}/1.jsonl", "{inputs}/2.jsonl", "--json", "a.json",
            "--junit", "a.xml"),
    sextant("judge --json", "judge", "softmax", "x={inputs}/softmax.h5:/cases/0000/inputs/x",
            "y={inputs}/softmax.h5:/cases/0000/golden/y/value", "--json", "a.json"),
    sextant("recipe --json", "recipe", CASES[0], "--subject", "fast", "--json", "a.json"),
    sextant("profile .csv", "profile", CASES[0], "--subject", "fast", "-o", "a.csv"),
    sextant("tolerance --json", "tolerance", CASES[0], "--atol", "1", "--rtol", "0", "--json", "a.json"),
    sextant("audit-suite --json", "audit-suite", CASES[1], "--json", "a.json"),
)
