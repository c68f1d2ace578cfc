#include "oracle/property/nearby_questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/property/changed_inputs.h"
#include "reference/case/draw.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using Data = std::vector<double>;

TEST(WithEndsOf, KeepsAQuarterAtEachEndAndAtMost64Numbers) {
  const Case c = Case::Parse("softmax N=1 M=8"), large = Case::Parse("softmax N=4 M=100");
  const auto both = [](const Case& of) {
    return std::pair(DrawInputs(of.With("seed=1")), DrawInputs(of.With("seed=2")));
  };
  const auto [a, b] = both(c);
  const Data small = WithEndsOf(a, b)[0].values.data;
  const Data &from = a[0].values.data, &other = b[0].values.data;
  EXPECT_EQ(small,
            (Data{from[0], from[1], other[2], other[3], other[4], other[5], from[6], from[7]}));
  const auto [d, e] = both(large);
  const Data wide = WithEndsOf(d, e)[0].values.data;
  for (size_t i = 0; i < 400; ++i)
    EXPECT_EQ(wide[i], (i < 64 || i >= 336 ? d : e)[0].values.data[i]) << i;
}

TEST(WithFewOf, TakesOneNumberOfOneTensorAndOneIn2048OfALargeOne) {
  const auto differences = [](const Tensors& a, const Tensors& b) {
    size_t tensors = 0, numbers = 0;
    for (size_t t = 0; t < a.size(); ++t) {
      const Data &x = a[t].values.data, &y = b[t].values.data;
      size_t own = 0;
      for (size_t i = 0; i < x.size(); ++i) own += x[i] != y[i];
      tensors += own > 0;
      numbers += own;
    }
    return std::pair(tensors, numbers);
  };
  SplitMix64 random(1);
  for (const auto& [line, most] : {std::pair("rms_norm N=2 M=64", 1), {"softmax N=8 M=1024", 4}}) {
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c), others = DrawInputs(c.With("seed=2"));
    for (int i = 0; i < 20; ++i) {
      const auto [tensors, numbers] = differences(inputs, WithFewOf(inputs, others, random));
      EXPECT_EQ(tensors, 1u);
      EXPECT_EQ(numbers, static_cast<size_t>(most));
    }
  }
}

TEST(Reversed, LeavesPositionsAndAnglesAlone) {
  const Case c = Case::Parse("rope_rotate pairing=half H=1 S=2 D=4");
  const Tensors inputs = DrawInputs(c), reversed = Reversed(c, inputs);
  for (size_t t = 0; t < inputs.size(); ++t) {
    Data expected = inputs[t].values.data;
    if (inputs[t].name == "x") std::ranges::reverse(expected);
    EXPECT_EQ(reversed[t].values.data, expected) << inputs[t].name;
  }
}

TEST(Scaled, MultipliesByPowersOfTwoWhereThatIsExact) {
  SplitMix64 random(1);
  std::set<double> factors;
  const Case c = Case::Parse("softmax N=1 M=4 dtype=f16");
  const Tensors inputs = DrawInputs(c);
  for (int i = 0; i < 50; ++i) {
    const Tensors scaled = Scaled(c, inputs, random);
    const double factor = scaled[0].values.data[0] / inputs[0].values.data[0];
    EXPECT_EQ(scaled[0].values.data, Times(inputs[0].values, factor).data);
    factors.insert(factor);
  }
  EXPECT_EQ(factors, (std::set<double>{0.25, 0.5, 1, 2, 4}));
  const Case special = Case::Parse("softmax N=1 M=2 dtype=f16 @x=65504,5.9604644775390625e-08");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(Scaled(special, DrawInputs(special), random)[0].values.data,
              DrawInputs(special)[0].values.data);
}

TEST(WithOneOtherAttribute, DrawsNumbersThatNoListHas) {
  const Case c = Case::Parse("rope pairing=half H=1 S=2 D=8");
  std::set<std::string> bases, changed;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SplitMix64 random(seed);
    for (const Case& other : WithOneOtherAttribute(c, random)) {
      size_t differences = 0;
      for (const Attribute& attribute : c.operation().Attributes()) {
        if (TextOf(other, attribute.name) == attribute.text) continue;
        ++differences;
        changed.insert(attribute.name);
        if (attribute.name == "base") bases.insert(TextOf(other, "base"));
      }
      EXPECT_EQ(differences, 1u) << other.ToString();
    }
  }
  EXPECT_EQ(bases.size(), 20u);
  EXPECT_TRUE(changed.contains("pairing"));
  EXPECT_TRUE(changed.contains("scaling"));
}

TEST(WithOtherRows, ChangesOneAxisOfMostCases) {
  size_t cases = 0, fewer = 0, more = 0;
  for (const std::string& name : OperationNames()) {
    for (const CaseLine& line : ReadCaseLines("fixtures/cases/" + name + ".cases")) {
      const Case c = Case::Parse(line.text);
      ++cases;
      for (const Rows rows : {Rows::kFewer, Rows::kMore}) {
        const auto other = WithOtherRows(c, rows);
        if (!other) continue;
        ++(rows == Rows::kFewer ? fewer : more);
        size_t changed = 0;
        for (const auto& [letter, extent] : c.dimensions())
          changed += other->dimensions().at(letter) != extent;
        EXPECT_GE(changed, 1u) << other->ToString();
        EXPECT_NO_THROW(DrawInputs(*other)) << other->ToString();
      }
    }
  }
  EXPECT_GT(2 * fewer, cases);
  EXPECT_GT(2 * more, cases);
}

}  // namespace
}  // namespace sextant::oracle
