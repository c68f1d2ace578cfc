// Measurements of tables of cos and sin, and of frequencies.
#include <algorithm>
#include <cmath>

#include "oracle/rope/measured/measured_op.h"
#include "oracle/rope/measured/rotation.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"
#include "reference/rope/rope_cos_sin.h"
#include "reference/rope/rope_table.h"

namespace sextant::oracle {
namespace {

// The columns of a pair are its channels in a model.
struct MeasuredTable : RopeTable {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<double>& position, const Tensor<Real>& inv_freq, Tensor<Real>& cos,
                  Tensor<Real>& sin) const {
    const auto tables = AllTablesOf(model, &inv_freq, WithAxes(position, position.shape[1]));
    cos = tables.cos;
    sin = tables.sin;
  }
};

struct MeasuredCosSin : RopeCosSin {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& cos, Tensor<Real>& sin) const {
    const auto tables = AllTablesOf<Real>(model, nullptr, WithAxes(position, position.shape[1]));
    for (const auto& [from, to] : {std::pair(&tables.cos, &cos), std::pair(&tables.sin, &sin)}) {
      const size_t pairs = model.pairs.size(), width = to->shape[2];
      for (size_t i = 0; i < from->data.size(); ++i) {
        const auto [first, second] = model.written[i % pairs];
        to->data[i / pairs * width + first] = to->data[i / pairs * width + second] = from->data[i];
      }
    }
  }
};

struct MeasuredFrequencyOperation : RopeFrequencies {
  RotaryModel model;
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
    inv_freq = ModelFrequencies<Real>(model, nullptr);
    attention_factor() = ModelAmplitude<Real>(model);
  }
};

// The pairs of a configuration; the columns of pair k of P in a table.
RotaryModel ModelWithColumns(size_t pairs, const std::function<PairOfChannels(size_t)>& columns) {
  RotaryModel model;
  model.setting.R = static_cast<int64_t>(2 * pairs);
  for (size_t k = 0; k < pairs; ++k) {
    const auto index = static_cast<int64_t>(k);
    model.pairs.push_back({.k = 2 * index, .n = model.setting.R, .scaled_as = index});
    model.read.push_back(columns(k));
  }
  model.written = model.read;
  return model;
}

}  // namespace

double TableError(const Case& c, const Recipe& recipe, double amplitude) {
  const ScopedRecipe scope(recipe, c.dtype());
  std::pair<Counted, Counted> cos_sin;
  {
    const ScopedStep at(Step::kTrig);
    cos_sin = CosSin(Counted(0.75));
  }
  cos_sin = TableEntry(cos_sin, Counted(amplitude));
  const ScopedStore at(c.dtype());
  return std::max(Converted(cos_sin.first).Permitted(), Converted(cos_sin.second).Permitted());
}

namespace {

// The fits of a table with these columns; empty if two columns of a pair differ.
std::optional<TokenFits> FitsOf(const Tensor<double>& cos, const Tensor<double>& sin,
                                const RotaryModel& model, double error) {
  const size_t width = cos.shape[2], tokens = cos.shape[0] * cos.shape[1];
  TokenFits measured{{tokens, model.written.size(), {}}, {}};
  for (size_t t = 0; t < tokens; ++t) {
    measured.token_of.push_back(t);
    for (const auto& [first, second] : model.written) {
      const auto at = [&](size_t column) {
        return Complex(cos.data[t * width + column], sin.data[t * width + column]);
      };
      const double bar = std::sqrt(2.0) * error;
      if (!(std::abs(at(first) - at(second)) <= 2 * bar)) return std::nullopt;
      measured.fits.of.push_back({at(first), bar, true, error, error});
    }
  }
  return measured;
}

// The answers cos and sin; null if one is missing.
std::pair<const Tensor<double>*, const Tensor<double>*> TablesIn(const Observation& seen) {
  const auto find = [&](size_t o) -> const Tensor<double>* {
    const auto at = std::ranges::find(seen.answer, seen.golden[o].name, &NamedTensor::name);
    return at == seen.answer.end() || at->values.data.empty() ? nullptr : &at->values;
  };
  return {find(0), find(1)};
}

template <class Op>
std::vector<Explanation> ExplainTable(const Observation& seen, const RotaryModel& right,
                                      const std::vector<Layout>& layouts) {
  const auto [cos, sin] = TablesIn(seen);
  if (!cos || !sin) return {};
  const Tensor<double>& position = seen.inputs[0].values;
  const double gain = GainOf(right, seen.c, seen.recipe);
  const double error = TableError(seen.c, seen.recipe, std::max(1.0, gain * gain));
  const bool is_given = seen.inputs.size() > 1;
  const auto fits = [&](const RotaryModel& model) { return FitsOf(*cos, *sin, model, error); };
  const auto possible = [&] {
    std::vector<Layout> found;
    for (const Layout& layout : layouts) {
      RotaryModel model = right;
      model.written = layout.written;
      if (found.empty() && fits(model)) found.push_back(layout);
    }
    return found;
  };
  const auto hypothesis = [&](const RotaryModel& model, const Positions& positions) {
    Wrapped<Op, false> right_operation;
    CopyAttributes(seen.c, right_operation);
    Op measured = right_operation.op();
    measured.model = model;
    Tensors inputs = seen.inputs;
    inputs[0].values.data = positions[0];
    return Hypothesis{std::make_shared<Wrapped<Op, false>>(measured), std::move(inputs),
                      seen.recipe};
  };
  const RotaryQuestion question{.seen = seen,
                                .right = right,
                                .positions = {position.data},
                                .length = position.shape.back(),
                                .is_configured = !is_given,
                                .given = is_given ? &seen.inputs[1].values : nullptr,
                                .layouts = possible,
                                .fits = fits,
                                .fits_of_sums = {},
                                .hypothesis = hypothesis};
  return ExplainRotation(question);
}

std::vector<Explanation> ExplainGivenTable(const Observation& seen) {
  Wrapped<RopeTable> op;
  CopyAttributes(seen.c, op);
  const size_t pairs = seen.inputs[1].values.data.size();
  RotaryModel right = ModelWithColumns(pairs, [](size_t k) { return PairOfChannels{k, k}; });
  right.amplitude_power = 0;
  right.gain = op.op().attention_factor;
  return ExplainTable<MeasuredTable>(seen, right,
                                     {{{}, {}, right.read, right.written, right.setting.R, {}}});
}

std::vector<Explanation> ExplainCosSin(const Observation& seen) {
  Wrapped<RopeCosSin> op;
  CopyAttributes(seen.c, op);
  const auto pairs = static_cast<size_t>(op.op().R.value / 2);
  std::vector<Layout> layouts;
  RotaryModel right;
  for (const TableLayout layout :
       {op.op().layout, TableLayout::kHalves, TableLayout::kInterleaved}) {
    const bool is_right = layout == op.op().layout;
    if (!is_right && op.op().layout == TableLayout::kHalfWidth) continue;
    const RotaryModel model =
        ModelWithColumns(pairs, [&](size_t k) { return ColumnsOf(layout, k, pairs); });
    if (layouts.empty()) right = model;
    const std::string name = is_right ? "" : Phrase("layout_", PrintValue(layout));
    layouts.push_back({name,
                       is_right ? "" : "the columns are those of layout=" + PrintValue(layout),
                       model.read,
                       model.written,
                       model.setting.R,
                       {}});
  }
  right.scaling = right.amplitude_of = op.op().scaling;
  right.setting = op.op().Setting();
  return ExplainTable<MeasuredCosSin>(seen, right, layouts);
}

// The frequencies themselves: [f - error, f + error], with the largest relative error that the
// recipe permits in any frequency, and in any format of the outputs.
std::vector<std::optional<LongRange>> FrequencyRanges(const Observation& seen,
                                                      const std::vector<double>& answer) {
  const GoldenTensor& golden = seen.golden[0];
  double relative = 0;
  for (size_t k = 0; k < answer.size(); ++k) {
    const double f = std::abs(golden.value.data[k]), error = seen.permitted[0].error.data[k];
    if (f > 0 && std::isfinite(error)) relative = std::max(relative, error / f);
  }
  std::vector<std::optional<LongRange>> ranges;
  for (const double f : answer) {
    const double error = std::abs(f) * relative;
    ranges.push_back(std::isfinite(f) ? std::optional(LongRange{f - error, f + error})
                                      : std::nullopt);
  }
  return ranges;
}

MeasuredFrequencies FrequenciesIn(const Observation& seen, const RotaryModel& right,
                                  const std::vector<double>& answer) {
  const auto list_of = [&](const RotaryModel& model) {
    return FrequencyListOf(model, nullptr, seen.c, seen.recipe);
  };
  MeasuredFrequencies frequencies{.right = right,
                                  .right_list = list_of(right),
                                  .is_configured = true,
                                  .of_pair = FrequencyRanges(seen, answer),
                                  .possible = {},
                                  .list_of = list_of,
                                  .fits = [](const RotaryModel&) { return true; }};
  for (const std::optional<LongRange>& range : frequencies.of_pair)
    frequencies.possible.push_back(range ? std::vector{*range} : std::vector<LongRange>());
  return frequencies;
}

// The amplitude, if it is wrong.
void SetAmplitude(const Observation& seen, double answer, RotaryModel& model,
                  std::vector<Part>& parts) {
  const double right = seen.golden[1].value.data[0], error = seen.permitted[1].error.data[0];
  if (std::abs(answer - right) <= error) return;
  const double relative = std::max(error / right, 0x1p-52);
  const LongRange ratio{answer / right * (1 - relative), answer / right * (1 + relative)};
  model.amplitude_power = ratio.Contains(1 / right) ? 0 : ratio.Contains(right) ? 2 : 1;
  if (model.amplitude_power == 1) model.gain = SimplestRatioIn(ratio);
  parts.push_back({"amplitude", Phrase("the amplitude is ", answer, ", expected ", right), true});
}

std::vector<Explanation> ExplainFrequencies(const Observation& seen) {
  const auto [inv_freq, amplitude] = TablesIn(seen);
  if (!inv_freq || !amplitude) return {};
  Wrapped<MeasuredFrequencyOperation, false> op;
  CopyAttributes(seen.c, op);
  MeasuredFrequencyOperation measured = op.op();
  measured.model = ModelWithColumns(inv_freq->data.size(), [](size_t k) {
    return PairOfChannels{k, k};
  });
  RotaryModel& right = measured.model;
  right.scaling = right.amplitude_of = measured.scaling;
  right.setting = measured.Setting();
  std::vector<Part> parts;
  SetAmplitude(seen, amplitude->data[0], right, parts);
  const MeasuredFrequencies frequencies = FrequenciesIn(seen, right, inv_freq->data);
  const auto explain = [&](const RotaryModel& model, const std::vector<Part>& all) {
    measured.model = model;
    return ExplanationOf(
        all, {std::make_shared<Wrapped<MeasuredFrequencyOperation, false>>(measured), seen.inputs,
              seen.recipe});
  };
  if (frequencies.Agrees(frequencies.right_list))
    return parts.empty() ? std::vector<Explanation>() : std::vector{explain(right, parts)};
  std::vector<Explanation> explanations;
  for (const FrequencyForm& form : NameFrequencies(frequencies)) {
    std::vector<Part> all = parts;
    all.push_back({form.name, form.sentence});
    explanations.push_back(explain(form.model, all));
  }
  return explanations;
}

}  // namespace

template <>
std::vector<Measurement> RotationMeasurements<RopeFrequencies>() {
  return {ExplainFrequencies};
}
template <>
std::vector<Measurement> RotationMeasurements<RopeTable>() {
  return {ExplainGivenTable};
}
template <>
std::vector<Measurement> RotationMeasurements<RopeCosSin>() {
  return {ExplainCosSin};
}

}  // namespace sextant::oracle
