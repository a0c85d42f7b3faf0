# cmake -DLUA=FOLDER -DOUT=FILE -DWHOLE=FOLDER -P EmbedLua.cmake: writes the scripts of LUA/*/ as C,
# each as its parts: the files LUA/NAME.lua that its line `-- uses: NAME...` names (without such a
# line common.lua), and its own file. Beside them is the SHA-1 of the whole text: Redis names it so.
# The whole texts become files in WHOLE, for programs in other languages.
set(texts "")
set(table "")
set(count 0)
set(most 0)

# embed writes the text of a file as an array, and sets `part` to its address and size.
function(embed name file)
  file(READ ${file} hex HEX)
  file(SIZE ${file} size)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(texts "${texts}static const char ${name}[] = {\n${hex}};\n\n" PARENT_SCOPE)
  set(part "{${name}, ${size}}" PARENT_SCOPE)
endfunction()

file(GLOB shared_files ${LUA}/*.lua)
foreach(file IN LISTS shared_files)
  get_filename_component(name ${file} NAME_WE)
  embed(shared_${name} ${file})
  set(part_${name} ${part})
  file(READ ${file} text_${name})
endforeach()
file(REMOVE_RECURSE ${WHOLE})
file(GLOB files ${LUA}/*/*.lua)
list(SORT files)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  embed(script_${name} ${file})
  file(READ ${file} own_text)
  set(uses common)
  if(own_text MATCHES "\n-- uses: ([a-z_ ]+)\n")
    string(REPLACE " " ";" uses ${CMAKE_MATCH_1})
  endif()
  set(parts "")
  set(text "")
  foreach(used IN LISTS uses)
    if(NOT DEFINED part_${used})
      message(FATAL_ERROR "${file} uses ${used}, and there is no ${LUA}/${used}.lua")
    endif()
    string(APPEND parts "${part_${used}}, ")
    string(APPEND text "${text_${used}}")
  endforeach()
  string(APPEND text "${own_text}")
  file(WRITE ${WHOLE}/${name}.lua "${text}")
  string(SHA1 sha1 "${text}")
  string(LENGTH "${text}" size)
  if(size GREATER most)
    set(most ${size})
  endif()
  string(TOUPPER ${name} upper)
  string(APPEND table "\t[SCRIPT_${upper}] = {\"${name}\", \"${sha1}\",\n"
                      "\t\t{${parts}${part}}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(
  WRITE ${OUT}
  "/* Written by src/cmake/EmbedLua.cmake. */\n#include \"store/redis/script.h\"\n\n${texts}"
  "const struct redis_script redis_scripts[SCRIPT_COUNT] = {\n${table}};\n\n"
  "_Static_assert(SCRIPT_COUNT == ${count}, \"enum redis_script_id names the files of lua/\");\n"
  "_Static_assert(SCRIPT_TEXT_MAX >= ${most}, \"the longest script has ${most} bytes\");\n")
