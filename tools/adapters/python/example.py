"""An implementation that Sextant judges:

sextant check fixtures/cases/rms_norm.cases --open-rows \\
    --subject "exec:/usr/bin/python3 tools/adapters/python/example.py"
"""

import numpy as np
import sextant_adapter as sextant


def rms_norm(x, weight, eps, unit_offset, dtype):
    x, weight = x.astype(np.float64), weight.astype(np.float64) + unit_offset
    y = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps) * weight
    return {"y": sextant.round_to(y, dtype)}


sextant.serve({"rms_norm": rms_norm}, name="example", version="1", recipe="native")
