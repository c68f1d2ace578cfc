#include "reference/case/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "reference/base/error_test.h"
#include "reference/case/draw.h"
#include "reference/case/operations.h"
#include "reference/case/random_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Tensors that own their values.
class Own {
 public:
  Own& Add(const std::string& name, DType dtype, const Shape& shape, double value = 0) {
    values_.push_back(std::make_unique<Tensor<double>>(shape));
    std::ranges::fill(values_.back()->data, value);
    tensors_.push_back(
        {name,
         {values_.back()->data.data(), ElementType::kF64, shape, RowMajorStrides(shape)},
         dtype});
    return *this;
  }
  Question Ask(const std::string& text) const { return ParseQuestion(text, tensors_); }
  std::string Error(const std::string& text) const {
    return MessageOf([&] { Ask(text); });
  }

 private:
  std::vector<std::unique_ptr<Tensor<double>>> values_;
  std::vector<OwnTensor> tensors_;
};

Own Rope(DType dtype = DType::kBF16) {
  Own own;
  own.Add("x", dtype, {1, 2, 3, 8}).Add("position", DType::kI64, {1, 3});
  return own;
}

TEST(ParseQuestion, TakesDimensionsAndDTypesFromTensors) {
  const Question question = Rope().Add("y", DType::kBF16, {1, 2, 3, 8}).Ask("rope pairing=half");
  EXPECT_EQ(
      question.Text(),
      "rope pairing=half base=10000 scaling=none offset=0 direction=forward B=1 D=8 H=2 R=8 S=3 "
      "dtype=bf16");
  EXPECT_THAT(question.defaults, ElementsAre("R=8"));
  ASSERT_EQ(question.inputs.size(), 2u);
  EXPECT_EQ(question.inputs[0].name, "x");
  EXPECT_EQ(question.inputs[0].dtype, DType::kBF16);
  EXPECT_EQ(question.outputs[0].name, "y");
}

TEST(ParseQuestion, AcceptsStatedDimensionsThatAgree) {
  const Question question = Rope().Ask("rope pairing=half D=8 R=4");
  EXPECT_EQ(question.c.dimensions().at("R"), 4);
  EXPECT_TRUE(question.defaults.empty());
}

// The width of these tables is `layout*R/2`, where a layout stands for 1 or 2.
TEST(ParseQuestion, FindsTheRotaryWidthOfTables) {
  const auto add_tables = [](Own& own, size_t columns) {
    own.Add("position", DType::kI64, {1, 2}).Add("cos", DType::kF32, {1, 2, columns});
  };
  Own tables, odd;
  add_tables(tables, 4);
  add_tables(odd, 3);
  const auto width = [&](const std::string& words) {
    return tables.Ask("rope_cos_sin " + words).c.dimensions().at("R");
  };
  EXPECT_EQ(width("layout=half_width"), 8);
  EXPECT_EQ(width("layout=halves"), 4);
  EXPECT_EQ(width("R=4 layout=interleaved"), 4);
  EXPECT_EQ(tables.Error("rope_cos_sin layout=half_width R=4"),
            "cos has 4 for the axis layout*R/2 of cos[B,S,layout*R/2], but layout=half_width is "
            "stated, R=4 is stated");
  EXPECT_EQ(tables.Error("rope_cos_sin R=4"),
            "rope_cos_sin needs layout= in the question, one of: half_width halves interleaved");
  EXPECT_THAT(tables.Error("rope_cos_sin layout=1"), HasSubstr("'1' is not one of: half_width"));
  EXPECT_EQ(odd.Error("rope_cos_sin layout=halves"), "dimension R is 3, expected a multiple of 2");
}

TEST(ParseQuestion, NamesContradictions) {
  EXPECT_EQ(Rope().Error("rope pairing=half D=16"),
            "x has 8 for the axis D of x[B,H,S,D], but D=16 is stated");
  EXPECT_EQ(Rope().Add("y", DType::kBF16, {1, 2, 4, 8}).Error("rope pairing=half"),
            "y has 4 for the axis S of y[B,H,S,D], but S=3 by x");
}

// An order that fits for all tensors with as many axes, else for one; a message without one fits
// none.
TEST(ParseQuestion, NamesAnOrderOfAxesThatFits) {
  const auto rope = [](const Shape& x, const Shape& y) {
    Own own;
    own.Add("x", DType::kF32, x).Add("position", DType::kI64, {1, 16}).Add("y", DType::kF32, y);
    return own.Error("rope pairing=half");
  };
  EXPECT_EQ(rope({1, 16, 2, 8}, {1, 16, 2, 8}),
            "position has 16 for the axis S of position[B,S], but S=2 by x; if axes are in another "
            "order, name them: 'x (B S H D)' 'y (B S H D)'");
  EXPECT_THAT(rope({16, 1, 2, 8}, {16, 1, 2, 8}), HasSubstr(": 'x (S B H D)' 'y (S B H D)'"));
  EXPECT_EQ(
      rope({1, 2, 16, 8}, {1, 16, 2, 8}),
      "y has 16 for the axis H of y[B,H,S,D], but H=2 by x; if axes are in another order, name "
      "them: 'y (B S H D)'");
}

// Neither on another axis, nor of other inputs, nor for an output that has a batch.
TEST(ParseQuestion, RepeatsNothingButPositions) {
  Own axis, tables, real, output;
  axis.Add("x", DType::kF32, {2, 1, 3, 4}).Add("position", DType::kI64, {1, 1});
  EXPECT_THAT(axis.Error("rope pairing=half"), HasSubstr("position has 1 for the axis S of"));
  tables.Add("x", DType::kF32, {2, 1, 3, 4}).Add("cos", DType::kF32, {1, 3, 2});
  tables.Add("sin", DType::kF32, {1, 3, 2});
  EXPECT_THAT(tables.Error("rope_rotate pairing=half"), HasSubstr("cos has 1 for the axis B of"));
  real.Add("x", DType::kF32, {2, 1, 3, 8}).Add("position", DType::kF32, {1, 2, 3});
  EXPECT_EQ(real.Error("rope_axial frequencies=lang arrangement=alternating pairing=half"), "");
  output.Add("position", DType::kI64, {1, 3}).Add("inv_freq", DType::kF32, {2});
  output.Add("cos", DType::kF32, {2, 3, 2});
  EXPECT_THAT(output.Error("rope_table"), HasSubstr("but B=1 by position"));
}

// A tensor before it in the signature gives a dimension, an optional one after all others.
TEST(ParseQuestion, AWrongOptionalTensorIsTheOneThatIsNamed) {
  Own own;
  own.Add("q", DType::kF32, {1, 2, 3, 4}).Add("k", DType::kF32, {1, 2, 5, 4});
  own.Add("v", DType::kF32, {1, 2, 5, 4}).Add("bias", DType::kF32, {1, 2, 3, 9});
  EXPECT_EQ(own.Error("attention"), "bias has 9 for the axis T of bias[B,H,S,T], but T=5 by k");
}

TEST(ParseQuestion, SolvesProductsHalvesAndSums) {
  Own relative;
  relative.Add("q", DType::kF32, {1, 2, 3, 4})
      .Add("k", DType::kF32, {1, 2, 5, 4})
      .Add("v", DType::kF32, {1, 2, 5, 4})
      .Add("key_table", DType::kF32, {9, 4})
      .Add("value_table", DType::kF32, {9, 4})
      .Add("query_position", DType::kI64, {3})
      .Add("key_position", DType::kI64, {5});
  EXPECT_THAT(relative.Ask("relative_attention clip=4").Text(), HasSubstr(" clip=4 "));
  EXPECT_THAT(relative.Ask("relative_attention").Text(), HasSubstr(" clip=4 "));
  EXPECT_THAT(relative.Error("relative_attention clip=3"), HasSubstr("2*clip+1"));
  Own rotate;
  rotate.Add("x", DType::kF32, {1, 1, 2, 6}).Add("cos", DType::kF32, {1, 2, 2});
  rotate.Add("sin", DType::kF32, {1, 2, 2});
  const Question question = rotate.Ask("rope_rotate pairing=half");
  EXPECT_EQ(question.c.dimensions().at("R"), 4);
  EXPECT_TRUE(question.defaults.empty());
}

TEST(ParseQuestion, NamesDimensionsThatStayUnknown) {
  Own tokens;
  tokens.Add("position", DType::kI64, {3});
  EXPECT_EQ(tokens.Error("sinusoidal layout=concatenated"),
            "sinusoidal: no tensor gives the dimension M, expected M= in the question");
  EXPECT_THAT(tokens.Ask("sinusoidal layout=concatenated M=4").defaults, ElementsAre("dtype=f32"));
}

TEST(ParseQuestion, NamesUnknownMissingAndRepeatedTensors) {
  EXPECT_THAT(Rope().Add("z", DType::kF32, {1}).Error("rope pairing=half"),
              HasSubstr("rope has no tensor 'z'; its signature is x[B,H,S,D]"));
  EXPECT_THAT(Own().Add("x", DType::kF32, {1, 1, 1, 2}).Error("rope pairing=half"),
              HasSubstr("rope needs the input position"));
  EXPECT_EQ(Rope().Add("x", DType::kF32, {1, 2, 3, 8}).Error("rope pairing=half"),
            "rope: x is given twice");
  EXPECT_EQ(Own().Add("x", DType::kF32, {2, 8}).Error("rms_norm"),
            "rms_norm needs the input weight; its signature is x[N,M] weight:wide[M] -> y[N,M]");
  Own flat;
  flat.Add("x", DType::kF32, {8}).Add("weight", DType::kF32, {8});
  EXPECT_EQ(
      flat.Error("rms_norm"),
      "x has shape [8], expected 2 axes: x[N,M]; if the others have extent 1, name those that "
      "it has: 'x (M)'");
  Own three;
  three.Add("x", DType::kF32, {2, 3, 8}).Add("position", DType::kI64, {1, 3});
  EXPECT_THAT(three.Error("rope pairing=half"), testing::EndsWith("that it has: 'x (H S D)'"));
}

TEST(ParseQuestion, RefusesSeedsAndDraws) {
  EXPECT_THAT(Rope().Error("rope pairing=half seed=2"), HasSubstr("seed= draws inputs"));
  EXPECT_THAT(Rope().Error("rope pairing=half @x=normal"), HasSubstr("@x= draws inputs"));
  EXPECT_THAT(Rope().Error(""), HasSubstr("the question is empty"));
  EXPECT_THAT(Rope().Error("rope pairing=half #x=1"), HasSubstr("a question has no comment: #x=1"));
}

TEST(ParseQuestion, GivesDTypesToTensorsThatDiffer) {
  Own norm;
  norm.Add("x", DType::kF32, {2, 8}).Add("weight", DType::kBF16, {8});
  EXPECT_THAT(norm.Ask("rms_norm").Text(), HasSubstr("dtype=f32 dtype.weight=bf16"));
  EXPECT_THAT(Own(std::move(norm)).Add("y", DType::kF64, {2, 8}).Ask("rms_norm").Text(),
              HasSubstr("dtype=f32 dtype.weight=bf16 dtype.y=f64"));
}

// A case has no type of 8 bits, so the other tensors decide its dtype; without any it is f32.
TEST(ParseQuestion, GivesF8ToSingleTensors) {
  const auto text = [](const std::string& question, DType x, DType y) {
    return Own().Add("x", x, {2, 8}).Add("y", y, {2, 8}).Ask(question).Text();
  };
  EXPECT_EQ(text("softmax", DType::kF8E4M3FN, DType::kBF16),
            "softmax M=8 N=2 dtype=bf16 dtype.x=f8_e4m3fn");
  EXPECT_EQ(text("softmax", DType::kF8E4M3FN, DType::kF8E5M2),
            "softmax M=8 N=2 dtype=f32 dtype.x=f8_e4m3fn dtype.y=f8_e5m2");
  EXPECT_EQ(text("softmax dtype=f16", DType::kF16, DType::kF8E5M2FNUZ),
            "softmax M=8 N=2 dtype=f16 dtype.y=f8_e5m2fnuz");
  EXPECT_EQ(text("softmax dtype.y=f8_e4m3fnuz", DType::kF16, DType::kF32),
            "softmax M=8 N=2 dtype=f16 dtype.y=f8_e4m3fnuz");  // exact numbers in a wider type
  EXPECT_THAT(MessageOf([&] { text("softmax dtype.x=f32", DType::kF8E5M2, DType::kF32); }),
              HasSubstr("x holds f8_e5m2, but the question states f32"));
  EXPECT_THAT(MessageOf([&] { text("softmax dtype=f8_e5m2", DType::kF8E5M2, DType::kF32); }),
              HasSubstr("dtype=f8_e5m2, expected one of: f64 f32 f16 bf16"));
}

TEST(ParseQuestion, SaysTheTypeToWhichACastConverts) {
  const auto text = [](DType x, DType y) {
    return Own().Add("x", x, {2, 8}).Add("y", y, {2, 8}).Ask("cast overflow=saturate").Text();
  };
  const std::string start = "cast overflow=saturate M=8 N=2 ";
  EXPECT_EQ(text(DType::kF32, DType::kF32), start + "dtype=f32 dtype.y=f32");
  EXPECT_EQ(text(DType::kF32, DType::kF8E5M2), start + "dtype=f32 dtype.y=f8_e5m2");
  EXPECT_EQ(text(DType::kF8E5M2, DType::kF16), start + "dtype=f16 dtype.x=f8_e5m2 dtype.y=f16");
}

TEST(ParseQuestion, TakesBytesForTheBitsOfAStatedF8) {
  const uint8_t bytes[] = {0x7E, 0x80};
  const std::vector<OwnTensor> x = {{"x", {bytes, ElementType::kU8, {1, 2}, {2, 1}}}};
  EXPECT_THAT(ParseQuestion("softmax dtype.x=f8_e4m3fn", x).inputs[0].values.data,
              ElementsAre(448, 0));
  EXPECT_THAT(ParseQuestion("softmax dtype.x=f8_e4m3fnuz", x).inputs[0].values.data,
              ElementsAre(224, testing::IsNan()));
  for (const char* question : {"softmax", "softmax dtype.x=f16"}) {
    EXPECT_EQ(
        MessageOf([&] { ParseQuestion(question, x); }),
        "x holds i64, expected floating-point numbers, or the bits of a type of 8 bits and its "
        "name in dtype.x=");
  }
}

TEST(ParseQuestion, TakesIntegersForCodes) {
  const float x[] = {127, -3};
  const float scale[] = {1};
  const int8_t eight[] = {127, -3};
  const int32_t wide[] = {127, -3};
  const auto ask = [&](const std::string& words, const void* codes, ElementType type) {
    return ParseQuestion("quantize " + words,
                         {{"x", {x, ElementType::kF32, {1, 1, 1, 2}, {2, 2, 2, 1}}},
                          {"scale", {scale, ElementType::kF32, {1, 1}, {1, 1}}},
                          {"codes", {codes, type, {1, 1, 1, 2}, {2, 2, 2, 1}}}});
  };
  for (const auto& question :
       {ask("", eight, ElementType::kI8), ask("dtype.codes=i8", eight, ElementType::kI8),
        ask("dtype.codes=i8", wide, ElementType::kI32),
        ask("dtype.codes=i8", x, ElementType::kF32)}) {
    EXPECT_EQ(question.outputs[1].dtype, DType::kI8);
    EXPECT_THAT(question.outputs[1].values.data, ElementsAre(127, -3));
  }
  EXPECT_THAT(MessageOf([&] { ask("dtype.codes=i4", eight, ElementType::kI8); }),
              HasSubstr("is 127, expected a value of i4"));
  const uint8_t nibbles[] = {0x07, 0x0D};
  EXPECT_THAT(ask("dtype.codes=i4", nibbles, ElementType::kU8).outputs[1].values.data,
              ElementsAre(7, -3));
  EXPECT_THAT(ask("dtype.codes=f4_e2m1", nibbles, ElementType::kU8).outputs[1].values.data,
              ElementsAre(6, -3));
}

TEST(ParseQuestion, TakesIntegersOf8BitsForPositions) {
  const float x[] = {1, 2};
  const int8_t position[] = {3};
  const Question question =
      ParseQuestion("rope pairing=half", {{"x", {x, ElementType::kF32, {1, 1, 1, 2}, {2, 2, 2, 1}}},
                                          {"position", {position, ElementType::kI8, {1}, {1}}}});
  EXPECT_EQ(question.inputs[1].dtype, DType::kI64);
  EXPECT_THAT(question.inputs[1].values.data, ElementsAre(3));
}

TEST(ParseQuestion, RefusesHugeTensorsBeforeItReadsThem) {
  const float x = 0;
  const auto error = [&](size_t extent) {
    return MessageOf([&] {
      ParseQuestion("softmax", {{"x", {&x, ElementType::kF32, {1, extent}, {0, 0}}}});
    });
  };
  EXPECT_THAT(error(size_t{1} << 40), HasSubstr("dimension M is 1099511627776, expected 0 to"));
  EXPECT_THAT(error(size_t{1} << 63), HasSubstr("x has extent 9223372036854775808 on axis 1"));
}

// Without ml_dtypes, bf16 values of numpy are in f32.
TEST(ParseQuestion, TakesExactValuesInAWiderTypeForTheStatedDType) {
  Own norm;
  norm.Add("x", DType::kF32, {2, 8}, 1.5).Add("weight", DType::kF32, {8}, 1);
  EXPECT_EQ(norm.Ask("rms_norm dtype=bf16").inputs[0].dtype, DType::kBF16);
  EXPECT_EQ(norm.Ask("rms_norm dtype=bf16 dtype.weight=f32").inputs[1].dtype, DType::kF32);
  Own inexact;
  inexact.Add("x", DType::kF32, {1, 2}, 1 + 0x1p-20).Add("weight", DType::kF32, {2}, 1);
  EXPECT_EQ(inexact.Error("rms_norm dtype=bf16"),
            "x[0,0] is 1.0000009536743164, expected a value of bf16, or dtype.x= in the question");
  EXPECT_EQ(inexact.Error("rms_norm dtype.x=f16"),
            "x[0,0] is 1.0000009536743164, expected a value of f16, as dtype.x=f16 says");
  Own narrow;
  narrow.Add("x", DType::kBF16, {1, 2}, 1).Add("weight", DType::kF32, {2}, 1);
  EXPECT_EQ(narrow.Error("rms_norm dtype=f32"), "x holds bf16, but the question states f32");
  EXPECT_EQ(narrow.Error("rms_norm dtype=f16"), "x holds bf16, but the question states f16");
}

TEST(ParseQuestion, RefusesWrongKindsOfNumbers) {
  Own floats;
  floats.Add("x", DType::kF32, {1, 2, 3, 8}).Add("position", DType::kF32, {1, 3});
  EXPECT_EQ(floats.Error("rope pairing=half"), "position holds f32, expected integers");
  Own integers;
  integers.Add("x", DType::kI64, {2, 8}).Add("weight", DType::kF32, {8});
  EXPECT_EQ(integers.Error("rms_norm"), "x holds i64, expected floating-point numbers");
}

TEST(ParseQuestion, ReadsLayouts) {
  const float data[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int64_t position[] = {0, 1};
  const auto ask = [&](const std::string& name, const Shape& shape) {
    return ParseQuestion("rope pairing=half",
                         {{name, {data, ElementType::kF32, shape, RowMajorStrides(shape)}},
                          {"position (S)", {position, ElementType::kI64, {2}, {1}}}});
  };
  const Question question = ask("x (S H D)", {2, 2, 2});
  EXPECT_EQ(question.inputs[0].values.shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(question.inputs[0].values.data, (std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_THAT(ask("x (B S D)", {2, 2, 2}).inputs[1].values.data, ElementsAre(0, 1, 0, 1));
  const auto error = [&](const std::string& name, const Shape& shape) {
    return MessageOf([&] { ask(name, shape); });
  };
  EXPECT_EQ(error("x (S H E)", {2, 2, 2}),
            "x: the layout has 'E', expected each axis of x[B,H,S,D] at most once");
  EXPECT_EQ(error("x (S H S)", {2, 2, 2}),
            "x: the layout has 'S' twice, expected each axis of x[B,H,S,D] at most once");
  EXPECT_EQ(error("x (S H D)", {2, 4}), "x has shape [2,4], but its layout has 3 axes");
  EXPECT_EQ(error("x (S H D", {2, 2, 2}), "'x (S H D': expected ')' at the end");
}

// The words of a question about the tensors of the case: its attributes, the dimensions that are no
// axis of their own, and the dtype if no tensor has it.
std::string QuestionOf(const Case& c) {
  const Signature& signature = c.info().signature;
  std::set<std::string> given;
  bool gives_dtype = false;
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *side) {
      gives_dtype = gives_dtype || spec.role == Role::kCase;
      for (const std::string& text : spec.extents) {
        const ExtentFormula extent = ParseExtent(text);
        if (extent.names.size() == 1) given.insert(extent.names[0]);
      }
    }
  }
  std::string text = c.name();
  for (const Attribute& attribute : c.operation().Attributes()) {
    const bool stated = !attribute.dimension && !given.contains(attribute.name);
    if (stated && !attribute.text.empty()) text += " " + attribute.name + "=" + attribute.text;
  }
  for (const auto& [letter, extent] : c.dimensions()) {
    if (!given.contains(letter)) text += " " + letter + "=" + std::to_string(extent);
  }
  return gives_dtype ? text : text + " dtype=" + std::string(NameOf(c.dtype()));
}

class Questions : public testing::TestWithParam<std::string> {};

// Zeros serve as outputs: their values do not matter.
TEST_P(Questions, GiveTheCaseOfDrawnTensors) {
  const auto operation = MakeOperationNamed(GetParam());
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const Case c = AnyCase(operation->info(), random).WithDrawnInputs();
    Tensors tensors = DrawInputs(c);
    for (const TensorSpec& output : c.info().signature.outputs)
      tensors.push_back({output.name, c.DTypeOf(output), Tensor<double>(c.ShapeOf(output))});
    std::vector<OwnTensor> own;
    for (const NamedTensor& tensor : tensors) {
      const Shape& shape = tensor.values.shape;
      own.push_back({tensor.name,
                     {tensor.values.data.data(), ElementType::kF64, shape, RowMajorStrides(shape)},
                     tensor.dtype});
    }
    const std::string text = QuestionOf(c);
    SCOPED_TRACE(text + " for " + c.ToString());
    const Question question = ParseQuestion(text, own);
    EXPECT_EQ(question.c.With("seed=" + std::to_string(c.seed())).ToString(), c.ToString());
    EXPECT_TRUE(question.defaults.empty());
    for (const NamedTensor& input : question.inputs)
      EXPECT_EQ(input.values.data, Find(tensors, input.name).values.data);
  }
}
INSTANTIATE_TEST_SUITE_P(Operations, Questions, testing::ValuesIn(OperationNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sextant
