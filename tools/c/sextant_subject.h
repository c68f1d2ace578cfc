/* Your implementation as a shared library that Sextant judges:
 *
 *   sextant check fixtures/cases/rope.cases --subject lib:./kernels.so
 *
 * The library defines sextant_subject() and links nothing of Sextant. It is loaded by another
 * process, so a crash, an exit or an endless loop is reported with its case. tools/c/example.cc and
 * example.rs are whole libraries; sextant.hpp has typed access for C++.
 *
 * This is version 1 of the interface.
 */
#ifndef SEXTANT_SUBJECT_H
#define SEXTANT_SUBJECT_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SEXTANT_EXPORT __attribute__((visibility("default")))
#else
#define SEXTANT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SEXTANT_SUBJECT_ABI 1

/* What `answer` returns. */
enum {
  SEXTANT_ANSWER_OK = 0,
  SEXTANT_ANSWER_UNSUPPORTED =
      1,                   /* your implementation does not have this case; it is not judged */
  SEXTANT_ANSWER_ERROR = 2 /* the computation failed */
};

/* What the getters of attributes return. */
enum {
  SEXTANT_WRONG = -1, /* there is no attribute of that name and type: see SextantQuestion */
  SEXTANT_UNSET = 0,  /* the attribute is not set; the value is unchanged */
  SEXTANT_SET = 1
};

/* The types of attributes. */
enum {
  SEXTANT_NO_ATTRIBUTE = 0,
  SEXTANT_NOT_SET = 1,
  SEXTANT_NUMBER = 2, /* also an integer */
  SEXTANT_BOOLEAN = 3,
  SEXTANT_TEXT = 4, /* a choice ("half"), or the name of a scaling ("llama3") */
  SEXTANT_LIST = 5  /* of numbers */
};

/* One question. `self` is the question itself. Everything that a question gives belongs to it: it
 * is valid until `answer` returns. Its functions may be called from several threads.
 *
 * Attributes and dimensions have the names that `sextant describe OPERATION` prints: "base", "D".
 * The parameters of a scaling have the name "scaling.factor"; "scaling" itself is a text, "none"
 * without scaling.
 *
 * An answer must depend on all that is asked. So if `answer` returns SEXTANT_ANSWER_OK, but has not
 * read an attribute that is set, or has not asked for an input, the case is unsupported. If a
 * getter returned SEXTANT_WRONG, or NULL for what no case of the operation has, the case is an
 * error that says why. */
typedef struct SextantQuestion SextantQuestion;
struct SextantQuestion {
  size_t struct_size;
  const char* operation;
  const char* case_line; /* for messages: `sextant` repeats the case with it */
  const char* dtype;     /* of the case: "f64" "f32" "f16" "bf16"; of cast any float */

  /* The type of an attribute, SEXTANT_NO_ATTRIBUTE if there is none. Does not count as reading. */
  int (*type)(const SextantQuestion* self, const char* name);
  int (*number)(const SextantQuestion* self, const char* name, double* value);
  int (*integer)(const SextantQuestion* self, const char* name, int64_t* value);
  int (*boolean)(const SextantQuestion* self, const char* name, int* value); /* 0 or 1 */
  int (*text)(const SextantQuestion* self, const char* name, const char** value);
  int (*list)(const SextantQuestion* self, const char* name, const double** values, size_t* count);

  /* An input, which must stay as it is. CPU memory, aligned to 64 bytes, row-major (strides are
   * set). NULL if there is none of that name: an error, unless it is an optional input of the
   * operation ("?" in `sextant list`), which this case does not have. */
  const DLTensor* (*input)(const SextantQuestion* self, const char* name);
  /* An output to be written, with shape and dtype as expected, memory as for inputs. It is filled
   * with NaN, so that an element that you do not write fails. NULL if there is none of that name.
   */
  DLTensor* (*output)(const SextantQuestion* self, const char* name);
  /* Says that an optional output has been computed. Others are ignored, even if they were written.
   * 0, or SEXTANT_WRONG if there is no output of that name. */
  int (*answered)(const SextantQuestion* self, const char* name);
  /* Keeps a copy of the message for the report, and returns `status`:
   *   return question->fail(question, SEXTANT_ANSWER_UNSUPPORTED, "only f32"); */
  int (*fail)(const SextantQuestion* self, int status, const char* message);
  /* All of the question but the numbers of its tensors, for languages in which JSON is simpler than
   * the getters: `operation`, `case`, `dtype`, `attributes` (with the dimensions; a scaling is an
   * object with its `type` and its parameters), `inputs` and `outputs` (by name: `dtype`, such as
   * "BF16", `shape`, and `optional`). `absent`, if it is there, lists the optional inputs that the
   * case does not have. Where a search does not say all of it, `said` lists the names of the
   * attributes and dimensions that it says. Reads all attributes. An older Sextant lacks
   * this member: then struct_size is at most offsetof(SextantQuestion, json). */
  const char* (*json)(const SextantQuestion* self);
};

/* Your implementation. All members but `bitwise` are required. */
typedef struct {
  size_t struct_size; /* sizeof(SextantSubject) */
  const char* name;   /* for reports */
  const char* version;
  const char* recipe;            /* how it computes: "native" (reference/RECIPES.md) */
  const char* const* operations; /* those that it has; a NULL after the last one */
  int (*answer)(const SextantQuestion* question);
  /* Equal bits that it promises, checked by `sextant properties --bitwise`: "run", "batch",
   * "batch_size", "keys", "decode", "threads"; a NULL after the last one. NULL: none. */
  const char* const* bitwise;
} SextantSubject;

/* Define this function. NULL if abi is not SEXTANT_SUBJECT_ABI. The result is never freed. */
SEXTANT_EXPORT const SextantSubject* sextant_subject(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
