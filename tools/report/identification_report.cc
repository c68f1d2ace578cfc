#include "tools/report/identification_report.h"

#include <cmath>
#include <sstream>

#include "reference/base/count_text.h"
#include "reference/base/value_text.h"
#include "tools/api/exit_status.h"
#include "tools/report/json.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Identity;

std::string TextOf(const oracle::NumberRange& range) {
  if (range.least == 0 && std::isinf(range.most)) return range.attribute + ": any number conforms";
  std::string text = range.attribute + ": ";
  if (range.least == 0) return text + "every number up to " + PrintValue(range.most) + " conforms";
  if (std::isinf(range.most))
    return text + "every number from " + PrintValue(range.least) + " conforms";
  return text + PrintValue(range.least) + " to " + PrintValue(range.most) + " conform";
}

void PrintConforming(const Identification& found, std::ostream& out) {
  const Identity& identity = found.identity;
  out << LineOf(found.identity.c) << "\n  conforms by " << identity.recipe << ": "
      << CountText(identity.judged, "element") << " of "
      << CountText(identity.witnesses.size() + identity.unseen.size(), "answer")
      << " could have failed\n";
  for (const oracle::NumberRange& range : identity.numbers) out << "  " << TextOf(range) << "\n";
  for (const std::string& word : identity.equal) out << "  the same answers: " << word << "\n";
}

// What a failing `check` of the nearest claim says.
std::vector<std::string> DetailsOf(const Identification& found) {
  if (!found.failing) return {};
  std::vector<std::string> lines = {found.failing->case_line};
  std::istringstream details(Details(*found.failing));
  for (std::string line; std::getline(details, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string TextOf(const Identification& found) {
  std::ostringstream out;
  if (found.Conforms()) {
    PrintConforming(found, out);
  } else {
    out << "no attributes of " << found.identity.c.name()
        << " give these answers; the nearest are\n"
        << LineOf(found.identity.c) << "\n";
    for (const std::string& line : DetailsOf(found)) out << "  " << line << "\n";
  }
  if (!found.against.empty() && found.IsAsExpected())
    out << "agrees with " << found.against << "\n";
  for (const auto& [attribute, model, other] : found.differences) {
    out << "differs from " << found.against << ": " << attribute << "=" << other
        << ", but the model has " << attribute << "=" << model << "\n";
  }
  return out.str();
}

Json ToJson(const Identification& found) {
  const Identity& identity = found.identity;
  Json json = {{"version", 0},
               {"subject", found.subject},
               {"case", LineOf(found.identity.c)},
               {"conforms", found.Conforms()},
               {"recipe", identity.recipe},
               {"judged", identity.judged},
               {"questions", Json::array()},
               {"numbers", Json::array()},
               {"equal", identity.equal},
               {"details", DetailsOf(found)},
               {"against", found.against},
               {"differences", Json::array()},
               {"text", TextOf(found)},
               {"exit_status", found.IsAsExpected() ? kVerified : kNonconforming}};
  for (const auto* witnesses : {&identity.witnesses, &identity.unseen}) {
    for (const oracle::Exchange& witness : *witnesses)
      json["questions"].push_back(witness.c.ToString());
  }
  for (const auto& [attribute, value, least, most] : identity.numbers) {
    json["numbers"].push_back({{"attribute", attribute},
                               {"value", ToJson(value)},
                               {"least", ToJson(least)},
                               {"most", ToJson(most)}});
  }
  for (const auto& [attribute, model, other] : found.differences)
    json["differences"].push_back({{"attribute", attribute}, {"model", model}, {"subject", other}});
  return json;
}

}  // namespace sextant::tools
