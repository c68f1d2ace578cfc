#include "oracle/oracle.h"

#include <map>
#include <string>

#include "reference/operations.h"

namespace sextant::oracle {
namespace {

template <class Op>
void Add(std::map<std::string, Oracle, std::less<>>& all) {
  const auto operation = MakeOperation<Op>();
  Oracle oracle = MakeOracle<Op>();
  for (Defect& defect : GeneratedDefects(*operation)) oracle.defects.push_back(std::move(defect));
  all.emplace(operation->info().name, std::move(oracle));
}

template <class... Ops>
std::map<std::string, Oracle, std::less<>> MakeAll(List<Ops...>) {
  std::map<std::string, Oracle, std::less<>> all;
  (Add<Ops>(all), ...);
  return all;
}

}  // namespace

const Oracle& OracleOf(std::string_view operation) {
  static const auto kAll = MakeAll(Operations());
  const auto at = kAll.find(operation);
  if (at == kAll.end()) throw Error("there is no operation '", operation, "'");
  return at->second;
}

}  // namespace sextant::oracle
