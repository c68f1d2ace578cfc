#include "reference/rope/rope_table.h"

#include <concepts>
#include <span>
#include <tuple>

#include "reference/case/operation.h"
#include "reference/number/real.h"
#include "reference/rope/plain_table.h"

namespace sextant {

template <class Real>
void RopeTable::FillPair(const Tensor<double>& position, const Real& frequency,
                         const Real& amplitude, size_t k, Tensor<Real>& cos, Tensor<Real>& sin) {
  AngleTable<Real> angles(frequency);
  for (size_t b = 0; b < position.shape[0]; ++b) {
    for (size_t s = 0; s < position.shape[1]; ++s) {
      std::tie(cos(b, s, k), sin(b, s, k)) = TableEntry(angles(position(b, s)), amplitude);
    }
  }
}

template <class Real>
void RopeTable::Fill(const Tensor<double>& position, const Tensor<Real>& inv_freq,
                     const Real& amplitude, Tensor<Real>& cos, Tensor<Real>& sin) {
  if constexpr (std::same_as<Real, Counted>) {
    const size_t half = inv_freq.data.size();
    PlainTable table(inv_freq.data, amplitude);
    for (size_t row = 0; row < position.data.size(); ++row) {
      table(position.data[row], std::span(cos.data).subspan(row * half, half),
            std::span(sin.data).subspan(row * half, half));
    }
  } else {
    for (size_t k = 0; k < inv_freq.data.size(); ++k)
      FillPair(position, inv_freq(k), amplitude, k, cos, sin);
  }
}

template <class Real>
void RopeTable::operator()(const Tensor<double>& position, const Tensor<Real>& inv_freq,
                           Tensor<Real>& cos, Tensor<Real>& sin) const {
  Fill(position, inv_freq, Real(attention_factor), cos, sin);
}

template void RopeTable::FillPair(const Tensor<double>&, const Interval&, const Interval&, size_t,
                                  Tensor<Interval>&, Tensor<Interval>&);
template void RopeTable::FillPair(const Tensor<double>&, const Counted&, const Counted&, size_t,
                                  Tensor<Counted>&, Tensor<Counted>&);
template void RopeTable::FillPair(const Tensor<double>&, const Rounded&, const Rounded&, size_t,
                                  Tensor<Rounded>&, Tensor<Rounded>&);
template void RopeTable::FillPair(const Tensor<double>&, const BoostReal&, const BoostReal&, size_t,
                                  Tensor<BoostReal>&, Tensor<BoostReal>&);
template void RopeTable::Fill(const Tensor<double>&, const Tensor<Interval>&, const Interval&,
                              Tensor<Interval>&, Tensor<Interval>&);
template void RopeTable::Fill(const Tensor<double>&, const Tensor<Counted>&, const Counted&,
                              Tensor<Counted>&, Tensor<Counted>&);
template void RopeTable::Fill(const Tensor<double>&, const Tensor<Rounded>&, const Rounded&,
                              Tensor<Rounded>&, Tensor<Rounded>&);
template void RopeTable::Fill(const Tensor<double>&, const Tensor<BoostReal>&, const BoostReal&,
                              Tensor<BoostReal>&, Tensor<BoostReal>&);

template <>
std::unique_ptr<Operation> MakeOperation<RopeTable>() {
  return Wrap<RopeTable>();
}

}  // namespace sextant
