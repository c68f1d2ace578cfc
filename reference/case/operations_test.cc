#include "reference/case/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reference/case/random_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using Names = std::set<std::string>;

Names WordsOf(std::string_view text) {
  const auto words = Split(text, ' ');
  Names names(words.begin(), words.end());
  names.erase("");
  return names;
}

// The names of attributes and dimensions of the operation's cases.
Names KeysOf(const OperationInfo& info) {
  Random random(1);
  Names keys;
  const Case c = RandomCase(info, random, "");
  for (const Attribute& attribute : c.operation().Attributes()) keys.insert(attribute.name);
  for (const auto& [letter, extent] : c.dimensions()) keys.insert(letter);
  return keys;
}

// True if the word is valid in some combination with choices of all other keys.
bool Parses(const OperationInfo& info, const std::string& word) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    try {
      RandomCase(info, random, "").With(word);
      return true;
    } catch (const Error&) {
    }
  }
  return false;
}

TEST(Operations, AreListedOnceUnderTheirNames) {
  Names names;
  for (const auto& operation : AllOperations()) {
    EXPECT_TRUE(names.insert(std::string(operation->info().name)).second);
    EXPECT_EQ(MakeOperationNamed(operation->info().name)->info().name, operation->info().name);
    EXPECT_FALSE(operation->info().formula.empty());
    EXPECT_FALSE(operation->info().source.empty());
  }
}

TEST(Operations, ChoicesCoverEveryAttributeAndParse) {
  for (const auto& operation : AllOperations()) {
    const OperationInfo& info = operation->info();
    Names chosen;
    for (const std::string& word : WordsOf(info.choices)) {
      const auto [key, values] = SplitWord(word);
      if (!key.starts_with("dtype.")) chosen.insert(key);
      EXPECT_GE(Split(values, '|').size(), 2u) << info.name << " " << key;
      for (const std::string& value : Split(values, '|')) {
        EXPECT_TRUE(Parses(info, key + "=" + value)) << info.name << " " << key << "=" << value;
      }
    }
    EXPECT_EQ(chosen, KeysOf(info)) << info.name;
  }
}

// Except values that need arguments: scalings.
TEST(Operations, AcceptEveryPossibleValueOfAnAttribute) {
  for (const auto& operation : AllOperations()) {
    for (const Attribute& attribute : operation->Attributes()) {
      for (const std::string& value : attribute.values) {
        if (value.find('(') != value.npos) continue;
        EXPECT_TRUE(Parses(operation->info(), attribute.name + "=" + value))
            << operation->info().name << " " << attribute.name << "=" << value;
      }
    }
  }
}

TEST(Operations, DrawNamesInputsOnceEach) {
  for (const auto& operation : AllOperations()) {
    std::vector<std::string> inputs, drawn;  // not sets: a duplicate name counts twice
    for (const TensorSpec& input : operation->info().signature.inputs) inputs.push_back(input.name);
    for (const auto& word : Split(operation->info().draw, ' ')) {
      if (!word.empty()) drawn.push_back(SplitWord(word).first);
    }
    EXPECT_THAT(drawn, testing::UnorderedElementsAreArray(inputs)) << operation->info().name;
  }
}

TEST(Operations, SlicesAreAxesOfAllOutputs) {
  for (const auto& operation : AllOperations()) {
    for (const char letter : operation->info().slices) {
      for (const TensorSpec& output : operation->info().signature.outputs) {
        EXPECT_THAT(output.extents, testing::Contains(std::string(1, letter)))
            << operation->info().name;
      }
    }
  }
}

TEST(Operations, MarkExactlyTheStepsOfKSteps) {
  for (const auto& operation : AllOperations()) {
    const OperationInfo& info = operation->info();
    Random random(3);
    TakeStepsPerformed();
    for (int i = 0; i < 20; ++i) {
      const Case c = RandomCase(info, random, "");
      EvaluateByRecipe({c, DrawInputs(c), ParseRecipe("native", c.dtype())});
    }
    const unsigned performed = TakeStepsPerformed();
    Names steps;
    for (size_t i = 0; i < kStepNames.size(); ++i) {
      if (performed >> i & 1) steps.insert(std::string(kStepNames[i]));
    }
    Names expected = WordsOf(info.steps);
    if (!info.bitwise) expected.insert("store");  // the last rounding, unless it is defined
    EXPECT_EQ(steps, expected) << info.name;
  }
}

TEST(Operations, ClonesHaveTheAttributesOfTheOriginal) {
  const auto operation = MakeOperationNamed("rms_norm");
  operation->Set("eps", "0.25");
  const auto clone = operation->Clone();
  operation->Set("eps", "1");
  EXPECT_EQ(clone->Attributes()[0].text, "0.25");
  EXPECT_EQ(operation->Attributes()[0].text, "1");
}

}  // namespace
}  // namespace sextant
