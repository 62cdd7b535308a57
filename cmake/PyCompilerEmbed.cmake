# Called as a script, it writes the sum of FILE into the header SUM.
if(CMAKE_SCRIPT_MODE_FILE)
  file(SHA256 "${FILE}" sum)
  file(WRITE "${SUM}" "// ${sum}\n")
  return()
endif()

# The source takes in a file of the build by `.incbin`: its path is the macro's value. ccache knows the file by a header
# with its sum. Of what a source reads it sees the headers alone, in its depend mode, and gave the object with an older
# file.
function(embed_file source macro file)
  set(sum "${file}.sum.h")
  add_custom_command(OUTPUT "${sum}"
    COMMAND "${CMAKE_COMMAND}" "-DFILE=${file}" "-DSUM=${sum}" -P "${CMAKE_SOURCE_DIR}/cmake/PyCompilerEmbed.cmake"
    DEPENDS "${file}" VERBATIM COMMENT "Summing ${file}")
  set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${file}" "${sum}")
  set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -include "${sum}")
  set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS "${macro}=\"${file}\"")
endfunction()
