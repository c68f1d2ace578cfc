#include "oracle/identify/seen_rotation.h"

#include "reference/base/splitmix64.h"
#include "reference/case/table_layout.h"
#include "reference/rope/rope_cos_sin.h"

namespace sextant::oracle {
namespace {

// Every row of the matrices times vectors of 1 and -1: exact sums, if all other elements are 0.
SeenRotation RotationBy(const Tensor<double>& matrix, const Tensor<double>& position) {
  constexpr size_t kVectors = 4;
  const size_t S = matrix.shape[0], D = matrix.shape[1];
  SeenRotation seen{Tensor<double>({1, kVectors, S, D}), {}, position};
  seen.position.shape = {1, S};
  seen.y = seen.x;
  SplitMix64 random(1);
  for (double& x : seen.x.data) x = random.Below(2) == 0 ? 1 : -1;
  for (size_t n = 0; n < kVectors; ++n) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t i = 0; i < D; ++i) {
        for (size_t j = 0; j < D; ++j)
          seen.y(size_t{0}, n, s, i) += matrix(s, i, j) * seen.x(size_t{0}, n, s, j);
      }
    }
  }
  return seen;
}

// Columns [B,S,columns] of cos and sin; pair k of the rotation has channels k and k + R/2.
SeenRotation RotationBy(const Tensor<double>& cos, const Tensor<double>& sin,
                        const std::vector<PairOfChannels>& columns,
                        const Tensor<double>& position) {
  const size_t B = cos.shape[0], S = cos.shape[1], K = columns.size();
  SeenRotation seen{Tensor<double>({B, 2, S, 2 * K}), {}, position};
  seen.y = seen.x;
  for (size_t b = 0; b < B; ++b) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t k = 0; k < K; ++k) {
        const double c = cos(b, s, columns[k].first), si = sin(b, s, columns[k].first);
        seen.x(b, size_t{0}, s, k) = seen.x(b, size_t{1}, s, k + K) = 1;
        seen.y(b, size_t{0}, s, k) = seen.y(b, size_t{1}, s, k + K) = c;
        seen.y(b, size_t{0}, s, k + K) = si;
        seen.y(b, size_t{1}, s, k) = -si;
      }
    }
  }
  return seen;
}

bool RotatesChannels(const OperationInfo& info) {
  const auto& [inputs, outputs] = info.signature;
  if (inputs.size() != 2 || outputs.size() != 1) return false;
  const bool by_position = inputs[1].role == Role::kInteger || inputs[1].role == Role::kReal;
  return by_position && inputs[0].extents == outputs[0].extents && inputs[0].extents.size() == 4;
}

}  // namespace

std::optional<SeenRotation> RotationIn(const Exchange& exchange) {
  const Case& c = exchange.c;
  if (!Case::Has(c.operation(), "base")) return std::nullopt;
  const Tensors &inputs = exchange.inputs, &answer = exchange.answer;
  if (RotatesChannels(c.info()))
    return SeenRotation{inputs[0].values, answer[0].values, inputs[1].values};
  if (inputs.size() != 1 || c.signature().inputs[0].role != Role::kInteger) return std::nullopt;
  const Tensor<double>& position = inputs[0].values;
  if (answer.size() == 1 && answer[0].name == "matrix")
    return RotationBy(answer[0].values, position);
  const std::vector<PairOfChannels> columns = PairsOfTable(c);
  if (columns.empty() || answer.size() != 2) return std::nullopt;
  return RotationBy(answer[0].values, answer[1].values, columns, position);
}

std::vector<PairOfChannels> PairsOfTable(const Case& c) {
  const Claim given = ClaimOf(c);
  const auto at = given.find("layout");
  std::vector<PairOfChannels> pairs;
  if (at == given.end() || !c.dimensions().contains("R")) return pairs;
  TableLayout layout{};
  ParseValue(at->second, layout);
  const auto K = static_cast<size_t>(c.dimensions().at("R") / 2);
  for (size_t k = 0; k < K; ++k) pairs.push_back(ColumnsOf(layout, k, K));
  return pairs;
}

}  // namespace sextant::oracle
