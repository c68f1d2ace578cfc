"""Packs FOLDER, where CMake installed the component `wheel`, as a wheel in the folder TO. Its tag names the
newest glibc of which any file in it needs a symbol.

    wheel.py FOLDER TO
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

folder, to = map(pathlib.Path, sys.argv[1:])
(info,) = (path.relative_to(folder) for path in folder.glob("*.dist-info"))
paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
linked = {path.resolve() for path in paths if path.is_symlink()}  # libtbb.so.12 -> libtbb.so.12.8
files = {path.relative_to(folder): path.read_bytes() for path in paths if path.absolute() not in linked}
binaries = [path for path, data in files.items() if data.startswith(b"\x7fELF")]

symbols = subprocess.run(["objdump", "-T", *binaries], cwd=folder, check=True, capture_output=True).stdout
glibc = max((int(major), int(minor)) for major, minor in re.findall(rb"\(GLIBC_(\d+)\.(\d+)", symbols))
tag = "py3-none-manylinux_{}_{}_{}".format(*glibc, platform.machine())

# A process loads one library of a name: libtbb.so.12 of another package would replace ours, or ours theirs.
# So the libraries of others get names of their own, of the same length, which moves nothing in a file.
renamed = {path: path.with_name(path.name.replace("lib", "sx-", 1)) for path in binaries
           if path.name.startswith("lib") and not path.name.startswith("libsextant")}
for old, new in renamed.items():
    before, after = (b"\0%b\0" % os.fsencode(path.name) for path in (old, new))
    files.update({binary: files[binary].replace(before, after) for binary in binaries})


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


for previous in to.glob("sextant-*.whl"):
    previous.unlink()
with zipfile.ZipFile(to / f"{info.stem}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
    record = []
    for path, data in files.items():
        entry = zipfile.ZipInfo.from_file(folder / path, renamed.get(path, path))  # programs are executable
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data)
        record.append(f"{entry.filename},sha256={digest(data)},{len(data)}\n")
    about = f"Wheel-Version: 1.0\nGenerator: sextant\nRoot-Is-Purelib: false\nTag: {tag}\n"
    wheel.writestr(f"{info}/WHEEL", about)
    record += f"{info}/WHEEL,sha256={digest(about.encode())},{len(about)}\n", f"{info}/RECORD,,\n"
    wheel.writestr(f"{info}/RECORD", "".join(record))
