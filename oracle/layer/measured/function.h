// Which function was computed: a known function with a measured constant, fitted to pairs of
// arguments and values.
#pragma once

#include <cmath>
#include <vector>

#include "oracle/layer/measured/function_value.h"

namespace sextant::oracle {

// One pair: y = weight f(x), within `error`.
struct Pair {
  double x, weight, y, error;
  double distance;  // of y from the right answer, in units of the error
};
// The error bar of an answer y = weight f(x) with any of the functions, from the error bar for the
// right one. A function has at most 8 operations, each of which may be off by an ulp of the step's
// format; some add numbers near 1, and then multiply by x.
Pair PairOf(double x, double weight, const Sample& sample, const Recipe& recipe);

// f(x) as the pair says it.
inline double ValueOf(const Pair& pair) { return pair.y / pair.weight; }
inline double ErrorOf(const Pair& pair) { return pair.error / std::abs(pair.weight); }
// By how much a function may change between two arguments of pairs: known functions are not steeper
// than kSteepest (1 + |x|).
double MostBetween(const Pair& a, const Pair& b);

// The function that fits all pairs with the fewest deviations from `right`, and what deviates.
struct FunctionFit {
  Function function;
  Deviations deviations;
};
// Several if they fit equally well; empty if none fits. The caller asks whether they are evident.
std::vector<FunctionFit> FitFunctions(const std::vector<Pair>& pairs, const Function& right);

// Two deviations of the function: another sign or factor besides its constant, or a number that is
// added to its value.
std::vector<FunctionFit> FitMoreFunctions(const std::vector<Pair>& pairs, const Function& right);

// The right function, read from a table with any of some thousand sets of entries.
std::vector<FunctionFit> FitTables(const std::vector<Pair>& pairs, const Function& right);

bool Fits(const Function& function, const Pair& pair);

}  // namespace sextant::oracle
