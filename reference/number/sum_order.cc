#include "reference/number/sum_order.h"

namespace sextant {
namespace {

thread_local SumOrder current;

}  // namespace

SumOrder CurrentSumOrder() { return current; }

ScopedSumOrder::ScopedSumOrder(SumOrder order) : previous_(current) { current = order; }
ScopedSumOrder::~ScopedSumOrder() { current = previous_; }

}  // namespace sextant
