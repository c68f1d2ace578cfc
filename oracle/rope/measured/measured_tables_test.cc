#include <array>
#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"
#include "oracle/rope/measured/rotation.h"

namespace sextant::oracle {
namespace {

// Tables in plain loops.
std::vector<std::string> ExplainedTable(
    const std::string& line, const std::function<long double(long double p)>& position,
    const std::function<long double(size_t k, size_t R)>& frequency) {
  const DrawnCase question(line);
  const Shape shape = question.c.ShapeOf(question.c.info().signature.outputs[0]);
  Tensors answer = {{"cos", question.c.dtype(), Tensor<double>(shape)},
                    {"sin", question.c.dtype(), Tensor<double>(shape)}};
  const auto pairs = static_cast<size_t>(question.c.dimensions().at("R")) / 2;
  const std::vector<double>& given = question.inputs.back().values.data;
  for (size_t i = 0; i < answer[0].values.data.size(); ++i) {
    const size_t token = i / shape[2], k = i % shape[2] % pairs;
    const long double f =
        question.inputs.size() > 1 ? given[k] * frequency(0, 1) : frequency(k, 2 * pairs);
    const long double a = position(question.inputs[0].values.data[token]) * f;
    answer[0].values.data[i] = RoundTo(question.c.dtype(), static_cast<double>(std::cos(a)));
    answer[1].values.data[i] = RoundTo(question.c.dtype(), static_cast<double>(std::sin(a)));
  }
  return Explained(question, answer);
}

TEST(MeasuredTables, NamesDeviationsOfTables) {
  const auto clamp = [](long double p) { return std::min(p, 32767.0L); };
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(
        ExplainedTable(
            "rope_cos_sin layout=halves R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
            clamp, [](size_t k, size_t R) { return std::pow(123456.0L, -2.0L * k / R); }),
        Contains(HasSubstr("base_differs+position_clamped")));
    EXPECT_THAT(
        ExplainedTable("rope_table R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
                       clamp, [](size_t, size_t) { return 1.0L; }),
        Contains(HasSubstr("position_clamped")));
    EXPECT_THAT(ExplainedTable(
                    "rope_table R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
                    [](long double p) { return p; }, [](size_t, size_t) { return 0.5L; }),
                Contains(HasSubstr("frequency_factor (all angles are 0.5 of")));
  }
}

std::vector<std::string> ExplainedFrequencies(
    const std::string& line, const std::function<long double(size_t k, size_t R)>& frequency,
    double amplitude) {
  const DrawnCase question(line);
  const auto R = static_cast<size_t>(question.c.dimensions().at("R"));
  const DType dtype = question.c.DTypeOf(question.c.info().signature.outputs[0]);
  Tensors answer = {{"inv_freq", dtype, Tensor<double>(Shape{R / 2})},
                    {"attention_factor", dtype, Tensor<double>(Shape{})}};
  for (size_t k = 0; k < R / 2; ++k)
    answer[0].values.data[k] = RoundTo(dtype, static_cast<double>(frequency(k, R)));
  answer[1].values.data[0] = RoundTo(dtype, amplitude);
  return Explained(question, answer);
}

TEST(MeasuredTables, NamesDeviationsOfFrequencies) {
  const auto power = [](long double base) {
    return [base](size_t k, size_t R) { return std::pow(base, -2.0L * k / R); };
  };
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(ExplainedFrequencies("rope_frequencies R=64" + std::string(dtype), power(12345), 1),
                Contains(HasSubstr("base = 12345, expected 10000")));
    EXPECT_THAT(
        ExplainedFrequencies("rope_frequencies R=64 scaling=linear(factor=4)" + std::string(dtype),
                             power(10000), 1.5),
        Contains(AllOf(StartsWith("amplitude+scaling_missing"),
                       HasSubstr("the amplitude is 1.5, expected 1"))));
  }
}

}  // namespace
}  // namespace sextant::oracle
