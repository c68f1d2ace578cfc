#include "fast/attention/attend.h"

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

template <class T>
void ExpectPermittedCase(int64_t heads, int64_t queries) {
  AttendArguments<T> args{.op = Extents(1, heads, 1, queries, 40)};
  args.op.mask = Mask::kCausal;
  args.Draw();
  Guarded<T> y(args.rows() * args.E);
  Guarded<Computed<T>> lse(args.rows());
  Attend(args.Inputs(), y.data(), lse.data());
  for (size_t i = 0; i < args.rows(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i));
    AttendReference<T>(args, i).Expect(y.data() + i * args.E, lse[i]);
  }
}

TEST(Attend, ErrorIsWithinItsBoundForFewAndManyQueries) {
  OnAllTargets([] {
    for (int64_t queries = 0; queries < 22; ++queries) {
      ExpectPermittedCase<float>(1, queries);
      ExpectPermittedCase<BF16>(4, queries);
      ExpectPermittedCase<double>(2, queries);
      ExpectPermittedCase<F16>(3, queries);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
