// The results of the C library.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"
#include "reference/number/tensor/tensor.h"

struct SextantResult {
  struct Array {
    std::string name, dtype;
    sextant::Tensor<double> values;
  };
  int status = 0;
  std::string json;
  std::vector<Array> arrays;
  sextant::oracle::Verdict verdict{};  // of sextant_judge
  bool strict = false;

  void Add(std::string name, sextant::DType dtype, sextant::Tensor<double> values) {
    arrays.push_back({std::move(name), std::string(NameOf(dtype)), std::move(values)});
  }
};
