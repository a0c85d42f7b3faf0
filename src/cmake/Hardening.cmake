# dw_target(TARGET) sets the language, warnings and hardening flags. Every target uses it. It is a
# function, because an interface target would have to be installed with the library.
set(DW_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wcast-qual -Wwrite-strings -Wformat=2 -Wnull-dereference
    -Wimplicit-fallthrough)

# These are the flags of the OpenSSF guide that GCC 12 supports.
set(DW_HARDENING -fstack-protector-strong -fstack-clash-protection -fcf-protection)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(REMOVE_ITEM DW_HARDENING -fcf-protection)
endif()

function(dw_target target)
  target_compile_features(${target} PRIVATE c_std_11)
  set_target_properties(${target} PROPERTIES C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden
                                             POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE ${DW_WARNINGS})
  if(DW_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(DW_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DW_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${DW_SANITIZE})
  else()
    target_compile_options(${target} PRIVATE ${DW_HARDENING})
    target_compile_definitions(
      ${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  endif()
endfunction()
