#include "oracle/identify/mean_of_values.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "oracle/identify/probe.h"

namespace sextant::oracle {
namespace {

const Tensor<double>* Named(const Tensors& tensors, const std::string& name) {
  const auto at = std::ranges::find(tensors, name, &NamedTensor::name);
  return at == tensors.end() ? nullptr : &at->values;
}

}  // namespace

std::optional<MeansOfValues> MeansOfValues::In(const std::vector<Exchange>& exchanges) {
  const auto at = std::ranges::find_if(exchanges, AsksForKeys, &Exchange::c);
  if (at == exchanges.end()) return std::nullopt;
  MeansOfValues means;
  means.c_ = &at->c;
  means.v_ = Named(at->inputs, "v");
  means.y_ = Named(at->answer, "y");
  means.sink_ = Named(at->inputs, "sink");
  const bool has_values = means.v_ && means.y_ && CountOf(means.v_->shape) > 0;
  return has_values ? std::optional(means) : std::nullopt;
}

MeansOfValues::Nearest MeansOfValues::NearestTo(size_t h, size_t s, size_t g) const {
  const size_t T = v_->shape[2], E = v_->shape[3];
  const std::span answer(&y_->data[(h * S() + s) * E], E);
  const double* v = &v_->data[g * T * E];
  const double other = sink_ ? std::exp(sink_->data[h]) : 0;
  double size = 0;  // squared; also the distance of a mean of no key
  for (const double value : answer) size += value * value;
  if (size == 0) return {{}, 0};
  Nearest nearest{{}, size};
  for (size_t first = 0; first < T; ++first) {
    std::vector<double> sum(E);
    for (size_t last = first + 1; last <= T; ++last) {
      const double count = static_cast<double>(last - first) + other;
      double distance = 0;
      for (size_t e = 0; e < E; ++e) {
        sum[e] += v[(last - 1) * E + e];
        distance += (sum[e] / count - answer[e]) * (sum[e] / count - answer[e]);
      }
      if (distance < nearest.distance) nearest = {{first, last}, distance};
    }
  }
  nearest.distance /= size;
  return nearest;
}

std::optional<KeyRange> MeansOfValues::KeysOf(size_t h, size_t s, size_t g) const {
  const Nearest nearest = NearestTo(h, s, g);
  // One key more changes a mean of T keys by about 1/T of its size: less is a rounding.
  const auto T = static_cast<double>(v_->shape[2]);
  return nearest.distance < 1 / (T * T) ? std::optional(nearest.keys) : std::nullopt;
}

}  // namespace sextant::oracle
