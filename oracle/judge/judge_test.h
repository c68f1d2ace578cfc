// A case with reference values, permitted errors and an answer, for tests of the judge.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::oracle {

inline constexpr double kPermitted = 0x1p-20;

// The exact value is 1 everywhere, the permitted error 2^-20 (8 ulps of f32 above 1).
struct Ones {
  explicit Ones(size_t N = 2, size_t M = 2)
      : c(Case::Parse("rms_norm N=" + std::to_string(N) + " M=" + std::to_string(M))) {
    const Shape shape = {N, M};
    const Tensor<double> one(shape, std::vector<double>(N * M, 1)), zero(shape);
    const Tensor<double> bound(shape, std::vector<double>(N * M, kPermitted));
    golden = {{"y", DType::kF32, one, one, zero, bound, zero}};
    permitted = {{"y", DType::kF32, bound, bound, std::vector<char>(N * M)}};
    answer = {{"y", DType::kF32, one}};
  }
  Verdict Judged() const { return JudgeEndToEnd(c, golden, permitted, answer); }
  TensorVerdict JudgedTensor() const { return Judged().tensors.at(0); }
  // Sets the exact value, the permitted error and the answer of element i.
  void Put(size_t i, double exact, double bound, double got) {
    golden[0].value.data[i] = RoundTo(DType::kF32, exact);
    golden[0].high.data[i] = exact;
    permitted[0].error.data[i] = permitted[0].likely.data[i] = bound;
    answer[0].values.data[i] = got;
  }
  // Makes this a case of another operation, whose second output equals the first.
  void AddOutput(const std::string& line, const std::string& name) {
    c = Case::Parse(line);
    golden.push_back(golden[0]);
    permitted.push_back(permitted[0]);
    answer.push_back(answer[0]);
    golden[1].name = permitted[1].name = answer[1].name = name;
  }

  Case c;
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;
  Tensors answer;
};

}  // namespace sextant::oracle
