#include "oracle/oracle.h"

#include <map>
#include <string>

#include "oracle/laws.h"
#include "reference/operations.h"
#include "reference/prove.h"

namespace sextant::oracle {
namespace {

template <class Op>
void Add(std::map<std::string, Oracle, std::less<>>& all) {
  const auto operation = MakeOperation<Op>();
  Oracle oracle = MakeOracle<Op>();
  for (Defect& defect : GeneratedDefects(*operation)) oracle.defects.push_back(std::move(defect));
  if (!operation->info().slices.empty()) {
    oracle.properties.push_back(AloneAsAmongOthers());
    oracle.properties.push_back(InAnyOrder());
  }
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

std::vector<std::string> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                  const Tensors& answer) {
  const Tensors honest = AnswerBy(c, inputs, recipe);
  std::vector<std::string> causes;
  for (const Defect& defect : OracleOf(c.name()).defects) {
    const auto hypothesis = defect.hypothesis(c, inputs, recipe);
    if (!hypothesis || !Explains(*hypothesis, c, recipe, answer)) continue;
    if (Explains(*hypothesis, c, recipe, honest)) continue;
    causes.push_back(defect.name + " (" + defect.why + ")");
  }
  return causes;
}

}  // namespace sextant::oracle
