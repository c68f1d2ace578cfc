// Answers that are too large to be judged as a whole.
#include "tools/api/judge_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

namespace sextant::tools {
namespace {

using oracle::Verdict;
using testing::HasSubstr;

// Answers each element by a function of its index and of the same element of the only input.
class Computed : public TensorSource {
 public:
  using Function = std::function<double(size_t at, double x)>;
  Computed(std::string name, const TensorReader& x, Function function)
      : TensorSource(std::move(name), x.dtype(), x.shape()),
        x_(x),
        function_(std::move(function)) {}
  void Read(size_t first, std::span<double> to) const override {
    x_.Read(first, to);
    for (size_t i = 0; i < to.size(); ++i) to[i] = function_(first + i, to[i]);
  }

 private:
  const TensorReader& x_;
  Function function_;
};

// More elements than are judged as a whole when the answer fails.
constexpr char kLarge[] = "activation kind=relu N=8200 F=4096 dtype=bf16";
constexpr size_t kElements = size_t{8200} * 4096;

Verdict Judged(const Computed::Function& function) {
  oracle::Subject subject = oracle::RecipeSubject("native");
  subject.answer = [](const Case&, const Tensors&) -> oracle::Answer {
    ADD_FAILURE() << "the whole answer was asked for";
    return {};
  };
  subject.answer_in_file = [&](const Case&, const TensorReaders& inputs) {
    oracle::OutputSources sources;
    sources.push_back(std::make_unique<Computed>("y", inputs[0], function));
    return std::optional(std::move(sources));
  };
  return JudgeSubject({Case::Parse(kLarge)}, subject, {.recipe = "native", .prove = {}});
}

double Relu(size_t, double x) { return std::max(x, 0.0); }

TEST(SlowJudgeSubject, JudgesALargeAnswerWhereItIs) {
  const Verdict verdict = Judged(Relu);
  EXPECT_EQ(verdict.status, Verdict::Status::kConforms);
  EXPECT_EQ(verdict.tensors.at(0).elements, kElements);
  EXPECT_EQ(verdict.tensors[0].left_out, 0u);
}

TEST(SlowJudgeSubject, ExplainsALargeFailureByAPartOfIt) {
  constexpr size_t kBegin = kElements / 2 + 100;
  const Verdict verdict = Judged([](size_t at, double x) {
    return at < kBegin || x > 0 ? Relu(at, x) : x / 8;  // a leaky ReLU from here on
  });
  EXPECT_EQ(verdict.status, Verdict::Status::kFails);
  EXPECT_GE(verdict.tensors.at(0).worst.index, kBegin);
  EXPECT_GT(verdict.tensors[0].failed, kElements / 8);
  EXPECT_THAT(verdict.message, HasSubstr("causes and recipes are those of the slice N="));
  ASSERT_FALSE(verdict.causes.empty());
}

TEST(SlowJudgeSubject, OneWrongElementAmongManyIsFound) {
  const Verdict verdict =
      Judged([](size_t at, double x) { return at == kElements - 1 ? 3 : Relu(at, x); });
  EXPECT_EQ(verdict.status, Verdict::Status::kFails);
  EXPECT_EQ(verdict.tensors.at(0).failed, 1u);
  EXPECT_EQ(verdict.tensors[0].worst.where, "y[8199,4095]");
}

// A golden in memory, of which one value is moved.
class Moved : public GoldenSource {
 public:
  Moved(const Case& c, double factor)
      : golden_(Prove({c, DrawInputs(c), ParseRecipe("native", c.dtype())})) {
    golden_[0].high.data[1] *= factor;
  }
  GoldenTensor Read(size_t output, const Slice&) const override { return golden_[output]; }

 private:
  std::vector<GoldenTensor> golden_;
};

TEST(JudgeSubject, BelievesAStoredValueUnlessItIsVerified) {
  const Case c = Case::Parse("softmax N=2 M=4");
  const auto judged = [&](double factor, bool verify) {
    return JudgeSubject({c, "", std::make_shared<Moved>(c, factor)},
                        oracle::RecipeSubject("native"),
                        {.recipe = "native", .prove = {}, .verify = verify})
        .status;
  };
  EXPECT_EQ(judged(1, false), Verdict::Status::kConforms);
  EXPECT_EQ(judged(1, true), Verdict::Status::kConforms);
  EXPECT_EQ(judged(1.01, false), Verdict::Status::kFails);
  EXPECT_THROW(judged(1.01, true), Error);
  EXPECT_THROW(judged(1 + 0x1p-40, true), Error);
}

}  // namespace
}  // namespace sextant::tools
