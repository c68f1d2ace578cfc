// The Taylor coefficients of e^x, sin x and cos x.
#pragma once

#include "reference/number/double_double/double_double.h"

namespace sextant {

// The double nearest to 1/n!, and the double nearest to the remainder. Computed with mpmath at 600
// bits.
inline constexpr DoubleDouble kInverseFactorial[] = {
    {0x1p+0, 0x0p+0},                                 // 1/0!
    {0x1p+0, 0x0p+0},                                 // 1/1!
    {0x1p-1, 0x0p+0},                                 // 1/2!
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},    // 1/3!
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},    // 1/4!
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},    // 1/5!
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},  // 1/6!
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},   // 1/7!
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},   // 1/8!
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},    // 1/9!
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},   // 1/10!
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},  // 1/11!
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},  // 1/12!
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},   // 1/13!
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},   // 1/14!
};

// The doubles nearest to 1/n!, for terms that need only their leading bits.
inline constexpr double kInverseFactorialFrom15[] = {
    0x1.ae7f3e733b81fp-41,  // 1/15!
    0x1.ae7f3e733b81fp-45,  // 1/16!
    0x1.952c77030ad4ap-49,  // 1/17!
    0x1.6827863b97d97p-53,  // 1/18!
    0x1.2f49b46814157p-57,  // 1/19!
    0x1.e542ba4020225p-62,  // 1/20!
    0x1.71b8ef6dcf572p-66,  // 1/21!
    0x1.0ce396db7f853p-70,  // 1/22!
    0x1.761b41316381ap-75,  // 1/23!
};

}  // namespace sextant
