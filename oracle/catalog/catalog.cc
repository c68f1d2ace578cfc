#include "oracle/catalog/catalog.h"

#include <algorithm>
#include <map>
#include <string>

#include "oracle/defect/generated_defects.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/stateless.h"
#include "reference/case/operations.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

template <class Op>
CatalogEntry MakeWithGenerated() {
  const auto operation = MakeOperation<Op>();
  CatalogEntry entry = MakeCatalogEntry<Op>();
  if (entry.measurements.empty()) entry.measurements = {MeasureAttributes};
  for (Defect& defect : GeneratedDefects(*operation)) entry.defects.push_back(std::move(defect));
  entry.properties.push_back(Stateless());
  if (std::ranges::any_of(operation->info().slices,
                          [&](char letter) { return IsIndependent(*operation, letter); })) {
    entry.properties.push_back(BatchInvariance());
    entry.properties.push_back(PermutationEquivariance());
  }
  return entry;
}

// Made when it is first asked for: all of them take longer than a small case.
template <class Op>
const CatalogEntry& EntryOf() {
  static const CatalogEntry kEntry = MakeWithGenerated<Op>();
  return kEntry;
}

using EntryMaker = const CatalogEntry& (*)();

template <class... Ops>
std::map<std::string, EntryMaker, std::less<>> MakersOf(List<Ops...>) {
  return {{std::string(MakeOperation<Ops>()->info().name), &EntryOf<Ops>}...};
}

}  // namespace

const CatalogEntry& CatalogEntryOf(std::string_view operation) {
  static const auto kMakers = MakersOf(Operations());
  const auto at = kMakers.find(operation);
  if (at == kMakers.end()) throw Error("there is no operation '", operation, "'");
  return at->second();
}

const Defect& DefectNamed(std::string_view operation, std::string_view name) {
  const auto& defects = CatalogEntryOf(operation).defects;
  const auto at = std::ranges::find(defects, name, &Defect::name);
  if (at != defects.end()) return *at;
  throw Error(operation, " has no defect '", name, "'; it has:", NamesText(defects, &Defect::name));
}

}  // namespace sextant::oracle
