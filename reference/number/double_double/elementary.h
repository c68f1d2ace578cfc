// Elementary functions in double, for bounds of errors. They do not call the C library, whose
// results differ between versions: the same bits on every machine with round to nearest and without
// contraction (-ffp-contract=off).
#pragma once

namespace sextant {

// e^x; relative error <= 2^-50 for |x| <= 700. Below -745 it is 0, above 709 it is infinite.
double ExpOf(double x);
// e^x - 1; relative error <= 2^-49 for |x| <= 700, and as ExpOf beyond.
double Expm1Of(double x);
// ln(1 + x) for x > -1; relative error <= 2^-49. Minus infinity for -1, NaN below.
double Log1pOf(double x);

}  // namespace sextant
