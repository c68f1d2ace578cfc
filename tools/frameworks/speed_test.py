"""Tests `speed` without the frameworks: with benchmarks and peers that are small scripts.

  /usr/bin/python3 -B tools/frameworks/speed_test.py
"""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "adapters/python")]
loader = importlib.machinery.SourceFileLoader("frameworks_speed", str(HERE / "speed"))
speed = importlib.util.module_from_spec(importlib.util.spec_from_loader("frameworks_speed", loader))
loader.exec_module(speed)
import kernels
import peers

BY_TITLE = {kernel.title: kernel for kernel in kernels.KERNELS}
SOFTMAX = BY_TITLE["softmax of 1024, in L2, f32"]
GELU = {form: BY_TITLE[f"GELU by {form}, in L2, f32"] for form in ("erf", "tanh")}


class Speed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def message(self, function, *arguments, status=2):
        """What a call prints that must end the program."""
        with contextlib.redirect_stderr(io.StringIO()) as message, self.assertRaises(SystemExit) as end:
            function(*arguments)
        self.assertEqual(end.exception.code, status)
        return message.getvalue()

    def bench(self, *benchmarks):
        path = self.folder / "bench"
        said = json.dumps({"benchmarks": list(benchmarks)})
        path.write_text(f"#!/bin/sh\necho \"$*\" > {self.folder}/call\ncat <<END\n{said}\nEND\n")
        path.chmod(0o755)
        return path

    def peer(self, *lines):
        """The next peers print these lines, each but the first when asked."""
        program = f"import sys\nfor line in {lines!r}: print(line, flush=True); sys.stdin.readline()"
        command_of, speed.command_of = speed.command_of, lambda *_: [sys.executable, "-c", program]
        self.addCleanup(setattr, speed, "command_of", command_of)


class Ours(Speed):
    def test_elements_a_second_follow_from_the_time(self):
        said = {"cpu_time": 8.0, "time_unit": "us", "items_per_second": 32768 / 8e-6, "memcpy_ratio": 0.25}
        rate, ratio = speed.ours(self.bench(said), SOFTMAX)
        self.assertEqual((rate, ratio), (32768 / 8e-6, "memcpy_ratio 0.25"))
        self.assertIn("--benchmark_filter=^SoftmaxF32/L2$ ", (self.folder / "call").read_text())

    def test_a_benchmark_without_items_counts_those_of_the_list(self):
        decoding = BY_TITLE["decoding, 8 heads x 4096 keys x 128, f32"]
        rate, _ = speed.read_benchmark({"cpu_time": 2.0, "time_unit": "ms"}, decoding)
        self.assertEqual(rate, 2 * 8 * 4096 * 128 / 2e-3)

    def test_the_list_must_count_the_items_of_the_benchmark(self):
        said = {"cpu_time": 1.0, "time_unit": "s", "items_per_second": 32000.0}
        self.assertIn("SoftmaxF32/L2 counts 32000 items, kernels.py 32768",
                      self.message(speed.read_benchmark, said, SOFTMAX))  # fmt: skip

    def test_a_benchmark_may_be_missing(self):
        path = self.bench()
        path.write_text("#!/bin/sh\nexit 1\n")
        self.assertIn("has no benchmark SoftmaxF32/L2", self.message(speed.ours, path, SOFTMAX))


class Peers(Speed):
    def rates(self, rounds, *lines):
        self.peer(*lines)
        said = {"cpu_time": 1.0, "time_unit": "us", "items_per_second": 32768e6}
        call = argparse.Namespace(bench=self.bench(said), rounds=rounds)
        return speed.measured(call, SOFTMAX, ["onnxruntime"])[0]

    def test_the_fastest_round_counts(self):
        self.assertEqual(self.rates(3, "ready", "3e-6", "2e-6", "4e-6"), [32768e6, 32768 / 2e-6])

    def test_a_peer_may_lack_a_kernel(self):
        with contextlib.redirect_stderr(io.StringIO()) as message:
            self.assertEqual(self.rates(1, "no kernel: none for x"), [32768e6, None])
        self.assertIn("ONNX Runtime has no softmax of 1024, in L2, f32: none for x", message.getvalue())

    def test_a_peer_that_ends_is_an_error(self):
        self.assertIn("ONNX Runtime ended", self.message(self.rates, 1, status=1))
        self.assertIn("ONNX Runtime ended", self.message(self.rates, 2, "ready", "1e-6", status=1))

    def test_a_peer_is_not_asked_in_a_dtype_that_it_lacks(self):
        self.assertIsNone(speed.Peer("ggml", BY_TITLE["softmax of 1024, in L2, bf16"]).rate())

    def test_a_peer_that_is_not_installed_is_left_out_unless_it_is_named(self):
        speed_command, speed.command_of = speed.command_of, lambda *_: ["sh", "-c", "echo lost >&2; exit 1"]
        self.addCleanup(setattr, speed, "command_of", speed_command)
        with contextlib.redirect_stderr(io.StringIO()) as message:
            self.assertEqual(speed.versions_of([]), {})
        self.assertIn("without ggml: lost\n", message.getvalue())
        self.assertIn("without ggml: lost\n", self.message(speed.versions_of, ["ggml"]))


class Calls(Speed):
    def test_errors_say_what_was_expected(self):
        bench = str(self.bench())
        self.assertIn("--rounds is 0", self.message(speed.parsed_call, ["--bench", bench, "--rounds", "0"]))
        self.assertIn("invalid choice: 'tvm'", self.message(speed.parsed_call, ["--peer", "tvm"]))
        self.assertIn("unrecognized arguments: rope", self.message(speed.parsed_call, ["rope"]))
        self.assertIn("build it: cmake", self.message(speed.parsed_call, ["--bench", bench + ".not"]))
        self.assertIn("softmax of 1024, in L2, f32", self.message(speed.chosen_kernels, ["no such"]))

    def test_a_kernel_has_all_the_texts(self):
        titles = [kernel.title for kernel in speed.chosen_kernels(["softmax", "in L2"])]
        self.assertEqual(titles, ["softmax of 1024, in L2, f32", "softmax of 1024, in L2, bf16"])


class Table(unittest.TestCase):
    def test_a_row_has_rates_ratios_and_notes(self):
        swiglu = BY_TITLE["SwiGLU, in L2, f32"]
        text = speed.row(swiglu, ["onnxruntime", "pytorch"], [6e9, 2.4e9, None], "memcpy_ratio 0.37")
        self.assertEqual(text, "| SwiGLU, in L2, f32 | 6, memcpy_ratio 0.37 | 2.4 (2.50), 3 nodes | - |")

    def test_the_heading_has_versions_and_a_column_for_each_peer(self):
        text = speed.heading({"ggml": "1.2"}, "a processor", 3, "2026-01-31")
        self.assertIn("One thread of a processor, 2026-01-31", text)
        self.assertIn("ggml 1.2", text)
        self.assertTrue(text.endswith("\n| kernel | ours | ggml |\n|---|---|---|"), text)


class Answers(unittest.TestCase):
    def error(self, kernel, formula):
        """Of y by a formula in f32."""
        data = peers.Data(kernel, kernels.Ask(None))
        inputs = {name: data.arrays[name].astype(float) for name in kernel.shapes}
        data.arrays["y"][...] = formula.exact(None, **inputs)
        return data.error()

    def test_the_formula_is_right(self):
        self.assertLess(self.error(SOFTMAX, SOFTMAX), 0.01)
        self.assertLess(self.error(GELU["tanh"], GELU["tanh"]), 0.01)

    def test_another_form_of_gelu_is_wrong(self):
        self.assertGreater(self.error(GELU["tanh"], GELU["erf"]), 1)

    def test_random_numbers_are_wrong(self):
        self.assertGreater(peers.Data(SOFTMAX, kernels.Ask(None)).error(), 1)

    def test_arrays_by_token_are_the_same_numbers(self):
        rope = BY_TITLE["rotation, half, in L2, f32"]
        by_head, by_token = (peers.Data(rope, kernels.Ask(None, by_token=names)) for names in ("", "x y"))
        self.assertEqual(by_token.arrays["x"].shape, (1, 32, 8, 128))
        self.assertTrue((by_token.arrays["x"].swapaxes(1, 2) == by_head.arrays["x"]).all())


class List(unittest.TestCase):
    def test_titles_and_benchmarks_are_unique(self):
        self.assertEqual(len(BY_TITLE), len(kernels.KERNELS))
        self.assertEqual(len({kernel.ours for kernel in kernels.KERNELS}), len(kernels.KERNELS))

    def test_causal_attention_counts_what_a_query_sees(self):
        kernel = BY_TITLE["causal attention, 8 heads x 1024 x 128, f32"]
        self.assertEqual(kernel.count, 2 * 8 * 128 * sum(range(1, 1025)))


if __name__ == "__main__":
    unittest.main()
