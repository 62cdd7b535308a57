# What shared libraries of exported functions are linked with: the library routines and the pool of threads, without
# devices, Python or MLIR; and the headers of the source that is generated with them. pycompiler.export finds both.
add_library(pycompiler_export STATIC "${CMAKE_SOURCE_DIR}/runtime/lib/exported/Exported.cpp"
  $<TARGET_OBJECTS:runtime_cpu> $<TARGET_OBJECTS:runtime_lanes>
  "$<FILTER:$<TARGET_OBJECTS:runtime_support>,INCLUDE,/(Futex|NarrowFloats|Status)\\.>"
  "$<FILTER:$<TARGET_OBJECTS:runtime_threads>,INCLUDE,/(CpuLimits|ParallelFor|SleepingThreads|ThreadPool)\\.>")
target_include_directories(pycompiler_export PUBLIC "${CMAKE_SOURCE_DIR}/runtime/include" PRIVATE "${CMAKE_SOURCE_DIR}/runtime/lib")
target_link_libraries(pycompiler_export PRIVATE pycompiler_flags)
set_target_properties(pycompiler_export PROPERTIES CXX_VISIBILITY_PRESET hidden)
if(PYCOMPILER_INPLACE)
  set_target_properties(pycompiler_export PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_SOURCE_DIR}/pycompiler/export")
endif()
install(TARGETS pycompiler_export ARCHIVE DESTINATION pycompiler/export COMPONENT python)
install(FILES "${CMAKE_SOURCE_DIR}/runtime/include/runtime/Abi.h" "${CMAKE_SOURCE_DIR}/runtime/include/runtime/Exported.h"
  DESTINATION pycompiler/export/include/runtime COMPONENT python)
