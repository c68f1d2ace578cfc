#include "reference/case/operations.h"

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

std::unique_ptr<Operation> MakeOperationNamed(std::string_view name) {
  static const std::vector<std::unique_ptr<Operation>> kAll = AllOperations();
  std::string exist;
  for (const auto& operation : kAll) {
    if (operation->info().name == name) return operation->Clone();
    exist += " ";
    exist += operation->info().name;
  }
  throw Error("there is no operation '", name, "'; there are:", exist);
}

}  // namespace sextant
