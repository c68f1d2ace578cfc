#include "oracle/attention/measured/attention.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "oracle/attention/attention_parts.h"
#include "oracle/attention/measured/factors.h"
#include "oracle/attention/measured/heads.h"
#include "oracle/attention/measured/keys.h"
#include "oracle/attention/measured/operands.h"
#include "oracle/attention/measured/softmax_deviations.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

// Windows and chunks up to these sizes are tried where none is expected: for asked weights, which
// say the keys; and for answers, with which each mask is compared.
constexpr int64_t kByWeights = 257, kByAnswers = 17;

std::string ValueText(double x) { return PrintValue(x); }

NamedValue Root(double of) { return {1 / std::sqrt(of), "1/sqrt(" + ValueText(of) + ")"}; }

// Numbers that are taken for D^-1/2.
std::vector<NamedValue> LikelyScales(const Case& c) {
  const auto D = static_cast<double>(ExtentOf(c, "D"));
  const auto extent = [&](const char* letter) {
    return c.dimensions().contains(letter) ? static_cast<double>(ExtentOf(c, letter)) : 0;
  };
  const double H = extent("H"), K = extent("K"), E = extent("E");
  std::vector<NamedValue> likely = {{1, "1"}, {1 / D, "1/" + ValueText(D)}, Root(D)};
  const auto add_root = [&](double of) {
    if (of > 0) likely.push_back(Root(of));
  };
  for (const double of : {E, 2 * D, D / 2, 4 * D, D / 4, H * D, K * D, D + 1, D - 1, H, D * D * D})
    add_root(of);
  likely.push_back({std::sqrt(D), "sqrt(" + ValueText(D) + ")"});
  likely.push_back({std::pow(D, -0.25), ValueText(D) + "^(-1/4)"});
  likely.push_back(
      {std::numbers::ln2 / std::sqrt(D), "ln(2)/sqrt(" + ValueText(D) + "): 2^x for e^x"});
  likely.push_back({std::numbers::log2e / std::sqrt(D), "log2(e)/sqrt(" + ValueText(D) + ")"});
  for (const double power : {32, 64, 80, 96, 128, 192, 256, 512}) add_root(power);
  for (NamedValue& value : likely) {
    const std::string number = ShortText(value.value);
    if (value.text != number) value.text = number + " = " + value.text;
  }
  // The scale of the case itself, twice, squared, inverted.
  const double right = NumberOf(c, "scale", 1 / std::sqrt(D));
  for (const double x : {2 * right, right / 2, right * right, 1 / right, -right})
    likely.push_back({x});
  return likely;
}

Deviation Scale(const Case& c) {
  const double D = static_cast<double>(ExtentOf(c, "D"));
  return RealAttribute("scale", "scores are multiplied by", NumberOf(c, "scale", 1 / std::sqrt(D)),
                       LikelyScales(c));
}

// A cap where none is expected.
Deviation Cap() {
  return AttributeText("soft_cap", "no cap is expected, scores are capped at",
                       {"50", "30", "20", "15", "10", "100", "5", "2", "1"});
}

// Attributes set together, and what is said of them.
struct Setting {
  std::string text;
  AttributeTexts attributes;
};
Deviation Settings(const std::string& name, const std::string& factor, const std::string& phrase,
                   const std::vector<Setting>& settings) {
  std::vector<Choice> choices;
  for (const Setting& setting : settings) {
    choices.push_back({phrase + setting.text, [to = setting.attributes](const Hypothesis& base) {
                         return WithAttributes(base, to);
                       }});
  }
  return OneOf(name, factor, choices);
}

std::string SignedTerm(int64_t x) {
  return (x < 0 ? " - " : " + ") + std::to_string(x < 0 ? -x : x);
}

// Query s belongs to another key than s + FirstIndex.
Deviation Alignment(const AttentionAttributes& op) {
  std::vector<Setting> settings;
  const int64_t first = op.FirstIndex(0);
  std::vector<int64_t> shifts = {-first};  // the first query belongs to the first key
  for (int64_t near = 1; near <= 16; ++near) shifts.insert(shifts.end(), {near, -near});
  for (const int64_t shift : shifts) {
    if (shift == 0) continue;
    IntegerList offsets;
    for (int64_t b = 0; b < op.B.value; ++b)
      offsets.push_back(op.FirstIndex(static_cast<size_t>(b)) + shift);
    const bool is_top_left = !op.query_offset && shift == -first && op.align != Align::kTopLeft;
    settings.push_back({"s" + SignedTerm(first + shift) + ", expected s" + SignedTerm(first) +
                            (is_top_left ? " (top_left instead of bottom_right)" : ""),
                        {{"align", ""}, {"query_offset", PrintValue(offsets)}}});
  }
  const auto queries = " (of " + std::to_string(op.S.value) + " queries)";
  for (Setting& setting : settings) setting.text += queries;
  return Settings("mask_shifted", "align", "query s belongs to key ", settings);
}

Deviation Window(const AttentionAttributes& op, int64_t most) {
  std::vector<Setting> settings;
  if (op.window) {
    const int64_t left = (*op.window)[0], right = (*op.window)[1];
    const std::string expected = ", expected " + PrintValue(*op.window);
    const auto add = [&](int64_t l, int64_t r) {
      if (l < -1 || r < -1 || (l == left && r == right)) return;
      const std::string text = PrintValue(IntegerList{l, r});
      settings.push_back({text + expected, {{"window", text}}});
    };
    settings.push_back({"missing" + expected, {{"window", ""}}});
    for (int64_t near = 1; near <= 16; ++near) {
      if (left >= 0) add(left - near, right), add(left + near, right);
      if (right >= 0) add(left, right - near), add(left, right + near);
    }
    add(right, left), add(-1, right), add(left, -1), add(2 * left, right), add(left / 2, right);
  } else {
    for (int64_t width = 0; width + 1 < std::min<int64_t>(op.T.value, most); ++width) {
      const std::string text = PrintValue(IntegerList{width, -1});
      settings.push_back({text + ", expected none", {{"window", text}}});
    }
  }
  return Settings("window_changed", "window", "the window is ", settings);
}

Deviation Chunk(const AttentionAttributes& op, int64_t most) {
  std::vector<Setting> settings;
  const int64_t C = op.chunk.value_or(0);
  const std::string expected = ", expected " + (C == 0 ? "none" : std::to_string(C));
  if (C > 0) settings.push_back({"not limited" + expected, {{"chunk", ""}}});
  for (int64_t near = 1; near <= 16 && C > 0; ++near) {
    for (const int64_t other : {C - near, C + near})
      if (other > 0)
        settings.push_back({PrintValue(other) + expected, {{"chunk", PrintValue(other)}}});
  }
  for (int64_t size = 1; size < std::min<int64_t>(op.T.value, most); ++size)
    if (std::abs(size - C) > 16 || C == 0)
      settings.push_back({PrintValue(size) + expected, {{"chunk", PrintValue(size)}}});
  return Settings("chunk_changed", "chunk", "the length of a chunk is ", settings);
}

// Each batch has so many keys more or less. The queries stay with their keys, or move with the end.
Deviation Length(const AttentionAttributes& op, bool moves) {
  std::vector<Setting> settings;
  if (op.key_length) {
    settings.push_back(
        {"not limited, expected " + PrintValue(*op.key_length), {{"key_length", ""}}});
    IntegerList reversed = *op.key_length;
    std::ranges::reverse(reversed);
    settings.push_back({PrintValue(reversed) + ", expected " + PrintValue(*op.key_length),
                        {{"key_length", PrintValue(reversed)}}});
  }
  for (int64_t near = 1; near <= 16; ++near) {
    for (const int64_t shift : {-near, near}) {
      IntegerList lengths, first;
      for (int64_t b = 0; b < op.B.value; ++b) {
        const auto batch = static_cast<size_t>(b);
        lengths.push_back(std::clamp<int64_t>(op.KeyLength(batch) + shift, 0, op.T.value));
        first.push_back(op.FirstIndex(batch));
      }
      AttributeTexts texts = {{"key_length", PrintValue(lengths)}};
      if (!moves) texts.insert(texts.end(), {{"align", ""}, {"query_offset", PrintValue(first)}});
      settings.push_back(
          {PrintValue(lengths) + (op.key_length ? ", expected " + PrintValue(*op.key_length)
                                                : ", expected " + PrintValue(op.T.value)),
           texts});
    }
  }
  return Settings(moves ? "key_length_changed" : "keys_cut", "key_length", "the number of keys is ",
                  settings);
}

Deviation Segments(const AttentionAttributes& op) {
  std::vector<Setting> settings;
  const IntegerList segments = op.segments.value_or(IntegerList{});
  const std::string expected =
      ", expected " + (op.segments ? PrintValue(segments) : std::string("none"));
  if (op.segments) settings.push_back({"missing" + expected, {{"segments", ""}}});
  for (size_t i = 0; i < segments.size(); ++i) {
    for (const int64_t shift : {-1, 1, -2, 2}) {
      IntegerList other = segments;
      other[i] += shift;
      if (other[i] >= 0)
        settings.push_back({PrintValue(other) + expected, {{"segments", PrintValue(other)}}});
    }
  }
  return Settings("segments_changed", "segments", "the lengths of the sequences are ", settings);
}

std::vector<Deviation> MaskDeviations(const Case& c, int64_t most) {
  const AttentionAttributes op = AttentionOf(c);
  std::vector<Deviation> deviations = {Alignment(op), Window(op, most), Chunk(op, most),
                                       Length(op, true), Segments(op)};
  if (op.mask == Mask::kCausal || op.window || op.chunk) deviations.push_back(Length(op, false));
  return deviations;
}

// How often e^sink is added to the sum.
Deviation SinkCount(const Tensors& inputs) {
  Deviation deviation = InputFactor(inputs, "sink", "");
  deviation.name = "sink_repeated";
  deviation.values = {{2}, {3}, {4}, {0.5}, {0.25}, {8}};
  deviation.changed = [](const Hypothesis& base, double count) -> std::optional<Hypothesis> {
    if (!(count > 0)) return std::nullopt;
    Hypothesis model = base;
    Tensors inputs = model.inputs;
    for (double& sink : InputNamed(inputs, "sink").data) sink += std::log(count);
    model.inputs = std::move(inputs);
    return model;
  };
  deviation.sentence = [](const std::string& number) {
    return "the sink counts " + number + " times";
  };
  return deviation;
}

bool HasAttribute(const Case& c, const std::string& name) { return Case::Has(c.operation(), name); }

}  // namespace

std::vector<Deviation> AttentionDeviations(const Case& c, const Tensors& inputs) {
  std::vector<Deviation> deviations = {Scale(c)};
  if (HasAttribute(c, "soft_cap") && TextOf(c, "soft_cap").empty()) deviations.push_back(Cap());
  if (HasAttribute(c, "window"))
    std::ranges::move(MaskDeviations(c, kByAnswers), std::back_inserter(deviations));
  if (HasInput(inputs, "bias"))
    deviations.push_back(InputFactor(inputs, "bias", "the bias is multiplied by"));
  if (HasInput(inputs, "sink")) {
    deviations.push_back(InputFactor(inputs, "sink", "the sink is multiplied by"));
    deviations.push_back(SinkCount(inputs));
  }
  return deviations;
}

std::vector<Explanation> MeasureParts(const Observation& seen, const Hypothesis& base,
                                      const WithParts& with_parts) {
  const std::vector<Deviation> rotations = RotationDeviations(seen.c, seen.inputs);
  if (seen.how.is_part && !rotations.empty()) return {};  // each evaluation rotates all keys
  const auto by_weights = [&] {
    return MeasureFactors(
        seen, base, with_parts,
        {LikelyScales(seen.c), MaskDeviations(seen.c, kByWeights),
         Joined<Deviation>({rotations, BiasChanges(seen.c, seen.inputs), {NormedOperands()}})});
  };
  const auto by_answer = [&] {
    std::vector<Deviation> deviations = AndAttributes(
        Joined<Deviation>(
            {{HeadsOf(seen.c, std::make_shared<const Tensors>(seen.inputs), with_parts)},
             AttentionDeviations(seen.c, seen.inputs),
             BiasChanges(seen.c, seen.inputs),
             {UnscaledTiles(seen.c, with_parts)}}),
        seen.c, seen.inputs);
    Deviation keys;
    keys.name = keys.factor = "keys";
    keys.measured = [&](const Hypothesis& model) { return KeysByAnswers(seen, model, with_parts); };
    keys.cost = CostOfKeys(seen.c);
    deviations.push_back(std::move(keys));
    std::vector<Deviation> means;
    if (!HasInput(seen.inputs, "sink"))
      means = MeansWithoutKeys(seen.c, MaskDeviations(seen.c, kByAnswers), with_parts);
    return FittedTo(seen, base, deviations, means);
  };
  // Weights say more, but they are asked for in many questions.
  const bool asks_first = !IsLarge(seen.c);
  auto found = asks_first ? by_weights() : by_answer();
  if (found.empty()) found = asks_first ? by_answer() : by_weights();
  return found;
}

}  // namespace sextant::oracle
