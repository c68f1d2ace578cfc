// The documents of the C library. An input is a case line, the name of an outcome and, from the
// third line on, a file of expectations. What a call returns is JSON; what it refuses has a reason.
#include <sstream>

#include "reference/base/json.h"
#include "reference/case/case.h"
#include "tools/c/sextant.h"
#include "tools/fuzz/input.h"

namespace {

using namespace sextant;

template <class Call>
void Check(const Call& call) {
  constexpr int kMostLevels = 16;
  SextantResult* result = nullptr;
  const int status = call(&result);
  if (status == SEXTANT_OK)
    ParseJson(sextant_json(result), kMostLevels);  // an Error is a finding
  else
    fuzz::Require(status == SEXTANT_INVALID && *sextant_last_error());
  sextant_free(result);
}

bool DrawsFew(const std::string& line) {
  try {
    const Case c = Case::Parse(line);
    return std::ranges::all_of(c.signature().inputs, [&](const TensorSpec& input) {
      return fuzz::IsSmall(c.ShapeOf(input));
    });
  } catch (const Error&) {
    return true;  // it draws none
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile cases_file("fuzz.cases"), known_file("fuzz.toml");
  std::istringstream in{std::string(fuzz::TextOf(data, size))};
  std::string line, outcome;
  std::getline(in, line);
  std::getline(in, outcome);
  const std::string cases = cases_file.With(line);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string known = known_file.With(text);
  if (DrawsFew(line.c_str()))
    Check([&](auto result) { return sextant_draw(line.c_str(), result); });
  Check([&](auto result) { return sextant_cases(cases.c_str(), result); });
  Check([&](auto result) {
    return sextant_expect(known.c_str(), line.c_str(), outcome.c_str(), nullptr, result);
  });
  return 0;
}
