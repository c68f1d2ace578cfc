#include "reference/rope/rope_shift.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_properties.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "oracle/rope/scaling_defects.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

constexpr double kShift = 7;  // tokens

// Shifts the answer `first` again, with its permitted errors: after a rotation, errors e and f of a
// pair are at most e + f in each channel.
class Shifted {
 public:
  Shifted(const Case& c, const Tensors& inputs, const Response& first, const Ask& ask)
      : window_(c), first_(first) {
    Tensors shifted = inputs;
    shifted[0].values.data = first.outputs[0].values.data;
    again_ = ask(c, shifted);
  }
  // Calls check(flat index, value with its error) for every rotated channel.
  template <class Check>
  void ForEach(Check check) const {
    window_.ForEachPair([&](size_t, size_t, size_t i, size_t j) {
      const double carried = (first_(0, i).error() + first_(0, j).error()) * (1 + 0x1p-50);
      for (const size_t at : {i, j}) check(at, again_(0, at) + Measured(0, carried));
    });
  }

 private:
  Window window_;
  const Response& first_;
  Response again_;
};

// Shifting by delta and then by 7 equals shifting by delta + 7.
Comparisons CheckRopeShiftSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response first = ask(c, inputs);
  const Shifted twice(c, Mapped(inputs, "delta", [](double) { return kShift; }), first, ask);
  const Response once = ask(c, Mapped(inputs, "delta", [](double d) { return d + kShift; }));
  Comparisons comparisons;
  twice.ForEach([&](size_t i, const Measured& y) {
    comparisons.Equal(y, once(0, i), {once, 0, i});
  });
  return comparisons;
}

void CompareWithRotationAnew(const Case& c, const Tensors& inputs, const Ask& ask,
                             Comparisons& comparisons) {
  const Case forward = c.With("direction=forward"), rope = AsRope(forward);
  const size_t keys = ExtentOf(c, "T");
  Tensors fresh = DrawInputs(rope);
  fresh[0].values.data = inputs[0].values.data;
  const Response rotated = ask(rope, fresh);
  std::vector<double>& position = InputNamed(fresh, "position").data;
  for (size_t i = 0; i < position.size(); ++i) position[i] += inputs[1].values.data[i / keys];
  const Response anew = ask(rope, fresh);
  const Shifted shifted(forward, inputs, rotated, ask);
  shifted.ForEach([&](size_t i, const Measured& y) {
    comparisons.Equal(y, anew(0, i), {anew, 0, i});
  });
}

// One scaling of each kind that may have an amplitude, for R/2 pairs.
std::vector<RopeScaling> ScalingsWithAmplitude(const Case& c) {
  std::vector<double> divisors, frequencies;
  for (size_t k = 0; k < ExtentOf(c, "R") / 2; ++k) {
    divisors.push_back(1 + static_cast<double>(k) / 8);
    frequencies.push_back(1 / (1.5 + static_cast<double>(k)));
  }
  return {YarnScaling{.factor = 4, .original_max_position_embeddings = 4096},
          LongRopeScaling{.short_factor = divisors,
                          .long_factor = divisors,
                          .original_max_position_embeddings = 4096,
                          .factor = 32},
          ExplicitScaling{.inv_freq = frequencies, .attention_factor = 1.5}};
}

// The purpose of the operation: keys rotated at p and shifted by delta equal keys rotated at p +
// delta. Both have the amplitude once. A case without scaling is also checked with
// ScalingsWithAmplitude.
Comparisons CheckRotationAnew(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  CompareWithRotationAnew(c, inputs, ask, comparisons);
  if (TextOf(c, "scaling") != "none" || NumberOf(c, "base", 0) <= 1) return comparisons;
  for (const RopeScaling& scaling : ScalingsWithAmplitude(c)) {
    CompareWithRotationAnew(c.With("scaling=" + PrintValue(scaling)), inputs, ask, comparisons);
  }
  return comparisons;
}

// The formula with one mutation. Members with their default values change nothing.
struct MutatedShift : RopeShift {
  RotaryMutation mutation;
  bool by_position = false;  // key t rotates by delta + t
  bool amplified = false;    // the amplitude is applied once more

  template <class Real>
  Real Amplitude() const {
    const ScopedStep at(Step::kFrequency);
    return amplified ? AmplitudeOf<Real>(scaling, Setting()) : Real(1.0);
  }
  template <class Real>
  void operator()(const Tensor<Real>& k, const Tensor<double>& delta, Tensor<Real>& y) const {
    const size_t keys = k.shape[2], width = static_cast<size_t>(R.value);
    Tensor<double> position({k.shape[0], keys});
    for (size_t i = 0; i < position.data.size(); ++i) {
      position.data[i] = delta.data[i / keys] + (by_position ? static_cast<double>(i % keys) : 0);
    }
    const Head head{pairing, static_cast<size_t>(offset), width, k.shape[3]};
    const auto frequencies = MutatedFrequencies<Real>(mutation, Frequencies(), width, head);
    Apply<Real>(mutation, head, direction == Direction::kForward, k,
                MutatedTables(mutation, position, frequencies, Amplitude<Real>()), y);
  }
};

std::vector<Defect> ShiftDefects() {
  MutatedShift by_position, amplified;
  by_position.by_position = true;
  amplified.amplified = true;
  return {AcrossSlices(MutatedFormula("rotated_by_position",
                                      "every key rotates by delta plus its index in the cache",
                                      by_position)),
          MutatedFormula("amplitude_again",
                         "the attention factor is applied again to cached keys, which already have "
                         "it (ggml-org/llama.cpp#3272)",
                         amplified)};
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeShift>() {
  return {.properties = Joined<Property>(
              {PropertiesOfPositions(),
               PropertiesOfConfiguration(),
               {PairingsAgree(),
                {"shifts_add", "shifting by delta and then by 7 equals shifting by delta + 7",
                 CheckRopeShiftSum},
                {"as_rotated_anew",
                 "keys rotated at p and shifted by delta equal keys rotated at p + delta",
                 CheckRotationAnew}}}),
          // All keys of a sequence rotate by the same delta, so a wrong row of the table changes
          // nothing.
          .defects = Joined<Defect>(
              {PositionDefects("delta"),
               RemoveDefects({"indexed_by_head", "position_of_first_token", "table_at_half_stride"},
                             MutationDefects<MutatedShift>(RotationMutations())),
               MutationDefects<MutatedShift>(FrequencyMutations()), ScalingDefects(),
               PrecisionDefects(RopeShift::kSteps), ShiftDefects()}),
          .measurements = RotationMeasurements<RopeShift>()};
}

}  // namespace sextant::oracle
