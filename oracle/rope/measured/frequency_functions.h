// Frequencies that are a function of the right ones, or that no known form gives.
#pragma once

#include <vector>

#include "oracle/rope/measured/frequencies.h"

namespace sextant::oracle {

// The same with another frequency as a function of the right one, of all of them, or with the
// scaling of another pair. Whether the frequencies are those measured is not verified.
std::vector<FrequencyForm> NameFunctionsOfFrequencies(const MeasuredFrequencies& seen);

// The frequency of every pair by itself, as it was measured: if few are wrong; or if most pairs
// have one, and several differ by more than formats do. Whether the model fits is not verified.
std::vector<FrequencyForm> ListFewFrequencies(const MeasuredFrequencies& seen);
std::vector<FrequencyForm> ListFrequencies(const MeasuredFrequencies& seen);

}  // namespace sextant::oracle
