# Finds everything that durawheel links against, each as one imported target. libev has neither a
# CMake package nor a pkg-config file, so we search for its files. The targets have names of our
# own, because a project that adds durawheel may have a target hiredis.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(dw_find_plain library header package)
  set(target dw_${library})
  find_path(${target}_INCLUDE ${header})
  find_library(${target}_LIBRARY ${library})
  if(NOT ${target}_INCLUDE OR NOT ${target}_LIBRARY)
    message(FATAL_ERROR "durawheel needs ${header} and lib${library}: apt-get install ${package}")
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(
    ${target} PROPERTIES IMPORTED_LOCATION ${${target}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                ${${target}_INCLUDE})
endfunction()

dw_find_plain(ev ev.h libev-dev)
if(DW_WITH_SQLITE)
  set(DW_SQLITE_MIN 3.37) # STRICT tables need it
  dw_find_plain(sqlite3 sqlite3.h libsqlite3-dev)
  file(STRINGS ${dw_sqlite3_INCLUDE}/sqlite3.h DW_SQLITE REGEX "^#define SQLITE_VERSION ")
  string(REGEX MATCH "[0-9.]+" DW_SQLITE "${DW_SQLITE}")
  if(DW_SQLITE VERSION_LESS DW_SQLITE_MIN)
    message(FATAL_ERROR "durawheel needs SQLite ${DW_SQLITE_MIN} or newer, and "
                        "${dw_sqlite3_INCLUDE}/sqlite3.h is of ${DW_SQLITE}; "
                        "-DDW_WITH_SQLITE=OFF builds without")
  endif()
endif()
if(DW_WITH_REDIS)
  dw_find_plain(hiredis hiredis/hiredis.h libhiredis-dev)
endif()
# Only the Redis store has TLS.
if(DW_WITH_REDIS AND DW_WITH_TLS)
  set(DW_TLS ON)
  set(DW_OPENSSL_MIN 3.0)
  dw_find_plain(ssl openssl/ssl.h libssl-dev)
  dw_find_plain(crypto openssl/crypto.h libssl-dev)
  file(STRINGS ${dw_ssl_INCLUDE}/openssl/opensslv.h DW_OPENSSL REGEX "VERSION_M[AJIN]+OR +[0-9]+$")
  string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+)$" "\\1.\\2" DW_OPENSSL "${DW_OPENSSL}")
  if(NOT DW_OPENSSL VERSION_GREATER_EQUAL DW_OPENSSL_MIN)
    message(FATAL_ERROR "durawheel needs OpenSSL ${DW_OPENSSL_MIN} or newer, and "
                        "${dw_ssl_INCLUDE}/openssl/opensslv.h is of \"${DW_OPENSSL}\"; "
                        "-DDW_WITH_TLS=OFF builds without")
  endif()
else()
  set(DW_TLS OFF)
endif()
if(DW_BUILD_CLI)
  pkg_check_modules(jansson REQUIRED IMPORTED_TARGET GLOBAL jansson)
  pkg_check_modules(inih IMPORTED_TARGET GLOBAL inih)
  if(NOT inih_FOUND)
    message(FATAL_ERROR "durawheel run --config needs libinih: apt-get install libinih-dev")
  endif()
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::inih)
  check_symbol_exists(ini_allow_inline_comments ini.h DW_INIH_HAS_SETTINGS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT DW_INIH_HAS_SETTINGS)
    message(FATAL_ERROR "durawheel run --config needs a libinih with settings at run time, as "
                        "Debian's: ini.h has no ini_allow_inline_comments")
  endif()
  if(DW_WITH_HTTP)
    pkg_check_modules(microhttpd IMPORTED_TARGET GLOBAL libmicrohttpd)
    if(NOT microhttpd_FOUND)
      message(FATAL_ERROR "durawheel serve needs libmicrohttpd: apt-get install "
                          "libmicrohttpd-dev; -DDW_WITH_HTTP=OFF builds without")
    endif()
  endif()
endif()
if(DW_BUILD_TESTS AND NOT cmocka_FOUND)
  message(FATAL_ERROR "the tests need cmocka: apt-get install libcmocka-dev; "
                      "-DDW_BUILD_TESTS=OFF builds without them")
endif()
