#include "fast/attention/attend.h"

#include "fast/attention/attend_test.h"

namespace sextant::fast {
namespace {

// By rows or by tiles, which have scratch memory of their own.
template <class T>
void ExpectRight(int64_t heads, int64_t queries) {
  AttendQuestion<T> asked{.op = Extents(1, heads, 1, queries, 40)};
  asked.op.mask = Mask::kCausal;
  asked.Draw();
  Guarded<T> y(asked.rows() * asked.E);
  Guarded<Computed<T>> lse(asked.rows()), scratch(AttendScratchOf(asked.Inputs()));
  Attend(asked.Inputs(), y.data(), lse.data(), scratch.data());
  for (size_t i = 0; i < asked.rows(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i));
    AttendAnswer<T>(asked, i).Expect(y.data() + i * asked.E, lse[i]);
  }
}

TEST(Attend, IsRightForFewQueriesAndForMany) {
  OnAllTargets([] {
    for (int64_t queries = 0; queries < 10; ++queries) {
      ExpectRight<float>(1, queries);
      ExpectRight<BF16>(4, queries);
      ExpectRight<double>(2, queries);
      ExpectRight<F16>(3, queries);
    }
  });
}

}  // namespace
}  // namespace sextant::fast
