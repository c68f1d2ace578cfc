#include "oracle/attention/measured/softmax_deviations.h"

#include <optional>
#include <string>
#include <utility>

#include "oracle/attention/attention_parts.h"

namespace sextant::oracle {
namespace {

// Far below all other scores: which number it is makes no difference to y.
constexpr double kMaskedScore = -1e30;

bool HasQueryWithoutKeys(const AttentionAttributes& op) {
  for (size_t b = 0; b < static_cast<size_t>(op.B.value); ++b) {
    for (size_t s = 0; s < static_cast<size_t>(op.S.value); ++s)
      if (op.KeysOf(b, s).IsEmpty()) return true;
  }
  return false;
}

// `mask` with a finite score for masked keys, where it leaves a query without keys.
Deviation WithMeans(const Case& c, const Deviation& mask, const WithParts& with_parts) {
  Deviation means = mask;
  means.name += "+mask_value";
  means.changed = [=](const Hypothesis& base, double value) -> std::optional<Hypothesis> {
    const auto model = mask.changed(base, value);
    if (!model || !HasQueryWithoutKeys(AttentionOf(CaseOf(c, *model->operation))))
      return std::nullopt;
    const auto edit = [](MeasuredParts& parts) { parts.masked_score = kMaskedScore; };
    return Hypothesis{with_parts(*model->operation, edit), model->inputs, model->recipe};
  };
  means.sentence = [says = mask.sentence](const std::string& number) {
    return says(number) +
           "; and masked scores are finite, so that a query without keys gives the mean of all "
           "values";
  };
  return means;
}

}  // namespace

std::vector<Deviation> MeansWithoutKeys(const Case& c, const std::vector<Deviation>& masks,
                                        const WithParts& with_parts) {
  std::vector<Deviation> means;
  for (const Deviation& mask : masks) means.push_back(WithMeans(c, mask, with_parts));
  return means;
}

Deviation UnscaledTiles(const Case& c, const WithParts& with_parts) {
  std::vector<NamedValue> values;
  for (size_t tile = 4; tile < ExtentOf(c, "T") && tile <= 256; tile *= 2)
    values.push_back({static_cast<double>(tile), std::to_string(tile)});
  const auto changed = [with_parts](const Hypothesis& base,
                                    double tile) -> std::optional<Hypothesis> {
    const auto edit = [&](MeasuredParts& parts) { parts.tile = static_cast<size_t>(tile); };
    return Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe};
  };
  return {.name = "tiles_not_rescaled",
          .factor = "tiles",
          .values = std::move(values),
          .changed = changed,
          .sentence = [](const std::string& tile) {
            return "the weights of each tile of " + tile +
                   " keys are relative to the largest score up to it: they are not rescaled";
          }};
}

}  // namespace sextant::oracle
