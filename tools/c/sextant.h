/* Sextant for C, and for every language that can call C: libsextant.so.
 *
 * Judges tensors in the memory of the caller (DLPack), proves outputs, draws the inputs of cases,
 * and asks functions of the caller what they compute and with which errors. A call returns
 * SEXTANT_OK and a result, or another status; sextant_last_error() then says what was wrong. All
 * functions may be called from several threads at once; a result belongs to one thread at a time.
 * Nothing is thrown, and no memory changes its owner except results.
 *
 * This is version 0: it may still change.
 */
#ifndef SEXTANT_H
#define SEXTANT_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#include "sextant_subject.h"

#if defined(__GNUC__)
#define SEXTANT_API __attribute__((visibility("default")))
#else
#define SEXTANT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SEXTANT_OK = 0,
  SEXTANT_INVALID = 1,   /* the call or its tensors are wrong: sextant_last_error() */
  SEXTANT_CANCELLED = 2, /* `progress` asked for it */
  SEXTANT_OUT_OF_MEMORY = 3,
  SEXTANT_INTERNAL = 4, /* an error of the library itself */
  SEXTANT_NO_ANSWER = 5 /* an implementation that was asked failed, or broke the rules */
};

/* A tensor with its name in the signature of the operation (`sextant list`): "x". If its axes are
 * in another order than in the signature: "x (B S H D)", with its names; an axis that is left
 * out has extent 1. Positions [1,...] serve every row of a batch of another input. Borrowed: CPU
 * memory, any strides, one lane; float 64, 32, 16, bfloat 16, integers. */
typedef struct {
  const char* name;
  const DLTensor* tensor;
} SextantTensor;

typedef struct {
  size_t
      struct_size; /* sizeof(SextantOptions): members that this library does not know must be 0 */
  const char* recipe; /* how the implementation computes; NULL: "native", or what it declares */
  int strict;         /* not 0: the grade `unlikely` fails */
  int threads;        /* 0: all cores */
  /* May be NULL. Gets the finished part, 0 .. 1, from any thread, one call at a time. Any other
   * return value than 0 cancels the call. */
  int (*progress)(double done, void* user);
  void* user;
  /* The folder in which `sextant_judge` keeps the tensors of a failing answer, in a safetensors
   * file; `sextant judge QUESTION FILE` judges them again. NULL: as the environment variable
   * SEXTANT_KEEP says; without it, and if empty, tensors are not kept. */
  const char* keep;
  /* Judges about this many elements at most: slices along independent axes, chosen at random with
   * `budget_seed`, evenly over batches and heads, but at least the first and the last ones. The
   * others are left out: the verdict is on a part. 0: all. Of a case that cannot be cut
   * (decoder_block) all elements are judged. */
  size_t budget_elements;
  uint64_t budget_seed;
} SextantOptions;

/* A verdict, a golden, inputs, cases, what was identified, or a profile: one JSON document, and
 * named arrays. */
typedef struct SextantResult SextantResult;

/* A view of an array: valid as long as its result. */
typedef struct {
  const double* data; /* row-major; every value is exact */
  const size_t* shape;
  size_t rank;
  size_t count;      /* the number of elements */
  const char* dtype; /* of the values, a name of sextant_types */
} SextantArray;

/* Judges outputs for the given inputs. `question` is the operation and its attributes: dimensions
 * and dtypes are those of the tensors ("rope pairing=half base=500000"). A model's configuration
 * may complete it ("rope config=config.json layer=0"). `options` may be NULL.
 * JSON: the keys of `sextant judge --json`. Arrays: "y/error" and "y/permitted" for every output y,
 * with the axes of the signature, or the given ones in place of its first axis if they were folded
 * into it: |answer - exact value| (NaN where no value is specified, infinity for a NaN), and the
 * permitted error of the formula itself, also where the verdict follows from an alternative
 * decision or from intermediates. Both are NaN for elements that the budget leaves out.
 */
SEXTANT_API int sextant_judge(const char* question, const SextantTensor* tensors, size_t count,
                              const SextantOptions* options, SextantResult** result);

/* Proves the outputs for the given inputs. Arrays: "y/value", "y/high", "y/low", "y/permitted" and
 * "y/radius" for every output y (fixtures/store/README.md). A value that is NaN is specified if its
 * permitted error is 0, and unspecified if that is NaN. */
SEXTANT_API int sextant_prove(const char* question, const SextantTensor* inputs, size_t count,
                              const SextantOptions* options, SextantResult** result);

/* Grades the tolerance of a test, |answer - expected| <= atol + rtol |expected|, by the exact
 * outputs for these inputs: what it rejects wrongly, and which known bugs it lets pass. Of the
 * options it uses the recipe, the threads and the budget. JSON: the keys of an entry of `sextant
 * tolerance --json`. */
SEXTANT_API int sextant_tolerance(const char* question, const SextantTensor* inputs, size_t count,
                                  double atol, double rtol, const SextantOptions* options,
                                  SextantResult** result);

/* Draws the inputs of a case, which may give seeds and distributions ("@x=normal(30)"). JSON:
 * `case` is the whole line, `question` the question about the inputs, `inputs` and `outputs` list
 * names, dtypes and shapes. Arrays: "x" for every input x. */
SEXTANT_API int sextant_draw(const char* case_line, SextantResult** result);

/* Reads a .cases file. JSON: `cases` lists for each case its `line` as written, its `number` in the
 * file, its comment `why`, and `case`: the whole line, with all defaults. */
SEXTANT_API int sextant_cases(const char* path, SextantResult** result);

/* How a result differs from the known results of a file (tools/report/README.md). `outcome` is
 * "conforms", "unlikely", "fails", "unverified", "unsupported" or "could_not_run"; `verdict` is the
 * result of sextant_judge with that outcome, or NULL. If case_line is NULL, the file is only read.
 * JSON: entries, each with where, cases, outcome, may, reason, link, until, expired; entry, the
 * index of the one that decides a case with this outcome, or null; contradiction, empty if the
 * result is as expected. */
SEXTANT_API int sextant_expect(const char* path, const char* case_line, const char* outcome,
                               const SextantResult* verdict, SextantResult** result);

/* An implementation that can be asked: a function of the caller; or, if `answer` is NULL, a name
 * such as "recipe:native", "fast" or "defect:rope/rotates_backwards". */
typedef struct {
  size_t struct_size; /* sizeof(SextantImplementation) */
  const char* name;   /* for reports */
  const char* recipe; /* how it computes; NULL: "native", or that of the name */
  /* Fills the outputs (sextant_subject.h has the rules) and returns SEXTANT_ANSWER_OK. Called on
   * the thread of the call, one question after the other. It may call functions of this header. If
   * it declines a question (SEXTANT_ANSWER_UNSUPPORTED), the others are asked. If it fails, changes
   * an input, writes outside of an output, or asks for what a question does not have, the call ends
   * with SEXTANT_NO_ANSWER and a message that names the case. An element that it does not write is
   * NaN. */
  int (*answer)(const SextantQuestion* question, void* user);
  void* user;
} SextantImplementation;

typedef struct {
  size_t struct_size; /* sizeof(SextantIdentifyOptions) */
  /* The config.json of a model, or NULL: is what it needs computed? `part` and `layer` choose an
   * object and the layers in it, as the options of `sextant identify` do; may be NULL. */
  const char *against, *part, *layer;
} SextantIdentifyOptions;

/* What does the implementation compute? `question` is the operation and the words that are known:
 * "rope D=128". Only these attributes are set in the questions; others are found from the answers.
 * `how` may be NULL. Of the options it takes recipe (the first that is tried), threads, and
 * progress, which gets 0 between the steps of the search. JSON: the keys of `sextant identify
 * --json`, among them `case`, the line that was found, or the nearest; `conforms`; `recipe`;
 * `judged`, the elements that could have failed; `numbers`, which others conform, too; `equal`,
 * words that give the same answers; `nearest`, the nearest known form where `case` has measured
 * frequencies; `key_heads`, if query heads share key heads in another way; `details` of a failure;
 * `differences` from the model, the attributes that were `not_compared`, and words of the model
 * that were `not_shown`. */
SEXTANT_API int sextant_identify(const char* question, const SextantImplementation* implementation,
                                 const SextantIdentifyOptions* how, const SextantOptions* options,
                                 SextantResult** result);

typedef struct {
  size_t struct_size; /* sizeof(SextantProfileOptions) */
  /* Groups of elements: "position", "pair", "head", "row", "key_length", "argument", "step" (of the
   * recipe), or the name of an axis. NULL: the first of position, key_length, argument and row that
   * exists. */
  const char* by;
  double below; /* ulps: finds the cheapest recipe below this error; 0: does not */
  size_t worst; /* more questions in search of the largest errors; 0: none */
  uint64_t worst_seed;
} SextantProfileOptions;

/* The numerical errors of implementations. `cases` are case lines, one on each line of the text
 * ("rope pairing=half D=128 dtype=bf16 @position=log(1..131072)"). `how` may be NULL. Of the
 * options it takes recipe (for the permitted errors), threads, the budget of elements of each case,
 * and progress, which begins again with each proof. JSON: the keys of `sextant profile -o
 * FILE.json`. Arrays: "NAME/key", "NAME/elements", "NAME/ulps_median" and so on for each
 * implementation, one element per group: the columns of `sextant profile -o FILE.csv`. An element
 * that is NaN has an infinite error. */
SEXTANT_API int sextant_profile(const char* cases, const SextantImplementation* implementations,
                                size_t count, const SextantProfileOptions* how,
                                const SextantOptions* options, SextantResult** result);

/* The status of a verdict: 0 conforms, 1 fails, 5 unverified, 4 no output has an element. Of
 * sextant_identify: 0 found, and as the model has it; 1 not. Of sextant_tolerance: 0 no right
 * answer is rejected and no known bug passes, 5 not in the part that was graded, 1 otherwise, 4
 * nothing was compared. 0 for other results. These are the exit statuses of the commands. */
SEXTANT_API int sextant_status(const SextantResult* result);
SEXTANT_API const char* sextant_json(const SextantResult* result);
/* SEXTANT_INVALID if the result has no array of that name. */
SEXTANT_API int sextant_array(const SextantResult* result, const char* name, SextantArray* array);
SEXTANT_API void sextant_free(SextantResult* result); /* NULL is allowed */

/* The error of this thread's last call that did not return SEXTANT_OK; valid until its next call.
 */
SEXTANT_API const char* sextant_last_error(void);
SEXTANT_API const char* sextant_version(void); /* "0.1.0" */

/* The element types that tensors may have. JSON: a list of {"name": "f8_e4m3fn", "bits": 8,
 * "dlpack": 10 (DLDataTypeCode), "array": "float8_e4m3fn" (the name in numpy and torch),
 * "in_numpy": false (it is of ml_dtypes), "in_messages": "F8_E4M3" (of safetensors; not of
 * integers that messages do not have)}. Not to be freed. */
SEXTANT_API const char* sextant_types(void);

#ifdef __cplusplus
}
#endif

#endif
