#include "tools/api/confirmation.h"

#include "reference/base/hash.h"
#include "tools/api/proof_count.h"

namespace sextant::tools {

Confirmation::Confirmation(bool all, int threads) : all_(all), threads_(threads) {}

std::string Confirmation::FaultOf(const Case& c, const Tensors& inputs,
                                  const std::vector<GoldenTensor>& golden) {
  const ProofCount count = CountProofs(golden);
  // Committed cases are small, and one small case costs the second library more than its proof: of
  // all goldens a fifth of the cases keeps `verify` below 1.5 times the time of proving alone.
  constexpr size_t kCasesOneIn = 5;
  const bool skipped = !all_ && elements_ > 0 && HashOf(c.ToString()) % kCasesOneIn != 0;
  elements_ += count.proven + count.enclosed;
  if (skipped) return "";
  const SecondOpinion found =
      SecondOpinionOn(c, inputs, golden, {.one_in = all_ ? 1 : kOneIn, .threads = threads_});
  sum_.asked += found.asked;
  sum_.confirmed += found.confirmed;
  sum_.beyond += found.beyond;
  if (found.refuted == 0) return "";
  return found.first + "; so are " + std::to_string(found.refuted) + " of " +
         std::to_string(found.asked) + " elements that were evaluated again";
}

std::string Confirmation::Told() const {
  std::string text = "Boost.Multiprecision confirms " + std::to_string(sum_.confirmed) + " of " +
                     std::to_string(elements_) + " elements";
  if (sum_.beyond > 0) {
    text += ", and its 334 bits do not suffice for " + std::to_string(sum_.beyond) + " others";
  }
  return text + (all_ ? "" : " (--confirm asks for all)");
}

}  // namespace sextant::tools
