# Compiler flags shared by every target: warnings are errors, ccache when present, optional sanitizers.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is only a cache hit when ccache may ignore its time stamp and macros. The compiler lists the files
  # that it read, so a file that is not in the cache need not be preprocessed, too. A precompiled header is known by the sum
  # beside it (Precompile.sh): to hash 250 MB for each file would take half a second (docs/rationale/014-clang.md).
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_DEPEND=1 CCACHE_PCH_EXTSUM=1
      "${CCACHE_PROGRAM}")
endif()

add_library(pycompiler_flags INTERFACE)
target_compile_options(pycompiler_flags INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter -fno-semantic-interposition)
# Not by CMAKE_CXX_FLAGS: objects that tests load as compiled programs have no constructors, which coverage adds.
if(PYCOMPILER_COVERAGE)
  # Counts of several threads: without it, some are lost, or negative.
  target_compile_options(pycompiler_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(pycompiler_flags INTERFACE --coverage)
endif()
if(PYCOMPILER_SANITIZER)
  target_compile_options(pycompiler_flags INTERFACE -fsanitize=${PYCOMPILER_SANITIZER} -fno-omit-frame-pointer -g1)
  target_link_options(pycompiler_flags INTERFACE -fsanitize=${PYCOMPILER_SANITIZER})
endif()
