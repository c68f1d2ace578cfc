#include "fast/kernel/kernel.h"

#include <map>
#include <memory>

#include "reference/case/operations.h"

namespace sextant::fast {
namespace {

template <class... Ops>
std::map<std::string, CaseKernel, std::less<>> MakeAll(List<Ops...>) {
  std::map<std::string, CaseKernel, std::less<>> all;
  (all.emplace(MakeOperation<Ops>()->info().name, MakeKernel<Ops>()), ...);
  return all;
}

}  // namespace

const CaseKernel& KernelOf(std::string_view operation) {
  static const auto kAll = MakeAll(Operations());
  const auto at = kAll.find(operation);
  if (at == kAll.end()) throw Error("there is no operation '", operation, "'");
  return at->second;
}

Tensors AnswerOf(const Case& c, const Tensors& inputs) {
  const StoredTensors outputs = KernelOf(c.name()).run(c, {inputs.begin(), inputs.end()});
  return ValuesOf(ReadersOf(outputs));
}

}  // namespace sextant::fast
