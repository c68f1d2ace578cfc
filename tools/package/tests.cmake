# The tests that run programs: committed cases and goldens of each operation, and Python tests.

set(PROVE_AND_COMPARE [["$0" golden -j1 --most-elements 8192 "$1" -o "$2" && cmp "$2" "$3"]])
foreach(op IN LISTS OPERATIONS)
  add_command(check/${op} "" sextant check fixtures/cases/${op}.cases --open-rows --subject fast)
  add_command(properties/${op} "" sextant properties ${op} --subject fast --seed 1)
  add_command(audit-suite/${op} "" sextant audit-suite fixtures/cases/${op}.cases)
  add_command(verify/${op} "" sextant verify --engine mpfr fixtures/golden/${op}.h5)
  add_command(golden/${op} "" sh -c "${PROVE_AND_COMPARE}" $<TARGET_FILE:sextant>
    fixtures/cases/${op}.cases ${PROJECT_BINARY_DIR}/${op}.h5 fixtures/golden/${op}.h5)
  add_command(confirm/${op} slow
    ${PYTHON} -B fixtures/mpmath/confirm.py fixtures/golden/${op}.h5)
endforeach()
add_command(check/models "" sh -c [["$0" check fixtures/models/*.cases --subject fast]]
  $<TARGET_FILE:sextant>)
# All cases of real kernels: about a minute on two cores.
file(GLOB real RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS fixtures/cases/real/*.cases)
foreach(cases IN LISTS real)
  get_filename_component(op ${cases} NAME_WE)
  add_command(check/real/${op} "" sextant check ${cases} --subject fast)
endforeach()
add_python_tests(fixtures tools)
# PyTorch systems: for each program in systems.toml one test per ten systems. These tests take
# longest, so they start first.
file(STRINGS tools/adapters/torch/systems.toml systems REGEX "^program = ")
list(TRANSFORM systems REPLACE "program = \"(.*)\"" "\\1")
set(programs ${systems})
list(REMOVE_DUPLICATES programs)
foreach(program IN LISTS programs)
  set(own ${systems})
  list(FILTER own INCLUDE REGEX "^${program}$")
  list(LENGTH own count)
  math(EXPR parts "(${count} + 9) / 10")
  foreach(part RANGE 1 ${parts})
    add_python_test(systems/${program}.${part} tools/adapters/torch/systems_test.py ${program}
      ${part}/${parts})
    set_tests_properties(systems/${program}.${part} PROPERTIES COST 1000)
  endforeach()
endforeach()
foreach(op linear attention_scores)
  add_python_test(tools/adapters/native/strict_campaign.${op}
    tools/adapters/native/strict_campaign.py $<TARGET_FILE:sextant> ${op} --quick --only numpy recipe
    --dtypes f32)
endforeach()

# The tests of multithreaded code, for ThreadSanitizer (preset tsan).
add_executable(parallel_test EXCLUDE_FROM_ALL reference/base/parallel_test.cc
  reference/prove/prove_test.cc reference/prove/second_opinion_test.cc
  reference/number/recipe/in_parallel_here_test.cc fast/kernel/several_threads_test.cc)
link_test(parallel_test fast reference)
