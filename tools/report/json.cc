#include "tools/report/json.h"

#include <cmath>
#include <string>

#include "reference/base/error.h"

namespace sextant::tools {

Json ToJson(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

double NumberOf(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string text = json.get<std::string>();
  if (text == "nan") return NAN;
  if (text == "inf" || text == "-inf") return text == "inf" ? INFINITY : -INFINITY;
  throw Error("'", text, "' is not a number");
}

Json ToJson(std::span<const double> values) {
  Json array = Json::array();
  for (const double x : values) array.push_back(ToJson(x));
  return array;
}

Json ToJson(const NamedTensor& tensor) {
  return {{"shape", tensor.values.shape},
          {"dtype", NameOf(tensor.dtype)},
          {"value", ToJson(tensor.values.data)}};
}

void WriteJsonFile(const Json& json, OutputFile& file) {
  file.Write([&json](std::ostream& out) { out << PrintJson(json, 1) << "\n"; });
}

}  // namespace sextant::tools
