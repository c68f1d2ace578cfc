// Exponentials of many doubles at once, by the formulas and with the error bounds of elementary.h.
// x and y have equal sizes and do not overlap.
// The same bits on every instruction set with fused multiplication; without it the last bits
// differ.
#pragma once

#include <span>

namespace sextant {

// y_i = e^x_i: relative error <= 2^-50 for -600 <= x <= 600. Beyond, ExpOf.
void ExpOfEach(std::span<const double> x, std::span<double> y);

// y_i = e^x_i - 1: relative error <= 2^-49 for |x| <= 600. Beyond, Expm1Of.
void Expm1OfEach(std::span<const double> x, std::span<double> y);

}  // namespace sextant
