#!/usr/bin/env bash
# A lint that finds nothing looks like a clean project. So: a small clean tree must pass, and each
# kind of violation, planted alone, must be found at its line.
#
#	tests/lint/selftest.sh [KIND...]
# Kinds: floors, calls, sizes, words, globals, graph, rooms, parts, tools, memory; by default all.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0
failed=0

clean_tree()
{
	rm -rf "${tree:?}"/*
	mkdir -p "$tree"/src/{base,wheel,timer,port,loop,store,engine,handle,cli} \
		"$tree"/{include/durawheel,tests,examples,lua}
	echo 'DisableFormat: true' >"$tree/.clang-format"
	printf '#include <stddef.h>\n\nint dw_five(dw *, int, int, int, int, int);\n' \
		>"$tree/include/durawheel/durawheel.h"
	printf '#include "durawheel/durawheel.h"\n' >"$tree/src/base/alloc.h"
	printf '#include "wheel/nodes.h"\n#include "base/alloc.h"\n\n/* strcpy(a, b) */\n' \
		>"$tree/src/wheel/nodes.c"
	printf '#include "base/alloc.h"\n' >"$tree/src/wheel/nodes.h"
	printf 'int dw_five(dw *d, int a, int b, int c, int e, int f)\n{\n\treturn a;\n}\n' \
		>"$tree/src/handle/api.c"
}

# lint: what the lint says of the tree, whatever it returns.
lint()
{
	"$here/run.sh" "$tree" "$@" 2>/dev/null || true
}

# expect PLACE WORDS [BUILD]: the planted violation, and nothing else, is found; PLACE is a
# pattern.
expect()
{
	local found
	found=$(lint "${@:3}")
	if [[ $(grep -c . <<<"$found") == 1 && $found == $1": "*"$2"* ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'planted %s (%s), found:\n%s\n' "$1" "$2" "$found"
	fi
	clean_tree
}

# plant FILE LINES...: writes the lines to the end of a file of the tree.
plant()
{
	local file=$tree/$1
	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >>"$file"
}

repeat()
{
	local i
	for ((i = 0; i < $1; i++)); do
		printf '%s\n' "$2"
	done
}

plant_floors()
{
	plant src/base/a.c '#include "base/alloc.h"' '#include "timer/timer.h"'
	expect src/base/a.c:2 'floor 0 includes floor 1'
	plant src/timer/a.c '#include "port/clock.h"'
	expect src/timer/a.c:1 'floor 1 includes floor 2'
	plant src/loop/a.c '#include "engine/turn.h"'
	expect src/loop/a.c:1 'floor 3 includes floor 4'
	plant src/engine/a.c '#include "handle/options.h"'
	expect src/engine/a.c:1 'floor 4 includes floor 5'
	plant src/engine/a.c '#include "elsewhere/a.h"'
	expect src/engine/a.c:1 'on no floor'
	mkdir "$tree/src/attic"
	plant src/attic/a.c '#include "base/alloc.h"'
	expect src/attic/a.c:1 'without a floor'
	plant src/cli/a.c '#include "durawheel/durawheel.h"' '#include "base/alloc.h"'
	expect src/cli/a.c:2 'src/cli uses only'
	plant src/README.md 'F0  base' 'F1  wheel timer' 'F5  handle'
	expect src/README.md:1 'does not show the floor "F1  wheel"'
	plant include/durawheel/a.h '#include "base/alloc.h"'
	expect include/durawheel/a.h:1 'only public headers'
	plant src/wheel/a.h '#include "wheel/b.h"'
	plant src/wheel/b.h '#include "wheel/a.h"'
	expect 'src/wheel/[ab].h:1' 'circle'
	plant src/wheel/a.c '#include "timer/b.h"'
	plant src/timer/c.c '#include "wheel/nodes.h"'
	expect 'src/[a-z]*/[ac].c:1' 'circle'
}

plant_calls()
{
	local call
	for call in strcpy strcat sprintf gets atoi strtok alloca rand usleep; do
		plant src/base/a.c 'int f(void)' '{' "	return ($call(x) == 0);" '}'
		expect src/base/a.c:3 "$call is banned"
	done
	for call in strcasecmp tolower isdigit strtod setlocale; do
		plant src/base/a.c 'int f(void)' '{' "	return ($call(x) == 0);" '}'
		expect src/base/a.c:3 "$call is banned"
	done
	plant src/base/a.c 'int f(void)' '{' '	return printf("%%2F %5.1f", x);' '}'
	expect src/base/a.c:3 'a fraction as the locale does'
}

plant_sizes()
{
	plant src/base/a.c 'int f(int a, int (*b)(int, int), int c, int d, int e, int g)' '{' '}'
	expect src/base/a.c:1 'has 6 parameters'
	plant tests/a.c '' 'int f(void)' '{' "$(repeat 58 '	g();')" '}'
	expect tests/a.c:2 'has 61 lines'
	plant examples/a.sh '#!/bin/bash' "$(repeat 600 ':')"
	expect examples/a.sh:601 'has 601 lines'
	plant lua/a.lua "	$(printf '%093d' 0)"
	expect lua/a.lua:1 'has 101 columns'
	plant lua/a.lua 'for name in pairs(ARGV) do' 'end' 'return ARGV'
	plant lua/b.lua 'for name in pairs(ARGV) do' 'end' 'table.sort(ARGV)'
	expect lua/a.lua:1 'the order of pairs()'
}

plant_words()
{
	local word
	for word in TO"DO" FIX"ME" X"XX" "not impl"emented "sk"'ip()'; do
		plant tests/a.c '' "/* $word */"
		expect tests/a.c:2 ';'
	done
}

plant_globals()
{
	local kind
	for kind in 'int counter = 1' 'static int counter' '_Thread_local int counter'; do
		plant src/base/a.c "$kind;" 'int *f(void)' '{' '	return &counter;' '}' \
			'char *const constant = "constant";'
		build
		expect src/base/a.c:1 'counter is a mutable global' "$tree/build"
	done
}

# build: compiles what was planted into the objects and the archive that the lint looks at.
build()
{
	local source object name
	mkdir -p "$tree/build/src"
	for source in "$tree"/src/{base,store,engine,cli,web}/*.c; do
		[[ -f $source ]] || continue
		name=${source#"$tree/src/"}
		case $name in
		cli/*) object=cli/CMakeFiles/durawheel_cli.dir/${name#cli/} ;;
		web/*) object=web/CMakeFiles/durawheel_web.dir/${name#web/} ;;
		*) object=CMakeFiles/durawheel_objects.dir/$name ;;
		esac
		object=$tree/build/src/$object.o
		mkdir -p "${object%/*}"
		"${CC:-cc}" -fPIC -w -c "$source" -o "$object"
		[[ $name == @(cli|web)/* ]] ||
			ar rc "$tree/build/src/libdurawheel_inside.a" "$object"
	done
}

plant_graph()
{
	plant src/base/a.c 'int f(void)' '{' '	return g();' '}' 'int h(void)' '{' '}'
	plant src/base/b.c 'int g(void)' '{' '	return h();' '}'
	build
	plant tests/lint/exceptions.txt 'src/base/b.c in a circle of 2'
	expect src/base/a.c:1 'in a circle of 2, for one g of src/base/b.c' "$tree/build"
	plant src/base/a.c 'int f(void)' '{' '}'
	plant src/cli/a.c 'int f(void)' '{' '	return g();' '}' 'int h(void)' '{' '}'
	plant src/web/b.c 'int g(void)' '{' '	return h();' '}'
	build
	plant tests/lint/exceptions.txt 'src/web/b.c in a circle of 2'
	expect src/cli/a.c:1 'in a circle of 2, for one g of src/web/b.c' "$tree/build"
	plant src/store/a.c 'int f(void)' '{' '	return g();' '}'
	plant src/engine/b.c 'int g(void)' '{' '}'
	build
	expect src/store/a.c:1 'floor 3 needs g of src/engine/b.c' "$tree/build"
	plant src/engine/core.h '/* A part calls only parts above it in this list:' \
		$' *\ta.c  first;  b.c  second' $' *\tc.c, d.c  more */'
	plant src/engine/a.c 'int a(void)' '{' '	return b();' '}'
	plant src/engine/b.c 'int b(void)' '{' '}'
	plant src/engine/c.c 'int c(void)' '{' '	return a();' '}'
	plant src/engine/d.c 'int d(void)' '{' '}'
	build
	expect src/engine/core.h:1 'src/engine/a.c needs b of src/engine/b.c' "$tree/build"
	plant src/engine/core.h '/* A part calls only parts above it in this list:' \
		$' *\ta.c  first, and only */'
	plant src/engine/a.c 'int a(void)' '{' '}'
	plant src/engine/b.c 'int b(void)' '{' '}'
	build
	expect src/engine/core.h:1 'does not list src/engine/b.c' "$tree/build"
	plant src/engine/core.h '/* A part calls only parts above it in this list:' \
		$' *\ta.c, b.c */'
	plant src/engine/a.c 'int a(void)' '{' '}'
	build
	expect src/engine/core.h:1 'lists b.c; it is no part' "$tree/build"
	plant tests/lint/exceptions.txt '# why' 'src/base/b.c in a circle'
	build
	expect tests/lint/exceptions.txt:2 'has no "in a circle"' "$tree/build"
}

plant_rooms()
{
	local i
	plant src/base/a.c 'struct page {' '	int a;' '};'
	plant src/engine/a.c '' 'struct page {' '	int b;' '};'
	expect src/engine/a.c:2 'a second struct page, beside src/base/a.c:1'
	plant src/engine/a.h 'struct engine {' "$(repeat 26 '	int *a;')" '};'
	expect src/engine/a.h:1 'struct engine has 26 lines'
	plant src/engine/a.h "$(repeat 151 'int f(void);')"
	expect src/engine/a.h:151 'private header has 151 lines'
	plant src/engine/a.c "$(repeat 501 'int f(void);')"
	expect src/engine/a.c:501 'file has 501 lines'
	for ((i = 0; i < 33; i++)); do
		plant "src/engine/due/a$i.c" '#include "base/alloc.h"'
		plant "src/engine/due/a$i.h" '#include "base/alloc.h"'
	done
	expect 'src/engine/due/a*.[ch]:1' 'the folder src/engine/due has more than 32 modules'
	plant src/engine/a.c 'static void came(int a)' '{' '}'
	plant src/base/a.c 'static void came(int a)' '{' '}' \
		'int g(void)' '{' '	f(came);' '}'
	expect src/base/a.c:1 'the callback came has its name in 2 files'
}

# plant_script HEAD LINES...: a clean script that uses one part, and then another one.
plant_script()
{
	local head=$1
	shift
	plant lua/common/base.lua '-- base' 'local call = redis.call' \
		'local function twice(f) return f() + f() end'
	plant lua/common/more.lua '-- more' '-- uses: base' 'local function more()' \
		"	return twice(function() return call('TIME')[1] end)" 'end'
	plant lua/timer/put.lua '-- put' '-- uses: more' "return {more(), more = '# --'}"
	plant lua/timer/cancel.lua '-- cancel' "$head" "$@"
}

plant_parts()
{
	local script=lua/timer/cancel.lua
	plant_script '-- uses: base' 'return 1'
	expect $script:2 'uses nothing of lua/common/base.lua'
	plant_script '-- uses: more' 'local a = {call = more}' 'return call(a.call)'
	expect $script:4 'call is of lua/common/base.lua; name it'
	plant_script '-- without' 'if ARGV[1] then' '	local at = 1' 'end' 'return at'
	expect $script:6 'at is not defined'
	plant_script '-- uses: base' 'for at in call(at) do' \
		'	local function f(b) return b, at end' '	at = f' 'end'
	expect $script:3 'at is not defined'
	plant_script '-- uses: base' 'if twice(call) then return b end' 'local b = 1' 'return b'
	expect $script:3 'b is not defined'
	plant_script '-- uses: base' 'local b' 'other = call(twice)'
	expect $script:4 'other is not defined'
	plant_script '-- uses: base less' 'return call(twice)'
	expect $script:2 'there is no lua/common/less.lua'
	plant_script '-- uses: base' 'return call(twice)'
	plant lua/common/less.lua '-- less' 'local less = 1'
	expect lua/common/less.lua:1 'nobody names this part'
	plant_script '-- uses: base' 'return call(twice)'
	plant lua/common/base.lua 'local less = 1'
	expect lua/common/base.lua:4 'nobody uses less'
	plant_script '-- uses: less more' 'return more(less)'
	plant lua/common/less.lua '-- less' 'local call = 1' 'local less = call'
	expect 'lua/common/*.lua:2' 'a second call'
	plant_script '-- uses: base less' 'return call(twice, less)'
	plant lua/common/less.lua '-- less' '-- uses: last' \
		'local function less() return last() end'
	plant lua/common/last.lua '-- last' '-- uses: less' \
		'local function last() return less() end'
	expect 'lua/common/l*.lua:2' 'uses itself'
	plant_script '-- uses: base' '-- KEYS      l m' "return call(twice, 'GET', LEASE)"
	expect $script:3 'the line "-- KEYS" must begin with l'
	plant_script '-- uses: base' '-- KEYS      m l' "return call(twice, META, LEASE)"
	expect $script:3 'the line "-- KEYS" must begin with l m'
	plant_script '-- uses: base less' '-- KEYS      l' 'return call(twice, less, LEASE)'
	plant lua/common/less.lua '-- less' 'local less = {META}'
	expect $script:3 'the line "-- KEYS" must begin with l m'
	plant_script '-- uses: base' '-- KEYS      t' "return call(twice, TOPICS .. 'x')"
	expect $script:4 'a key is made of TOPICS'
	plant_script '-- uses: base' '-- KEYS      t' "return call(twice, string.sub(TOPICS, 1))"
	expect $script:4 'a key is made of TOPICS'
}

# without NAME: a PATH on which this tool is none.
without()
{
	mkdir -p "$tree/without-$1"
	printf '#!/bin/sh\nexit 127\n' >"$tree/without-$1/$1"
	chmod +x "$tree/without-$1/$1"
	echo "$tree/without-$1:$PATH"
}

plant_tools()
{
	cp "$here/../../.clang-format" "$tree/.clang-format"
	plant src/base/a.c 'int  f(void);'
	expect src/base/a.c:1 'not formatted'
	plant tests/a.sh '#!/bin/bash' "echo \$1"
	expect tests/a.sh:2:6 'SC2086'
	PATH=$(without clang-format) expect tests/lint/run.sh:1 'install the package clang-format'
	PATH=$(without shellcheck) expect tests/lint/run.sh:1 'install the package shellcheck'
}

plant_memory()
{
	local header=include/durawheel/wheel.h list=tests/lint/allocates_nothing.txt
	plant "$header" 'DW_API int dw_six(dw *);'
	expect "$header:1" 'dw_six is in no sweep'
	mkdir "$tree/tests/unit"
	plant "$header" 'DW_API int dw_six(dw *);'
	plant tests/unit/test_out_of_memory.c '/* dw_six() */'
	expect "$header:1" 'dw_six is in no sweep'
	mkdir "$tree/tests/unit" "$tree/tests/lint"
	plant "$header" 'DW_API int dw_six(dw *);' 'DW_API int dw_six_more(dw *);'
	plant tests/unit/test_out_of_memory.c '	dw_six_more(d);'
	plant "$list" 'dw_six: reads' 'dw_seven: reads'
	expect "$list:2" 'dw_seven is not public'
}

clean_tree
if [[ $(lint) == 'lint: clean' ]]; then
	passed=1
else
	failed=1
	lint
fi
[[ $# -gt 0 ]] || set -- floors calls sizes words globals graph rooms parts tools memory
for kind; do
	"plant_$kind"
done
echo "lint self-test: $passed passed, $failed failed"
[[ $failed == 0 ]]
