"""Tests of ONNX node tests: `sextant golden CASES -o onnx:FOLDER`. They are read by the onnx package,
and each model is evaluated here by the operator's definition (onnx.ai/onnx/operators).

    SEXTANT=build/sextant python3 tools/cli/onnx_test.py
"""

import pathlib
import resource
import unittest

import h5py
import numpy
import onnx
from onnx import numpy_helper

from program import ONE_CASE, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATIONS = ("rope_rotate", "rms_norm", "layer_norm", "softmax", "activation", "attention")


def softmax(x):
    with numpy.errstate(invalid="ignore"):  # a row of -inf
        weights = numpy.exp(x - numpy.max(x, -1, keepdims=True))
        return weights / numpy.sum(weights, -1, keepdims=True)


def rotary_embedding(x, cos, sin, interleaved=0, rotary_embedding_dim=0):
    R = rotary_embedding_dim or x.shape[-1]
    first, second = (slice(0, R, 2), slice(1, R, 2)) if interleaved else (slice(0, R // 2), slice(R // 2, R))
    cos, sin, y = cos[:, None], sin[:, None], x.copy()
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def attention(q, k, v, mask=None, scale=None, softcap=0.0, is_causal=0):
    group = q.shape[1] // k.shape[1]
    k, v = (numpy.repeat(tensor, group, 1) for tensor in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (scale if scale is not None else q.shape[-1] ** -0.5)
    if softcap:
        scores = softcap * numpy.tanh(scores / softcap)
    if is_causal:
        scores = numpy.where(numpy.tri(*scores.shape[-2:], dtype=bool), scores, -numpy.inf)
    if mask is not None:
        scores = numpy.where(mask, scores, -numpy.inf) if mask.dtype == bool else scores + mask
    empty = numpy.all(numpy.isneginf(scores), -1, keepdims=True)
    return numpy.where(empty, 0, softmax(numpy.where(empty, 0, scores))) @ v


def layer_norm(x, scale, bias, epsilon=1e-5):
    centered = x - x.mean(-1, keepdims=True)
    return centered / numpy.sqrt(numpy.mean(centered**2, -1, keepdims=True) + epsilon) * scale + bias


def gelu(x, approximate=b"none"):
    if approximate == b"tanh":
        return x * (1 + numpy.tanh((2 / numpy.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2
    erf = numpy.vectorize(__import__("math").erf, otypes=["f8"])
    return x * (1 + erf(x / 2**0.5)) / 2


def sigmoid(x):
    with numpy.errstate(over="ignore"):
        return 1 / (1 + numpy.exp(-x))


OPERATORS = {
    "RotaryEmbedding": rotary_embedding,
    "RMSNormalization": lambda x, scale, epsilon=1e-5:
        x / numpy.sqrt(numpy.mean(x * x, -1, keepdims=True) + epsilon) * scale,
    "LayerNormalization": layer_norm,
    "Softmax": softmax,
    "Gelu": gelu,
    "Swish": lambda x, alpha=1.0: x * sigmoid(alpha * x),
    "Sigmoid": sigmoid,
    "Relu": lambda x: numpy.maximum(x, 0),
    "Tanh": numpy.tanh,
    "Attention": attention,
}


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor.name, numpy_helper.to_array(tensor)


class NodeTests(ProgramTest):
    def write(self, *cases, status=0):
        """Writes node tests and returns their folders and the lines that were printed."""
        result = self.run_it("golden", *cases, "-o", "onnx:tests/")
        self.assertEqual(result.returncode, status, result.stderr)
        return sorted(self.path("tests").iterdir()), result.stdout.splitlines()

    def one_model(self, case):
        (folder,), _ = self.write(case)
        model = onnx.load(str(folder / "model.onnx"))
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in model.graph.node[0].attribute}
        for file in sorted(self.path("tests").rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        return model, attributes

    def test_folders_of_killed_writers_are_removed(self):
        import fcntl
        import os
        for name in ("nodes.partial-1", "nodes.partial-2", "nodes.partial-x"):
            (self.path(name) / "test_a").mkdir(parents=True)
        alive = os.open(self.path("nodes.partial-2"), os.O_RDONLY)
        self.addCleanup(os.close, alive)
        fcntl.flock(alive, fcntl.LOCK_EX)
        result = self.run_it("golden", ONE_CASE, "-o", "onnx:nodes/")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.files(), ["nodes", "nodes.partial-2", "nodes.partial-x"])

    def test_every_test_of_the_committed_cases_has_the_golden_tensors(self):
        files = [str(ROOT / f"fixtures/cases/{operation}.cases") for operation in OPERATIONS]
        folders, lines = self.write("--most-elements", "8192", *files, status=5)
        golden = {}
        for operation in OPERATIONS:
            with h5py.File(ROOT / f"fixtures/golden/{operation}.h5") as file:
                for case in file["cases"].values():
                    golden[case.attrs["case"].decode()] = {
                        "inputs": {name: values[()] for name, values in case["inputs"].items()},
                        "y": case["golden/y/value"][()], "high": case["golden/y/high"][()]}
        operators = set()
        for folder in folders:
            model = onnx.load(str(folder / "model.onnx"))
            (line,) = [entry.value for entry in model.metadata_props if entry.key == "case"]
            (node,) = model.graph.node
            data = folder / "test_data_set_0"
            inputs = [read(data / f"input_{i}.pb") for i in range(len(node.input))]
            self.assertEqual([name for name, _ in inputs], list(node.input))
            self.assertEqual([info.name for info in model.graph.input], list(node.input))
            for name, values in inputs:
                if name in golden[line]["inputs"] and name != "bias":  # which also has the mask
                    expected = golden[line]["inputs"][name]
                    self.assertEqual((values.dtype, values.shape), (expected.dtype, expected.shape))
                    numpy.testing.assert_array_equal(values, expected)
            name, y = read(data / "output_0.pb")
            self.assertEqual((name, list(node.output)), ("y", ["y"]))
            self.assertEqual(y.tobytes(), golden[line]["y"].tobytes())
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            wide = [values if values.dtype == bool else values.astype("f8") for _, values in inputs]
            computed = OPERATORS[node.op_type](*wide, **attributes)
            tolerance = 2e-6 * max(1, numpy.max(numpy.abs(golden[line]["high"]), initial=0))
            numpy.testing.assert_allclose(computed, golden[line]["high"], 2e-6, tolerance, err_msg=line)
            operators.add(node.op_type)
        self.assertEqual(operators, set(OPERATORS))
        skipped = [line for line in lines if line.startswith("skipped ")]
        self.assertEqual(len(folders) + len(skipped), len(golden))
        self.assertIn(f"{len(folders)} cases, ", lines[-1])
        self.assertIn(f"; {len(skipped)} cases skipped", lines[-1])

    def test_shapes_and_types_are_declared(self):
        model, attributes = self.one_model("rms_norm N=3 M=4 eps=0.25 dtype=f16 dtype.weight=f16")
        self.assertEqual((model.ir_version, model.opset_import[0].version, model.opset_import[0].domain),
                         (11, 23, ""))
        self.assertEqual(attributes, {"epsilon": 0.25})
        describe = lambda info: (info.name, info.type.tensor_type.elem_type,
                                 [dim.dim_value for dim in info.type.tensor_type.shape.dim])
        half = onnx.TensorProto.FLOAT16
        self.assertEqual([describe(info) for info in (*model.graph.input, *model.graph.output)],
                         [("x", half, [3, 4]), ("weight", half, [4]), ("y", half, [3, 4])])

    def test_attributes_of_operators(self):
        rotate = "rope_rotate S=2 H=1 D=6 "
        for case, operator, expected in (
                (rotate + "pairing=half", "RotaryEmbedding", {}),
                (rotate + "pairing=interleaved R=4", "RotaryEmbedding",
                 {"interleaved": 1, "rotary_embedding_dim": 4}),
                ("activation kind=gelu_tanh N=1 F=3", "Gelu", {"approximate": b"tanh"}),
                ("activation kind=swish N=1 F=3", "Swish", {}),
                ("activation kind=swish beta=1.5 N=1 F=3", "Swish", {"alpha": 1.5}),
                ("attention S=2 H=2 D=4 mask=causal scale=0.5 soft_cap=8", "Attention",
                 {"scale": 0.5, "softcap": 8.0, "is_causal": 1}),
                ("attention S=2 T=3 H=2 D=4 mask=causal align=top_left", "Attention", {"is_causal": 1}),
                ("attention S=2 T=3 H=2 D=4", "Attention", {})):
            model, attributes = self.one_model(case)
            self.assertEqual((model.graph.node[0].op_type, attributes), (operator, expected), case)
            self.assertEqual(model.opset_import[0].version, 24 if operator == "Swish" else 23)
            self.assertEqual(model.ir_version, 12 if operator == "Swish" else 11)

    # is_causal aligns the first query with the first key.
    def test_other_masks_are_an_input(self):
        (folder,), _ = self.write("attention S=2 T=3 H=1 D=4 mask=causal")
        name, mask = read(folder / "test_data_set_0/input_3.pb")
        self.assertEqual((name, mask.dtype.name), ("attn_mask", "bool"))
        numpy.testing.assert_array_equal(mask, [[[[1, 1, 0], [1, 1, 1]]]])

    def test_what_onnx_cannot_express_is_skipped_with_a_reason(self):
        attention = "attention S=3 T=2 H=1 D=2 "
        reasons = {
            "rope pairing=half S=1 H=1 D=2": "no ONNX operator computes rope; the operations with one are: "
                                             "rope_rotate rms_norm",
            "rms_norm N=1 M=2 unit_offset=true": "adds no 1 to the weight",
            "rms_norm N=1 M=2 dtype=f16": "weight is f32; the tensors of RMSNormalization have one type: "
                                          "dtype.weight=f16",
            "softmax N=1 M=2 dtype=bf16": "the case is in bf16; node tests are written in f32 and f16",
            "softmax N=0 M=2": "y has no element",
            "activation kind=relu2 N=1 F=2": "no operator for kind=relu2",
            "rope_rotate pairing=half S=1 H=1 D=4 R=2 offset=2": "the first channels only",
            "rope_rotate pairing=half S=1 H=1 D=2 direction=transpose": "rotates forward only",
            "rope_rotate pairing=half S=1 H=1 D=3 R=2": "needs an even D",
            "rope_rotate pairing=half S=1 H=1 D=2 R=0": "takes R=0 for R=D",
            "attention with=bias S=1 H=1 D=2 add_bias=before_scale":
                "adds its attn_mask to the capped score, unlike add_bias=before_scale",
            "attention with=bias S=1 H=1 D=2 soft_cap=2 add_bias=before_cap": "unlike add_bias=before_cap",
            "attention with=sink S=1 H=1 D=2": "has no sink",
            attention + "mask=causal": "y has unspecified elements",
            attention + "@k=nonfinite": "k has a NaN or an infinity"}
        result = self.run_it("golden", ONE_CASE, *reasons, "-o", "onnx:tests")
        self.assertEqual(result.returncode, 5, result.stderr)
        lines = result.stdout.splitlines()
        for i, reason in enumerate(reasons.values()):
            self.assertTrue(lines[2 * i].startswith("skipped "))
            self.assertIn(reason, lines[2 * i + 1])
        self.assertEqual(lines[-1], f"onnx:tests: 1 case, 2 elements proven; {len(reasons)} cases skipped")
        self.assertEqual([path.name for path in self.path("tests").iterdir()], ["test_rms_norm_0000"])

    def test_without_a_test_there_is_no_folder(self):
        result = self.run_it("golden", "rope pairing=half S=1 H=1 D=2", "-o", "onnx:tests")
        self.assertEqual((result.returncode, self.files()), (5, []))
        self.assertIn("onnx:tests is not written: it can hold none of the cases", result.stderr)

    def test_existing_files_are_not_replaced(self):
        self.path("tests").mkdir()
        self.write(ONE_CASE)
        for name in "tests", "file":
            self.path("file").write_text("mine")
            result = self.run_it("golden", ONE_CASE, "-o", f"onnx:{name}")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"{name}: exists and is not empty, expected a new folder", result.stderr)
        self.assertEqual(self.path("file").read_text(), "mine")

    def test_errors_leave_no_folder(self):
        result = self.run_it("golden", ONE_CASE, "-o", "onnx:")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'onnx:': expected onnx:FOLDER", result.stderr)
        result = self.run_it("golden", ONE_CASE, "-o", "onnx:nowhere/tests")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assertIn("nowhere/tests: cannot be written: No such file", result.stderr)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = self.run_it("golden", ONE_CASE, "rms_norm N=64 M=64", "-o", "onnx:tests", preexec_fn=limit)
        self.assertEqual((result.returncode, self.files()), (2, []), result.stderr)
        self.assertIn("tests: cannot be written: File too large", result.stderr)


if __name__ == "__main__":
    unittest.main()
