// Numbers that implementations use: instead of a right one, as factors, as limits, as the lengths
// of parts of a row.
#pragma once

#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Each number once, the first time, with its plain text.
std::vector<NamedValue> Listed(const std::vector<double>& numbers);

std::vector<NamedValue> NumbersBeside(double right);
// `right` rounded to narrower formats, if it changes.
std::vector<NamedValue> RoundingsOf(double right);
std::vector<NamedValue> Factors();
// Added by mistake, or against a division by zero; positive.
std::vector<NamedValue> Summands();
// Clamps and largest numbers of formats; positive.
std::vector<NamedValue> Limits();
// Below them, numbers are flushed to 0.
std::vector<NamedValue> FlushedBelow();

// Of `extent` elements: all but a few, whole tiles, powers of two.
std::vector<NamedValue> Lengths(size_t extent);
std::vector<NamedValue> Tiles(size_t extent);
// What is missing to whole tiles, and small numbers.
std::vector<NamedValue> Paddings(size_t extent);

}  // namespace sextant::oracle
