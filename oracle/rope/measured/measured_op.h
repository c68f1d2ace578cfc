// Operations that rotate as a measured model says.
#pragma once

#include "oracle/rope/measured/model.h"
#include "reference/case/case.h"
#include "reference/case/operation.h"
#include "reference/rope/rope.h"
#include "reference/rope/rope_axial.h"
#include "reference/rope/rope_complex.h"
#include "reference/rope/rope_given.h"
#include "reference/rope/rope_matrix.h"
#include "reference/rope/rope_sections.h"
#include "reference/rope/rope_shift.h"
#include "reference/rope/xpos.h"

namespace sextant::oracle {

// The model of the right operation.
RotaryModel RightModel(const Rope& op);
RotaryModel RightModel(const RopeComplex& op);
RotaryModel RightModel(const RopeShift& op);
RotaryModel RightModel(const RopeSections& op);
RotaryModel RightModel(const RopeAxial& op);
RotaryModel RightModel(const RopeGiven& op);
RotaryModel RightModel(const RopeMatrix& op);
RotaryModel RightModel(const Xpos& op);

// The largest error that the recipe permits in cos or sin of any angle (any_angle.cc).
double TableError(const Case& c, const Recipe& recipe, double amplitude);

// Positions [B,S], [B,A,S], or deltas [B] of `length` keys, as [B,A,S].
Tensor<double> WithAxes(const Tensor<double>& position, size_t length);

template <class Op>
struct MeasuredOp : Op {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    RotateAt<Real>(model, nullptr, WithAxes(position, x.shape[2]), x, y);
  }
};

template <>
struct MeasuredOp<RopeGiven> : RopeGiven {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& inv_freq, Tensor<Real>& y) const {
    RotateAt<Real>(model, &inv_freq, WithAxes(position, x.shape[2]), x, y);
  }
};

// Column h of the matrix is the rotated unit vector h.
template <>
struct MeasuredOp<RopeMatrix> : RopeMatrix {
  RotaryModel model;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& matrix) const {
    const size_t S = matrix.shape[0], width = matrix.shape[1];
    Tensor<Real> unit({1, width, S, width}), rotated(unit.shape);
    std::ranges::fill(unit.data, Real(0.0));
    for (size_t h = 0; h < width; ++h) {
      for (size_t s = 0; s < S; ++s) unit(0, h, s, h) = Real(1.0);
    }
    const Tensor<double> positions({1, S}, position.data);
    Rotate(model, AllTablesOf<Real>(model, nullptr, WithAxes(positions, S)), unit, rotated);
    for (size_t s = 0; s < S; ++s) {
      for (size_t i = 0; i < width; ++i) {
        for (size_t h = 0; h < width; ++h) matrix(s, i, h) = rotated(0, h, s, i);
      }
    }
  }
};

}  // namespace sextant::oracle
