#include "reference/case/attribute.h"

#include "reference/base/did_you_mean.h"

namespace sextant {

Member MemberAt(const char* name, Dimension& value, bool required) {
  return {
      name,
      required,
      true,
      &value,
      [](const void*) { return std::string(); },
      [](std::string_view text, void* v) { ParseValue(text, static_cast<Dimension*>(v)->value); },
      [](const void*) { return std::span<const std::string>(); }};
}

void Append(const Member& member, std::vector<Attribute>& all) {
  all.push_back({.name = member.name,
                 .text = member.print(member.value),
                 .required = member.required,
                 .dimension = member.dimension,
                 .values = member.possible(member.value)});
}

void AttributeSetter::SetIfNamed(const Member& member) {
  if (name_ == member.name) {
    found_ = true;
    try {
      member.parse(text_, member.value);
    } catch (const Error& e) {
      if (member.dimension) throw;
      throw Error(owner_, ": attribute ", name_, ": ", e.what());
    }
  } else if (!member.dimension) {
    exist_.push_back(member.name);
  }
}

void AttributeSetter::RequireFound() const {
  if (found_) return;
  throw Error(owner_, " has no attribute '", name_, "'",
              DidYouMean(name_, {exist_.begin(), exist_.end()}), "; it has:", NamesText(exist_));
}

}  // namespace sextant
