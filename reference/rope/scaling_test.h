// Test helpers: proven frequencies and amplitudes of a scaling, and the error message of a case.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {

inline std::vector<double> Frequencies(const std::string& words) {
  return DoublesOf("rope_frequencies dtype=f64 " + words);
}
inline double Amplitude(const std::string& words) {
  return DoublesOf("rope_frequencies dtype=f64 " + words, 1)[0];
}
inline std::string ErrorOf(const std::string& words) {
  return MessageOf([&] { Case::Parse("rope_frequencies " + words); });
}

}  // namespace sextant
