// A planted answer beside right numbers, for tests of what is found in one tensor.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"

namespace sextant::oracle {

// [rows, columns] of `dtype`; each number may be off by `bound`.
struct PlantedTensor {
  DType dtype;
  size_t rows, columns;
  double bound;
  std::vector<double> right{}, got{};
  GoldenTensor golden{};
  PermittedTensor permitted{};

  void Add(double its_right, double its_got) {
    right.push_back(its_right);
    got.push_back(its_got);
  }
  // Refers to this. likely: each number is probably off by at most this.
  AnsweredTensor Answered(double likely = kInfinity) {
    golden.high.data = right;
    golden.low.data.assign(got.size(), 0);
    golden.radius.data.assign(got.size(), 0);
    permitted.error.data.assign(got.size(), bound);
    permitted.likely.data.assign(got.size(), std::min(bound, likely));
    std::vector<size_t> failing;
    for (size_t i = 0; i < got.size(); ++i)
      if (std::abs(got[i] - right[i]) > bound) failing.push_back(i);
    return {"y", dtype, {rows, columns},     {{"N", 1, rows, columns}, {"M", rows, columns, 1}},
            got, right, {golden, permitted}, failing};
  }
};

}  // namespace sextant::oracle
