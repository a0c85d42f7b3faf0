/* The help of the commands on topics and queues: part of the table in commands.c. */
#ifndef DW_CLI_HELP_TOPICS_H
#define DW_CLI_HELP_TOPICS_H

static const char help_of_topic[] =
    "A topic needs no settings. With settings it can be a queue, whose messages any\n"
    "process takes; its retries, and how long a handler may run, can differ.\n"
    "\n"
    "  durawheel topic set TOPIC [--queue [--max N] ...] [--retries N ...]\n"
    "  durawheel topic list [--json]\n"
    "  durawheel topic show TOPIC [--json]\n"
    "  durawheel topic pause TOPIC [--intake | --intake-only]\n"
    "  durawheel topic resume TOPIC\n"
    "  durawheel topic drop TOPIC\n"
    "\n"
    "  durawheel push | take | ack | work    messages of a queue topic\n";

static const char help_of_topic_set[] =
    "  --queue           timers that come due become messages; see push, take, work\n"
    "  --no-queue        no longer; messages that are there can still be taken\n"
    "  --max N           messages in the queue at most (default: 100000)\n"
    "  --overflow O      drop-oldest (default), or refuse\n"
    "  --expire D        a message that was due so long ago is dropped\n"
    "  --hide D          how long a taken message is hidden, 1s to 12h (default 30s);\n"
    "                    never: it is deleted when it is taken\n"
    "  --retries N       then it is dead, 0 to 255 (default: 16)\n"
    "  --backoff D       the first delay of a retry (default: 1s)\n"
    "  --backoff-max D   the longest one (default: 5m)\n"
    "  --factor N        each is N times the one before, 1 to 10 (default: 2)\n"
    "  --jitter N        each differs by up to N percent (default: 20)\n"
    "  --time-limit D    a handler on a worker that runs longer is retried\n"
    "  --keep D          keep the ends of its timers so long for show, at most 90d\n"
    "\n"
    "What is not named stays as it is. 0 is the default again, but of --retries,\n"
    "--jitter. Settings stay until topic drop.\n";

static const char help_of_take[] =
    "  --topic T         the first of these topics that has a message\n"
    "  --max N           at most N messages (default: 128, at most 1000)\n"
    "  --wait D          wait so long for the first (default: 0, at most 1h)\n"
    "\n"
    "Prints a line of JSON each, or nothing if none came:\n"
    "\n"
    "  {\"token\",\"id\",\"topic\",\"due\",\"attempt\",\"data\"}\n"
    "\n"
    "Answer each within the topic's hide time: durawheel ack TOKEN. Else it is handed\n"
    "out again. Exit 3: the topic is no queue.\n";

static const char help_of_ack[] =
    "  TOKEN...          of take; - reads them from stdin, or the lines of take\n"
    "  --retry D         comes back after D, and after too many retries is dead\n"
    "  --dead            becomes a dead letter\n"
    "  --why TEXT        why it failed, kept with its dead letter (at most 255 bytes)\n"
    "  --touch           stays hidden for the topic's hide time, from now on\n"
    "\n"
    "Without an option the message is done, and deleted. Exit 5: a delivery is over;\n"
    "each is named, and the others are answered.\n";

static const char help_of_work[] =
    "  --topic T         the first of these topics that has messages\n"
    "  --exec CMD        run /bin/sh -c CMD for a batch: a line of take for each one\n"
    "                    on stdin, DW_TOPIC and DW_COUNT set\n"
    "  --batch N         at most N messages for each CMD (default: 128, at most 1000)\n"
    "  --wait D          how long one look for messages takes (default: 10s)\n"
    "  --jobs N          at most N commands at a time (default: 4)\n"
    "  --timeout D       a command that takes longer is ended, and its batch retried\n"
    "  --exec-output O   stdout of commands is our stderr (default), or our stdout\n"
    "  --log FORM        text, json or journal, as run\n"
    "\n"
    "Exit 0: the batch is done. Exit 100: it is dead. Else it is retried. A line on\n"
    "descriptor 3 answers one message: {\"token\",\"verdict\":\"retry\",\"in\":\"1m\"}, or\n"
    "done, or dead. Messages of a running CMD stay hidden. SIGTERM waits for it.\n";

#endif
