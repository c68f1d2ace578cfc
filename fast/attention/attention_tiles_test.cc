#include "fast/attention/attention_tiles.h"

#include <cmath>

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

template <class T>
class AttendTilesTest : public testing::Test {
 public:
  static void Check(AttendArguments<T>& args) {
    args.Draw();
    CheckDrawn(args);
  }
  static void CheckDrawn(const AttendArguments<T>& args) {
    std::vector<AttendReference<T>> references;
    for (size_t i = 0; i < args.rows(); ++i) references.emplace_back(args, i);
    OnAllTargets([&] {
      const Outputs outputs(args);
      for (size_t i = 0; i < args.rows(); ++i) {
        SCOPED_TRACE("row " + std::to_string(i));
        references[i].Expect(outputs.y.data() + i * args.E, outputs.lse[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
  struct Outputs {
    Guarded<T> y;
    Guarded<Computed<T>> lse;
    explicit Outputs(const AttendArguments<T>& args) : y(args.rows() * args.E), lse(args.rows()) {
      Guarded<Computed<T>> scratch(TilesScratchOf(args.Inputs()));
      std::memset(static_cast<void*>(scratch.data()), 0xff, scratch.size() * sizeof(Computed<T>));
      AttendTiles(args.Inputs(), BlocksOf(args.Inputs()), y.data(), lse.data(), scratch.data());
    }
  };
};
TYPED_TEST_SUITE(AttendTilesTest, AllTypes);

TYPED_TEST(AttendTilesTest, ErrorIsWithinItsBoundAtEveryWidth) {
  for (size_t width = 1; width <= 33; ++width) {
    AttendArguments<TypeParam> narrow{.op = Extents(1, 2, 1, 3, 5), .D = width, .E = 34 - width};
    TestFixture::Check(narrow);
  }
  AttendArguments<TypeParam> wide{.op = Extents(1, 1, 1, 2, 3), .D = 129, .E = 97};
  TestFixture::Check(wide);
}

TYPED_TEST(AttendTilesTest, ErrorIsWithinItsBoundForEveryNumberOfQueries) {
  for (int64_t S = 0; S <= 100; S += S < 18 ? 1 : 5) {
    AttendArguments<TypeParam> args{.op = Extents(1, 1, 1, S, 9)};
    TestFixture::Check(args);
  }
}

TYPED_TEST(AttendTilesTest, ErrorIsWithinItsBoundForEveryNumberOfKeys) {
  for (const int64_t T : {0, 1, 2, 5, 6, 7, 8, 9, 17, 191, 192, 193, 199, 383, 384, 385, 600}) {
    AttendArguments<TypeParam> args{.op = Extents(1, 1, 1, 7, T)};
    TestFixture::Check(args);
    args.op.mask = Mask::kCausal;
    TestFixture::Check(args);
  }
}

TYPED_TEST(AttendTilesTest, ErrorIsWithinItsBoundForMoreQueriesThanABlock) {
  for (const int64_t S : {527, 528, 529, 600}) {
    AttendArguments<TypeParam> args{.op = Extents(1, 1, 1, S, 10), .D = 3, .E = 2};
    TestFixture::Check(args);
  }
}

TYPED_TEST(AttendTilesTest, HeadsShareKeys) {
  for (const auto& [H, K] : {std::pair{4, 1}, {4, 2}, {6, 3}, {5, 5}, {35, 1}}) {
    AttendArguments<TypeParam> args{.op = Extents(2, H, K, 7, 9)};
    args.op.mask = Mask::kCausal;
    TestFixture::Check(args);
  }
}

TYPED_TEST(AttendTilesTest, AppliesEveryMask) {
  for (const auto& [S, T] : {std::pair{5, 7}, {7, 5}, {60, 60}, {61, 200}, {130, 75}}) {
    for (auto& args : Masked<TypeParam>(2, S, T)) TestFixture::Check(args);
  }
}

TYPED_TEST(AttendTilesTest, AppliesCapsBiasesAndSinks) {
  for (int which = 1; which < 24; ++which) {
    AttendArguments<TypeParam> args{.op = Extents(2, 4, 2, 21, 205)};
    args.has_bias = which & 1;
    args.has_sink = which & 2;
    args.add_bias = kPlacesOfBias[which / 8];
    if (which & 4) args.op.soft_cap = 1.5;
    args.op.mask = Mask::kCausal;
    TestFixture::Check(args);
  }
}

// Masked keys, values and biases may be NaN or infinite, also beyond key_length.
TYPED_TEST(AttendTilesTest, MaskedKeysHaveNoEffect) {
  using T = TypeParam;
  const T nan = FromDouble<T>(NAN), infinite = FromDouble<T>(-INFINITY);
  AttendArguments<T> args{.op = Extents(1, 1, 1, 20, 30), .has_bias = true};
  args.op.mask = Mask::kCausal;
  args.op.align = Align::kTopLeft;
  args.op.window = IntegerList{6, -1};
  args.op.key_length = IntegerList{25};
  args.Draw();
  for (size_t t = 0; t < 30; ++t) {
    if (t != 8 && t < 21) continue;  // queries 8 to 14 see key 8, no query sees keys from 21 on
    for (size_t d = 0; d < args.D; ++d) args.k[t * args.D + d] = nan;
    for (size_t e = 0; e < args.E; ++e) args.v[t * args.E + e] = e % 2 ? nan : infinite;
    for (size_t s = 0; s < 20; ++s) args.bias[s * 30 + t] = nan;
  }
  OnAllTargets([&] {
    const typename TestFixture::Outputs outputs(args);
    const auto& [y, lse] = outputs;
    for (size_t s = 0; s < 20; ++s) {
      SCOPED_TRACE("query " + std::to_string(s));
      if (s >= 8 && s <= 14) {
        EXPECT_TRUE(std::isnan(ToDouble(y[s * args.E])));
      } else {
        AttendReference<T>(args, s).Expect(y.data() + s * args.E, lse[s]);
      }
    }
  });
}

TYPED_TEST(AttendTilesTest, GivesZeroWithoutVisibleKeys) {
  using T = TypeParam;
  OnAllTargets([] {
    for (const bool has_sink : {false, true}) {
      AttendArguments<T> args{.op = Extents(1, 2, 1, 3, 1), .has_sink = has_sink};
      args.op.mask = Mask::kCausal;  // bottom right: queries 0 and 1 see nothing
      args.Draw();
      const typename TestFixture::Outputs outputs(args);
      const auto& [y, lse] = outputs;
      for (const size_t row : {0, 1, 3, 4}) {
        EXPECT_EQ(static_cast<double>(lse[row]), -INFINITY);
        for (size_t e = 0; e < args.E; ++e) EXPECT_EQ(ToDouble(y[row * args.E + e]), 0);
      }
      EXPECT_TRUE(std::isfinite(static_cast<double>(lse[2])));
    }
  });
}

// Scores of +-800 and a maximum that increases in every tile: e^score would overflow.
TYPED_TEST(AttendTilesTest, SubtractsTheLargestScore) {
  using T = TypeParam;
  AttendArguments<T> args{.op = Extents(1, 1, 1, 5, 500), .scale = 400};
  args.Draw();
  for (size_t t = 0; t < 500; ++t) {
    for (size_t d = 0; d < args.D; ++d) {
      args.k[t * args.D + d] = FromDouble<T>(static_cast<double>(t) / 512);
    }
  }
  for (size_t s = 0; s < 5; ++s) {
    for (size_t d = 0; d < args.D; ++d) {
      args.q[s * args.D + d] = FromDouble<T>(s % 2 ? -0.5 : 0.5);
    }
  }
  TestFixture::CheckDrawn(args);
}

}  // namespace
}  // namespace sextant::fast
