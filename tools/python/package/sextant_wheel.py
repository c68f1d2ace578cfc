"""Makes a wheel of the built package and of libsextant.so (a build backend, PEP 517), for

    pip install --no-build-isolation --no-deps build/python
"""

import base64
import hashlib
import pathlib
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "libsextant.so.0"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns the name of its file."""
    (info,) = HERE.glob("sextant-*.dist-info")
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name = f"{info.stem}-{tag}.whl"
    files = {f"{info.name}/WHEEL": f"Wheel-Version: 1.0\nGenerator: sextant\nRoot-Is-Purelib: false\n"
                                   f"Tag: {tag}\n".encode()}
    for path in [*sorted(HERE.glob("sextant/*.py")), HERE / "sextant/py.typed", *sorted(info.iterdir())]:
        files[str(path.relative_to(HERE))] = path.read_bytes()
    files[f"sextant/{LIBRARY}"] = (HERE.parent / LIBRARY).read_bytes()
    record = "".join(f"{file},sha256={_digest(data)},{len(data)}\n" for file, data in files.items())
    files[f"{info.name}/RECORD"] = f"{record}{info.name}/RECORD,,\n".encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data in files.items():
            wheel.writestr(file, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
