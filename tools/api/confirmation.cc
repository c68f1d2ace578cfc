#include "tools/api/confirmation.h"

#include <algorithm>

#include "reference/base/hash.h"
#include "tools/api/proof_count.h"

namespace sextant::tools {

Confirmation::Confirmation(bool all, int threads) : all_(all), threads_(threads) {}

std::string Confirmation::FaultOf(const Case& c, const Slice& part, const InputTensors& inputs,
                                  const std::vector<GoldenTensor>& golden) {
  const ProofCount count = CountProofs(golden);
  // A small case costs the second library more time than its proof. With one fifth of the cases,
  // `verify` takes less than 1.5 times the time of the proofs alone (all committed goldens).
  constexpr size_t kCasesOneIn = 5;
  constexpr size_t kMostOfPart = size_t{1} << 14;  // elements of a large part
  const bool skipped = !all_ && elements_ > 0 && HashOf(c.ToString()) % kCasesOneIn != 0;
  elements_ += count.proven + count.enclosed;
  if (skipped) return "";
  const size_t one_in = std::max(kOneIn, count.elements() / kMostOfPart);
  const SecondOpinion found = SecondOpinionOn(
      c, inputs, golden, {.one_in = all_ ? 1 : one_in, .threads = threads_, .part = part});
  sum_.asked += found.asked;
  sum_.confirmed += found.confirmed;
  sum_.beyond += found.beyond;
  if (found.refuted == 0) return "";
  return found.first + "; " + std::to_string(found.refuted) + " of " + std::to_string(found.asked) +
         " elements evaluated again are refuted";
}

std::string Confirmation::Summary() const {
  std::string text = "Boost.Multiprecision confirms " + std::to_string(sum_.confirmed) + " of " +
                     std::to_string(elements_) + " elements";
  if (sum_.beyond > 0) {
    text += ", and its 334 bits do not suffice for " + std::to_string(sum_.beyond) + " elements";
  }
  return text + (all_ ? "" : " (--confirm asks for all)");
}

}  // namespace sextant::tools
