// Constants of erf and erfc (double_double_functions-inl.h): the double nearest to the exact value,
// and the double nearest to the remainder. Computed with mpmath at 600 bits.
#pragma once

#include "reference/number/double_double/double_double.h"

namespace sextant {

// e^(-k^2/8).
inline constexpr DoubleDouble kGaussian[] = {
    {0x1p+0, 0x0p+0},                                  // k = 0
    {0x1.c3d6a24ed8222p-1, -0x1.e1e0a76cb0685p-55},    // k = 1
    {0x1.368b2fc6f960ap-1, -0x1.85314b9559e64p-61},    // k = 2
    {0x1.4c71b2477ab2p-2, -0x1.4fe790ebf9bd8p-57},     // k = 3
    {0x1.152aaa3bf81ccp-3, -0x1.809224547b4bfp-57},    // k = 4
    {0x1.67ee6d9ff847cp-5, -0x1.c0df3ea880f9ep-59},    // k = 5
    {0x1.6c0504695c417p-7, 0x1.e90d1f9ce8f2cp-62},     // k = 6
    {0x1.1eb805a03296cp-9, 0x1.1252c1ca05d0bp-65},     // k = 7
    {0x1.5fc21041027adp-12, -0x1.100cae61fc046p-66},   // k = 8
    {0x1.5017922d4b0f7p-15, -0x1.609aa61740614p-70},   // k = 9
    {0x1.f42ed3f68e69p-19, 0x1.087f1053d52fcp-74},     // k = 10
    {0x1.21dd72e8b8a27p-22, 0x1.f220a71f65d9bp-76},    // k = 11
    {0x1.05a628c699fa1p-26, -0x1.bbdc7542d4a05p-81},   // k = 12
    {0x1.6fdfb3b3a9e2fp-31, 0x1.a6c4c31650fa9p-85},    // k = 13
    {0x1.92d07d6f15a44p-36, -0x1.1aaee91ded97ep-90},   // k = 14
    {0x1.57822cd9621dep-41, 0x1.be8a4ac71cfb8p-95},    // k = 15
    {0x1.c8464f7616468p-47, 0x1.e299a01244879p-103},   // k = 16
    {0x1.d7ffe1f368722p-53, -0x1.44c33a63c8d43p-108},  // k = 17
};
inline constexpr double kGaussianFrom18[] = {
    0x1.7c432199df55ap-59,   // k = 18
    0x1.dd2dc8e6e9c57p-66,   // k = 19
    0x1.d257d547e083fp-73,   // k = 20
    0x1.62f0ec9b04622p-80,   // k = 21
    0x1.a4c9bf9a78412p-88,   // k = 22
    0x1.84815a7ba04e7p-96,   // k = 23
    0x1.175af0cf60ec5p-104,  // k = 24
    0x1.38e068885a148p-113,  // k = 25
};
inline constexpr DoubleDouble kOneOverRootTwoPi{0x1.ccf6429be6621p-3,
                                                0x1.fce159c2bb59bp-59};  // 1 / (sqrt(2) pi)
inline constexpr DoubleDouble kPoleDecay{0x1.1c5831add62e4p+4,
                                         0x1.4edf1f285c1f6p-51};  // 2 pi sqrt(8)

// 2/sqrt(pi) (-1)^n / (n! (2n + 1)): the Taylor coefficients of erf x / x in x^2.
inline constexpr DoubleDouble kErf[] = {
    {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56},      // n = 0
    {-0x1.812746b0379e7p-2, 0x1.ee12e49cab7p-57},      // n = 1
    {0x1.ce2f21a042be2p-4, -0x1.2871bc5e00766p-58},    // n = 2
    {-0x1.b82ce31288b51p-6, 0x1.1015978e7ac92p-61},    // n = 3
    {0x1.565bcd0e6a53fp-8, -0x1.a73e0832f7e39p-64},    // n = 4
    {-0x1.c02db40040b86p-11, 0x1.d9a497a0f8b0ep-65},   // n = 5
    {0x1.f9a326f9b89b7p-14, 0x1.e9a2341c71459p-68},    // n = 6
    {-0x1.f4d25c3e0c2ebp-17, -0x1.79b1b9b5c586cp-71},  // n = 7
    {0x1.b9e6c9dc651a3p-20, -0x1.fe08d49bd93ddp-74},   // n = 8
    {-0x1.5f742ec43e71ap-23, 0x1.d28f03df991d8p-80},   // n = 9
};
inline constexpr double kErfFrom10[] = {
    0x1.fcc5720624c1cp-27,   // n = 10
    -0x1.51d7181c5d36dp-30,  // n = 11
    0x1.9e6ad5e55a73p-34,    // n = 12
    -0x1.d8453cb0c46eap-38,  // n = 13
    0x1.f683ae4a97007p-42,   // n = 14
    -0x1.f56f071a885cfp-46,  // n = 15
};

// The doubles nearest to e^(-k^2/4), for erfc of doubles (erf_of_doubles-inl.h).
inline constexpr double kGaussianOfHalves[] = {
    0x1.0000000000000p+0,   // k = 0
    0x1.8ebef9eac820bp-1,   // k = 1
    0x1.78b56362cef38p-2,   // k = 2
    0x1.afb718e8457f7p-4,   // k = 3
    0x1.2c155b8213cf4p-6,   // k = 4
    0x1.fa0e9586aebc7p-10,  // k = 5
    0x1.02cf22526545ap-13,  // k = 6
    0x1.411fb0da07713p-18,  // k = 7
    0x1.e355bbaee85cbp-24,  // k = 8
    0x1.b93de1e27ca3bp-30,  // k = 9
    0x1.e8a37a45fc32ep-37,  // k = 10
    0x1.4835bd010a41bp-44,  // k = 11
    0x1.0b6c3afdde064p-52,  // k = 12
};

}  // namespace sextant
