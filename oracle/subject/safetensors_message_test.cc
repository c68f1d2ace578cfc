#include "oracle/subject/safetensors_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/base/error.h"
#include "reference/base/error_test.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// The example of PROTOCOL.md: 61 characters and three spaces.
// 1 is 0x3F80 in bf16, -2 is 0xC000. The i64 tensor comes first because its elements are wider. The
// body begins at a multiple of 8 bytes.
TEST(DescribeOutputs, ListsDTypesAndShapes) {
  EXPECT_EQ(
      DescribeOutputs({{"y", DType::kBF16, {1, 2}}, {"lse", DType::kF32, {}, true}}),
      R"({"y":{"dtype":"BF16","shape":[1,2]},"lse":{"dtype":"F32","shape":[],"optional":true}})");
}

TEST(ParsePrefix, ReadsLittleEndian) {
  EXPECT_EQ(ParsePrefix(Bytes({2, 1, 0, 0, 0, 0, 0, 0}), 1000), 258u);
  EXPECT_EQ(ParsePrefix(Bytes({2, 1, 0, 0, 0, 0, 0, 0}), 258), 258u);
}

TEST(ParsePrefix, RefusesHugeHeadersAndText) {
  EXPECT_EQ(MessageOf([] {
              ParsePrefix(Bytes({0, 0, 0, 0, 0, 0, 0, 0x10}), 65536);
            }),
            "the header claims 1152921504606846976 bytes, expected at most 65536");
  EXPECT_THAT(MessageOf([] {
                ParsePrefix(Bytes({3, 1, 0, 0, 0, 0, 0, 0}), 258);
              }),
              HasSubstr("259 bytes"));
  EXPECT_THAT(MessageOf([] { ParsePrefix("Loading ", 65536); }), HasSubstr("the text 'Loading '"));
}

TEST(HeaderLimit, IsEnoughForTheLargestTensors) {
  const std::vector<ExpectedTensor> expected(
      1000, {"attention_out", DType::kF32, Shape(4, std::numeric_limits<size_t>::max())});
  EXPECT_GE(HeaderLimit(expected), DescribeOutputs(expected).size() + 1000 * 64);
  EXPECT_EQ(HeaderLimit({}), 65536u);
}

// ParseSafetensorsHeader returns a header or throws Error, for any input.
TEST(CheckOutputs, ErrorsNameTheExpectedOutputs) {
  const std::vector<ExpectedTensor> expected = {{"y", DType::kBF16, {2}},
                                                {"lse", DType::kF32, {}, true}};
  const auto check = [&](const std::string& json) {
    return MessageOf([&] { CheckOutputs(ParseSafetensorsHeader("{" + json + "}"), expected); });
  };
  const std::string y = R"("y":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]})";
  EXPECT_EQ(check(y), "");
  EXPECT_EQ(check(y + R"(,"lse":{"dtype":"F32","shape":[],"data_offsets":[4,8]})"), "");
  EXPECT_EQ(check(y + R"(,"lse":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "output lse:f32[1], expected lse:f32[]");
  EXPECT_EQ(check(R"("y":{"dtype":"F16","shape":[2],"data_offsets":[0,4]})"),
            "output y:f16[2], expected y:bf16[2]");
  EXPECT_EQ(check(R"("y":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]})"),
            "output y:bf16[2,1], expected y:bf16[2]");
  EXPECT_EQ(check(""), "output 'y' is missing, expected: y:bf16[2] lse:f32[] (optional)");
  EXPECT_EQ(check(y + R"(,"z":{"dtype":"F32","shape":[],"data_offsets":[4,8]})"),
            "unknown output 'z', expected: y:bf16[2] lse:f32[] (optional)");
}

TEST(DecodeBody, ReadsEveryDType) {
  const SafetensorsHeader header = ParseSafetensorsHeader(
      R"({"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},
          "i":{"dtype":"I64","shape":[2],"data_offsets":[8,24]},
          "f":{"dtype":"F32","shape":[2],"data_offsets":[24,32]},
          "h":{"dtype":"F16","shape":[1],"data_offsets":[32,34]},
          "b":{"dtype":"BF16","shape":[3],"data_offsets":[34,40]}})");
  const Tensors tensors =
      DecodeBody(header, Bytes({0, 0, 0, 0, 0, 0, 0, 0xC0}) +               // -2
                             Bytes({2, 1, 0, 0, 0, 0, 0, 0}) +              // 258
                             Bytes({0, 0, 0, 0, 0, 0, 0xE0, 0xFF}) +        // -2^53
                             Bytes({0, 0, 0xC0, 0x7F, 0, 0, 0x80, 0x7F}) +  // NaN, inf
                             Bytes({1, 0x80}) +                             // -2^-24
                             Bytes({0x80, 0x3F, 0x00, 0x80, 0x01, 0x00}));  // 1, -0, 2^-133
  EXPECT_EQ(Find(tensors, "d").values.data, std::vector<double>{-2});
  EXPECT_EQ(Find(tensors, "i").values.data, (std::vector<double>{258, -0x1p53}));
  EXPECT_TRUE(std::isnan(Find(tensors, "f").values.data[0]));
  EXPECT_EQ(Find(tensors, "f").values.data[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(Find(tensors, "h").values.data, std::vector<double>{-0x1p-24});
  EXPECT_EQ(Find(tensors, "b").values.data, (std::vector<double>{1, 0, 0x1p-133}));
  EXPECT_TRUE(std::signbit(Find(tensors, "b").values.data[1]));
  EXPECT_EQ(Find(tensors, "b").dtype, DType::kBF16);
}

// 2^53 + 1 is not a double.
TEST(DecodeBody, RefusesIntegersThatAreNotDoubles) {
  const SafetensorsHeader header =
      ParseSafetensorsHeader(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})");
  EXPECT_EQ(MessageOf([&] {
              DecodeBody(header, Bytes({1, 0, 0, 0, 0, 0, 0x20, 0}));
            }),
            "output i: has the integer 9007199254740993, expected at most 2^53 in magnitude");
}

}  // namespace
}  // namespace sextant::oracle
