# The tests that run programs: the committed cases and goldens of each operation, Python.

set(PROVE_AND_COMPARE [["$0" golden -j1 "$1" -o "$2" && cmp "$2" "$3"]])
foreach(op IN LISTS OPERATIONS)
  add_command(check/${op} "" sextant check fixtures/cases/${op}.cases --subject fast)
  add_command(properties/${op} "" sextant properties ${op} --subject fast)
  add_command(audit-suite/${op} "" sextant audit-suite fixtures/cases/${op}.cases)
  add_command(verify/${op} "" sextant verify fixtures/golden/${op}.h5)
  add_command(golden/${op} "" sh -c "${PROVE_AND_COMPARE}" $<TARGET_FILE:sextant>
    fixtures/cases/${op}.cases ${PROJECT_BINARY_DIR}/${op}.h5 fixtures/golden/${op}.h5)
  add_command(confirm/${op} slow
    ${PYTHON} -B fixtures/mpmath/confirm.py fixtures/golden/${op}.h5)
endforeach()
add_command(check/models "" sh -c [["$0" check fixtures/models/*.cases --subject fast]]
  $<TARGET_FILE:sextant>)
add_python_tests(fixtures tools)
# PyTorch systems, the programs that answer for them one by one: minutes, so they begin first.
file(STRINGS tools/adapters/torch/systems.toml programs REGEX "^program = ")
list(TRANSFORM programs REPLACE "program = \"(.*)\"" "\\1")
list(REMOVE_DUPLICATES programs)
foreach(program IN LISTS programs)
  add_python_test(systems/${program} tools/adapters/torch/systems_test.py ${program})
endforeach()
