#include "reference/case/operations.h"

#include <algorithm>

#include "reference/base/did_you_mean.h"
#include "reference/base/error.h"
#include "reference/base/value_text.h"
#include "reference/case/former_names.h"

namespace sextant {
namespace {

template <class... Ops>
std::vector<std::unique_ptr<Operation>> Make(List<Ops...>) {
  std::vector<std::unique_ptr<Operation>> all;
  (all.push_back(MakeOperation<Ops>()), ...);
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Operation>> AllOperations() { return Make(Operations()); }

std::vector<std::string> OperationNames() {
  std::vector<std::string> names;
  for (const auto& operation : AllOperations()) names.emplace_back(operation->info().name);
  return names;
}

std::unique_ptr<Operation> MakeOperationNamed(std::string_view name, std::string_view line) {
  static const std::vector<std::unique_ptr<Operation>> kAll = AllOperations();
  const auto name_of = [](const auto& operation) { return operation->info().name; };
  const auto at = std::ranges::find(kAll, name, name_of);
  if (at != kAll.end()) return (*at)->Clone();
  if (const auto today = LineOfToday(line.empty() ? name : line))
    throw Error("there is no operation '", name, "' any longer, expected: ", *today);
  const std::vector<std::string> names = OperationNames();
  throw Error("there is no operation '", name, "'", DidYouMean(name, names),
              "; there are:", NamesText(names));
}

}  // namespace sextant
