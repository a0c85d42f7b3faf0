/* Planted bugs. Each breaks one promise by a plausible mistake. The bugs are outside of the
 * product, between the engine and its store, clock or wheel. The simulation must find each of
 * them. */
#ifndef SIM_CORE_BUGS_H
#define SIM_CORE_BUGS_H

#define SINGLE_BUGS(X)                                                                             \
	X(ROUND_DOWN, "round_down")         /* a deadline in whole milliseconds */                 \
	X(LEVEL_EDGE, "level_edge")         /* a timer lost at the edge of a wheel's level */      \
	X(STALE_SETTLE, "stale_settle")     /* settles whatever generation is stored */            \
	X(PAGE_BOUNDARY, "page_boundary")   /* the next page begins at the next deadline */        \
	X(CLOCK_BACK, "clock_back")         /* a clock set back is not noticed */                  \
	X(CANCEL_REVIVED, "cancel_revived") /* cancel confirmed and not done */                    \
	X(ATTEMPT_RESET, "attempt_reset")   /* every claim is the first one */                     \
	X(CLAIM_ANY, "claim_any")           /* claims whatever generation is stored */             \
	X(ACK_BY_ID, "ack_by_id")           /* acknowledges later writes too */                    \
	X(PUT_LOST, "put_lost")             /* put confirmed and not done */                       \
	X(PUT_PHANTOM, "put_phantom")       /* put refused and done */                             \
	X(SETTLE_LOST, "settle_lost")       /* settle confirmed and not done */                    \
	X(WHEEL_ORDER, "wheel_order")       /* the wheel counts in tenths of a second */           \
	X(EQUAL_ANY, "equal_any")           /* equal deadlines start as they were claimed */       \
	X(DATA_FLIPPED, "data_flipped")     /* one byte of the data is another */                  \
	X(MOVE_LOST, "move_lost")           /* move confirmed and not done */                      \
	X(MOVE_STARTED, "move_started")     /* a client moves a claimed timer */                   \
	X(PURGE_LOST, "purge_lost")         /* purge confirmed and not done */                     \
	X(AFTER_LEASE, "after_lease")       /* the lease never ends */                             \
	X(FENCE_UNSEEN, "fence_unseen")     /* owns again and does not tell that it had lost */    \
	X(BATCH_SHIFT, "batch_shift")       /* verdicts of a batch are those of others in it */    \
	X(NEXT_FROM_NOW, "next_from_now")   /* what comes next is asked of now */                  \
	X(NEXT_IN_TWO, "next_in_two")       /* NEXT is a settle and a put, with a crash between */ \
	X(JITTER_REDRAWN, "jitter_redrawn") /* jitter is drawn at random */                        \
	X(END_LOST, "end_lost")             /* a settle without its end */                         \
	X(END_EARLY, "end_early")           /* an end without its settle */                        \
	X(ONCE_AGAIN, "once_again")         /* a put does not ask for the end */

#define FLEET_BUGS(X)                                                                              \
	X(LATE_START, "late_start")         /* starts due timers after the lease is over */        \
	X(NO_HELLO, "no_hello")             /* requests of an old connection are carried out */    \
	X(CLAIM_UNSEEN, "claim_unseen")     /* a claim names no version */                         \
	X(NEVER_OPEN, "never_open")         /* a cancel forgets the earlier claim */               \
	X(ACK_UNSEEN, "ack_unseen")         /* the inbox is acknowledged by id only */             \
	X(ATTEMPT_KEPT, "attempt_kept")     /* the claim of a dead owner counts no attempt */      \
	X(PUSH_LOST, "push_lost")           /* nothing is rebuilt after a loss */                  \
	X(PUSH_FRESH, "push_fresh")         /* a rebuilt timer was never attempted */              \
	X(DELETE_LOST, "delete_lost")       /* after a loss nothing is deleted again */            \
	X(NEWER_DAMAGED, "newer_damaged")   /* a newer version's timer is taken for damage */      \
	X(LOWER_FENCE, "lower_fence")       /* an owner before ours is taken for a successor */    \
	X(BEFORE_WRITTEN, "before_written") /* starts before a restored shard is written */        \
	X(OWN_NONCE, "own_nonce")           /* a lease of old data counts by its nonce alone */    \
	X(OVER_RENEWED, "over_renewed")     /* a lease that is over is renewed from old data */    \
	X(END_UNKEPT, "end_unkept")         /* a timer ends without its end */                     \
	X(END_UNDUE, "end_undue")           /* an end of a settle that is refused */               \
	X(ONCE_TWICE, "once_twice")         /* a put does not ask for the end */                   \
	X(REFUSED_OK, "refused_ok")         /* nobody is told that a shard is refused */           \
	X(GAINED_ALL, "gained_all")         /* for a shard that is gained all are read */          \
	X(LOST_ALL, "lost_all")             /* with one shard all others are lost */               \
	X(ANSWER_WAITS, "answer_waits")     /* an answer waits for those of another shard */       \
	X(BEGIN_LATE, "begin_late")         /* dw_start() does not ask for the lease */

#define PEERS_BUGS(X)                                                                              \
	X(GIVEN_KEPT, "given_kept")     /* a peer starts timers of a shard that it has given */    \
	X(TWO_OWNERS, "two_owners")     /* a shard is acquired whoever has it */                   \
	X(GIVE_VERDICT, "give_verdict") /* a shard is given while a delivery runs in it */         \
	X(SHARE_YOUNG, "share_young")   /* a peer that has just started has a share at once */

#define PEER_LOSSES_BUGS(X) X(GIVE_DROPS, "give_drops") /* a refused release drops the shard */

#define OUTAGES_BUGS(X)                                                                            \
	X(BASE_LOST, "base_lost")     /* J7: a row forgets what Redis has under its id */          \
	X(FENCE_EXACT, "fence_exact") /* J8: only the claim of the row's own fence has ended */    \
	X(ROW_AGAIN, "row_again")     /* J9: a row that was replayed is replayed again */          \
	X(ROW_EARLY, "row_early")     /* J9: a row leaves the file before Redis has it */          \
	X(CLAIM_FIRST, "claim_first") /* J11: claims and reads do not wait for the rows */         \
	X(NO_JUMP, "no_jump")         /* J13: a takeover raises the attempt by 1 */                \
	X(START_LOST, "start_lost")   /* J15: a replayed start does nothing */                     \
	X(CANCEL_SURE, "cancel_sure") /* J16: a client's cancel does not wait */                   \
	X(LATE_UNSAID, "late_unsaid") /* J16: nobody tells it that it came too late */             \
	X(FIRE_LATE, "fire_late")     /* starts timers after the lease is over */

#define QUEUES_BUGS(X)                                                                             \
	X(HIDE_IGNORED, "hide_ignored")     /* a taken message is not hidden */                    \
	X(BOUND_LATE, "bound_late")         /* the bound counts before the push */                 \
	X(PAUSE_IGNORED, "pause_ignored")   /* a take does not ask whether the topic is paused */  \
	X(TAKE_DELETES, "take_deletes")     /* a message is deleted when it is taken */            \
	X(ANSWER_ANY, "answer_any")         /* an answer names no delivery */                      \
	X(MESSAGE_LOST, "message_lost")     /* a push confirmed and not done */                    \
	X(RETRY_NOW, "retry_now")           /* a retried message comes back at once */             \
	X(DROP_UNCOUNTED, "drop_uncounted") /* nobody is told what was dropped */                  \
	X(REFUSAL_LOST, "refusal_lost")     /* only on Redis: a lost refusal counts as a put */

#define SERVERS_BUGS(X)                                                                            \
	X(CONFIRM_EARLY, "confirm_early") /* --sentinels: answers before the replicas have it */   \
	X(NAMED_LONG, "named_long")       /* --sentinels: uses a server that nobody names */       \
	X(NAMED_BY_ONE, "named_by_one")   /* --sentinels: one voter is a majority */               \
	X(NAMED_EARLY, "named_early")     /* a server is used as soon as it is named */            \
	X(SLOT_FIRST, "slot_first")       /* --cluster: who claims a slot first has it for ever */ \
	X(REPLACED_NEW, "replaced_new")   /* --cluster: a replaced master counts as a new one */

#define BUG(symbol, text) BUG_##symbol,
enum bug {
	BUG_NONE,
	SINGLE_BUGS(BUG) BUG_FLEET,
	FLEET_BUGS(BUG) BUG_PEERS,
	PEERS_BUGS(BUG) BUG_PEER_LOSSES,
	PEER_LOSSES_BUGS(BUG) BUG_OUTAGES,
	OUTAGES_BUGS(BUG) BUG_QUEUES,
	QUEUES_BUGS(BUG) BUG_SERVERS,
	SERVERS_BUGS(BUG) BUG_COUNT
};
#undef BUG

const char *bug_name(enum bug);

/* bug_find: BUG_NONE when there is no bug of that name. */
enum bug bug_find(const char *name);

/* bug_wheel: the bug of the wheels, which are not given a sim; set before each seed. */
void bug_wheel(enum bug);

#endif
