// The dimensions by the shapes of given tensors. Shapes that do not fit are an error, which says an
// order of axes in which they would, if all tensors have it or one does: "if axes are in another
// order, name them: 'x (B S H D)'".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/case/given_tensors.h"
#include "reference/case/shape_solver.h"

namespace sextant {

// `stated` as for ShapeSolver, `tensors` as the user has them, `given` as Arrange makes them. The
// operation must outlive the result.
ShapeSolver SolvedShapes(const Operation& operation,
                         const std::map<std::string, std::string>& stated,
                         const GivenTensors& given, const std::vector<OwnTensor>& tensors);

}  // namespace sextant
