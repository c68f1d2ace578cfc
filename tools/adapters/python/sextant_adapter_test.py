"""Tests of the adapter; they encode and decode the messages of the protocol themselves."""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def message(words, body=b"", **tensors):
    header = json.dumps({"__metadata__": words, **tensors}).encode()
    return struct.pack("<Q", len(header)) + header + body


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def question(operation="op", attributes=None, outputs=None, dtype="f32", said=None, absent=(), same=None):
    """A question with the input x = [1, 2] in f32."""
    return message(
        {
            **({} if same is None else {"memory": json.dumps({"same": same, "fill": 0})}),
            **({} if said is None else {"said": json.dumps(said)}),
            **({"absent": json.dumps(absent)} if absent else {}),
            "sextant": "2",
            "id": "7",
            "operation": operation,
            "case": f"{operation} M=2 seed=1",
            "dtype": dtype,
            "attributes": json.dumps({"M": 2} if attributes is None else attributes),
            "outputs": json.dumps(outputs or {"y": {"dtype": "F32", "shape": [2]}}),
        },
        struct.pack("<2f", 1, 2),
        x=tensor("F32", [2], 0, 8),
    )


def parse(data):
    """[(header, body)] of all messages in data."""
    found = []
    while data:
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8 : 8 + size])
        ends = [t["data_offsets"][1] for n, t in header.items() if n != "__metadata__"]
        end = 8 + size + max(ends, default=0)
        found.append((header, data[8 + size : end]))
        data = data[end:]
    return found


def run(functions, *requests, serve=None):
    """The answers of a program with these functions (source text); checks its exit status."""
    names = [line[4:].split("(")[0] for line in functions.splitlines() if line.startswith("def ")]
    table = ", ".join(f"'{name}': {name}" for name in names)
    source = f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
    source += f"import numpy as np, sextant_adapter as sextant\n{functions}\n"
    source += serve or f"sextant.serve({{{table}}}, name='mine', version='1.2', recipe='native')\n"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(source)
        program.flush()
        command = [sys.executable, "-B", program.name]
        done = subprocess.run(command, input=b"".join(requests), capture_output=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return parse(done.stdout)


def status_of(functions, request):
    """Status and message of one answer."""
    ((header, _),) = run(functions, request)
    words = header["__metadata__"]
    assert words["id"] == "7"
    return words["status"], words.get("message", "")


class Conversation(unittest.TestCase):
    def test_has_the_name_of_the_program_and_the_recipe_native(self):
        hello = message({"sextant": "2", "id": "1", "operation": "hello"})
        source = "sextant.serve({})\n"
        ((header, _),) = run("", hello, serve=source)
        words = header["__metadata__"]
        self.assertRegex(words["name"], r"^tmp.*\.py$")
        self.assertEqual((words["version"], words["recipe"]), ("", "native"))

    def test_says_hello(self):
        ((header, body),) = run(
            "def rope(x): pass\ndef add(x): pass",
            message({"sextant": "2", "id": "1", "operation": "hello"}),
        )
        expected = {"id": "1", "status": "ok", "sextant": "2", "name": "mine", "version": "1.2",
                    "recipe": "native", "operations": '["add", "rope"]'}  # fmt: skip
        self.assertEqual(header, {"__metadata__": expected})
        self.assertEqual(body, b"")

    def test_refuses_other_versions_of_the_protocol(self):
        ((header, _),) = run(
            "def op(x): pass", message({"sextant": "1", "id": "1", "operation": "hello"})
        )
        self.assertEqual(header["__metadata__"]["status"], "error")
        self.assertIn("speaks version 2 of the protocol, the question has version 1",
                      header["__metadata__"]["message"])

    def test_answers_many_questions(self):
        answers = run("def op(x): return {'y': 2 * x}", *[question()] * 3)
        self.assertEqual(len(answers), 3)
        for header, body in answers:
            self.assertEqual(header["__metadata__"], {"id": "7", "status": "ok"})
            self.assertEqual(header["y"], tensor("F32", [2], 0, 8))
            self.assertEqual(struct.unpack("<2f", body), (2, 4))

    def test_gives_arrays_in_the_memory_of_the_last_question_or_elsewhere(self):
        source = "places = []\ndef op(x): places.append(x.ctypes.data); return {'y': x + %s}"
        same = "len(set(places)) + (places[-1] == places[0]) * 10"
        answers = run(source % same, *(question(same=same) for same in (False, True, False, True, False)))
        numbers = [struct.unpack("<2f", body)[0] - 1 for _, body in answers]
        self.assertEqual(numbers[:2], [11, 11])
        self.assertEqual(numbers[2:4], [2, 2])  # not where the first one is, which is kept until then
        self.assertGreaterEqual(numbers[4], 2)

    def test_notices_changed_inputs_where_the_question_asks_for_it(self):
        source = "def op(x): y = x * 2; x[0] = 5; return {'y': y}"
        self.assertEqual(status_of(source, question(same=True)),
                         ("error", "ValueError: the function changed the input x"))
        self.assertEqual(status_of(source, question()), ("ok", ""))

    # 1.5 is 0x3c in e4m3fn; 0x80 is -0.
    def test_accepts_8_bit_floats_as_numbers_and_as_bit_patterns(self):
        request = question(outputs={"y": {"dtype": "F8_E4M3", "shape": [2]}})
        for values in ("[1.5, -0.0]", "np.uint8([0x3c, 0x80])",
                       "sextant.round_to([1.5, -0.0], case.outputs['y']['dtype'])"):
            ((header, body),) = run(f"def op(case): return {values}", request)
            self.assertEqual(header["y"], tensor("F8_E4M3", [2], 0, 2))
            self.assertEqual(body, b"\x3c\x80")

    # -3 is 0xd in 4 bits, as 1.5 with its sign is 0xb in e2m1.
    def test_accepts_integers_and_4_bits(self):
        for dtype, numbers, bits, sent in (("I8", "[-3, 127]", "int8([-3, 127])", b"\xfd\x7f"),
                                           ("I4", "[-3, 7]", "uint8([0xd, 7])", b"\x0d\x07"),
                                           ("F4_E2M1", "[-1.5, 6]", "uint8([0xb, 7])", b"\x0b\x07"),
                                           ("F8_E8M0", "[2**-127, 2]", "uint8([0, 128])", b"\x00\x80")):
            request = question(outputs={"y": {"dtype": dtype, "shape": [2]}})
            for values in (f"np.float32({numbers})", f"np.{bits}"):
                ((header, body),) = run(f"def op(case): return {values}", request)
                self.assertEqual((header["y"], body), (tensor(dtype, [2], 0, 2), sent))
            ((header, _),) = run("def op(case): return [2.5, 0]", request)
            self.assertIn("has values that are not of", header["__metadata__"]["message"])

    def test_accepts_an_array_for_the_only_output(self):
        ((header, body),) = run("def op(x): return -x", question())
        self.assertEqual(struct.unpack("<2f", body), (-1, -2))

    def test_printed_text_does_not_reach_the_answer(self):
        functions = """
import os
def op(x):
    print("loading")
    os.write(1, b"noise")
    os.system("echo more")
    return x
"""
        ((header, _),) = run(functions, question())
        self.assertEqual(header["__metadata__"]["status"], "ok")

    # More questions than one read returns: code that reads descriptor 0 could consume some of them.
    def test_functions_cannot_read_the_questions(self):
        functions = "import os\ndef op(x):\n    assert os.read(0, 65536) == b''\n    return x"
        answers = run(functions, *[question()] * 200)
        self.assertEqual([h["__metadata__"]["status"] for h, _ in answers], ["ok"] * 200)

    def test_exits_at_an_incomplete_request(self):
        with self.assertRaisesRegex(AssertionError, "ends after 3 of 8 bytes"):
            run("def op(x): return x", question()[:-5])


class Refusals(unittest.TestCase):
    def test_unknown_operation(self):
        status, why = status_of("def op(x): return x", question(operation="pi"))
        self.assertEqual(status, "unsupported")
        self.assertIn("no operation pi; there are: ['op']", why)

    def test_unsupported(self):
        functions = "def op(x): raise sextant.Unsupported('only even')"
        self.assertEqual(status_of(functions, question()), ("unsupported", "only even"))

    def test_exceptions_do_not_end_the_program(self):
        functions = "def op(x, M): return x if M == 2 else x[9]"
        answers = run(functions, question(attributes={"M": 3}), question())
        first, second = (header["__metadata__"] for header, _ in answers)
        self.assertEqual(first["status"], "error")
        self.assertIn("IndexError: index 9", first["message"])
        self.assertEqual(second["status"], "ok")

    def assert_refused(self, returned, message):
        status, why = status_of(f"def op(x): return {returned}", question())
        self.assertEqual(status, "error")
        self.assertIn(message, why)

    def test_bad_outputs(self):
        self.assert_refused("x[:1]", "output y has shape (1,), expected (2,)")
        self.assert_refused("{'z': x}", "returned the outputs ['z'], expected ['y']")
        self.assert_refused("{}", "returned the outputs [], expected ['y']")
        self.assert_refused("np.array([1, 0.1])", "the first is 0.1 at [1]")
        self.assert_refused("np.array([1e300, 0])",
                            "the first is 1e+300 at [0]")


class Bytes(unittest.TestCase):
    def sent(self, dtype, body):
        """Dtype, shape and values of the input x that a function receives for these bytes."""
        functions = """
def op(x):
    x += 0  # the array is writable
    raise sextant.Unsupported(f"{x.dtype} {x.shape} {x.tolist()}")
"""
        words = {"sextant": "2", "id": "7", "operation": "op", "case": "op", "dtype": "f32",
                 "attributes": "{}"}
        request = message({**words, "outputs": "{}"}, body, x=tensor(dtype, [1, 2], 0, len(body)))
        return status_of(functions, request)[1]

    def test_of_inputs(self):
        for dtype, body, expected in [
            ("F64", struct.pack("<2d", 1, 0.1), "float64 (1, 2) [[1.0, 0.1]]"),
            ("F16", b"\x00\x3c\x01\x80", f"float16 (1, 2) [[1.0, {-(2.0**-24)}]]"),
            ("I64", struct.pack("<2q", -1, 2**40), f"int64 (1, 2) [[-1, {2**40}]]"),
            ("BF16", b"\x80\x3f\x00\xc0", "float32 (1, 2) [[1.0, -2.0]]"),
        ]:
            self.assertEqual(self.sent(dtype, body), expected)

    def returned(self, dtype, values):
        outputs = {"y": {"dtype": dtype, "shape": [2]}}
        functions = f"inf, nan = np.inf, np.nan\ndef op(x): return np.array({values})"
        ((header, body),) = run(functions, question(outputs=outputs))
        self.assertEqual(header["__metadata__"].get("message"), None)
        return body

    def test_of_outputs(self):
        self.assertEqual(self.returned("F64", [1, 0.1]), struct.pack("<2d", 1, 0.1))
        self.assertEqual(self.returned("F16", [1, -(2.0**-24)]), b"\x00\x3c\x01\x80")
        self.assertEqual(self.returned("I64", [-1, 2**40]), struct.pack("<2q", -1, 2**40))
        self.assertEqual(self.returned("BF16", [1.0, -2.0]), b"\x80\x3f\x00\xc0")
        self.assertEqual(self.returned("BF16", [np.inf, np.nan]), b"\x80\x7f\xff\x7f")
        self.assertEqual(self.returned("BF16", [-0.0, 2.0**-133]), b"\x00\x80\x01\x00")

    def test_of_scalars_and_optional_outputs(self):
        outputs = {
            "y": {"dtype": "F32", "shape": []},
            "b": {"dtype": "BF16", "shape": [], "optional": True},
            "z": {"dtype": "F32", "shape": [2], "optional": True},
        }
        request = question(outputs=outputs)
        ((_, body),) = run("def op(x): return x[1]", request)
        self.assertEqual(body, struct.pack("<f", 2))
        ((header, body),) = run("def op(x): return {'y': 3.0, 'b': 1.0}", request)
        self.assertEqual(sorted(header), ["__metadata__", "b", "y"])
        self.assertEqual(header["y"]["shape"], [])
        self.assertEqual(body, struct.pack("<f", 3) + b"\x80\x3f")


if __name__ == "__main__":
    unittest.main()
