#include "fast/attention/multi_head.h"

#include "fast/kernel/proven_test.h"

namespace sextant::fast {
namespace {

std::string Line(const std::string& shape, const std::string& dtype) {
  return "cross_attention " + shape + " dtype=" + dtype;
}

class AttendHeadsTest : public testing::TestWithParam<const char*> {};

TEST_P(AttendHeadsTest, ErrorIsPermittedAtEveryWidth) {
  for (const size_t D : {1, 3, 4, 5, 8, 9, 16, 17, 33}) {
    ExpectProven(Line("S=2 T=3 M=3 H=2 D=" + std::to_string(D), GetParam()));
  }
  for (const size_t M : {1, 2, 7, 8, 16, 17, 33}) {
    ExpectProven(Line("S=2 T=3 H=2 D=2 M=" + std::to_string(M), GetParam()));
  }
}

TEST_P(AttendHeadsTest, ErrorIsPermittedForEveryNumberOfTokens) {
  for (const size_t T : {1, 2, 4, 5, 8, 9, 16, 17, 33}) {
    ExpectProven(Line("S=2 M=2 H=2 D=2 T=" + std::to_string(T), GetParam()));
    ExpectProven(Line("T=2 M=2 H=2 D=2 S=" + std::to_string(T), GetParam()));
  }
}

TEST_P(AttendHeadsTest, SharesKeyHeads) {
  for (const char* heads : {"H=6 K=1", "H=6 K=2", "H=6 K=3", "H=6 K=6"}) {
    ExpectProven(Line(std::string("S=2 T=3 M=5 D=3 ") + heads, GetParam()));
  }
}

TEST_P(AttendHeadsTest, AppliesScaleCapAndKeyLength) {
  ExpectProven(Line("S=2 T=9 M=3 H=2 D=3 scale=0.25 soft_cap=2 key_length=[5]", GetParam()));
  ExpectProven(Line("S=2 T=9 M=3 H=2 D=3 key_length=[0] empty_rows=zero", GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, AttendHeadsTest, testing::Values("f64", "f32", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

// One token of memory and small integers: all results are exact. y is guarded.
TEST(AttendHeads, ConcatenatesHeads) {
  constexpr size_t S = 2, M = 3, H = 2, D = 5;
  Attention attention;
  attention.B.value = attention.T.value = 1;
  attention.S.value = S;
  attention.H.value = attention.K.value = H;
  std::vector<float> x(S * M, 1), memory = {1, 2, 3}, w(H * D * M), b(H * D), wo(M * H * D), bo(M);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i);
  for (size_t i = 0; i < wo.size(); ++i) wo[i] = static_cast<float>(i % 7);
  OnAllTargets([&] {
    MultiHeadMemory<float> buffers(attention, D);
    Guarded<float> y(S * M);
    AttendHeads<float>({&attention, M, D}, x.data(), memory.data(),
                       {.wq = w, .wk = w, .wv = w, .wo = wo, .bq = b, .bk = b, .bv = b, .bo = bo},
                       buffers, y.data());
    for (size_t i = 0; i < S * M; ++i) {
      float expected = 0;
      for (size_t j = 0; j < H * D; ++j) {
        const float value = 1 * w[3 * j] + 2 * w[3 * j + 1] + 3 * w[3 * j + 2];
        expected += wo[i % M * H * D + j] * value;
      }
      EXPECT_EQ(y[i], expected);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
