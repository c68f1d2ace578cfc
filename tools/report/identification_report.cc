#include "tools/report/identification_report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "oracle/identify/key_heads.h"
#include "reference/base/count_text.h"
#include "reference/base/printable.h"
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

// Of measured numbers, relative: one line for all.
std::string ErrorBarsText(const std::vector<oracle::NumberRange>& numbers) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const oracle::NumberRange& range : numbers) {
    const double bar = (range.most - range.least) / 2 / std::abs(range.value);
    least = std::min(least, bar);
    most = std::max(most, bar);
  }
  std::ostringstream text;
  text << std::setprecision(2) << "their error bars are " << least << " to " << most
       << " of each frequency";
  return text.str();
}

void PrintKeyHeads(const Identity& identity, std::ostream& out) {
  if (identity.key_heads.empty()) return;
  out << "  but query head h reads key head " << oracle::TextOfKeyHeads(identity.key_heads)
      << ", not floor(h / (H/K))\n";
}

// The question as it was asked, with the key heads that query heads share.
Case QuestionOf(const Identity& identity, const oracle::Exchange& exchange) {
  if (identity.key_heads.empty()) return exchange.c;
  return exchange.c.With("K=" + std::to_string(identity.c.dimensions().at("K")));
}

void PrintConforming(const Identification& found, std::ostream& out) {
  const Identity& identity = found.identity;
  out << LineOf(found.identity.c) << "\n  conforms by " << identity.recipe << ": "
      << CountText(identity.judged, "element") << " of "
      << CountText(identity.exchanges.size() + identity.unseen.size(), "answer")
      << " could have failed\n";
  if (found.by_first) {
    const std::string recipes = RecipeLine(*found.by_first);
    out << "  by " << found.first_recipe << " it fails" << (recipes.empty() ? "" : "; ") << recipes
        << "\n";
  }
  PrintKeyHeads(identity, out);
  if (identity.nearest) {
    out << "  these frequencies are measured; no known scaling gives them. The nearest is\n  "
        << LineOf(*identity.nearest) << "\n";
  }
  if (identity.nearest) {
    out << "  " << ErrorBarsText(identity.numbers) << "\n";
  } else {
    for (const oracle::NumberRange& range : identity.numbers) out << "  " << TextOf(range) << "\n";
  }
  for (const std::string& word : identity.equal) out << "  the same answers: " << word << "\n";
}

// "scale=1"; "scale unset" without a text.
std::string WordOf(const std::string& attribute, const std::string& text) {
  return text.empty() ? attribute + " unset" : attribute + "=" + text;
}

void PrintComparison(const Identification& found, std::ostream& out) {
  if (!found.against.empty() && found.IsAsExpected())
    out << "agrees with " << Marked(found.against) << "\n";
  for (const auto& [attribute, model, other] : found.differences) {
    out << "differs from " << Marked(found.against) << ": " << WordOf(attribute, other)
        << ", but the model has " << WordOf(attribute, model) << "\n";
  }
  for (const std::string& word : found.not_shown) {
    const auto [attribute, text] = SplitWord(word);
    out << "  these answers do not show the model's " << WordOf(attribute, text) << "\n";
  }
  if (!found.not_compared.empty()) {
    out << "  not compared, as the configuration does not say it:" << NamesText(found.not_compared)
        << "\n";
  }
}

// What a failing `check` of the nearest claim says.
std::vector<std::string> DetailsOfIdentification(const Identification& found) {
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
    PrintKeyHeads(found.identity, out);
    for (const std::string& line : DetailsOfIdentification(found)) out << "  " << line << "\n";
  }
  PrintComparison(found, out);
  for (const std::string& note : found.notes) out << note << "\n";
  return out.str();
}

Json ToJson(const Identification& found) {
  const Identity& identity = found.identity;
  Json json = {{"version", 0},
               {"subject", Marked(found.subject)},
               {"case", LineOf(found.identity.c)},
               {"conforms", found.Conforms()},
               {"recipe", identity.recipe},
               {"judged", identity.judged},
               {"nearest", nullptr},
               {"key_heads", identity.key_heads},
               {"questions", Json::array()},
               {"numbers", Json::array()},
               {"equal", identity.equal},
               {"details", DetailsOfIdentification(found)},
               {"against", Marked(found.against)},
               {"differences", Json::array()},
               {"not_compared", found.not_compared},
               {"not_shown", found.not_shown},
               {"text", TextOf(found)},
               {"exit_status", found.IsAsExpected() ? kVerified : kNonconforming}};
  if (identity.nearest) json["nearest"] = LineOf(*identity.nearest);
  for (const auto* exchanges : {&identity.exchanges, &identity.unseen}) {
    for (const oracle::Exchange& exchange : *exchanges)
      json["questions"].push_back(QuestionOf(identity, exchange).ToString());
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
