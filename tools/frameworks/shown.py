"""What the three findings.py share: numbers of 60 digits, and one line per comparison."""

import mpmath

mpmath.mp.dps = 60


def show(what, got, exact):
    """Prints a number of a framework beside the exact one, with the relative error."""
    got, exact = mpmath.mpf(float(got)), mpmath.mpf(exact)
    if not (mpmath.isfinite(got) and exact):
        error = "-"
    else:
        error = mpmath.nstr((got - exact) / exact, 3)
    print(f"  {what}: got {mpmath.nstr(got, 9)}, exact {mpmath.nstr(exact, 9)}, relative error {error}")


def swish(x, beta=1):
    return mpmath.mpf(x) / (1 + mpmath.exp(-mpmath.mpf(beta) * mpmath.mpf(x)))


def gelu_tanh(x, root=None, cubic="0.044715"):
    """root: sqrt(2 / pi), unless given"""
    x, root = mpmath.mpf(x), root or mpmath.sqrt(2 / mpmath.pi)
    return x / 2 * (1 + mpmath.tanh(root * (x + mpmath.mpf(cubic) * x**3)))
