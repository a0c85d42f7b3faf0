# cmake -DPAGE=FOLDER -DOUT=FILE -P EmbedPage.cmake writes the style, the script and the icon of the
# page as C, without comments and indentation, because they are part of each answer. It also writes
# the hashes for the header Content-Security-Policy.
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

# base64_of_sha256 encodes a SHA-256 that is written in hexadecimal. Three digits become two
# letters. One digit is left at the end.
function(base64_of_sha256 hex ret_text)
  set(text "")
  foreach(at RANGE 0 60 3)
    string(SUBSTRING "${hex}" ${at} 3 digits)
    math(EXPR high "0x${digits} / 64")
    math(EXPR low "0x${digits} % 64")
    string(SUBSTRING "${alphabet}" ${high} 1 first)
    string(SUBSTRING "${alphabet}" ${low} 1 second)
    string(APPEND text "${first}${second}")
  endforeach()
  string(SUBSTRING "${hex}" 63 1 digit)
  math(EXPR last "0x${digit} * 4")
  string(SUBSTRING "${alphabet}" ${last} 1 letter)
  set(${ret_text} "${text}${letter}=" PARENT_SCOPE)
endfunction()

set(texts "/* Written by src/cmake/EmbedPage.cmake. */\n#include \"web/page.h\"\n")
foreach(file page.css page.js icon.svg)
  string(REPLACE "." "_" name ${file})
  file(READ ${PAGE}/${file} text)
  string(REGEX REPLACE "/[*][^*]*[*]/" "" text "${text}")
  string(REGEX REPLACE "\n[ \t]*//[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n[ \t\n]+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  file(WRITE ${OUT}.text "${text}")
  file(READ ${OUT}.text hex HEX)
  file(SHA256 ${OUT}.text sha256)
  base64_of_sha256(${sha256} hash)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND texts "\nconst char asset_${name}[] = {\n${hex}0};\n"
                      "const char asset_${name}_hash[] = \"sha256-${hash}\";\n")
endforeach()
file(WRITE ${OUT} "${texts}")
