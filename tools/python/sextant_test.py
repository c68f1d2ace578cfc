"""Tests of the Python package: tensors of numpy, torch and others, verdicts, wrong calls, Ctrl-C.

    SEXTANT=build/sextant python3 tools/python/sextant_test.py
"""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

import numpy
import torch

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
sys.path.insert(0, str(BUILD / "python"))

import sextant  # noqa: E402

QUESTION = "rope pairing=half base=500000"


def rope(x, position, base=500000.0):
    """x [B,H,S,D] rotated in f64 and rounded to the dtype of x."""
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = position[:, None, :, None].double() * frequency
    a, b = x[..., :half].double(), x[..., half:].double()
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


class Foreign:
    """An array of another library: only DLPack."""

    def __init__(self, tensor, device=(1, 0)):
        self.tensor, self.device = tensor, device

    def __dlpack__(self):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def keep_upper_bits(x, count, add=0):
    """The upper bits of f32 numbers, after `add` units in the last place are added."""
    bits = x.view("u4") + numpy.uint32(add)
    return (bits >> (32 - count) << (32 - count)).astype("u4").view("f4")


class Python(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.x = torch.randn(1, 2, 5, 8)
        self.p = torch.arange(5)[None]
        self.y = rope(self.x, self.p)

    def conforms(self, x=None, p=None, y=None, question=QUESTION, **options):
        inputs = {"x": self.x if x is None else x, "position": self.p if p is None else p}
        return sextant.assert_conforms(question, inputs, {"y": self.y if y is None else y}, **options)

    def refused(self, message, **options):
        with self.assertRaises(sextant.InputError) as caught:
            self.conforms(**options)
        self.assertIn(message, str(caught.exception))

    def test_every_kind_of_array(self):
        x, p, y = self.x.numpy(), self.p.numpy(), self.y.numpy()
        grad = self.x.clone().requires_grad_()
        swapped = self.x.transpose(1, 2).contiguous().transpose(1, 2)
        read_only = x.copy()
        read_only.flags.writeable = False
        wide = numpy.zeros((1, 2, 5, 16), "f4")
        wide[..., ::2] = x
        big_endian = x.astype(">f4")
        for tensor in (x, grad, swapped, read_only, wide[..., ::2], x[:, :, ::-1].copy()[:, :, ::-1], big_endian,
                       x.tolist(), Foreign(self.x)):
            question = QUESTION + (" dtype=f32" if isinstance(tensor, list) else "")
            self.conforms(x=tensor, question=question)
        for tensor in (p, p.astype("i4"), p.astype("u1"), [[0, 1, 2, 3, 4]]):
            self.conforms(p=tensor)
        self.conforms(y=y)
        twice = numpy.concatenate([x, x]), numpy.concatenate([y, y])
        for positions in (numpy.broadcast_to(p, (2, 5)), p, p[0]):  # one row serves all
            self.conforms(x=twice[0], p=positions, y=twice[1])

    def test_every_float_type(self):
        for dtype, name in ((torch.float64, "f64"), (torch.float32, "f32"), (torch.float16, "f16"),
                            (torch.bfloat16, "bf16")):
            x = self.x.to(dtype)
            verdict = self.conforms(x=x, y=rope(x, self.p))
            self.assertIn(f"dtype={name}", verdict.document["case"])
            self.assertIn(verdict.grade, ("exact", "faithful", "within recipe"))

    def test_layouts_and_empty_tensors(self):
        inputs = {"x (S H D)": self.x[0].transpose(0, 1), "position (S)": self.p[0]}
        sextant.assert_conforms(QUESTION, inputs, {"y": self.y})
        verdict = sextant.judge(QUESTION, {"x": self.x[:, :0], "position": self.p}, {"y": self.y[:, :0]})
        self.assertEqual(verdict.status_code, 4)
        self.assertTrue(verdict.text.startswith("nothing to judge: rope "), verdict.text)
        self.assertIn("no output has an element, so nothing was compared", verdict.text)
        self.assertEqual((verdict.status, verdict.grade), ("unverified", None))

    def test_leading_axes_are_rows(self):
        x, weight = torch.randn(2, 3, 8), torch.rand(8) + 1
        y = x / (x.double().square().mean(-1, keepdim=True) + 1e-5).sqrt().float() * weight
        verdict = sextant.assert_conforms("rms_norm", {"x": x, "weight": weight}, {"y": y})
        self.assertIn("the leading axes [2,3] are taken as N=6", verdict.text)
        self.assertEqual(sextant.prove("rms_norm", {"x": x, "weight": weight})["y"].value.shape, (2, 3, 8))
        y[1, 2, 5] += 1
        verdict = sextant.judge("rms_norm", {"x": x.transpose(0, 1), "weight": weight},
                                {"y": y.transpose(0, 1)})
        self.assertIn("y[2,1,M=5]: got ", verdict.text)
        self.assertGreater(verdict["y"].error[2, 1, 5], 0.9)
        with self.assertRaisesRegex(sextant.InputError, r"y has the leading axes \[3,2\], but x has \[2,3\]"):
            sextant.judge("rms_norm", {"x": x, "weight": weight}, {"y": y.transpose(0, 1)})

    def test_the_message_of_a_failure(self):
        self.y[0, 1, 3, 2] += 0.5
        with self.assertRaises(sextant.DoesNotConform) as caught:
            self.conforms()
        message = str(caught.exception)
        self.assertIn("FAILS: rope pairing=half base=500000", message)
        self.assertIn("y[B=0,H=1,S=3,D=2]: got ", message)
        self.assertIn("1 of 80 elements of y fail; all at H=1 S=3 D=2", message)
        self.assertLessEqual(len(message.splitlines()), 15)

    def test_the_verdict(self):
        y = rope(self.x, self.p + 1)
        verdict = sextant.judge(QUESTION, {"x": self.x, "position": self.p}, {"y": y})
        self.assertEqual((verdict.status, verdict.grade, verdict.fails), ("fails", "fails", True))
        self.assertIn("position_off_by_one", verdict.causes)
        self.assertEqual(verdict["y"].error.shape, (1, 2, 5, 8))
        exact = rope(self.x.double(), self.p).numpy()
        numpy.testing.assert_allclose(verdict["y"].error, abs(y.numpy() - exact), atol=1e-12)
        failed = (verdict["y"].error > verdict["y"].permitted).sum()
        self.assertEqual(failed, verdict.document["tensors"][0]["failed"])

    def test_what_cannot_fail_is_not_verified(self):
        x = torch.full((1, 1, 1, 4), float("nan"))
        with self.assertRaises(sextant.NotVerified):
            sextant.assert_conforms(QUESTION, {"x": x, "position": self.p[:, :1]}, {"y": x})
        x = self.x.clone()
        x[:, :, :2] = float("inf")
        y = rope(x, self.p)
        y[0, 0, 4, 0] = float("nan")
        verdict = sextant.judge(QUESTION, {"x": x, "position": self.p}, {"y": y})
        self.assertEqual(verdict["y"].error[0, 0, 4, 0], numpy.inf)
        self.assertTrue(numpy.isnan(verdict["y"].error[0, 0, 0]).all())
        y = rope(x, self.p)
        self.conforms(x=x, y=y)
        with self.assertRaisesRegex(sextant.NotVerified, "expected at least 0.9"):
            self.conforms(x=x, y=y, min_judged=0.9)

    def test_goldens_and_draws(self):
        golden = sextant.prove(QUESTION, {"x": self.x, "position": self.p})
        numpy.testing.assert_array_equal(golden["y"].value, self.y.numpy())
        self.assertTrue(torch.equal(golden["y"].torch(), self.y))
        self.assertEqual(golden["y"].permitted.shape, (1, 2, 5, 8))
        drawn = sextant.draw("rope pairing=half B=1 H=2 S=3 D=4 dtype=bf16 @position=0,1,8191")
        self.assertEqual(drawn["position"].tolist(), [[0, 1, 8191]])
        self.assertEqual((drawn["x"].dtype, drawn["x"].shape), (numpy.float32, (1, 2, 3, 4)))

    def test_a_tolerance_is_graded(self):
        inputs = {"x": self.x, "position": self.p}
        tight = sextant.tolerance(QUESTION, inputs, atol=1e-9)
        self.assertEqual((tight.is_good, tight.lets_pass), (False, []))
        self.assertGreater(tight.may_reject, 0)
        self.assertLessEqual(tight.may_reject, tight.elements)
        atol, rtol = tight.smallest
        best = sextant.tolerance(QUESTION, inputs, atol=atol, rtol=rtol)
        self.assertEqual((best.may_reject, best.smallest), (0, tight.smallest))
        wide = sextant.tolerance(QUESTION, inputs, atol=100)
        self.assertIn("rotates_backwards", wide.lets_pass)
        self.assertIn("rejects no right answer", wide.text)
        for wrong in (-1, float("nan"), float("inf"), "1", None, True):
            with self.assertRaisesRegex(sextant.InputError, "atol is .*, expected a number from 0 on"):
                sextant.tolerance(QUESTION, inputs, atol=wrong)
        with self.assertRaisesRegex(sextant.InputError, "y is an output, expected inputs only"):
            sextant.tolerance(QUESTION, {**inputs, "y": self.y}, atol=1)

    def test_assert_close_asserts_what_torch_and_numpy_do(self):
        inputs = {"x": self.x, "position": self.p}
        asked = {"atol": 1e-3, "rtol": 1e-3, "question": QUESTION, "inputs": inputs}
        sextant._calls.new_grades.clear()
        for kind in (lambda y: y, lambda y: y.numpy()):
            sextant.assert_close(kind(self.y), kind(self.y + 1e-4), **asked)
            with self.assertRaises(AssertionError):
                sextant.assert_close(kind(self.y), kind(self.y + 1), **asked)
        self.assertEqual(len(sextant._calls.new_grades), 1)
        for wrong in ({"atol": "a"}, {"inputs": []}, {"question": []}, {"rtol": [0]}):
            with self.assertRaises(sextant.InputError):
                sextant.assert_close(self.y, self.y, **{**asked, **wrong})

    def test_wrong_calls(self):
        self.refused("there is no operation 'rop'", question="rop")
        self.refused("the question is of type int, expected str", question=1)
        self.refused("but D=4 is stated", question=QUESTION + " D=4")
        self.refused("position holds f32, expected integers", p=self.p.float())
        self.refused("x has dtype complex128", x=self.x.numpy().astype("c16"))
        self.refused("x has dtype torch.complex64", x=self.x.to(torch.complex64))
        self.refused("x has dtype bool", x=self.x.numpy() > 0)
        self.refused("x has dtype object", x=object())
        self.refused("x is a torch tensor of layout torch.sparse_coo", x=self.x.to_sparse())
        self.refused("on device meta", x=self.x.to("meta"))
        self.refused("x is a masked array", x=numpy.ma.masked_array(self.x.numpy()))
        self.refused("x is on CUDA device 0, and no copy in", x=Foreign(self.x, (2, 0)))
        self.refused("recipe", recipe="no")
        self.refused("threads is -1", threads=-1)
        with self.assertRaisesRegex(sextant.InputError, "inputs is of type list"):
            sextant.judge(QUESTION, [self.x], {})
        self.refused("threads is '2'", threads="2")
        self.refused("budget_elements is 0, expected an integer from 1 to", budget_elements=0)
        self.refused("budget_elements is 1.5, expected an integer from 1 to", budget_elements=1.5)
        self.refused("budget_elements is True, expected an integer from 1 to", budget_elements=True)
        self.refused("seed is -1, expected an integer from 0 to", seed=-1)
        self.refused("keep is of type int, expected str", keep=1)
        self.refused("strict is 'no', expected True or False", strict="no")
        self.refused("the question is not valid Unicode", question="softmax \ud800")
        self.refused("x has shape [8], expected 4 axes: x[B,H,S,D]; if the others have extent 1, name those "
                     "that it has: 'x (D)'", x=self.x[0, 0, 0])
        liar = Foreign(self.x)
        liar.__class__ = type("Liar", (Foreign,), {"__dlpack__": lambda self: object()})
        self.refused("x cannot be read by DLPack", x=liar)
        with self.assertRaisesRegex(sextant.InputError, "y is an output, expected inputs only"):
            sextant.prove(QUESTION, {"x": self.x, "position": self.p, "y": self.y})
        with self.assertRaisesRegex(sextant.InputError, "rope needs the output y"):
            sextant.judge(QUESTION, {"x": self.x, "position": self.p}, {})

    def test_several_threads(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for verdict in [pool.submit(self.conforms) for _ in range(8)]:
                self.assertEqual(verdict.result().status, "conforms")

    def test_interrupt_ends_a_long_judgement(self):
        script = (f"import sys; sys.path.insert(0, {str(BUILD / 'python')!r})\n"
                  "import numpy, sextant\n"
                  "x = numpy.random.default_rng(1).standard_normal((1, 32, 4096, 128)).astype('f4')\n"
                  "print('ready', flush=True)\n"
                  f"sextant.prove({QUESTION!r}, {{'x': x, 'position': numpy.arange(4096)[None]}})\n")
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        child.stdout.readline()
        time.sleep(0.5)  # the proof is under way; it takes a minute
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate(timeout=30)
        self.assertTrue(stderr.endswith("KeyboardInterrupt\n"), stderr)
        self.assertNotIn("ignored", stderr)

    def test_cases_of_a_file(self):
        lines = sextant.cases("fixtures/cases/rope.cases")
        self.assertTrue(all(line.startswith("rope ") and " seed=" in line and " #" not in line
                            for line in lines))
        (line,) = [line for line in sextant.cases("fixtures/models/phi3_5_mini.cases")
                   if line.startswith("rope ") and "@position" in line][:1]
        self.assertIn("short_factor=[1", line)  # a list of phi3_5_mini.json, with its numbers
        self.refused_cases("no.cases")
        with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
            file.write("softmax N=1 M=2\nsoftmax N=1\n")
            file.flush()
            self.refused_cases(f"{file.name}:2: ", file.name)

    def test_8_bit_floats_are_in_float32(self):
        line = "softmax N=8 M=16 dtype.x=f8_e5m2 dtype.y=f8_e4m3fn"
        x = sextant.draw(line)["x"]
        self.assertEqual(x.dtype, numpy.float32)
        self.assertTrue((sextant.round_to(x, "f8_e5m2") == x).all())
        self.assertGreater(len(numpy.unique(x)), 20)
        case = sextant.Case(line)
        y = sextant.prove(case.question, case.inputs)["y"].value
        self.assertEqual(case.check(y).grade, "exact")
        with self.assertRaises(sextant.InputError):
            case.check(y * 1.0625)  # is not in f8_e4m3fn
        with unittest.mock.patch.object(torch, "float8_e5m2", torch.float16, create=True):
            self.assertEqual(case.torch()["x"].dtype, torch.float16)
        if not hasattr(torch, "float8_e5m2"):
            with self.assertRaisesRegex(sextant.InputError, "has no float8_e5m2"):
                case.torch()

    def refused_cases(self, message, path="no.cases"):
        with self.assertRaises(sextant.InputError) as caught:
            sextant.cases(path)
        self.assertIn(message, str(caught.exception))

    def test_a_case_has_its_facts(self):
        case = sextant.Case("rope pairing=half scaling=linear(factor=4) H=2 S=3 D=8 dtype=bf16")
        self.assertEqual((case.operation, case.dtype, case.dimensions["D"]), ("rope", "bf16", 8))
        self.assertEqual(case.attributes["scaling"], {"type": "linear", "factor": 4})
        self.assertEqual(case.attributes["pairing"], "half")
        self.assertEqual([o["name"] for o in case.outputs], ["y"])
        self.assertEqual(case.torch()["x"].dtype, torch.bfloat16)
        self.assertTrue(torch.equal(case.torch()["x"].float(), torch.from_numpy(case.inputs["x"])))
        y = sextant.prove(case.question, case.inputs)["y"]
        self.assertEqual(case.check(y.torch()).grade, "exact")
        self.assertEqual(case.check({"y": y.value.astype("f4")}).grade, "exact")
        with self.assertRaises(sextant.DoesNotConform) as caught:
            case.check(-y.value)
        self.assertIs(caught.exception.verdict, case.verdict)
        with self.assertRaisesRegex(sextant.InputError, "has the outputs cos sin, expected a dictionary"):
            sextant.Case("rope_table B=1 S=2 R=4").check(y.value)

    def test_a_budget_warns(self):
        with self.assertWarnsRegex(sextant.PartlyJudged, "left out 64 elements of rope") as caught:
            verdict = self.conforms(budget_elements=16, seed=numpy.int64(5))
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(numpy.isnan(verdict["y"].error).sum(), 64)
        self.assertEqual(verdict.document["tensors"][0]["judged"], 16)
        self.assertEqual(verdict.document["budget"], {"elements": 16, "seed": 5})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.conforms(budget_elements=80)
            self.conforms()
        with self.assertWarns(sextant.PartlyJudged):
            self.conforms(budget_elements=16, min_judged=1)
        with self.assertRaisesRegex(sextant.DoesNotConform, "^FAILS in the part that was judged: rope"):
            self.conforms(y=-self.y, budget_elements=16)

    def test_tensors_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(sextant.DoesNotConform) as caught:
                self.conforms(y=-self.y, keep=pathlib.Path(folder))
            self.assertEqual([os.path.join(folder, name) for name in os.listdir(folder)],
                             [caught.exception.verdict.kept])
        self.assertIn("repeat: sextant judge 'rope ", str(caught.exception))
        with self.assertRaisesRegex(sextant.DoesNotConform, "SEXTANT_KEEP=FOLDER"):
            self.conforms(y=-self.y)

    def test_a_share_of_judged_elements_is_0_to_1(self):
        for share in (-1, 1.5, float("nan")):
            with self.assertRaisesRegex(sextant.InputError, "expected a share of 0 to 1"):
                self.conforms(min_judged=share)

    def test_a_configuration_completes_the_question(self):
        question = "rope config=fixtures/models/llama3_1_8b.json"
        inputs = {"x": torch.randn(1, 2, 5, 128), "position": self.p}
        y = sextant.prove(question, inputs)["y"].torch()
        verdict = sextant.assert_conforms(question, inputs, {"y": y})
        self.assertIn("scaling=llama3(factor=8,", verdict.document["case"])
        with self.assertRaises(sextant.DoesNotConform):
            sextant.assert_conforms(question + " scaling=none", inputs, {"y": y})
        self.refused("no.json", question="rope config=no.json")

    def linear(self, x, weight, read, recipe):
        """The verdict on a product of f32 matrices whose factors are read so, and added in f32."""
        y = numpy.zeros((len(x), len(weight)), "f4")
        for a, b in zip(read(x).T, read(weight).T):
            y += a[:, None] * b
        return sextant.judge("linear", {"x": x, "weight": weight}, {"y": y}, recipe=recipe)

    def test_tf32_factors(self):
        reads = {"f32": lambda x: x, "tf32": lambda x: keep_upper_bits(x, 19, 1 << 12),
                 "tf32_truncated": lambda x: keep_upper_bits(x, 19), "bf16": lambda x: keep_upper_bits(x, 16)}
        random = numpy.random.default_rng(1)
        # A quarter of an ulp of TF32 below a number of bf16: all errors have one direction.
        x = numpy.float32(1 - 2**-13) * random.integers(1, 3, (4, 64)).astype("f4")
        weight = numpy.float32(1 - 2**-13) * random.integers(1, 3, (5, 64)).astype("f4")
        for recipe, conforming in (("f32_compute", ["f32"]), ("f32_compute dot=tf32", ["f32", "tf32"]),
                                   ("f32_compute dot=tf32_truncated", ["f32", "tf32", "tf32_truncated"])):
            found = [name for name, read in reads.items()
                     if not self.linear(x, weight, read, recipe).fails]
            self.assertEqual(found, conforming, recipe)
        verdict = self.linear(x, weight, reads["tf32"], "f32_compute")
        self.assertIn("conforms by `f32_compute dot=tf32:tensor_core`", verdict.text)

    def test_tf32_weights_and_values_of_attention(self):
        random = numpy.random.default_rng(1)
        q, k = (random.integers(-8, 8, (1, 1, n, 4)).astype("f4") / 4 for n in (16, 8))  # exact in TF32
        v = numpy.eye(8, dtype="f4")[None, None]  # so that the outputs are the weights
        e = numpy.exp((q @ k.swapaxes(2, 3)).astype("f8") / 2)
        weights = (e / e.sum(-1, keepdims=True)).astype("f4")

        def conforming(v, y):
            return [word for word in ("f32", "tf32", "tf32_truncated") if not sextant.judge(
                "attention scale=0.5 mask=none", {"q": q, "k": k, "v": v}, {"y": y},
                recipe=f"f32_compute dot={word}").fails]

        self.assertEqual(conforming(v, weights), ["f32", "tf32", "tf32_truncated"])
        self.assertEqual(conforming(v, keep_upper_bits(weights, 19, 1 << 12)), ["tf32", "tf32_truncated"])
        self.assertEqual(conforming(v, keep_upper_bits(weights, 19)), ["tf32_truncated"])
        # Values with more bits than TF32 add their own error, half an ulp.
        permitted = [sextant.prove("attention scale=0.5 mask=none", {"q": q, "k": k, "v": numpy.full_like(v, value)},
                                   recipe="f32_compute dot=tf32")["y"].permitted for value in (1, 1 - 2**-13)]
        numpy.testing.assert_allclose(permitted[1] - permitted[0], 2**-12, rtol=0.01)
        # One key has the weight 1.
        self.assertEqual(sextant.judge("attention scale=0.5 mask=none", {
            "q": q, "k": k[:, :, :1], "v": numpy.full_like(v[:, :, :1], 1 - 2**-13)}, {
                "y": numpy.ones((1, 1, 16, 8), "f4")}, recipe="f32_compute dot=tf32").status, "conforms")

    def test_serves_as_a_subject(self):
        script = (f"import sys; sys.path.insert(0, {str(BUILD / 'python')!r})\n"
                  "import numpy, sextant\n"
                  "def softmax(x, dtype):\n"
                  "    e = numpy.exp(x.astype('f8') - x.max(-1, keepdims=True))\n"
                  "    return sextant.round_to(e / e.sum(-1, keepdims=True), dtype)\n"
                  "sextant.serve({'softmax': softmax}, name='mine', version='1', recipe='native')\n")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            result = subprocess.run([BUILD / "sextant", "check", "softmax N=2 M=3", "--subject",
                                     f"exec:{sys.executable} -B {file.name}"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
