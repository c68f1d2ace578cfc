#include "reference/base/json.h"

#include <set>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/printable.h"

namespace sextant {
namespace {

// Parser callback: throws Error for an event that ParseJson does not allow.
class Strictness {
 public:
  explicit Strictness(int max_levels) : max_levels_(max_levels) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if (starts && depth >= max_levels_)
      throw Error("is nested deeper than ", max_levels_, " levels");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto key = parsed.get<std::string>();
      if (!keys_.back().insert(key).second)
        throw Error("has the key ", Quoted(key), " twice in one object");
      if (keys_.back().size() > kMostKeys)
        throw Error("has an object of more than ", kMostKeys, " keys");
    }
    return true;
  }

 private:
  int max_levels_;
  std::vector<std::set<std::string>> keys_;  // one set per object that is not closed yet
};

Json WithPrintableTexts(const Json& value) {
  if (value.is_string()) return Printable(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  Json changed(value.type());
  if (value.is_array()) {
    for (const Json& member : value) changed.push_back(WithPrintableTexts(member));
  } else {
    for (const auto& [key, member] : value.items())
      changed[Printable(key)] = WithPrintableTexts(member);
  }
  return changed;
}

}  // namespace

Json ParseJson(std::string_view text, int max_levels) {
  try {
    return Json::parse(text, Strictness(max_levels));
  } catch (const Json::parse_error& e) {
    throw Error("is not JSON in UTF-8, see byte ", e.byte);
  } catch (const Json::out_of_range&) {
    throw Error("holds a number beyond the range of binary64");
  }
}

bool SameMeaning(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::string PrintJson(const Json& value, int indent) {
  return WithPrintableTexts(value).dump(indent);
}

std::string Excerpt(const Json& value) {
  constexpr size_t kMost = 60;
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace sextant
