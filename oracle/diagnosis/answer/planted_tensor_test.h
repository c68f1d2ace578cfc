// A planted answer beside right numbers, for tests of what is found in one tensor.
#pragma once

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

  void Add(double its_right, double its_got) {
    right.push_back(its_right);
    got.push_back(its_got);
  }
  // Refers to this.
  AnsweredTensor Answered() const {
    std::vector<size_t> failing;
    for (size_t i = 0; i < got.size(); ++i)
      if (std::abs(got[i] - right[i]) > bound) failing.push_back(i);
    return {"y",
            dtype,
            {rows, columns},
            {{"N", 1, rows, columns}, {"M", rows, columns, 1}},
            got,
            right,
            std::vector<double>(got.size(), bound),
            failing,
            std::vector<char>(got.size())};
  }
};

}  // namespace sextant::oracle
