#include "reference/number/wide.h"

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace sextant {

namespace mp = boost::multiprecision;
using Float = mp::number<mp::cpp_bin_float<100>, mp::et_off>;

struct Wide::Number {
  Float value;
};

namespace {

Wide Make(const Float& value) {
  return Wide(std::make_shared<const Wide::Number>(Wide::Number{value}));
}

}  // namespace

Wide::Wide(double x) : number_(std::make_shared<const Number>(Number{Float(x)})) {}

double Wide::High() const { return number_->value.convert_to<double>(); }
double Wide::Distance(double high, double low) const {
  return mp::abs(number_->value - high - low).convert_to<double>();
}

Wide operator+(const Wide& a, const Wide& b) { return Make(a.number().value + b.number().value); }
Wide operator-(const Wide& a, const Wide& b) { return Make(a.number().value - b.number().value); }
Wide operator-(const Wide& a) { return Make(-a.number().value); }
Wide operator*(const Wide& a, const Wide& b) { return Make(a.number().value * b.number().value); }
Wide operator/(const Wide& a, const Wide& b) { return Make(a.number().value / b.number().value); }
Wide Sqrt(const Wide& a) { return Make(mp::sqrt(a.number().value)); }
Wide Exp(const Wide& a) { return Make(mp::exp(a.number().value)); }
Wide Exp2(const Wide& a) { return Make(mp::pow(Float(2), a.number().value)); }
Wide Log(const Wide& a) { return Make(mp::log(a.number().value)); }
Wide Tanh(const Wide& a) { return Make(mp::tanh(a.number().value)); }
Wide Erf(const Wide& a) { return Make(boost::math::erf(a.number().value)); }
Wide Erfc(const Wide& a) { return Make(boost::math::erfc(a.number().value)); }
Wide Sigmoid(const Wide& a) { return Make(1 / (1 + mp::exp(-a.number().value))); }
std::pair<Wide, Wide> CosSin(const Wide& angle) {
  return {Make(mp::cos(angle.number().value)), Make(mp::sin(angle.number().value))};
}
Wide Power(const Wide& base, const Wide& exponent) {
  return Make(mp::pow(base.number().value, exponent.number().value));
}
bool Less(const Wide& a, const Wide& b) { return a.number().value < b.number().value; }
double Floor(const Wide& a) { return mp::floor(a.number().value).convert_to<double>(); }
Wide TwoPiOf(const Wide*) { return Make(2 * boost::math::constants::pi<Float>()); }

}  // namespace sextant
