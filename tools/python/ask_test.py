"""Tests of sextant.identify and sextant.profile, and of measured causes, with functions in numpy and
torch that share no code with the library.

    SEXTANT=build/sextant python3 tools/python/ask_test.py
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy
import torch

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
sys.path.insert(0, str(BUILD / "python"))

import sextant  # noqa: E402

NORM = "rms_norm N=4 M=64 dtype=bf16 dtype.weight=bf16"


def rope(x, position, base=12345.0):
    """Interleaved pairs, rotated in f64."""
    half = x.shape[-1] // 2
    angle = position[:, None, :, None] * base ** (-numpy.arange(half) / half)
    cos, sin, x = numpy.cos(angle), numpy.sin(angle), x.astype("f8")
    y = numpy.empty(x.shape)
    y[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    y[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
    return y


def box(x, position, dtype):
    return sextant.round_to(rope(x, position), dtype)


def relu2(x):
    return numpy.maximum(x, 0) ** 2


def norm(x, weight, eps, unit_offset):
    """On torch tensors, rounded once."""
    x64, weight64 = x.double(), weight.double() + unit_offset
    return (x64 * torch.rsqrt(x64.square().mean(-1, keepdim=True) + eps) * weight64).to(x.dtype)


class Identify(unittest.TestCase):
    def test_finds_pairing_and_base(self):
        found = sextant.identify(box, "rope", D=16, dtype="f32")
        self.assertTrue(found)
        self.assertTrue(found.conforms)
        self.assertIn("pairing=interleaved base=12345 ", found.case)
        self.assertGreater(found.elements, 1000)
        value, least, most = found.numbers["base"]
        self.assertEqual(value, 12345)
        self.assertTrue(12344 < least < 12345 < most < 12346, found.numbers)
        self.assertIn("elements of", found.text)
        self.assertEqual(found.document["recipe"], found.recipe)

    def test_defaults_are_those_of_the_function(self):
        def partial(x, position, R=8, base=12345.0, dtype="bf16"):
            y = x.astype("f8")
            y[..., :R] = rope(x[..., :R], position, base)
            return sextant.round_to(y, "f32")

        found = sextant.identify(partial, "rope", D=16)
        self.assertIn("pairing=interleaved base=12345 ", found.case)
        self.assertRegex(found.case, r"\bR=8\b")
        self.assertTrue(found, found.text)
        found = sextant.identify(partial, "rope", D=16, R=4, base=500)  # what is known is passed
        self.assertIn(" base=500 ", found.case)
        self.assertTrue(found, found.text)
        found = sextant.identify(lambda D, **given: partial(**given), "rope", D=16)
        self.assertRegex(found.case, r" base=12345 .*\bR=8\b")

        def of_a_case(x, position, R=8, base=12345.0, **others):
            return partial(x, position, R, base)

        profile = sextant.profile("rope pairing=interleaved base=100 D=16 R=4 S=2 H=1", {"mine": of_a_case})
        self.assertLess(profile["mine"].ulps.largest.max(), 2)

    def test_compares_with_a_model(self):
        model = "fixtures/models/llama3_1_8b.json"
        for eps, differences in ((1e-5, {}), (0.25, {"eps": ("0.25", "1e-05")})):
            def own_norm(x, weight):
                return sextant.round_to(norm(torch.from_numpy(x).double(), torch.from_numpy(weight), eps, 0),
                                        "f32")

            found = sextant.identify(own_norm, "rms_norm M=32", against=model)
            self.assertTrue(found.conforms, found.text)
            self.assertEqual(bool(found), not differences)
            self.assertEqual(found.differences, differences)

    def test_what_it_cannot_find(self):
        found = sextant.identify(lambda x: numpy.sign(x) * numpy.sqrt(numpy.abs(x)), "activation", F=8)
        self.assertFalse(found.conforms)
        self.assertEqual(found.recipe, "")
        self.assertTrue(found.details[0].startswith("activation kind="), found.details)

    def test_torch_tensors_and_names(self):
        def half_the_relu2(x):
            self.assertEqual(x.dtype, torch.bfloat16)
            return (x.double().relu() ** 2).bfloat16()

        found = sextant.identify(half_the_relu2, "activation", F=8, dtype=torch.bfloat16, torch=True)
        self.assertIn("kind=relu2", found.case)
        found = sextant.identify(lambda x: numpy.maximum(x, 0) ** 2, "activation", F=8, dtype=numpy.float64)
        self.assertIn("kind=relu2 F=8 N=6 dtype=f64", found.case)
        with self.assertRaisesRegex(sextant.InputError, "'native' has no function, and is none of"):
            sextant.identify("native", "activation")

    def test_bad_functions_raise_one_error(self):
        def raises(x):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            sextant.identify(raises, "activation", F=8)
        with self.assertRaisesRegex(sextant.InputError, "takes no 'weight', add a parameter weight; this case "
                                                        "of linear has the inputs x weight, without with=bias"):
            sextant.identify(lambda x, w: x @ w.T, "linear")
        with self.assertRaisesRegex(TypeError, "has the inputs x weight, without with=bias, and what it has not "
                                               "is None"):
            sextant.identify(lambda x, weight, bias: x @ weight.T + bias, "linear")
        with self.assertRaisesRegex(ValueError, r"output y has shape \(3,\), expected \(6, 8\)"):
            sextant.identify(lambda x: numpy.zeros(3), "activation", F=8)
        with self.assertRaisesRegex(ValueError, "output y has values that are not of bf16"):
            sextant.identify(lambda x: x / 3, "activation", F=8, dtype="bf16")
        with self.assertRaisesRegex(sextant.InputError, "every element of y is NaN"):
            sextant.identify(lambda x: x * numpy.nan, "activation", F=8)
        with self.assertRaisesRegex(sextant.InputError, "the function takes no 'kind'"):
            sextant.identify(relu2, "activation kind=relu", F=8)

        def declines(x):
            raise sextant.Unsupported("only on Sundays")

        with self.assertRaisesRegex(sextant.InputError, "only on Sundays"):
            sextant.identify(declines, "activation", F=8)
        with self.assertRaisesRegex(sextant.InputError, "function is of type int, expected a function"):
            sextant.identify(1, "activation")
        with self.assertRaisesRegex(sextant.InputError, "does not say the names of its parameters"):
            sextant.identify(torch.relu, "activation")
        with self.assertRaisesRegex(sextant.InputError, "there is no operation 'rop'"):
            sextant.identify(box, "rop")
        with self.assertRaisesRegex(sextant.InputError, "no.json"):
            sextant.identify(box, "rope", against="no.json")

    def test_a_function_may_call_sextant(self):
        def nested(x):
            y = relu2(x)
            sextant.assert_conforms("activation kind=relu2", {"x": x}, {"y": y})
            return y

        self.assertTrue(sextant.identify(nested, "activation", F=8))

    def test_interrupt_ends_the_search(self):
        self.assertTrue(self.stderr_of_interrupted("").endswith("KeyboardInterrupt\n"))

    def test_interrupt_ends_a_search_that_begins(self):
        """The signal comes while the thread of the library is started."""
        stderr = self.stderr_of_interrupted(
            "import os, signal, threading\n"
            "begin = threading.Thread.start\n"
            "def start(thread):\n"
            "    begin(thread)\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "threading.Thread.start = start\n")
        self.assertTrue(stderr.endswith("KeyboardInterrupt\n"), stderr)

    def stderr_of_interrupted(self, before):
        """What a search prints that is interrupted when it asks, or by what is done before it."""
        script = (f"import sys; sys.path[:0] = {[str(BUILD / 'python'), str(pathlib.Path(__file__).parent)]!r}\n"
                  "import ask_test, sextant\n"
                  f"{before}"
                  "def told(x, position, dtype):\n"
                  "    print('asked', flush=True)\n"
                  "    return ask_test.box(x, position, dtype)\n"
                  "sextant.identify(told, 'rope', D=16)\n")
        child = subprocess.Popen([sys.executable, "-B", "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        if not before:
            child.stdout.readline()
            child.send_signal(signal.SIGINT)
        return child.communicate(timeout=60)[1]


class Profile(unittest.TestCase):
    def test_errors_by_row(self):
        profile = sextant.profile(NORM, {"mine": norm, "native": "recipe:native"}, by="row", torch=True)
        mine = profile["mine"]
        numpy.testing.assert_array_equal(mine.key, [0, 1, 2, 3])
        numpy.testing.assert_array_equal(mine.elements, [64] * 4)
        self.assertTrue((mine.ulps.largest <= 0.5001).all())
        self.assertTrue((mine.ulps.largest < profile["native"].ulps.largest).all())
        self.assertTrue((mine.permitted.largest < 1).all())
        # Against numpy: the exact values in f64.
        inputs = sextant.draw(profile.document["cases"][0])
        x, weight = inputs["x"].astype("f8"), inputs["weight"].astype("f8")
        exact = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight
        error = norm(*(torch.from_numpy(inputs[n]).bfloat16() for n in ("x", "weight")), 1e-5, 0)
        error = numpy.abs(error.double().numpy() - exact)
        numpy.testing.assert_allclose(mine.absolute.largest, error.max(-1), rtol=1e-9)
        numpy.testing.assert_allclose(mine.absolute.rms, numpy.sqrt((error**2).mean(-1)), rtol=1e-9)

    def test_costs_of_steps(self):
        profile = sextant.profile([NORM, NORM + " seed=2"], {"mine": norm}, by="step", torch=True)
        mine = profile["mine"]
        store = mine.steps.index("store")
        self.assertAlmostEqual(mine.only.largest[store], 0.5, delta=0.02)
        self.assertEqual(len(mine.steps), len(mine.all_but.p99))

    def test_writes_a_page(self):
        profile = sextant.profile(NORM, {"mine": norm}, torch=True)
        with tempfile.NamedTemporaryFile(suffix=".html") as file:
            profile.to_html(file.name)
            page = pathlib.Path(file.name).read_text()
        self.assertTrue(page.lower().startswith("<!doctype html>"))
        self.assertIn("mine", page)

    def test_a_budget_leaves_elements_out(self):
        profile = sextant.profile(NORM.replace("N=4", "N=64"), {"mine": norm}, by="row", torch=True,
                                  budget_elements=256)
        self.assertLessEqual(profile["mine"].elements.sum(), 256)
        self.assertEqual(profile.document["left_out"], 64 * 64 - profile["mine"].elements.sum())

    def test_wrong_calls(self):
        with self.assertRaisesRegex(sextant.InputError, "mine answers no case: .* takes no 'beta'"):
            sextant.profile("activation kind=relu2 N=2 F=8", {"mine": relu2})
        profile = sextant.profile("activation kind=relu2 N=2 F=8", {"mine": lambda x, **known: relu2(x)})
        self.assertTrue((profile["mine"].ulps.largest <= 0.5).all())
        with self.assertRaisesRegex(sextant.InputError, "there is no implementation"):
            sextant.profile("activation kind=relu2 N=2 F=8", {})
        with self.assertRaisesRegex(sextant.InputError, "functions is of type function"):
            sextant.profile("activation kind=relu2 N=2 F=8", relu2)
        with self.assertRaisesRegex(sextant.InputError, "worst is -1"):
            sextant.profile("activation kind=relu2 N=2 F=8", {"mine": relu2}, worst=-1)
        with self.assertRaises(ZeroDivisionError):
            sextant.profile("activation kind=relu2 N=2 F=8", {"mine": lambda x, kind, beta: 1 / 0})


class Causes(unittest.TestCase):
    def test_a_measured_cause_has_its_figures(self):
        position = numpy.array([[0, 1, 5, 300, 5000, 40000, 50000, 60000]])
        x = numpy.random.default_rng(1).standard_normal((1, 2, 8, 16)).astype("f4")
        y = rope(x, numpy.minimum(position, 3999)).astype("f4")
        verdict = sextant.judge("rope pairing=interleaved base=12345", {"x": x, "position": position},
                                {"y": y})
        self.assertIn("position_clamped", verdict.causes)
        (cause,) = [c for c in verdict.document["causes"] if c["name"] == "position_clamped"]
        self.assertIn("3999", cause["why"])
        self.assertIn("4 of 4", cause["why"])
        self.assertIn(cause["why"], verdict.text)


if __name__ == "__main__":
    unittest.main()
