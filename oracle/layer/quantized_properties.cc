#include "oracle/layer/quantized_properties.h"

#include <algorithm>
#include <vector>

#include "oracle/layer/quantized_mutations.h"

namespace sextant::oracle {
namespace {

bool HasLeast(const Case& c) { return NumberOf(c, "least", 0) > 0; }

// Codes as [N,A,G,M]. Operations that end with quantize have blocks of one row.
BlockShape BlocksOf(const Case& c, const Response& y) {
  if (c.info().name == Quantize::kName) return BlockShape(y.shape(kCodes));
  const size_t blocks = y.size(kScale);
  return BlockShape({blocks, 1, 1, blocks == 0 ? 0 : y.size(kCodes) / blocks});
}

Tensors Scaled(Tensors inputs, const std::vector<std::string>& names, double factor) {
  for (const std::string& name : names)
    if (HasInput(inputs, name)) InputNamed(inputs, name) = Times(InputNamed(inputs, name), factor);
  return inputs;
}

Comparisons CheckWholeRange(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  if (HasLeast(c) || HasExactScale(c, y)) return {};
  const BlockShape shape = BlocksOf(c, y);
  const std::vector<double>& codes = y.outputs[kCodes].values.data;
  std::vector<size_t> largest(y.size(kScale), codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    size_t& at = largest[shape.BlockOf(i)];
    if (at == codes.size() || std::abs(codes[i]) > std::abs(codes[at])) at = i;
  }
  const DType type = y.outputs[kCodes].dtype;
  const char* const name = c.info().name == Quantize::kName ? "limit" : "codes_limit";
  const double limit = NumberOf(c, name, MaxFinite(type)), most = MaxFinite(type);
  Comparisons comparisons;
  for (size_t b = 0; b < largest.size(); ++b) {
    const size_t i = largest[b];
    if (i < codes.size())
      comparisons.Equal(y(kCodes, i), RoundTo(type, std::min(std::copysign(limit, codes[i]), most)),
                        {y, kCodes, i});
  }
  return comparisons;
}

Comparisons CheckMirrored(const Response& y, const Response& mirrored) {
  Comparisons comparisons;
  for (size_t b = 0; b < y.size(kScale); ++b)
    comparisons.Equal(y(kScale, b), mirrored(kScale, b), {mirrored, kScale, b});
  for (size_t i = 0; i < y.size(kCodes); ++i)
    comparisons.Equal(y(kCodes, i) * -1, mirrored(kCodes, i), {mirrored, kCodes, i});
  return comparisons;
}

// With a scale of the tensor that is doubled, too, the scale stays.
Comparisons CheckScaled(const Case& c, const Tensors& inputs, const Ask& ask,
                        std::vector<std::string> names) {
  const bool has_tensor_scale = HasInput(inputs, "tensor_scale");
  const Response y = ask(c, inputs);
  if (HasLeast(c) || (!has_tensor_scale && !HasPowers(c) && HasExactScale(c, y))) return {};
  if (has_tensor_scale) names.push_back("tensor_scale");
  const Response doubled = ask(c, Scaled(inputs, names, 2));
  // A power of two at an end of its type may be that of a smaller or larger number.
  const DType type = y.outputs[kScale].dtype;
  const auto is_at_end = [&](size_t b) {
    const double scale = y.outputs[kScale].values.data[b];
    return HasPowers(c) && (scale == MinSubnormal(type) || 2 * scale > MaxFinite(type));
  };
  const BlockShape shape = BlocksOf(c, y);
  Comparisons comparisons;
  for (size_t b = 0; b < y.size(kScale); ++b) {
    if (is_at_end(b)) continue;
    comparisons.Equal(y(kScale, b) * (has_tensor_scale ? 1 : 2), doubled(kScale, b),
                      {doubled, kScale, b});
  }
  for (size_t i = 0; i < y.size(kCodes); ++i)
    if (!is_at_end(shape.BlockOf(i)))
      comparisons.Equal(y(kCodes, i), doubled(kCodes, i), {doubled, kCodes, i});
  return comparisons;
}

}  // namespace

bool HasPowers(const Case& c) { return IsPower(c.operation().ChoiceOf(kScale)); }

bool HasExactScale(const Case& c, const Response& y) {
  return HasPowers(c) || TextOf(c, "scale_rule") == "one" || SizeOf(y.outputs[kScale].dtype) == 1;
}

Property WholeRange() {
  return {"whole_range", "the largest code of a block is the limit", CheckWholeRange};
}

Property MirroredCodes(Names names, std::string sentence, bool (*applies)(const Case&)) {
  const std::vector<std::string> changed(names.begin(), names.end());
  return {"odd", std::move(sentence), [=](const Case& c, const Tensors& inputs, const Ask& ask) {
            if (!applies(c)) return Comparisons();
            return CheckMirrored(ask(c, inputs), ask(c, Scaled(inputs, changed, -1)));
          }};
}

Property ScaledCodes(Names names, std::string sentence, bool (*applies)(const Case&)) {
  const std::vector<std::string> changed(names.begin(), names.end());
  return {"scaled", std::move(sentence), [=](const Case& c, const Tensors& inputs, const Ask& ask) {
            return applies(c) ? CheckScaled(c, inputs, ask, changed) : Comparisons();
          }};
}

}  // namespace sextant::oracle
