# Completion of durawheel for bash: commands, their options and files. It needs only bash. A test
# compares it with durawheel --help.

_durawheel_commands='add import cancel move show list run stats top serve dead topic push take ack work journal when check purge help'

# _durawheel_options COMMAND: the options of the command.
_durawheel_options()
{
	case $1 in
	add) echo '--topic --id --in --at --every --cron --zone --from --until --times --except --jitter --missed --missed-after --missed-age --data --data-file --late-after --new --once --keep --due-earliest --due-latest --wait-max --data-first --journal' ;;
	import) echo '--json --journal' ;;
	show | stats | check | 'journal list') echo '--json' ;;
	cancel) echo '--topic --prefix --due-from --due-before --dry-run --yes --json --journal' ;;
	move) echo '--in --at --journal' ;;
	'journal replay') echo '--timeout --yes' ;;
	'journal drop') echo '--yes' ;;
	list) echo '--topic --prefix --due-from --due-before --recurring --limit --json' ;;
	'dead list') echo '--topic --limit --json' ;;
	run) echo '--topic --exec --exec-output --jobs --timeout --batch --wait --standby --until-idle --journal --outage --lease --http --token-file --allow-host --show-data --config --check --stop-patience --log' ;;
	top) echo '--every --once' ;;
	serve) echo '--http --token-file --allow-host --show-data --log' ;;
	'dead requeue') echo '--all --topic --in --at' ;;
	'dead drop') echo '--all --topic' ;;
	when) echo '--cron --every --zone --from --until --times --except --jitter --missed --missed-after --missed-age --count --json' ;;
	'topic set') echo '--queue --no-queue --max --overflow --expire --hide --retries --backoff --backoff-max --factor --jitter --time-limit --keep' ;;
	'topic list' | 'topic show') echo '--json' ;;
	'topic pause') echo '--intake --intake-only' ;;
	push) echo '--topic --id --data --data-file' ;;
	take) echo '--topic --max --wait' ;;
	ack) echo '--retry --dead --why --touch' ;;
	work) echo '--topic --exec --batch --wait --jobs --timeout --exec-output --log' ;;
	purge) echo '--yes' ;;
	esac
}

# _durawheel_takes_value OPTION: all others are flags.
_durawheel_takes_value()
{
	case $1 in
	--topic | --prefix | --due-from | --due-before | --id | --in | --at | --data | --data-file | \
		--late-after | --keep | --wait-max | --limit | --exec | --exec-output | --jobs | --timeout | --batch | --wait | \
		--journal | --outage | --lease | --cron | --every | --zone | --from | --until | --except | \
		--count | --times | --missed | --missed-after | --missed-age | --jitter | --store | --name | --shards | --max | \
		--overflow | --expire | --hide | --retries | --backoff | --backoff-max | --factor | \
		--time-limit | --retry | --why | --http | --token-file | --allow-host | --config | --stop-patience | \
		--log) ;;
	*) return 1 ;;
	esac
}

# _durawheel_command: the command among the words before the cursor, one word or two.
_durawheel_command()
{
	local i command=
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*)
			_durawheel_takes_value "${COMP_WORDS[i]}" || continue
			# Skip the option's value. It may follow a '=', and a ':' in it divides words.
			((i++))
			[[ ${COMP_WORDS[i]} != = ]] || ((i++))
			while [[ ${COMP_WORDS[i + 1]-} == : ]]; do
				((i += 2))
			done
			;;
		dead | journal | topic)
			command=${COMP_WORDS[i]}
			;;
		*)
			case $command,${COMP_WORDS[i]} in
			dead,list | dead,requeue | dead,drop | journal,list | journal,replay | journal,drop | \
				topic,set | topic,list | topic,show | topic,pause | topic,resume | topic,drop)
				echo "$command ${COMP_WORDS[i]}"
				;;
			*) echo "${command:-${COMP_WORDS[i]}}" ;;
			esac
			return
			;;
		esac
	done
	echo "$command"
}

# _durawheel_ask ARGUMENT...: what the command says of the store that the line names, within 100 ms.
_durawheel_ask()
{
	local option store=()
	for option in --store --name; do
		[[ ! $COMP_LINE =~ [[:space:]]$option[[:space:]=]+([^[:space:]]+) ]] ||
			store+=("$option" "${BASH_REMATCH[1]}")
	done
	timeout -s KILL "${_durawheel_patience:-0.1}" "${COMP_WORDS[0]}" "$@" --json "${store[@]}" \
		</dev/null 2>/dev/null
}

# _durawheel_offer KEY WORD: offers at most 100 values of a key in the lines of JSON on stdin: those
# that begin with the word. Bash has divided the word at each ':', and replaces only the last part.
_durawheel_offer()
{
	local name quoted done=
	[[ $2 != *:* ]] || printf -v done %q "${2%:*}:"
	while IFS= read -r name && ((${#COMPREPLY[@]} < 100)); do
		[[ $name == "$2"* ]] || continue
		printf -v quoted %q "$name"
		COMPREPLY+=("${quoted#"$done"}")
	done < <(grep -o "\"$1\":\"[^\"\\]*\"[,}]" | sed 's/^[^:]*:"//; s/".$//' | sort -u)
}

# _durawheel_of_store COMMAND: offers topics and ids of the store. False: none are meant here.
_durawheel_of_store()
{
	local line=${COMP_LINE-} words word before timers
	line=${line:0:${COMP_POINT-0}}
	[[ $line != *[[:space:]] ]] || line+=x # read drops an empty last word
	read -ra words <<<"$line"
	((${#words[@]} > 1)) || return 1
	word=${words[-1]} before=${words[-2]}
	[[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || word=
	[[ $word != --*=* ]] || before=${word%%=*} word=${word#*=}
	[[ $word != [-\"\']* && $word != *\\* ]] || return 1
	case $1,$before in
	*,--topic | 'topic '*,[!-]*)
		# Both at once: together they may take 100 ms.
		_durawheel_offer topic "$word" < <(
			exec {timers}< <(_durawheel_ask list --limit 100)
			_durawheel_ask topic list
			cat <&"$timers"
		)
		;;
	*,--prefix | cancel,[!-]* | move,[!-]* | show,[!-]* | when,[!-]*)
		_durawheel_offer id "$word" < <(
			_durawheel_ask list --limit 100 ${word:+--prefix "$word"})
		;;
	'dead requeue',[!-]* | 'dead drop',[!-]*)
		_durawheel_offer id "$word" < <(_durawheel_ask dead list --limit 1000)
		;;
	*) return 1 ;;
	esac
}

# _durawheel_stores WORD: offers files that may be a store, without those that SQLite and durawheel
# keep beside one.
_durawheel_stores()
{
	local name
	while IFS= read -r name; do
		[[ $name =~ -(reserve|wal|shm|journal)$ ]] || COMPREPLY+=("$name")
	done < <(compgen -f -- "$1")
	compopt -o filenames 2>/dev/null
}

_durawheel()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command choice=
	command=$(_durawheel_command)
	COMPREPLY=()
	! _durawheel_of_store "$command" || return
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	case $before in
	--data-file | --journal | --token-file | --config)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	--exec)
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
		return
		;;
	--exec-output)
		mapfile -t COMPREPLY < <(compgen -W 'stderr stdout' -- "$word")
		return
		;;
	--log)
		mapfile -t COMPREPLY < <(compgen -W 'text json journal' -- "$word")
		return
		;;
	--overflow)
		mapfile -t COMPREPLY < <(compgen -W 'drop-oldest refuse' -- "$word")
		return
		;;
	--missed)
		mapfile -t COMPREPLY < <(compgen -W 'once skip all' -- "$word")
		return
		;;
	--store)
		mapfile -t COMPREPLY < <(compgen -W 'sqlite: redis:// unix://' -- "$word")
		compopt -o nospace 2>/dev/null
		return
		;;
	esac
	! _durawheel_takes_value "$before" || return
	# A ':' divides words: complete the file of --store sqlite:FILE.
	if [[ $word == : || $before == : ]]; then
		[[ $word != : ]] || word=
		_durawheel_stores "$word"
		return
	fi
	case $command in
	'') choice=$_durawheel_commands ;;
	dead) choice='list requeue drop' ;;
	journal) choice='list replay drop' ;;
	topic) choice='set list show pause resume drop' ;;
	help)
		case $before in
		help) choice=$_durawheel_commands ;;
		dead) choice='list requeue drop' ;;
		journal) choice='list replay drop' ;;
		topic) choice='set list show pause resume drop' ;;
		esac
		;;
	import | 'journal list' | 'journal replay' | 'journal drop')
		if [[ $word != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			compopt -o filenames 2>/dev/null
			return
		fi
		;;
	esac
	[[ $word != -* ]] ||
		choice="$(_durawheel_options "$command") --store --name --shards --help --version"
	mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$word")
}

complete -F _durawheel durawheel
