// What does a function of a C++ program compute, and how large are its errors?
//
//   c++ -Itools/c tools/c/example_identify.cc build/libsextant.so.0 -Wl,-rpath,build -o identify
//   ./identify
#include <cmath>
#include <iostream>
#include <sextant.hpp>

namespace {

namespace cpp = sextant::cpp;

void Activation(const cpp::Question& question) {  // the function under test
  question.OptionalText("kind");  // it has no attributes: these are what is to be found
  question.OptionalNumber("beta");
  const auto x = question.Input<float>("x");
  const auto y = question.Output<float>("y");
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
}

}  // namespace

int main() try {
  const cpp::Result found = cpp::Identify("activation F=64", {"mine", Activation});
  cpp::ProfileOptions groups;
  groups.by = "argument";
  const cpp::Result errors = cpp::Profile("activation kind=swish N=16 F=64",
                                          {{"mine", Activation}, {"recipe:native"}}, groups);
  const SextantArray key = errors.Array("mine/key"), p99 = errors.Array("mine/ulps_p99");
  for (size_t i = 0; i < key.count; ++i)
    std::cerr << "|x| from 2^" << key.data[i] << ": 99 % of the errors are at most " << p99.data[i]
              << " ulps\n";
  std::cout << found.json() << "\n";
  return found.status();
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
