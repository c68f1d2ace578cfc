"""Tests that the package installs with pip, knows its version, and has correct types.

    SEXTANT=build/sextant python3 tools/python/install_test.py
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
SCRIPT = """
import importlib.metadata, numpy, sextant
assert importlib.metadata.version("sextant") == sextant.__version__
(plugin,) = [e for e in importlib.metadata.entry_points(group="pytest11") if e.name == "sextant"]
plugin.load()
x = numpy.ones((2, 2), "f4")
print(sextant.judge("softmax", {"x": x}, {"y": x / 2}).status, sextant.__file__)
"""


def run(*command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


class Install(unittest.TestCase):
    def test_the_build_folder_is_enough(self):
        output = run(sys.executable, "-B", "-c", SCRIPT, PYTHONPATH=str(BUILD / "python"))
        self.assertEqual(output, f"conforms {BUILD}/python/sextant/__init__.py\n")

    def test_pip_installs_the_package_with_its_library(self):
        with tempfile.TemporaryDirectory() as folder:
            run(sys.executable, "-m", "venv", "--system-site-packages", folder)
            python = f"{folder}/bin/python"
            run(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                BUILD / "python", PYTHONPATH="")
            output = run(python, "-B", "-c", SCRIPT, PYTHONPATH="")
            self.assertTrue(output.startswith(f"conforms {folder}/lib/"), output)
            package = pathlib.Path(output.split()[1]).parent
            self.assertTrue((package / "libsextant.so.0").is_file())
            listed = run(python, "-m", "pip", "show", "--files", "sextant", PYTHONPATH="")
            self.assertIn("sextant/libsextant.so.0", listed)
            run(python, "-m", "pip", "uninstall", "--yes", "sextant", PYTHONPATH="")
            self.assertFalse(package.exists() and list(package.glob("*.so*")))


if __name__ == "__main__":
    unittest.main()
