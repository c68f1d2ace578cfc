"""Tests of the arguments with which the adapter calls a function."""

import unittest

from sextant_adapter_test import question, run, status_of


class Arguments(unittest.TestCase):
    attributes = {"M": 2, "eps": 0.5, "from": "half", "scale": None}

    def test_are_passed_by_name(self):
        functions = """
def op(x, eps, from_, scale, M, dtype):
    assert (eps, from_, scale, M, dtype) == (0.5, "half", None, 2, "bf16")
    return x
"""
        request = question(attributes=self.attributes, dtype="bf16")
        self.assertEqual(status_of(functions, request), ("ok", ""))

    def test_have_python_types(self):
        functions = """
def op(x, causal, base, eps, kind, scaling, window, sections, empty, scale):
    given = [causal, base, eps, kind, scaling, window, sections, empty, scale]
    linear = {"type": "linear", "factor": 4}
    expected = [True, 500000, 1e-05, "half", linear, [-1, 0], [1, 1.5], [], None]
    assert given == expected, given
    assert [type(n) for n in [base, *window, *sections]] == [int, int, int, int, float]
    return x
"""
        attributes = {
            "causal": True,
            "base": 500000,
            "eps": 1e-05,
            "kind": "half",
            "scaling": {"type": "linear", "factor": 4},
            "window": [-1, 0],
            "sections": [1, 1.5],
            "empty": [],
            "scale": None,
        }
        self.assertEqual(status_of(functions, question(attributes=attributes)), ("ok", ""))

    def test_are_all_passed_to_keyword_parameters(self):
        functions = """
def op(**given):
    assert sorted(given) == ["M", "dtype", "eps", "from_", "scale", "x"]
    return given["x"]
"""
        self.assertEqual(status_of(functions, question(attributes=self.attributes)), ("ok", ""))

    def test_that_no_parameter_takes_are_unsupported(self):
        request = question(attributes={"M": 2, "eps": 0.5})
        self.assertEqual(
            status_of("def op(x): return x", request),
            ("unsupported", "the function takes no 'eps'"),
        )
        self.assertEqual(
            status_of("def op(eps): return eps", request),
            ("unsupported", "the function takes no 'x', add a parameter x; this case of op has the inputs x"),
        )

    def test_that_are_not_set_may_be_omitted(self):
        request = question(attributes={"M": 2, "eps": None})
        self.assertEqual(status_of("def op(x): return x", request), ("ok", ""))
        functions = "def op(x, eps): assert eps is None; return x"
        self.assertEqual(status_of(functions, request), ("ok", ""))

    def test_of_absent_optional_inputs_are_none_or_the_default(self):
        functions = """
def op(x, bias, sink=0, **others):
    assert (bias, sink, sorted(others)) == (None, 0, ["M", "dtype"])
    return x
"""
        request = question(absent=["bias", "sink"])
        self.assertEqual(status_of(functions, request), ("ok", ""))
        self.assertEqual(status_of("def op(x): return x", request), ("ok", ""))

    def test_case_has_everything(self):
        functions = """
def op(case):
    assert case.line == "op M=2 seed=1"
    assert (case.operation, case.dtype, case.dtypes) == ("op", "f16", {"x": "f32"})
    assert case.attributes == {"M": 2}
    assert case.outputs == {"y": {"dtype": "f32", "shape": [2]}}
    return case.tensors["x"]
"""
        self.assertEqual(status_of(functions, question(dtype="f16")), ("ok", ""))


class Defaults(unittest.TestCase):
    """`sextant identify` says "said"; the questions of `check` say everything."""

    ATTRIBUTES = {"M": 2, "R": 16, "base": None, "scale": None, "eps": 0.5}

    def expect(self, function, values, said=None):
        """The function returns the names `values` to a question whose eps is set."""
        functions = f"{function}\n    raise sextant.Unsupported(repr({values}))"
        return status_of(functions, question(attributes=self.ATTRIBUTES, said=said))[1]

    def test_stay_where_the_question_says_nothing(self):
        function = "def op(x, base=10000.0, *, R=8, dtype='own', eps=1.0, case='lower'):"
        values = "(base, R, dtype, eps, case)"
        self.assertEqual(self.expect(function, values, []), "(10000.0, 8, 'own', 1.0, 'lower')")
        self.assertEqual(self.expect(function, values, ["R", "eps"]), "(10000.0, 16, 'own', 0.5, 'lower')")
        self.assertEqual(self.expect(function, values), "(10000.0, 16, 'f32', 0.5, 'lower')")

    def test_do_not_replace_tensors(self):
        self.assertEqual(self.expect("def op(eps=1, x=None):", "x.tolist()", []), "[1.0, 2.0]")

    def test_parameters_without_one_get_everything(self):
        function = "def op(x, base, eps, R, dtype, case):"
        values = "(base, eps, R, dtype, case.operation, sorted(case.said))"
        self.assertEqual(self.expect(function, values, ["eps"]), "(None, 0.5, 16, 'f32', 'op', ['eps'])")

    def test_keyword_parameters_get_nothing_that_is_unsaid(self):
        function = "def op(x, base, **others):"
        self.assertEqual(self.expect(function, "sorted(others)", ["eps"]), "['eps']")
        self.assertEqual(self.expect(function, "sorted(others)"), "['M', 'R', 'dtype', 'eps', 'scale']")

    def test_of_positional_parameters(self):
        function = "def op(x, R=8, eps=1.0, base=1e4, /, **others):"
        self.assertEqual(self.expect(function, "(R, eps, base)", ["eps"]), "(8, 0.5, 10000.0)")

    def served(self, functions, operation, said):
        """Status and message of the answer of `operation`, an expression."""
        serve = f"sextant.serve({{'op': {operation}}})\n"
        ((header, _),) = run(functions, question(attributes=self.ATTRIBUTES, said=said), serve=serve)
        words = header["__metadata__"]
        return words["status"], words.get("message", "")

    def test_of_partial_functions_methods_and_modules(self):
        functions = """
import functools
def plain(x, base, R, eps):
    raise sextant.Unsupported(f"{base} {R} {eps}")
class Box:
    def method(self, x, base=7, R=8, eps=9):
        plain(x, base, R, eps)
class Module:
    def forward(self, x, base=7, R=8, eps=9):
        plain(x, base, R, eps)
    def __call__(self, *args, **kwargs):
        self.forward(*args, **kwargs)
"""
        for operation in ("functools.partial(plain, base=7, R=8)", "Box().method", "Module()"):
            self.assertEqual(self.served(functions, operation, ["eps"]), ("unsupported", "7 8 0.5"))

    def test_unknown_parameters_are_named(self):
        self.assertEqual(self.served("", "lambda x, eps, width: x", []),
                         ("error", "TypeError: the function needs 'width', expected one of: "
                                   "dtype M R base scale eps x; this case of op has the inputs x"))
        self.assertEqual(self.served("", "lambda *tensors: 0", []),
                         ("unsupported", "the function takes no 'x', add a parameter x; this case of op has "
                                         "the inputs x"))

    def test_a_function_without_a_signature_is_refused_at_the_start(self):
        with self.assertRaisesRegex(AssertionError, "<built-in function max> does not say the names of its "
                                                    "parameters, expected .*lambda x: f"):
            self.served("", "max", [])


if __name__ == "__main__":
    unittest.main()
