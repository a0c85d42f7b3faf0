# cmake -DLUA=FOLDER -DOUT=FILE -DWHOLE=FOLDER -P EmbedLua.cmake writes the scripts LUA/*/*.lua as
# C.
# The line `-- uses: NAME...` of a script names the parts LUA/common/NAME.lua that it needs. A part
# may itself need other parts. The embedded script begins with all of these parts, each only once.
# The C file also has the SHA-1 of each script, because Redis names scripts by it. The joined
# scripts are also written to the folder WHOLE, for programs in other languages.
#
# The line `-- KEYS NAME...` of a script names its keys as the table in lua/README.md does, in the
# order of DW_KEYS below. The scripts have another name for each, which is a local in the first line
# of the whole text. Behind `...` stand keys that come once for each topic in the call; the script
# takes those from KEYS. tests/lint/parts.awk has the same table.
cmake_minimum_required(VERSION 3.20)
set(DW_KEYS
    l=LEASE m=META z=TIMERS h=VALUES i=INBOX d=DEAD D=LETTERS e=NAMES s:NONCE=SESSION E=ENDS
    x=UNTILS t=TOPICS u=DROPPED n=COUNTS o=MEMBERS O=RECORDS R=REPORTS k=INDEX
    q:TOPIC=WAITING qt:TOPIC=TAKEN ql:TOPIC=LATER qm:TOPIC=MESSAGES qc:TOPIC=CONSUMERS qc:=ALL)
set(texts "")
set(table "")
set(count 0)
set(most 0)

# embed writes the text of a file as an array. It also reads the names of the parts that the file
# needs.
function(embed name file)
  file(READ ${file} text)
  file(READ ${file} hex HEX)
  file(SIZE ${file} size)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND texts "static const char text_${name}[] = {\n${hex}};\n"
                      "static const struct script_part ${name} = {text_${name}, ${size}};\n\n")
  string(REGEX MATCHALL "\n-- uses: [a-z_ ]+" uses "${text}")
  string(REGEX REPLACE "\n-- uses: | " ";" uses "${uses}")
  set(texts "${texts}" PARENT_SCOPE)
  set(text_${name} "${text}" PARENT_SCOPE)
  set(uses_${name} ${uses} PARENT_SCOPE)
endfunction()

# join appends the parts that this file needs to `order`, and then the file.
function(join name)
  if(NOT DEFINED text_${name})
    message(FATAL_ERROR "there is no ${name} in ${LUA}, and a line `-- uses:` names it")
  endif()
  foreach(used IN LISTS uses_${name})
    if(NOT part_${used} IN_LIST order)
      join(part_${used})
    endif()
  endforeach()
  set(order ${order} ${name} PARENT_SCOPE)
endfunction()

# read_keys sets ret_local to the line of locals, ret_keys and ret_count to the keys of the shard,
# and ret_queue to how many keys of a queue follow.
function(read_keys name ret_local ret_keys ret_count ret_queue)
  if(NOT text_script_${name} MATCHES "\n-- KEYS +([A-Za-z: ]+)([.][.][.][^\n]*)?\n")
    message(FATAL_ERROR "${name}.lua has no line `-- KEYS`")
  endif()
  set(repeated "${CMAKE_MATCH_2}")
  string(STRIP "${CMAKE_MATCH_1}" words)
  string(REPLACE " " ";" words "${words}")
  set(names "")
  set(keys "")
  set(queue 0)
  foreach(pair IN LISTS DW_KEYS)
    string(REGEX REPLACE "=.*" "" word "${pair}")
    string(REGEX REPLACE ".*=" "" key "${pair}")
    if(NOT word IN_LIST words)
      continue()
    endif()
    list(REMOVE_ITEM words ${word})
    list(APPEND names ${key})
    if(word MATCHES "^q")
      math(EXPR queue "${queue} + 1")
    else()
      string(APPEND keys "KEY_${key}, ")
    endif()
  endforeach()
  if(words)
    message(FATAL_ERROR "${name}.lua: what are the keys ${words}?")
  endif()
  list(LENGTH names count)
  math(EXPR of_shard "${count} - ${queue}")
  list(JOIN names ", " names)
  set(values "unpack(KEYS)")
  if(repeated)
    string(REGEX MATCHALL "q[a-z]*:" queue "${repeated}")
    list(LENGTH queue queue)
    set(values "unpack(KEYS, 1, ${count})") # unpack() of thousands fails
  endif()
  set(${ret_local} "local ${names} = ${values}\n" PARENT_SCOPE)
  set(${ret_keys} "${keys}" PARENT_SCOPE)
  set(${ret_count} ${of_shard} PARENT_SCOPE)
  set(${ret_queue} ${queue} PARENT_SCOPE)
endfunction()

file(GLOB parts ${LUA}/common/*.lua)
foreach(file IN LISTS parts)
  get_filename_component(name ${file} NAME_WE)
  embed(part_${name} ${file})
endforeach()
file(REMOVE_RECURSE ${WHOLE})
file(GLOB files ${LUA}/*/*.lua)
list(REMOVE_ITEM files ${parts})
list(SORT files)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  embed(script_${name} ${file})
  set(order "")
  join(script_${name})
  read_keys(${name} text keys key_count queue)
  string(LENGTH "${text}" size)
  string(REPLACE "\n" "\\n" line "${text}")
  string(APPEND texts "static const struct script_part keys_of_${name} = {\"${line}\", ${size}};\n"
                      "static const unsigned char keys_${name}[] = {${keys}NAMES_OF_SHARD};\n")
  set(pointers "&keys_of_${name}, ")
  foreach(part IN LISTS order)
    string(APPEND pointers "&${part}, ")
    string(APPEND text "${text_${part}}")
  endforeach()
  file(WRITE ${WHOLE}/${name}.lua "${text}")
  string(SHA1 sha1 "${text}")
  string(LENGTH "${text}" size)
  if(size GREATER most)
    set(most ${size})
  endif()
  string(APPEND texts "static const struct script_part *const parts_of_${name}[] = {\n"
                      "\t${pointers}NULL};\n\n")
  string(TOUPPER ${name} upper)
  string(APPEND table "\t[SCRIPT_${upper}] = {\"${name}\", \"${sha1}\",\n"
                      "\t\tparts_of_${name}, ${size}, keys_${name}, ${key_count}, ${queue}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(
  WRITE ${OUT}
  "/* Written by src/cmake/EmbedLua.cmake. */\n#include \"store/redis/wire/script.h\"\n\n${texts}"
  "const struct redis_script redis_scripts[SCRIPT_COUNT] = {\n${table}};\n\n"
  "_Static_assert(SCRIPT_COUNT == ${count}, \"enum redis_script_id names the files of lua/\");\n"
  "_Static_assert(SCRIPT_TEXT_MAX >= ${most}, \"the longest script has ${most} bytes\");\n")
