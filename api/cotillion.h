/* The interface of training code. An island's agent (`cotillion island`) exchanges fragments of
 * the model with other islands while training goes on; this is how a training loop hands it copies
 * and takes corrections:
 *
 *   cotillion_job* job = cotillion_join("/run/cotillion/TYO.sock", elements, 60.0, why, 200);
 *   cotillion_offer(job, copy_my_model, &model);
 *   while (training) {
 *     optimizer_step(model);
 *     cotillion_correction c;
 *     while (cotillion_poll(job, &c) == COTILLION_OK) {
 *       cotillion_apply(&c, model);
 *       cotillion_done(job, &c);
 *     }
 *     if (cotillion_step(job) != COTILLION_OK) break;
 *   }
 *   cotillion_leave(job);
 *
 * Everything happens inside these calls, in the thread that makes them: nothing is read or written
 * under a running step. A job belongs to one thread at a time. Every wait has a deadline, in
 * seconds; what went wrong is in words in cotillion_message(). */
#ifndef COTILLION_H
#define COTILLION_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

typedef enum cotillion_status {
  COTILLION_OK = 0,
  COTILLION_NONE = 1,  /* nothing there now */
  COTILLION_LATE = 2,  /* nothing came within the time given: the message says who is late */
  COTILLION_ENDED = 3, /* the job has ended as it should; poll once more for what came with it */
  COTILLION_FAILED = 4 /* the job has failed, or the agent is gone */
} cotillion_status;

typedef struct cotillion_job cotillion_job;

/* One who is not in a correction. */
typedef struct cotillion_absence {
  int island;           /* see cotillion_island_name */
  uint32_t chunks;      /* of the fragment that lack it */
  uint32_t first_chunk; /* the first of them, counted over the whole model */
} cotillion_absence;

/* What becomes of elements [first, first + count) of the model: x ← scale · x + value. It lies in
 * memory that is shared with the agent and is yours until cotillion_done; do not keep it for
 * long. */
typedef struct cotillion_correction {
  uint32_t round;   /* of the exchange it comes from; the newest, if it is of several */
  uint32_t rounds;  /* that are in it: more than one when nobody looked for a while */
  uint32_t members; /* of the clique, this island included */
  uint64_t first;
  uint64_t count;
  float scale; /* 1, unless the job keeps only a share of what is learned in flight */
  const float* values;
  uint32_t absent;                   /* how many of the clique are missing, in part or wholly */
  const cotillion_absence* absences; /* valid until the next poll or wait */
  int fragment;                      /* the library's own */
} cotillion_correction;

/* Copies elements [first, first + count) of the model, as they are now, to `values`. */
typedef void (*cotillion_source)(void* user, uint64_t first, uint64_t count, float* values);

/* Waits for the agent, and until the coordinator has given it its part. `elements`: of the model,
 * or 0 to take what the plan says. NULL: `message` (may be NULL; `size` bytes) says why. */
cotillion_job* cotillion_join(const char* socket, uint64_t elements, double seconds, char* message,
                              size_t size);
/* Says goodbye to the agent and frees the job. An island whose training code leaves has no part in
 * what remains of the job. NULL is fine. */
void cotillion_leave(cotillion_job* job);

uint64_t cotillion_elements(const cotillion_job* job);
/* The largest run of elements that is copied or corrected at once. */
uint64_t cotillion_fragment_elements(const cotillion_job* job);
/* The round in play; 0 before the first. */
uint32_t cotillion_round(const cotillion_job* job);
const char* cotillion_island_name(const cotillion_job* job, int island);
int cotillion_self(const cotillion_job* job);

/* From where copies are taken. Calls `source` at once for the whole model, and later from
 * cotillion_step and cotillion_wait for fragments that are due to leave soon. Round one begins when
 * all islands have done this. */
cotillion_status cotillion_offer(cotillion_job* job, cotillion_source source, void* user);
/* Between two optimizer steps, once. */
cotillion_status cotillion_step(cotillion_job* job);
/* A correction that is there (OK), or NONE, ENDED, FAILED. */
cotillion_status cotillion_poll(cotillion_job* job, cotillion_correction* correction);
/* The same, waiting so long at most (LATE). */
cotillion_status cotillion_wait(cotillion_job* job, double seconds,
                                cotillion_correction* correction);
/* Applies a correction to a model of floats in the caller's memory, of which `model` is the first
 * element. Training code that keeps its model elsewhere does the same there. */
void cotillion_apply(const cotillion_correction* correction, float* model);
/* The model is as it says. */
void cotillion_done(cotillion_job* job, const cotillion_correction* correction);

/* What the last call that did not answer OK or NONE has to say; valid until the next call. */
const char* cotillion_message(const cotillion_job* job);
/* Who is missing from a correction, in words; empty: nobody. Valid until the next call. */
const char* cotillion_describe(cotillion_job* job, const cotillion_correction* correction);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
