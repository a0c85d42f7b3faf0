# cmake -DLUA=FOLDER -DOUT=FILE -P EmbedLua.cmake: writes the scripts of FOLDER/*/ as C, each as
# common.lua, NAME.lua of its folder NAME if there is one, and then its own file, with the SHA-1 by
# which Redis names it.
file(READ ${LUA}/common.lua shared)
file(GLOB files ${LUA}/*/*.lua)
list(SORT files)
set(texts "")
set(table "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  get_filename_component(folder ${file} DIRECTORY)
  set(of_folder "")
  if(EXISTS ${folder}.lua)
    file(READ ${folder}.lua of_folder)
  endif()
  file(READ ${file} own)
  set(text "${shared}${of_folder}${own}")
  string(SHA1 sha1 "${text}")
  string(LENGTH "${text}" size)
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND texts "static const char script_${name}[] = {\n${hex}0};\n\n")
  string(TOUPPER ${name} upper)
  string(APPEND table "\t[SCRIPT_${upper}] = "
                      "{\"${name}\", \"${sha1}\", script_${name}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(
  WRITE ${OUT}
  "/* Written by src/cmake/EmbedLua.cmake. */\n#include \"store/redis/script.h\"\n\n${texts}"
  "const struct redis_script redis_scripts[SCRIPT_COUNT] = {\n${table}};\n\n"
  "_Static_assert(SCRIPT_COUNT == ${count}, \"enum redis_script_id names the files of lua/\");\n")
