// Verdicts slice by slice are those by reference values of the whole case.
#include "oracle/judge/sliced_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <string>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/case/random_test.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

constexpr char kSoftmax[] = "softmax N=40 M=4096 dtype=f32";

struct Sliced {
  explicit Sliced(const std::string& line)
      : drawn(line), recipe(ParseRecipe("native", drawn.c.dtype())) {
    outputs = EvaluateByRecipe({drawn.c, drawn.inputs, recipe});
  }
  std::optional<Verdict> Judged(Failing failing = Failing::kGiveUp) const {
    return JudgeInSlices(drawn.c, ReadersOf(drawn.inputs), recipe, {}, ReadersOf(outputs), failing);
  }
  Verdict JudgedWhole() const { return Judge(drawn.c, drawn.inputs, recipe).Evaluate(outputs); }

  DrawnCase drawn;
  Recipe recipe;
  Tensors outputs;
};

// Means of level 1 depend in their last digits on which elements are proven.
void ExpectNear(double a, double b) { EXPECT_NEAR(a, b, 1e-7 * std::abs(a) + 1e-12); }

void ExpectSame(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.case_line, b.case_line);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.grade, b.grade);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.open_row_count, b.open_row_count);
  EXPECT_EQ(a.open_rows_acceptable, b.open_rows_acceptable);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t o = 0; o < a.tensors.size(); ++o) {
    const TensorVerdict &x = a.tensors[o], &y = b.tensors[o];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.grade, y.grade);
    for (const auto count :
         {&TensorVerdict::elements, &TensorVerdict::judged, &TensorVerdict::failed,
          &TensorVerdict::vacuous, &TensorVerdict::unspecified, &TensorVerdict::unjudgeable,
          &TensorVerdict::unlikely, &TensorVerdict::enclosed, &TensorVerdict::left_out})
      EXPECT_EQ(x.*count, y.*count);
    EXPECT_EQ(x.worst.where, y.worst.where);
    EXPECT_EQ(x.worst.error, y.worst.error);
    EXPECT_EQ(x.worst.permitted, y.worst.permitted);
    EXPECT_EQ(x.worst.likely, y.worst.likely);
    EXPECT_EQ(x.worst.expected, y.worst.expected);
    ExpectNear(x.bias, y.bias);
    ExpectNear(x.spread, y.spread);
    ExpectNear(x.bias_in_standard_errors, y.bias_in_standard_errors);
  }
}

TEST(SlicedJudge, GivesTheVerdictOfTheWholeCase) {
  for (const std::string line :
       {kSoftmax, "rms_norm N=80 M=2048 dtype=bf16", "activation kind=swish N=40 F=4096 dtype=f16",
        "rope pairing=half H=1 S=1200 D=128 dtype=bf16",
        // A slice has some rows of every head.
        "rope pairing=half H=4 S=300 D=128 dtype=bf16", "rope pairing=interleaved H=32 S=40 D=128",
        "rope_given pairing=half B=2 H=4 S=150 D=128 dtype=f16",
        // Many elements are equally bad.
        "rope pairing=half H=32 S=50 D=128 dtype=bf16 @x=random_positions(16) "
        "@position=random_positions(2)",
        "rope pairing=half H=16 S=80 D=128 dtype=bf16 @x=powers_of_two "
        "@position=random_positions(4)",
        "temperature_scale B=2 H=40 S=130 D=128 dtype=f32 @q=uniform(1.0,1.001) "
        "@position=random_positions(131072)",
        "softmax N=40 M=4096 dtype=f32 @x=normal(1e30)",
        // Proven, not only enclosed.
        "rms_norm N=80 M=2048 dtype=f64", "rope pairing=half H=4 S=300 D=128 dtype=f64",
        // Several outputs, that of the sum traced; slices that cut the last axis.
        "rope_table R=128 S=3000 dtype=bf16", "add_rms_norm N=80 M=2048 dtype=bf16",
        "attention H=4 K=2 S=300 T=300 D=128 mask=causal dtype=bf16",
        "activation kind=gelu_tanh N=1 F=300000 dtype=f32",
        // Rows in which no element could fail: all, or some.
        "softmax N=17 M=8192 dtype=f32 @x=special", "rms_norm N=80 M=2048 dtype=f32 @x=special",
        // Codes, which are judged by the scales that were answered.
        "quantize N=70 A=1 G=16 M=128 dtype=bf16", "quantize N=70 A=1 G=16 M=128 dtype=f32"}) {
    SCOPED_TRACE(line);
    const Sliced test(line);
    const auto verdict = test.Judged();
    ASSERT_TRUE(verdict);
    ExpectSame(test.JudgedWhole(), *verdict);
  }
}

// Proven values of a case in memory.
class Proven : public GoldenSource {
 public:
  Proven(const Case& c, std::vector<GoldenTensor> golden) : c_(c), golden_(std::move(golden)) {}
  GoldenTensor Read(size_t output, const Slice& slice) const override {
    const TensorSpec& spec = c_.info().signature.outputs[output];
    const GoldenTensor& g = golden_[output];
    const auto of = [&](const Tensor<double>& whole) { return ExtractSlice(whole, spec, slice); };
    return {g.name, g.dtype, of(g.value), of(g.high), of(g.low), {}, of(g.radius)};
  }
  std::vector<GoldenTensor>& golden() { return golden_; }

 private:
  const Case& c_;
  std::vector<GoldenTensor> golden_;
};

// The same verdict with stored values, which must be right, also where they are only enclosed.
TEST(SlicedJudge, JudgesByStoredValues) {
  for (const std::string line :
       {kSoftmax, "rms_norm N=80 M=2048 dtype=f64", "rope_table R=128 S=3000 dtype=bf16",
        "add_rms_norm N=80 M=2048 dtype=bf16", "rms_norm N=80 M=2048 dtype=f32 @x=special",
        "quantize N=70 A=1 G=16 M=128 dtype=bf16",
        "attention H=4 K=2 S=300 T=300 D=128 mask=causal dtype=bf16"}) {
    SCOPED_TRACE(line);
    const Sliced test(line);
    const Case& c = test.drawn.c;
    Proven stored(c, Prove({c, test.drawn.inputs, test.recipe}));
    const auto judged = [&] {
      return JudgeInSlices(c, ReadersOf(test.drawn.inputs), test.recipe, {},
                           ReadersOf(test.outputs), Failing::kGiveUp, &stored);
    };
    const auto verdict = judged();
    ASSERT_TRUE(verdict);
    ExpectSame(*test.Judged(), *verdict);
    if (c.info().HasChoices()) continue;  // judged by the trace, which no file has
    std::vector<double>& high = stored.golden()[0].high.data;
    const auto number = std::ranges::find_if(high, [](double x) { return std::isnormal(x); });
    ASSERT_NE(number, high.end());
    *number *= 1 + 0x1p-40;
    EXPECT_THROW(judged(), Error);
    *number = NAN;
    EXPECT_THROW(judged(), Error);
  }
}

// Level 1 permits its drift, too, which may exceed what an exact recipe permits.
TEST(SlicedJudge, ProvesWhatAStoredValueDoesNotDecide) {
  Sliced test(
      "attention_merge N=70000 E=2 @y1=1,1 @y2=-1,-1 @lse1=normal(1e-9) @lse2=normal(1e-9)");
  const Case& c = test.drawn.c;
  const Recipe exact = ParseRecipe("exact", c.dtype());
  const Proven stored(c, Prove({c, test.drawn.inputs, exact}));
  for (double& y : test.outputs[0].values.data)
    for (int ulps = 0; ulps < 5; ++ulps) y = NextUp(DType::kF32, y);
  EXPECT_FALSE(JudgeInSlices(c, ReadersOf(test.drawn.inputs), exact, {}, ReadersOf(test.outputs),
                             Failing::kGiveUp, &stored));
}

// Elements of an input that is not a number are unspecified, as are those that depend on them.
TEST(SlicedJudge, CountsUnspecifiedElements) {
  Sliced test(kSoftmax);
  test.drawn.inputs[0].values(7, 9) = NAN;
  const auto verdict = test.Judged();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->tensors[0].unspecified, 4096u);
  ExpectSame(test.JudgedWhole(), *verdict);
}

TEST(SlicedJudge, LeavesFailuresToTheJudgeOfWholeCases) {
  const Sliced honest(kSoftmax);
  for (const size_t place : {size_t{0}, size_t{77777}, 40 * 4096 - size_t{1}}) {
    Sliced test = honest;
    test.outputs[0].values.data[place] *= 1.25;
    EXPECT_FALSE(test.Judged());
    test.outputs[0].values.data[place] = NAN;
    EXPECT_FALSE(test.Judged());
  }
}

TEST(SlicedJudge, CountsRowsInWhichNothingCouldFail) {
  const Sliced test("softmax N=17 M=8192 dtype=f32 @x=special");
  const auto verdict = test.Judged();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->status, Verdict::Status::kUnverified);
  EXPECT_EQ(verdict->open_row_count, 17u);
}

// Also of failing answers, if nobody judges the whole case.
TEST(SlicedJudge, JudgesFailures) {
  for (const std::string line :
       {kSoftmax, "rms_norm N=80 M=2048 dtype=f64", "rope_table R=128 S=3000 dtype=bf16",
        "add_rms_norm N=80 M=2048 dtype=bf16", "rope pairing=half H=4 S=300 D=128 dtype=bf16",
        "quantize N=70 A=1 G=16 M=128 dtype=bf16"}) {
    SCOPED_TRACE(line);
    Sliced test(line);
    for (NamedTensor& output : test.outputs) {
      std::vector<double>& values = output.values.data;
      for (const size_t place : {size_t{0}, values.size() / 3, values.size() - 1})
        values[place] = values[place] == 0 ? 1 : -values[place];
      values[values.size() / 2] = HasNaN(output.dtype) ? NAN : 0;
    }
    EXPECT_FALSE(test.Judged());
    const auto verdict = test.Judged(Failing::kJudge);
    ASSERT_TRUE(verdict);
    const Verdict whole = test.JudgedWhole();
    EXPECT_EQ(verdict->status, Verdict::Status::kFails);
    EXPECT_EQ(verdict->message, whole.message);
    ASSERT_EQ(verdict->tensors.size(), whole.tensors.size());
    size_t failed = 0;
    for (size_t o = 0; o < whole.tensors.size(); ++o) {
      const TensorVerdict &x = verdict->tensors[o], &y = whole.tensors[o];
      EXPECT_EQ(x.grade, y.grade);
      EXPECT_EQ(x.failed, y.failed);
      failed += x.failed;
      EXPECT_EQ(x.judged, y.judged);
      EXPECT_EQ(x.worst.where, y.worst.where);
      EXPECT_TRUE(SameNumber(x.worst.error, y.worst.error));
      EXPECT_EQ(IndexText(x.name, test.outputs[o].values.shape, x.worst.index), x.worst.where);
      // Those of the signature; other axes may be described by values of inputs.
      for (const FailingIndices& axis : x.failing) {
        if (!axis.derived_from.empty()) continue;
        const auto at = std::ranges::find(y.failing, axis.axis, &FailingIndices::axis);
        ASSERT_NE(at, y.failing.end()) << axis.axis;
        EXPECT_EQ(axis.ranges, at->ranges) << axis.axis;
      }
    }
    EXPECT_GE(failed, 3u);
  }
}

TEST(SlicedJudge, ReadsNoMoreThanItNeeds) {
  class Counting : public TensorSource {
   public:
    explicit Counting(const NamedTensor& of)
        : TensorSource(of.name, of.dtype, of.values.shape), of_(of) {}
    void Read(size_t first, std::span<double> to) const override {
      elements += to.size();
      std::copy_n(of_.values.data.begin() + static_cast<ptrdiff_t>(first), to.size(), to.begin());
    }
    mutable std::atomic<size_t> elements = 0;

   private:
    const NamedTensor& of_;
  };
  const Sliced test(kSoftmax);
  const Counting x(test.drawn.inputs[0]), y(test.outputs[0]);
  const TensorReaders inputs = {TensorReader(x)}, outputs = {TensorReader(y)};
  ASSERT_TRUE(JudgeInSlices(test.drawn.c, inputs, test.recipe, {}, outputs));
  EXPECT_GE(y.elements, 40u * 4096);
  EXPECT_LE(y.elements, 3u * 40 * 4096);
  EXPECT_LE(x.elements, 8u * 40 * 4096);
}

TEST(SlicedJudge, DoesNotDependOnTheNumberOfThreads) {
  const Sliced test(kSoftmax);
  const auto of = [&](int threads) {
    return JudgeInSlices(test.drawn.c, ReadersOf(test.drawn.inputs), test.recipe,
                         {.threads = threads}, ReadersOf(test.outputs));
  };
  const auto one = of(1), three = of(3);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->tensors[0].bias, three->tensors[0].bias);
  EXPECT_EQ(one->tensors[0].worst.where, three->tensors[0].worst.where);
}

TEST(SlicedJudge, LeavesSmallCases) {
  EXPECT_FALSE(Sliced("softmax N=2 M=4096 dtype=f32").Judged());
}

TEST(SlicedJudge, JudgesThePartThatABudgetTakes) {
  Sliced test(kSoftmax);
  for (const size_t elements : {size_t{1}, size_t{5 * 4096}, size_t{39 * 4096}}) {
    const ScopedBudget within({.elements = elements, .seed = 7});
    const auto verdict = test.Judged();
    ASSERT_TRUE(verdict && verdict->sample) << elements;
    ExpectSame(test.JudgedWhole(), *verdict);
    const TensorVerdict& y = verdict->tensors[0];
    EXPECT_EQ(y.judged, verdict->sample->elements);
    EXPECT_EQ(y.judged + y.left_out, y.elements);
    EXPECT_GT(y.left_out, 0U);
  }
}

// The first and the last row of the case come first.
TEST(SlicedJudge, JudgesThePartForWhichThereIsTime) {
  Sliced test(kSoftmax);
  for (const int more : {0, 1, 17, 1000}) {
    int left = more;
    const ScopedBudget within({.has_time = [&left] { return left-- > 0; }});
    const auto verdict = test.Judged();
    ASSERT_TRUE(verdict) << more;
    EXPECT_EQ(verdict->tensors[0].judged, std::min(40, 2 + more) * size_t{4096});
    EXPECT_EQ(verdict->sample.has_value(), more < 38);
    ExpectSame(test.JudgedWhole(), *verdict);
  }
}

}  // namespace
}  // namespace sextant::oracle
