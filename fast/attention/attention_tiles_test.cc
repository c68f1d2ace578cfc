#include "fast/attention/attention_tiles.h"

#include <cmath>

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

template <class T>
class AttendTilesTest : public testing::Test {
 public:
  static void Check(AttendQuestion<T>& asked) {
    asked.Draw();
    CheckDrawn(asked);
  }
  static void CheckDrawn(const AttendQuestion<T>& asked) {
    std::vector<AttendAnswer<T>> answers;
    for (size_t i = 0; i < asked.rows(); ++i) answers.emplace_back(asked, i);
    OnAllTargets([&] {
      const Attended attended(asked);
      for (size_t i = 0; i < asked.rows(); ++i) {
        SCOPED_TRACE("row " + std::to_string(i));
        answers[i].Expect(attended.y.data() + i * asked.E, attended.lse[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
  struct Attended {
    Guarded<T> y;
    Guarded<Computed<T>> lse;
    explicit Attended(const AttendQuestion<T>& asked)
        : y(asked.rows() * asked.E), lse(asked.rows()) {
      Guarded<Computed<T>> scratch(TilesScratchOf(asked.Inputs()));
      std::memset(static_cast<void*>(scratch.data()), 0xff, scratch.size() * sizeof(Computed<T>));
      AttendTiles(asked.Inputs(), y.data(), lse.data(), scratch.data());
    }
  };
};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(AttendTilesTest, AllTypes);

TYPED_TEST(AttendTilesTest, IsRightAtEveryWidth) {
  for (size_t width = 1; width <= 33; ++width) {
    AttendQuestion<TypeParam> narrow{.op = Extents(1, 2, 1, 3, 5), .D = width, .E = 34 - width};
    TestFixture::Check(narrow);
  }
  AttendQuestion<TypeParam> wide{.op = Extents(1, 1, 1, 2, 3), .D = 129, .E = 97};
  TestFixture::Check(wide);
}

TYPED_TEST(AttendTilesTest, IsRightForEveryNumberOfQueriesInAPanel) {
  for (int64_t S = 0; S <= 100; S += S < 18 ? 1 : 5) {
    AttendQuestion<TypeParam> asked{.op = Extents(1, 1, 1, S, 9)};
    TestFixture::Check(asked);
  }
}

TYPED_TEST(AttendTilesTest, IsRightForEveryNumberOfKeysInATile) {
  for (const int64_t T : {0, 1, 2, 5, 6, 7, 8, 9, 17, 191, 192, 193, 199, 383, 384, 385, 600}) {
    AttendQuestion<TypeParam> asked{.op = Extents(1, 1, 1, 7, T)};
    TestFixture::Check(asked);
    asked.op.mask = Mask::kCausal;
    TestFixture::Check(asked);
  }
}

TYPED_TEST(AttendTilesTest, IsRightForMoreQueriesThanABlock) {
  for (const int64_t S : {527, 528, 529, 600}) {
    AttendQuestion<TypeParam> asked{.op = Extents(1, 1, 1, S, 10), .D = 3, .E = 2};
    TestFixture::Check(asked);
  }
}

TYPED_TEST(AttendTilesTest, HeadsShareKeys) {
  for (const auto& [H, K] : {std::pair{4, 1}, {4, 2}, {6, 3}, {5, 5}, {35, 1}}) {
    AttendQuestion<TypeParam> asked{.op = Extents(2, H, K, 7, 9)};
    asked.op.mask = Mask::kCausal;
    TestFixture::Check(asked);
  }
}

TYPED_TEST(AttendTilesTest, FollowsEveryMask) {
  for (const auto& [S, T] : {std::pair{5, 7}, {7, 5}, {60, 60}, {61, 200}, {130, 75}}) {
    for (auto& asked : Masked<TypeParam>(2, S, T)) TestFixture::Check(asked);
  }
}

TYPED_TEST(AttendTilesTest, CapsBiasesAndSinks) {
  for (int which = 1; which < 16; ++which) {
    AttendQuestion<TypeParam> asked{.op = Extents(2, 4, 2, 21, 205)};
    asked.has_bias = which & 1;
    asked.has_sink = which & 2;
    asked.scale_bias = which & 4;
    if (which & 8) asked.op.soft_cap = 1.5;
    asked.op.mask = Mask::kCausal;
    TestFixture::Check(asked);
  }
}

// Neither keys and values nor biases, whether NaN, infinite or beyond key_length.
TYPED_TEST(AttendTilesTest, UnseenKeysDoNotCount) {
  using T = TypeParam;
  const T nan = FromDouble<T>(NAN), infinite = FromDouble<T>(-INFINITY);
  AttendQuestion<T> asked{.op = Extents(1, 1, 1, 20, 30), .has_bias = true};
  asked.op.mask = Mask::kCausal;
  asked.op.align = Align::kTopLeft;
  asked.op.window = IntegerList{6, -1};
  asked.op.key_length = IntegerList{25};
  asked.Draw();
  for (size_t t = 0; t < 30; ++t) {
    if (t != 8 && t < 21) continue;  // key 8 is seen by queries 8 to 14, 21 and more by none
    for (size_t d = 0; d < asked.D; ++d) asked.k[t * asked.D + d] = nan;
    for (size_t e = 0; e < asked.E; ++e) asked.v[t * asked.E + e] = e % 2 ? nan : infinite;
    for (size_t s = 0; s < 20; ++s) asked.bias[s * 30 + t] = nan;
  }
  OnAllTargets([&] {
    const typename TestFixture::Attended attended(asked);
    const auto& [y, lse] = attended;
    for (size_t s = 0; s < 20; ++s) {
      SCOPED_TRACE("query " + std::to_string(s));
      if (s >= 8 && s <= 14) {
        EXPECT_TRUE(std::isnan(ToDouble(y[s * asked.E])));
      } else {
        AttendAnswer<T>(asked, s).Expect(y.data() + s * asked.E, lse[s]);
      }
    }
  });
}

TYPED_TEST(AttendTilesTest, WithoutKeysGivesZerosAndNoMass) {
  using T = TypeParam;
  OnAllTargets([] {
    for (const bool has_sink : {false, true}) {
      AttendQuestion<T> asked{.op = Extents(1, 2, 1, 3, 1), .has_sink = has_sink};
      asked.op.mask = Mask::kCausal;  // bottom right: queries 0 and 1 see nothing
      asked.Draw();
      const typename TestFixture::Attended attended(asked);
      const auto& [y, lse] = attended;
      for (const size_t row : {0, 1, 3, 4}) {
        EXPECT_EQ(static_cast<double>(lse[row]), -INFINITY);
        for (size_t e = 0; e < asked.E; ++e) EXPECT_EQ(ToDouble(y[row * asked.E + e]), 0);
      }
      EXPECT_TRUE(std::isfinite(static_cast<double>(lse[2])));
    }
  });
}

// Scores of +-800 and a maximum that rises with every tile: e^score alone would overflow.
TYPED_TEST(AttendTilesTest, SubtractsTheLargestScore) {
  using T = TypeParam;
  AttendQuestion<T> asked{.op = Extents(1, 1, 1, 5, 500), .scale = 400};
  asked.Draw();
  for (size_t t = 0; t < 500; ++t) {
    for (size_t d = 0; d < asked.D; ++d) {
      asked.k[t * asked.D + d] = FromDouble<T>(static_cast<double>(t) / 512);
    }
  }
  for (size_t s = 0; s < 5; ++s) {
    for (size_t d = 0; d < asked.D; ++d) {
      asked.q[s * asked.D + d] = FromDouble<T>(s % 2 ? -0.5 : 0.5);
    }
  }
  TestFixture::CheckDrawn(asked);
}

}  // namespace
}  // namespace sextant::fast
