# cmake -DLUA=FOLDER -DOUT=FILE -P EmbedLua.cmake: writes the scripts of FOLDER/*/ as C, each as its
# parts: common.lua, NAME.lua of its folder NAME if there is one, and its own file. Beside them is
# the SHA-1 of the whole text, by which Redis names it.
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

embed(shared ${LUA}/common.lua)
set(shared ${part})
file(READ ${LUA}/common.lua shared_text)
file(GLOB files ${LUA}/*/*.lua)
list(SORT files)
set(folder "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(of ${file} DIRECTORY)
  if(NOT of STREQUAL folder)
    set(folder ${of})
    set(folder_part "{NULL, 0}")
    set(folder_text "")
    if(EXISTS ${folder}.lua)
      get_filename_component(folder_name ${folder} NAME)
      embed(of_${folder_name} ${folder}.lua)
      set(folder_part ${part})
      file(READ ${folder}.lua folder_text)
    endif()
  endif()
  embed(script_${name} ${file})
  file(READ ${file} text)
  string(PREPEND text "${shared_text}${folder_text}")
  string(SHA1 sha1 "${text}")
  string(LENGTH "${text}" size)
  if(size GREATER most)
    set(most ${size})
  endif()
  string(TOUPPER ${name} upper)
  string(APPEND table "\t[SCRIPT_${upper}] = {\"${name}\", \"${sha1}\",\n"
                      "\t\t{${shared}, ${folder_part}, ${part}}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(
  WRITE ${OUT}
  "/* Written by src/cmake/EmbedLua.cmake. */\n#include \"store/redis/script.h\"\n\n${texts}"
  "const struct redis_script redis_scripts[SCRIPT_COUNT] = {\n${table}};\n\n"
  "_Static_assert(SCRIPT_COUNT == ${count}, \"enum redis_script_id names the files of lua/\");\n"
  "_Static_assert(SCRIPT_TEXT_MAX >= ${most}, \"the longest script has ${most} bytes\");\n")
