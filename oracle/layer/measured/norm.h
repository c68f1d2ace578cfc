// Measured norms: what divides the rows of rms_norm, layer_norm and add_rms_norm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/norm_formula.h"
#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {

// What is known about a norm and its answer. Does not own anything but sums.
struct NormQuestion {
  size_t N, M;
  const std::vector<double>&x, &weight, &bias;  // x [N,M], weight [M], bias [M] or empty
  Norm right;
  const Samples& samples;          // of y
  bool has_other_weights = false;  // weight or bias are not the right ones
  size_t rows = 24;                // that are looked at
  std::shared_ptr<WholeTotals> totals = std::make_shared<WholeTotals>();  // of x
};

struct NormFit {
  Norm norm;
  Deviations deviations;             // none for the right norm
  std::vector<double> weight, bias;  // that are used
  bool is_evident = true;
};
// The norms with the fewest deviations from the right one that give the answer; empty if none does.
std::vector<NormFit> FitNorms(const NormQuestion& question);

// The norm of a case: that of layer_norm if it has a bias, else that of rms_norm. M is the width of
// a row.
Norm RightNorm(const Case& c, size_t M, bool has_bias);

// For rms_norm and layer_norm.
std::vector<Measurement> NormMeasurements();

}  // namespace sextant::oracle
