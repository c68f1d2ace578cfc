#include "oracle/position/measured/sinusoidal.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/attributes.h"
#include "oracle/rope/measured/measured_op.h"
#include "oracle/rope/measured/rotation.h"
#include "reference/number/real.h"
#include "reference/position/sinusoidal.h"

namespace sextant::oracle {
namespace {

// The columns of a pair, of its sine and its cosine, are its channels in the model.
struct MeasuredEncoding : Sinusoidal {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& y) const {
    const Tensor<double> with_axes({1, 1, position.shape[0]}, position.data);
    const PairTables<Real> tables = AllTablesOf<Real>(model, nullptr, with_axes);
    for (size_t s = 0; s < position.shape[0]; ++s) {
      for (size_t k = 0; k < model.pairs.size(); ++k) {
        y(s, model.written[k].first) = tables.sin(0, s, k);
        y(s, model.written[k].second) = tables.cos(0, s, k);
      }
    }
  }
};

std::vector<PairOfChannels> ColumnsOf(sextant::Layout layout, size_t width) {
  std::vector<PairOfChannels> columns;
  for (size_t k = 0; k < width / 2; ++k)
    columns.push_back(layout == sextant::Layout::kInterleaved ? PairOfChannels{2 * k, 2 * k + 1}
                                                              : PairOfChannels{k, width / 2 + k});
  return columns;
}

RotaryModel ModelOf(const Sinusoidal& op) {
  RotaryModel model;
  const int64_t width = op.M.value;
  model.setting.base = op.base;
  // The denominator of the exponents.
  model.setting.R = op.denominator == Denominator::kPaper ? width : std::max<int64_t>(width - 2, 2);
  model.amplitude_power = 0;
  for (int64_t k = 0; k < width / 2; ++k)
    model.pairs.push_back({.k = 2 * k, .n = model.setting.R, .scaled_as = k});
  model.read = model.written = ColumnsOf(op.layout, static_cast<size_t>(width));
  return model;
}

TokenFits FitsOf(const Tensor<double>& y, const RotaryModel& model, double error) {
  TokenFits measured{{y.shape[0], model.written.size(), {}}, {}};
  const double bar = std::sqrt(2.0) * error;
  for (size_t s = 0; s < y.shape[0]; ++s) {
    measured.token_of.push_back(s);
    for (const auto& [sine, cosine] : model.written)
      measured.fits.of.push_back({Complex(y(s, cosine), y(s, sine)), bar, true, error, error});
  }
  return measured;
}

// The columns of the right layout, and those of the other.
std::vector<Layout> LayoutsOf(const RotaryModel& right, sextant::Layout of_case) {
  const auto R = static_cast<int64_t>(2 * right.pairs.size());
  std::vector<Layout> all = {{{}, {}, right.read, right.written, R, {}, {}}};
  for (const auto layout : {sextant::Layout::kInterleaved, sextant::Layout::kConcatenated}) {
    if (layout == of_case) continue;
    const auto columns = ColumnsOf(layout, static_cast<size_t>(R));
    all.push_back({"layout_of_columns",
                   "the columns are those of layout=" + PrintValue(layout),
                   columns,
                   columns,
                   R,
                   {},
                   {}});
  }
  return all;
}

std::vector<Explanation> ExplainEncoding(const Observation& seen) {
  const auto at = std::ranges::find(seen.answer, seen.golden[0].name, &NamedTensor::name);
  if (at == seen.answer.end() || at->values.data.empty()) return {};
  Wrapped<MeasuredEncoding, false> op;
  CopyAttributes(seen.c, op);
  MeasuredEncoding measured = op.op();
  const RotaryModel right = ModelOf(measured);
  if (right.pairs.empty()) return {};
  const double error = TableError(seen.c, seen.recipe, 1);
  const auto fits = [&](const RotaryModel& model) -> std::optional<TokenFits> {
    return FitsOf(at->values, model, error);
  };
  const auto hypothesis = [&](const RotaryModel& model, const Positions& positions) {
    measured.model = model;
    Tensors inputs = seen.inputs;
    inputs[0].values.data = positions[0];
    return Hypothesis{std::make_shared<Wrapped<MeasuredEncoding, false>>(measured),
                      std::move(inputs), seen.recipe};
  };
  return ExplainRotation({.seen = seen,
                          .right = right,
                          .positions = {seen.inputs[0].values.data},
                          .length = seen.inputs[0].values.data.size(),
                          .is_configured = true,
                          .given = nullptr,
                          .layouts = [&] { return LayoutsOf(right, measured.layout); },
                          .fits = fits,
                          .fits_of_sums = {},
                          .hypothesis = hypothesis});
}

}  // namespace

std::vector<Explanation> MeasureSinusoidal(const Observation& seen) {
  std::vector<Explanation> found = MeasureAttributes(seen);
  return found.empty() ? ExplainEncoding(seen) : found;
}

}  // namespace sextant::oracle
