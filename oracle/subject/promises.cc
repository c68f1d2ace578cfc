#include "oracle/subject/promises.h"

#include <algorithm>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {

const BitwisePromise* FindPromise(std::string_view name) {
  const auto at = std::ranges::find(kBitwisePromises, name, &BitwisePromise::name);
  return at == kBitwisePromises.end() ? nullptr : &*at;
}

void RequirePromises(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (FindPromise(name)) continue;
    throw Error("'", name, "' is no promise of equal bits, expected:",
                NamesText(kBitwisePromises, [](const auto& one) { return std::string(one.name); }));
  }
}

}  // namespace sextant::oracle
