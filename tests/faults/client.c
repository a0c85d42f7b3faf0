#include "faults/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/payload.h"

enum { EXIT_ABSENT = 3, EXIT_LATE = 5 };

static void begin(struct client *client, enum client_kind kind, const char *const *argv)
{
	client->kind = kind;
	process_start(&client->process, argv);
}

static FILE *open_file(struct client *client, const char *name)
{
	struct faults *faults = client->ledger->faults;
	FILE *file = fopen(temp_file(client->file, faults->folder, name), "w");

	if (!file)
		abort(); /* the test cannot work without files */
	return file;
}

static void close_file(FILE *file)
{
	if (fclose(file) != 0)
		abort(); /* likewise */
}

/* ---- Import and add ------------------------------------------------------------------------ */

void client_import(struct client *client, size_t first, size_t count)
{
	struct ledger *ledger = client->ledger;
	struct faults *faults = ledger->faults;
	FILE *file = open_file(client, "import.ndjson");
	const char *argv[] = {faults->command, "import",     "--json", "--store",
			      faults->store,   client->file, NULL};

	for (size_t i = first; i < first + count; i++) {
		payload_line(file, ledger->seed, i, ledger->entries[i].due);
		ledger->entries[i].asked = true;
	}
	close_file(file);
	client->ids[0] = first;
	client->count = count;
	begin(client, CLIENT_IMPORT, argv);
}

static void imported(struct client *client)
{
	struct ledger *ledger = client->ledger;
	char expected[64];

	(void)snprintf(expected, sizeof expected, "{\"imported\":%zu,\"refused\":0}\n",
		       client->count); /* it fits */
	if (client->process.code != 0 || strcmp(stream_text(&client->process.out), expected) != 0) {
		faults_fail(ledger->faults, "import: exit %d, %s%s", client->process.code,
			    stream_text(&client->process.out), stream_text(&client->process.err));
		return;
	}
	for (size_t i = 0; i < client->count; i++)
		ledger->entries[client->ids[0] + i].confirmed = true;
}

void client_add(struct client *client, size_t number)
{
	struct ledger *ledger = client->ledger;
	struct faults *faults = ledger->faults;
	unsigned char data[PAYLOAD_MAX];
	size_t size = payload_data(ledger->seed, number, data);
	FILE *file = open_file(client, "add.data");
	char id[DW_ID_MAX + 16], at[DW_TIME_SIZE];
	const char *argv[] = {
	    faults->command, "add", "--store",     faults->store, "--topic", PAYLOAD_TOPIC, id,
	    "--at",          at,    "--data-file", client->file,  NULL};

	(void)fwrite(data, 1, size, file); /* close_file() checks */
	close_file(file);
	memcpy(id, "--id=", sizeof "--id=");
	payload_id(number, id + sizeof "--id=" - 1);
	dw_format_time(ledger->entries[number].due, at);
	ledger->entries[number].asked = true;
	client->ids[0] = number;
	client->count = 1;
	begin(client, CLIENT_ADD, argv);
}

static void added(struct client *client)
{
	struct ledger *ledger = client->ledger;
	char expected[DW_ID_MAX + 2];

	payload_id(client->ids[0], expected);
	memcpy(expected + strlen(expected), "\n", sizeof "\n");
	if (client->process.code != 0 || strcmp(stream_text(&client->process.out), expected) != 0)
		faults_fail(ledger->faults, "add: exit %d, %s%s", client->process.code,
			    stream_text(&client->process.out), stream_text(&client->process.err));
	else
		ledger->entries[client->ids[0]].confirmed = true;
}

/* ---- Cancel -------------------------------------------------------------------------------- */

void client_cancel(struct client *client)
{
	static const char *const words[] = {"cancel", "--store"};
	struct faults *faults = client->ledger->faults;
	const char *argv[CLIENT_IDS_MAX + 6] = {faults->command, words[0], words[1], faults->store,
						"--"};
	char(*ids)[DW_ID_MAX + 1] = calloc(client->count, sizeof *ids);

	if (!ids)
		abort(); /* out of memory */
	for (size_t i = 0; i < client->count; i++) {
		payload_id(client->ids[i], ids[i]);
		argv[5 + i] = ids[i];
		client->ledger->entries[client->ids[i]].cancel = CANCEL_ASKED;
	}
	begin(client, CLIENT_CANCEL, argv);
	free(ids);
}

/* answer_of reads the outcome of an id's cancel from the command's stderr. No line means that the
 * timer was cancelled. */
static enum cancel answer_of(struct client *client, size_t number)
{
	static const char *const words[] = {": no such timer\n",
					    ": too late: the timer is being delivered\n"};
	const char *text = stream_text(&client->process.err);
	char id[DW_ID_MAX + 1], line[DW_ID_MAX + 128];

	payload_id(number, id);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(line, sizeof line, "durawheel: %s%s", id, words[i]); /* it fits */
		if (strstr(text, line))
			return i == 0 ? CANCEL_GONE : CANCEL_LATE;
	}
	(void)snprintf(line, sizeof line, "durawheel: %s: ", id); /* it fits */
	return strstr(text, line) ? CANCEL_ASKED : CANCEL_DONE;
}

static void check_gone(struct client *client, const struct entry *entry, size_t number)
{
	if (entry->starts > 0 && entry->fired > client->process.ended)
		faults_fail(client->ledger->faults, "number %zu: started after it was settled",
			    number);
}

static void cancelled(struct client *client)
{
	const struct process *process = &client->process;
	struct ledger *ledger = client->ledger;
	int expected = 0;

	for (size_t i = 0; i < client->count; i++) {
		struct entry *entry = &ledger->entries[client->ids[i]];
		int code;

		entry->cancel = answer_of(client, client->ids[i]);
		entry->cancelled = process->ended;
		code = entry->cancel == CANCEL_LATE   ? EXIT_LATE
		       : entry->cancel == CANCEL_GONE ? EXIT_ABSENT
						      : 0;
		expected = code > expected ? code : expected;
		if (entry->cancel == CANCEL_GONE)
			check_gone(client, entry, client->ids[i]);
	}
	if (process->code != expected)
		faults_fail(ledger->faults, "cancel: exit %d instead of %d, %s", process->code,
			    expected, stream_text(&client->process.err));
}

/* ---- The end ------------------------------------------------------------------------------- */

bool client_has_ended(struct client *client)
{
	if (client->kind == CLIENT_NONE || client->process.pid != 0)
		return false;
	if (client->kind == CLIENT_IMPORT)
		imported(client);
	else if (client->kind == CLIENT_ADD)
		added(client);
	else
		cancelled(client);
	process_free(&client->process);
	client->kind = CLIENT_NONE;
	return true;
}

void client_wait(struct client *client)
{
	if (client->kind == CLIENT_NONE)
		return;
	if (!process_wait(&client->process))
		faults_fail(client->ledger->faults, "a command beside the owner hangs");
	process_kill(&client->process);
	(void)client_has_ended(client); /* the process has ended */
}

void client_free(struct client *client)
{
	process_free(&client->process);
	client->kind = CLIENT_NONE;
}

/* ---- Looking ------------------------------------------------------------------------------- */

static void look(struct process *process, struct faults *faults, const char *command)
{
	const char *argv[] = {faults->command, command, "--json", "--store", faults->store, NULL};

	process_start(process, argv);
	if (!process_wait(process) || process->code != 0)
		faults_fail(faults, "%s: exit %d, %s", command, process->code,
			    stream_text(&process->err));
}

void client_list(struct ledger *ledger)
{
	struct process list;

	look(&list, ledger->faults, "list");
	ledger_list(ledger, &list);
	ledger_check_listed(ledger);
	process_free(&list);
}

void client_check_empty(struct faults *faults)
{
	static const char empty[] = "{\"pending\":0,\"claimed\":0,\"dead\":0,";
	struct process stats;

	look(&stats, faults, "stats");
	if (strncmp(stream_text(&stats.out), empty, sizeof empty - 1) != 0)
		faults_fail(faults, "not empty: %s", stream_text(&stats.out));
	process_free(&stats);
}
