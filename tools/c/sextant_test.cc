#include "tools/c/sextant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "reference/base/json.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sextant::tools {
namespace {

using testing::HasSubstr;

// Tensors of a question, and the DLTensors that describe them.
class Call {
 public:
  template <class T>
  Call& Add(const char* name, DLDataType type, std::vector<int64_t> shape, std::vector<T> data) {
    auto& tensor = *tensors_.emplace_back(std::make_unique<Owned>());
    tensor.bytes.resize(data.size() * sizeof(T));
    std::memcpy(tensor.bytes.data(), data.data(), tensor.bytes.size());
    tensor.shape = std::move(shape);
    tensor.dl = {tensor.bytes.data(),
                 {kDLCPU, 0},
                 static_cast<int>(tensor.shape.size()),
                 type,
                 tensor.shape.data(),
                 nullptr,
                 0};
    named_.push_back({name, &tensor.dl});
    return *this;
  }
  DLTensor& dl(size_t i) { return tensors_[i]->dl; }
  SextantTensor& named(size_t i) { return named_[i]; }

  int Judge(const char* question, SextantResult** result,
            const SextantOptions* options = nullptr) const {
    return sextant_judge(question, named_.data(), named_.size(), options, result);
  }
  // The error of a wrong call.
  std::string Error(const char* question, const SextantOptions* options = nullptr) const {
    SextantResult* result = nullptr;
    EXPECT_EQ(Judge(question, &result, options), SEXTANT_INVALID);
    EXPECT_EQ(result, nullptr);
    sextant_free(result);
    return sextant_last_error();
  }

 private:
  struct Owned {
    std::vector<char> bytes;
    std::vector<int64_t> shape;
    DLTensor dl;
  };
  std::vector<std::unique_ptr<Owned>> tensors_;
  std::vector<SextantTensor> named_;
};

constexpr DLDataType kF32{kDLFloat, 32, 1};

// softmax of a row: right, or with one wrong element.
Call SoftmaxCall(float wrong = 0) {
  const double e = std::exp(1.0);
  Call call;
  call.Add<float>("x", kF32, {1, 2}, {0, 1});
  call.Add<float>("y", kF32, {1, 2}, {float(1 / (1 + e)), float(e / (1 + e)) + wrong});
  return call;
}

SextantOptions OptionsWith(const char* recipe, int strict = 0) {
  SextantOptions options{};
  options.struct_size = sizeof options;
  options.recipe = recipe;
  options.strict = strict;
  return options;
}

struct Free {
  void operator()(SextantResult* result) const { sextant_free(result); }
};
using Result = std::unique_ptr<SextantResult, Free>;

Result Judged(const Call& call, const char* question, const SextantOptions* options = nullptr) {
  SextantResult* result = nullptr;
  EXPECT_EQ(call.Judge(question, &result, options), SEXTANT_OK) << sextant_last_error();
  return Result(result);
}

std::span<const double> ArrayOf(const Result& result, const char* name) {
  SextantArray array;
  EXPECT_EQ(sextant_array(result.get(), name, &array), SEXTANT_OK) << sextant_last_error();
  return {array.data, array.count};
}

TEST(CLibrary, JudgesTensorsOfTheCaller) {
  const Result right = Judged(SoftmaxCall(), "softmax");
  EXPECT_EQ(sextant_status(right.get()), 0);
  const Json json = Json::parse(sextant_json(right.get()));
  EXPECT_EQ(json["status"], "conforms");
  EXPECT_EQ(json["case"], "softmax M=2 N=1 dtype=f32");
  const Result wrong = Judged(SoftmaxCall(0.5F), "softmax");
  EXPECT_EQ(sextant_status(wrong.get()), 1);
  const auto error = ArrayOf(wrong, "y/error"), permitted = ArrayOf(wrong, "y/permitted");
  EXPECT_LE(error[0], permitted[0]);
  EXPECT_NEAR(error[1], 0.5, 1e-6);
  EXPECT_LT(permitted[1], 1e-5);
}

TEST(CLibrary, FollowsStridesAndOffsets) {
  Call call = SoftmaxCall();
  float memory[] = {9, 1, 9, 0, 9};
  int64_t strides[] = {7, -2};
  call.dl(0).data = memory;
  call.dl(0).byte_offset = 3 * sizeof(float);
  call.dl(0).strides = strides;
  EXPECT_EQ(sextant_status(Judged(call, "softmax").get()), 0);
}

TEST(CLibrary, ProvesOutputs) {
  Call call;
  call.Add<float>("x", kF32, {1, 2}, {0, 1});
  SextantResult* made = nullptr;
  ASSERT_EQ(sextant_prove("softmax", &call.named(0), 1, nullptr, &made), SEXTANT_OK);
  const Result result(made);
  SextantArray value;
  ASSERT_EQ(sextant_array(result.get(), "y/value", &value), SEXTANT_OK);
  EXPECT_STREQ(value.dtype, "f32");
  EXPECT_EQ(value.rank, 2u);
  EXPECT_EQ(value.shape[1], 2u);
  EXPECT_EQ(value.data[0], static_cast<float>(1 / (1 + std::exp(1.0))));
  EXPECT_NEAR(ArrayOf(result, "y/high")[0] + ArrayOf(result, "y/low")[0], 1 / (1 + std::exp(1.0)),
              1e-16);
  EXPECT_GT(ArrayOf(result, "y/permitted")[0], 0);
  EXPECT_EQ(ArrayOf(result, "y/radius")[0], 0);
}

TEST(CLibrary, GradesATolerance) {
  Call call;
  call.Add<float>("x", kF32, {2, 3}, {0, 1, 2, 3, 4, 5});
  for (const double atol : {0.0, 10.0}) {
    SextantResult* made = nullptr;
    ASSERT_EQ(sextant_tolerance("softmax", &call.named(0), 1, atol, 0, nullptr, &made), SEXTANT_OK);
    const Result result(made);
    EXPECT_EQ(sextant_status(result.get()), 1) << "right answers fail, or wrong ones pass";
    const std::string json = sextant_json(result.get());
    EXPECT_THAT(json, testing::HasSubstr(atol == 0 ? "\"may_reject\":6" : "\"may_reject\":0"));
    EXPECT_THAT(json, testing::HasSubstr("\"smallest\":{"));
  }
  SextantResult* made = nullptr;
  EXPECT_EQ(sextant_tolerance("softmax", &call.named(0), 1, -1, 0, nullptr, &made),
            SEXTANT_INVALID);
  EXPECT_THAT(sextant_last_error(), testing::HasSubstr("atol is -1, expected a number from 0 on"));
}

TEST(CLibrary, DrawsInputs) {
  SextantResult* made = nullptr;
  ASSERT_EQ(sextant_draw("rope pairing=half S=2 H=1 D=4 @position=3,8191", &made), SEXTANT_OK);
  const Result result(made);
  EXPECT_EQ(ArrayOf(result, "position")[1], 8191);
  EXPECT_EQ(ArrayOf(result, "x").size(), 8u);
  EXPECT_EQ(sextant_draw("rope", &made), SEXTANT_INVALID);
  EXPECT_THAT(sextant_last_error(), HasSubstr("pairing"));
}

// 1 and 1.5, as bits; softmax of equal numbers is 1/2 each: 0x30 in f8_e4m3fn.
TEST(CLibrary, JudgesF8) {
  constexpr DLDataType kE4M3FN{10, 8, 1}, kUInt8{kDLUInt, 8, 1};
  const auto result = [&](DLDataType x, uint8_t y, const char* question) {
    Call call;
    call.Add<uint8_t>("x", x, {1, 2}, {0x38, 0x38});
    call.Add<uint8_t>("y", kE4M3FN, {1, 2}, {0x30, y});
    return Json::parse(sextant_json(Judged(call, question).get()));
  };
  const Json right = result(kE4M3FN, 0x30, "softmax");
  EXPECT_EQ(right["status"], "conforms");
  EXPECT_EQ(right["case"], "softmax M=2 N=1 dtype=f32 dtype.x=f8_e4m3fn dtype.y=f8_e4m3fn");
  EXPECT_EQ(result(kUInt8, 0x30, "softmax dtype.x=f8_e4m3fn")["status"], "conforms");
  EXPECT_EQ(result(kE4M3FN, 0x31, "softmax")["status"], "fails");
}

TEST(CLibrary, ListsTheElementTypes) {
  const Json types = Json::parse(sextant_types());
  std::string names;
  for (const Json& type : types) names += type["name"].get<std::string>() + " ";
  EXPECT_EQ(names,
            "f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f4_e2m1 i8 i4 "
            "e8m0 i64 i32 i16 u64 u32 u16 "
            "u8 ");
  EXPECT_EQ(types[6], Json::parse(R"({"name":"f8_e4m3fnuz","bits":8,"dlpack":11,)"
                                  R"("array":"float8_e4m3fnuz","in_numpy":false,)"
                                  R"("in_messages":"F8_E4M3FNUZ"})"));
  EXPECT_EQ(types[18], Json::parse(R"({"name":"u8","bits":8,"dlpack":1,"array":"uint8",)"
                                   R"("in_numpy":true})"));
}

TEST(CLibrary, ReadsTheOptionsOfNewerCallers) {
  struct Newer {
    SextantOptions options;
    const void* more;
  } newer{OptionsWith("f32_compute", 1), nullptr};
  newer.options.struct_size = sizeof newer;
  const Result result = Judged(SoftmaxCall(), "softmax", &newer.options);
  const Json json = Json::parse(sextant_json(result.get()));
  EXPECT_EQ(json["recipe"], "f32_compute");
  EXPECT_EQ(json["strict"], true);
  newer.more = &newer;
  EXPECT_THAT(SoftmaxCall().Error("softmax", &newer.options), HasSubstr("unknown member at byte"));
  newer.options.struct_size = sizeof newer.options - 1;
  EXPECT_THAT(SoftmaxCall().Error("softmax", &newer.options),
              HasSubstr("struct_size of the options"));
}

#if defined(__x86_64__)
// As torch.set_flush_denormal(True) and libraries compiled with -ffast-math do.
TEST(CLibrary, IgnoresTheRoundingOfTheCaller) {
  constexpr unsigned kFlushAndRoundUp = 0x8040 | 0x4000;
  const unsigned callers = _mm_getcsr();
  Call call;
  call.Add<float>("x", kF32, {1, 2}, {0x1p-140F, 0x1p-141F});
  _mm_setcsr(callers | kFlushAndRoundUp);
  SextantResult* made = nullptr;
  const int status = sextant_prove("activation kind=relu", &call.named(0), 1, nullptr, &made);
  const unsigned after = _mm_getcsr() & kFlushAndRoundUp;
  _mm_setcsr(callers);
  ASSERT_EQ(status, SEXTANT_OK) << sextant_last_error();
  EXPECT_EQ(after, kFlushAndRoundUp);
  const Result result(made);
  EXPECT_EQ(ArrayOf(result, "y/value")[1], 0x1p-141);
}

// The bounds are computed in double on several threads: each would differ in its last bits.
TEST(CLibrary, BoundsDoNotDependOnTheRoundingOfTheCaller) {
  std::vector<float> x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(i));
  Call call;
  call.Add<float>("x", kF32, {1 << 8, 1 << 8}, x);
  const auto permitted = [&](unsigned mode) {
    const unsigned callers = _mm_getcsr();
    SextantOptions options = OptionsWith(nullptr);
    options.threads = 2;
    SextantResult* made = nullptr;
    _mm_setcsr(callers | mode);
    const int status = sextant_prove("softmax", &call.named(0), 1, &options, &made);
    _mm_setcsr(callers);
    EXPECT_EQ(status, SEXTANT_OK) << sextant_last_error();
    const Result result(made);
    const auto array = ArrayOf(result, "y/permitted");
    return std::vector<double>(array.begin(), array.end());
  };
  constexpr unsigned kRoundUp = 0x4000;
  EXPECT_EQ(permitted(kRoundUp), permitted(0));
}
#endif

TEST(CLibrary, NamesWrongCalls) {
  EXPECT_THAT(SoftmaxCall().Error("softma"), HasSubstr("there is no operation 'softma'"));
  EXPECT_EQ(SoftmaxCall().Error(nullptr), "argument question is a null pointer");
  Call call = SoftmaxCall();
  call.named(1).name = nullptr;
  EXPECT_EQ(call.Error("softmax"), "the name of tensor 1 is a null pointer");
  call = SoftmaxCall();
  call.named(1).tensor = nullptr;
  EXPECT_EQ(call.Error("softmax"), "y: the tensor is a null pointer");
  call = SoftmaxCall();
  call.dl(0).data = nullptr;
  EXPECT_EQ(call.Error("softmax"), "x: its data are a null pointer");
  call = SoftmaxCall();
  call.dl(0).shape = nullptr;
  EXPECT_EQ(call.Error("softmax"), "x: its shape is a null pointer");
  call = SoftmaxCall();
  call.dl(0).ndim = -1;
  EXPECT_EQ(call.Error("softmax"), "x has -1 axes, expected 0 to 64");
  call = SoftmaxCall();
  call.dl(0).shape[1] = -2;
  EXPECT_EQ(call.Error("softmax"), "x has extent -2 on axis 1, expected 0 or more");
  call = SoftmaxCall();
  call.dl(0).device.device_type = kDLCUDA;
  EXPECT_THAT(call.Error("softmax"), HasSubstr("expected memory of the CPU"));
  call = SoftmaxCall();
  call.dl(0).dtype = {kDLFloat, 32, 2};
  EXPECT_THAT(call.Error("softmax"), HasSubstr("32 bits and 2 lanes"));
  const SextantOptions unset{};
  EXPECT_THAT(SoftmaxCall().Error("softmax", &unset), HasSubstr("struct_size of the options is 0"));
  const SextantOptions recipe = OptionsWith("no");
  EXPECT_THAT(SoftmaxCall().Error("softmax", &recipe), HasSubstr("'no'"));
  EXPECT_EQ(sextant_judge("softmax", nullptr, 1, nullptr, nullptr), SEXTANT_INVALID);
  EXPECT_STREQ(sextant_last_error(), "argument result is a null pointer");
  SextantArray array;
  EXPECT_EQ(sextant_array(Judged(SoftmaxCall(), "softmax").get(), "z", &array), SEXTANT_INVALID);
  EXPECT_STREQ(sextant_last_error(), "there is no array 'z'; there are: y/error y/permitted");
}

TEST(CLibrary, EndsWhereProgressAsksForIt) {
  SextantOptions options = OptionsWith(nullptr);
  options.progress = [](double, void*) { return 1; };
  SextantResult* result = nullptr;
  EXPECT_EQ(SoftmaxCall().Judge("softmax", &result, &options), SEXTANT_CANCELLED);
  EXPECT_EQ(result, nullptr);
}

TEST(CLibrary, AnswersSeveralThreadsAtOnce) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(sextant_status(Judged(SoftmaxCall(t % 2 ? 0.5F : 0), "softmax").get()), t % 2);
        const std::string unknown = "operation" + std::to_string(t);
        EXPECT_THAT(SoftmaxCall().Error(unknown.c_str()), HasSubstr("'" + unknown + "'"));
      }
    });
  }
}

}  // namespace
}  // namespace sextant::tools
