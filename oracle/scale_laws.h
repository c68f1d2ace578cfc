// Laws and bugs of the operations that scale queries q[B,H,S,D] by a factor of their position[S]:
// log_n_scale, temperature_scale.
#pragma once

#include <functional>
#include <vector>

#include "oracle/defect.h"
#include "oracle/property.h"

namespace sextant::oracle {

// The factors of positions that are changed first, read off queries of 1.
Response AskFactors(const Case& c, Tensors inputs, const Ask& ask,
                    const std::function<double(double)>& change);

// -2 q gives -2 y, and all channels of a token have the same factor.
std::vector<Property> LawsOfFactors();

// One factor for another token, kept in too few bits, on the wrong axis.
std::vector<Defect> FactorDefects();

}  // namespace sextant::oracle
