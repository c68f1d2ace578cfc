// Reads files of expectations.
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "oracle/judge/failing_indices.h"
#include "reference/base/printable.h"
#include "reference/base/text_file.h"
#include "reference/case/former_names.h"
#include "reference/case/operations.h"
#include "tools/api/expectations.h"
#include "tools/api/toml.h"

namespace sextant::tools {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;
// toml++ calls itself for each part of a dotted key: 60000 parts still fit on a stack of 8 MiB.
constexpr size_t kMostLineBytes = size_t{1} << 16;
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

// The axes of all outputs of all operations.
const std::set<std::string>& AllAxisNames() {
  static const std::set<std::string> kNames = [] {
    std::set<std::string> names;
    for (const auto& operation : AllOperations()) {
      for (const TensorSpec& output : operation->info().signature.outputs) {
        for (std::string& name : oracle::AxisNamesOf(*operation, output)) names.insert(name);
      }
    }
    return names;
  }();
  return kNames;
}

// Reads one [[expect]] table.
class EntryReader {
 public:
  EntryReader(const std::string& path, std::chrono::sys_days today)
      : path_(Marked(path)), today_(today) {}

  Expectation Read(const toml::table& table) const {
    Expectation entry{.where = Where(table), .cases = "", .reason = ""};
    for (const auto& [key, value] : table) ReadKey(std::string(key.str()), value, entry);
    for (const char* key : {"cases", "reason"}) {
      if (!table.contains(key)) throw Error(entry.where, ": the entry has no '", key, "'");
    }
    if (entry.may && table.contains("outcome"))
      throw Error(entry.where, ": the entry has 'outcome' and 'may', expected one of them");
    RequireNamesOfToday(entry.where, entry.cases);
    const bool fails = entry.outcome == Outcome::kFails;
    if (!fails && !entry.ranges.empty()) {
      throw Error(entry.where, ": '", entry.ranges[0].axis,
                  "' is a range of failing elements, which needs outcome = \"fails\"");
    }
    const bool judged = fails || entry.outcome == Outcome::kUnlikely;
    if (!judged && !(entry.outputs.empty() && entry.cause.empty())) {
      throw Error(entry.where, ": '", entry.outputs.empty() ? "cause" : "outputs",
                  "' needs outcome = \"fails\" or \"unlikely\"");
    }
    return entry;
  }
  std::string Where(const toml::node& node) const {
    return path_ + ":" + std::to_string(node.source().begin.line);
  }

 private:
  void ReadKey(const std::string& key, const toml::node& value, Expectation& entry) const {
    using Member = std::string Expectation::*;
    static const std::map<std::string, Member> kTexts = {{"cases", &Expectation::cases},
                                                         {"cause", &Expectation::cause},
                                                         {"reason", &Expectation::reason},
                                                         {"link", &Expectation::link}};
    if (const auto member = kTexts.find(key); member != kTexts.end()) {
      entry.*member->second = ReadText(key, value);
    } else if (key == "outcome") {
      entry.outcome = ReadOutcome(value);
    } else if (key == "may") {
      if (ReadText(key, value) != "fail") throw Error(Where(value), ": 'may' must be \"fail\"");
      entry.may = true;
    } else if (key == "outputs") {
      entry.outputs = ReadOutputs(value);
    } else if (key == "until") {
      ReadUntil(value, entry);
    } else if (AllAxisNames().contains(key)) {
      entry.ranges.push_back(ReadRange(key, value));
    } else {
      std::string names = "cases outcome may outputs cause reason link until; ranges of the axes";
      for (const std::string& name : AllAxisNames()) names += " " + name;
      throw Error(Where(value), ": there is no key ", Quoted(key), "; there are: ", names);
    }
  }

  std::string ReadText(const std::string& key, const toml::node& value) const {
    const auto* text = value.as_string();
    if (!text || text->get().empty())
      throw Error(Where(value), ": '", key, "' must be a text that is not empty");
    return Marked(text->get());
  }

  Outcome ReadOutcome(const toml::node& value) const {
    Outcome outcome{};
    try {
      ParseValue(ReadText("outcome", value), outcome);
    } catch (const Error& e) {
      throw Error(Where(value), ": outcome ", e.what());
    }
    return outcome;
  }

  std::vector<std::string> ReadOutputs(const toml::node& value) const {
    const auto* array = value.as_array();
    if (!array || array->empty())
      throw Error(Where(value), ": 'outputs' must be a list of names, for example [\"y\"]");
    std::vector<std::string> names;
    for (const toml::node& name : *array) names.push_back(ReadText("outputs", name));
    return names;
  }

  AxisRange ReadRange(const std::string& axis, const toml::node& value) const {
    const auto* array = value.as_array();
    AxisRange range{axis, 0, kNoEnd};
    const bool right = array && (array->size() == 1 || array->size() == 2) &&
                       array->is_homogeneous(toml::node_type::integer);
    if (right) range.first = array->get_as<int64_t>(0)->get();
    if (right && array->size() == 2) range.last = array->get_as<int64_t>(1)->get();
    if (!right || range.last < range.first) {
      throw Error(Where(value), ": '", axis,
                  "' must be one or two integers: [a] is from a on, [a, b] from a to b");
    }
    return range;
  }

  void ReadUntil(const toml::node& value, Expectation& entry) const {
    std::ostringstream text;
    if (const auto* date = value.as_date()) text << date->get();
    if (const auto* words = value.as_string()) text << words->get();
    entry.until = text.str();
    int year = 0;
    unsigned month = 0, day = 0;
    char end = 0;
    const bool read = entry.until.size() == 10 && std::sscanf(entry.until.c_str(), "%4d-%2u-%2u%c",
                                                              &year, &month, &day, &end) == 3;
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (!read || !date.ok())
      throw Error(Where(value), ": 'until' must be a date, for example 2027-06-30");
    entry.expired = today_ > std::chrono::sys_days(date);
  }

  std::string path_;
  std::chrono::sys_days today_;
};

// toml++ 3.3 asserts, or has undefined behaviour, if the name of a table begins with a wrong
// character ("[=]"), or in another line. Throws Error for such a line; also within a text of
// several lines.
void RefuseWrongTableNames(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // which toml++ skips
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::istringstream in{std::string(text)};
  size_t number = 1;
  for (std::string line; std::getline(in, line); ++number) {
    if (line.size() > kMostLineBytes)
      throw Error(path, ":", number, ": this line has more than ", kMostLineBytes, " bytes");
    size_t at = line.find_first_not_of(" \t");
    if (at == line.npos || line[at] != '[') continue;
    at += line.compare(at, 2, "[[") == 0 ? 2 : 1;
    at = line.find_first_not_of(" \t", at);
    const std::string rest = at == line.npos ? "" : line.substr(at);
    if (!rest.empty() && std::isalnum(static_cast<unsigned char>(rest[0]))) continue;
    if (rest.empty() || std::string_view("_-\"']").find(rest[0]) == std::string_view::npos)
      throw Error(path, ":", number, ": this is not TOML: after [ follows ", Quoted(rest),
                  ", expected the name of a table");
  }
}

}  // namespace

Expectations Expectations::Parse(std::string_view text, const std::string& path,
                                 std::chrono::sys_days today) {
  RefuseWrongTableNames(text, path);
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw Error(path, ":", e.source().begin.line,
                ": this is not TOML: ", Printable(e.description()));
  } catch (const Error& e) {
    throw Error(path, ": ", e.what());
  }
  const EntryReader reader(path, today);
  const toml::array none;
  const toml::array* list = &none;
  for (const auto& [key, value] : document) {
    if (key.str() != "expect")
      throw Error(reader.Where(value), ": there is no key ", Quoted(key.str()),
                  ", expected tables [[expect]]");
    list = value.as_array();
    if (!list || !(list->empty() || list->is_array_of_tables()))
      throw Error(reader.Where(value), ": 'expect' must be a list of tables [[expect]]");
  }
  Expectations expectations;
  for (const toml::node& entry : *list)
    expectations.entries_.push_back(reader.Read(*entry.as_table()));
  return expectations;
}

Expectations Expectations::Read(const std::string& path) {
  const std::string text = ReadText(path, kMostBytes, "a file of expectations");
  return Parse(text, path, std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
}

}  // namespace sextant::tools
