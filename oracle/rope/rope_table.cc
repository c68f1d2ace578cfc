#include "reference/rope/rope_table.h"

#include "oracle/defect/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"

namespace sextant::oracle {
namespace {

constexpr size_t kCos = 0, kSin = 1;

// Calls property(flat index, findings) for every entry.
template <class Property>
Findings ForEachEntry(const Response& table, Property property) {
  Findings findings;
  for (size_t i = 0; i < table.size(kCos); ++i) property(i, findings);
  return findings;
}

Findings CheckCircle(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, inputs);
  const Measured a = NumberOf(c, "attention_factor", 1);
  return ForEachEntry(t, [&](size_t i, Findings& findings) {
    findings.Equal(t(kCos, i) * t(kCos, i) + t(kSin, i) * t(kSin, i), a * a, {t, kCos, i});
  });
}

Findings CheckZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, Mapped(inputs, "position", [](double) { return 0; }));
  return ForEachEntry(t, [&](size_t i, Findings& findings) {
    findings.Equal(t(kCos, i), NumberOf(c, "attention_factor", 1), {t, kCos, i});
    findings.Equal(t(kSin, i), 0, {t, kSin, i});
  });
}

Findings CheckParity(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, inputs),
                 negative = ask(c, Mapped(inputs, "position", [](double p) { return -p; }));
  return ForEachEntry(t, [&](size_t i, Findings& findings) {
    findings.Equal(negative(kCos, i), t(kCos, i), {negative, kCos, i});
    findings.Equal(negative(kSin, i), -t(kSin, i), {negative, kSin, i});
  });
}

// a cos(m + n) = cos m cos n - sin m sin n for tables of amplitude a; here n is 7.
Findings CheckSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Measured a = NumberOf(c, "attention_factor", 1);
  const Response m = ask(c, inputs),
                 n = ask(c, Mapped(inputs, "position", [](double) { return 7; })),
                 sum = ask(c, Mapped(inputs, "position", [](double p) { return p + 7; }));
  return ForEachEntry(m, [&](size_t i, Findings& findings) {
    findings.Equal(a * sum(kCos, i), m(kCos, i) * n(kCos, i) - m(kSin, i) * n(kSin, i),
                   {sum, kCos, i});
    findings.Equal(a * sum(kSin, i), m(kSin, i) * n(kCos, i) + m(kCos, i) * n(kSin, i),
                   {sum, kSin, i});
  });
}

// position * (2 f) = (2 position) * f.
Findings CheckProduct(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  ExpectEqual(ask(c, Multiplied(inputs, {"position"}, 2)),
              ask(c, Multiplied(inputs, {"inv_freq"}, 2)), findings);
  return findings;
}

// With frequencies of at most 1, the angle at position 1 lies in the first quadrant.
Findings CheckSign(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, Mapped(inputs, "position", [](double) { return 1; }));
  return ForEachEntry(t, [&](size_t i, Findings& findings) {
    findings.AtMost(0, t(kCos, i), {t, kCos, i});
    findings.AtMost(0, t(kSin, i), {t, kSin, i});
  });
}

Findings CheckAmplitude(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Measured a = NumberOf(c, "attention_factor", 1);
  const Response t = ask(c, inputs), unit = ask(c.With("attention_factor=1"), inputs);
  return ForEachEntry(t, [&](size_t i, Findings& findings) {
    findings.Equal(t(kCos, i), a * unit(kCos, i), {t, kCos, i});
    findings.Equal(t(kSin, i), a * unit(kSin, i), {t, kSin, i});
  });
}

// The formula with one mutation.
struct TableMutant : RopeTable {
  enum class Mutation {
    kNone,
    kSwapped,    // [sin, cos] instead of [cos, sin]
    kCosOnly,    // the attention factor multiplies only cos
    kBackwards,  // -sin
  } mutation{};
  template <class Real>
  void operator()(const Tensor<double>& position, const Tensor<Real>& inv_freq, Tensor<Real>& cos,
                  Tensor<Real>& sin) const {
    const bool cos_only = mutation == Mutation::kCosOnly;
    Fill(position, inv_freq, Real(cos_only ? 1.0 : attention_factor), cos, sin);
    if (cos_only) {
      const ScopedStep at(Step::kTrig);
      for (Real& x : cos.data) x = x * Real(attention_factor);
    }
    if (mutation == Mutation::kSwapped) std::swap(cos.data, sin.data);
    if (mutation != Mutation::kBackwards) return;
    for (Real& x : sin.data) x = -x;
  }
};

bool PositionsOfFirstBatch(const Case& c, Tensors& inputs) {
  Tensor<double>& position = InputNamed(inputs, "position");
  const size_t length = ExtentOf(c, "S");
  for (size_t i = length; i < position.data.size(); ++i)
    position.data[i] = position.data[i % length];
  return position.data.size() > length;
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeTable>() {
  return {
      .properties = {{"on_a_circle", "cos^2 + sin^2 is the squared attention factor", CheckCircle},
                     {"starts_at_zero", "the angle at position 0 is 0", CheckZero},
                     {"cos_even_sin_odd", "cos(-p) is cos(p) and sin(-p) is -sin(p)", CheckParity},
                     {"angles_add", "the angle at p + 7 is the sum of the angles at p and at 7",
                      CheckSum},
                     {"frequency_counts_as_position",
                      "doubling the frequencies equals doubling the positions", CheckProduct},
                     {"rotates_forward", "a step of at most one radian ends in the first quadrant",
                      CheckSign},
                     {"amplitude_multiplies", "the attention factor multiplies cos and sin",
                      CheckAmplitude}},
      .defects = Joined<Defect>(
          {PositionDefects(),
           GivenFrequencyDefects(),
           PrecisionDefects(RopeTable::kSteps),
           {MutatedFormula<TableMutant>("cos_and_sin_swapped", "cos and sin are swapped",
                                        TableMutant::Mutation::kSwapped),
            MutatedFormula<TableMutant>("amplitude_on_cos_only",
                                        "the attention factor multiplies only cos",
                                        TableMutant::Mutation::kCosOnly),
            MutatedFormula<TableMutant>("rotates_backwards",
                                        "the sine has the wrong sign (trymirai/lalamo#268)",
                                        TableMutant::Mutation::kBackwards),
            ChangedInputs("positions_of_first_batch",
                          "every row of the batch uses the positions of the first row "
                          "(linkedin/Liger-Kernel@d7c78df1)",
                          PositionsOfFirstBatch),
            ChangedWord("amplitude_squared",
                        "the attention factor is applied twice (sgl-project/sglang#33558)",
                        [](const Case& c) {
                          const double a = NumberOf(c, "attention_factor", 1);
                          return "attention_factor=" + PrintValue(a * a);
                        })}})};
}

}  // namespace sextant::oracle
