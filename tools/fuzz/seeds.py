"""The seeds of the fuzzers: their first inputs, made of the files of the project by its program."""

import io
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ("softmax N=1 M=3", "rope pairing=half B=1 H=1 S=2 D=4 scaling=linear(factor=4) dtype=bf16",
         "attention with=bias H=2 K=1 S=1 T=2 D=2 mask=causal",
         "cast overflow=saturate N=1 M=2 dtype=f16 dtype.y=f8_e4m3fn")

EVERY_KEY = """[[expect]]
cases = "rope *"
outcome = "unlikely"
outputs = ["y"]
cause = "angle=bf16"
reason = "why"
link = "https://example.org"
until = "2027-06-30"

[[expect]]
cases = "softmax *"
may = "fail"
reason = 'N'
N = [0, 1]
"""


def case_lines():
    for path in sorted((ROOT / "fixtures/cases").rglob("*.cases")):
        yield from (line for line in path.read_text().splitlines() if line and line[0] != "#")


def texts(language):
    """The examples of the documents in that language."""
    for path in (ROOT / "README.md", *sorted((ROOT / "tools").rglob("*.md"))):
        yield from re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.M | re.S)


def facts_of(cases):
    """(case, JSON of sextant_draw) of the cases that draw few numbers."""
    sys.path.insert(0, str(ROOT / "build/python"))
    from sextant._calls import draw_with_facts
    for case in cases:
        _, facts = draw_with_facts(case)
        if all(len(entry["shape"]) == 0 or max(entry["shape"]) < 100 for entry in facts["inputs"]):
            yield case, facts


def questions():
    for _, facts in facts_of(line for line in case_lines() if "@" not in line):
        tensors = [f"{entry['dtype']} {','.join(map(str, entry['shape']))} {entry['name']}"
                   for entry in facts["inputs"] + facts["outputs"]]
        yield "\n".join([facts["question"], *tensors])


def message(words, tensors=()):
    """A safetensors message; the tensors are (name, dtype, shape, bytes)."""
    header, body = {"__metadata__": words}, b""
    for name, dtype, shape, elements in tensors:
        end = len(body) + len(elements)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), end]}
        body += elements
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def answers():
    hello = {"id": "1", "status": "ok", "sextant": "2", "name": "n", "version": "1", "recipe": "native"}
    yield message({**hello, "operations": '["sum"]'})
    yield message({"id": "1", "status": "error", "message": "why"})
    y, i = ("y", "BF16", [2], b"\x80\x3f\x00\xc0"), ("i", "I64", [1, 2], bytes(16))
    for tensors in ([y], [i, y]):
        yield message({"id": "2", "status": "ok"}, tensors)
    yield message({"id": "2", "status": "unsupported", "message": "why"})


def asked():
    for _, facts in facts_of(CASES):
        outputs = {entry["name"]: {"dtype": entry["dtype"].upper(), "shape": entry["shape"]}
                   for entry in facts["outputs"]}
        words = {"id": "1", "sextant": "2", **{key: facts[key] for key in ("operation", "case", "dtype")},
                 "attributes": json.dumps(facts["attributes"]), "outputs": json.dumps(outputs)}
        size = {"f32": 4, "bf16": 2, "f16": 2, "i64": 8}
        tensors = [(entry["name"], entry["dtype"].upper(), entry["shape"],
                    bytes(size[entry["dtype"]] * math.prod(entry["shape"]))) for entry in facts["inputs"]]
        yield message(words, tensors)
        gaps = {"said": '["N"]', "absent": '["bias"]', "memory": '{"same":true,"fill":255}'}
        yield message({**words, **gaps}, tensors)


def arrays():
    for dtype in ("<f8", "<f4", ">f2", "<i8", "|u1", ">i4"):
        for order in "CF":
            file = io.BytesIO()
            numpy.save(file, numpy.ones((2, 3), dtype, order))
            yield file.getvalue()


def made(*arguments, names):
    """The files that a command of the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "build/sextant", *arguments], cwd=folder, capture_output=True, check=False)
        yield from ((pathlib.Path(folder) / name).read_bytes() for name in names)


def reports():
    for subject in ("fast", "defect:rope/rotates_backwards"):
        yield from made("check", CASES[1], "--subject", subject, "--shard", "1/1", "--json-lines", "a.jsonl",
                        "--json", "a.json", names=["a.jsonl", "a.json"])


def golden_streams():
    """The pieces of the child that reads a file: a record with an input and a golden, and a tensor."""
    text = lambda words: struct.pack("<Q", len(words)) + words.encode()
    numbers = lambda *values: struct.pack(f"<{len(values)}Q", *values)
    head = text("f32") + numbers(1, 2)
    tensor = text("x") + head + numbers(0) + bytes(16)
    golden = text("y") + head + (numbers(0) + bytes(16)) * 4 + numbers(0)
    case = text("softmax N=1 M=2") + text("native") + text("") + text("2")
    yield b"\0" + numbers(1) + case + numbers(1) + tensor + numbers(1) + golden + numbers(0, 0)
    stays = text("x") + text("f32") + numbers(1, 1 << 30, 1, 0) + text("f32")  # it says, in the file
    yield b"\0" + numbers(1) + case + numbers(1) + stays + numbers(0, 0)
    yield b"\0" + tensor
    yield b"\0" + numbers(1) + text("/") + text("damage") + numbers(0)
    yield b"\0" + numbers(1) + text("a") + numbers(0)


SEEDS = {
    "answer": answers,
    "asked": asked,
    "c_library": lambda: [f"{case}\nfails\n{toml}" for case in CASES for toml in texts("toml")],
    "case_line": case_lines,
    "config": lambda: [path.read_text() for path in (ROOT / "fixtures/models").glob("*.json")],
    "expectations": lambda: [*texts("toml"), EVERY_KEY],
    "golden": lambda: [random.Random(seed).randbytes(64) for seed in range(200)],
    "golden_index": lambda: made("golden", *CASES, "-o", "g", "--part-size", "1", names=["g/index.json"]),
    "golden_stream": golden_streams,
    "npy": arrays,
    "question": questions,
    "report": reports,
    "safetensors": lambda: (file for case in CASES for file in
                            made("golden", case, "-o", "g.safetensors", names=["g.safetensors"])),
}
