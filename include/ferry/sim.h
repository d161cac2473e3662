/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the driver stand-in, for tests. They are exported by the stand-in's libcuda.so.1
 * only: find them with dlsym (or ferry's Driver::find_symbol) on the loaded library. A real driver
 * has none.
 *
 * The same settings can be given in the environment when the library loads:
 *   FERRY_SIM="profile=h200-pcie5;devices=2;capacity=24GiB;data=none;schedule=random;seed=7;hazards=abort;fault=cuMemCreate@3:2"
 * A setting that cannot be understood, or a key that is given twice, makes cuInit fail and prints
 * the offending part. In brackets: what holds where a key is not given. SIZE is a number with a
 * unit: K, M, G, T, P or E, alone or with B or iB after it, all of them powers of 1024 (24G, 24GB
 * and 24GiB are the same; 1.5GiB is possible). Without a unit it is bytes.
 *
 * The machine:
 *   devices=N             0 to 16 (1)
 *   capacity=SIZE         memory of each device (1TiB, with a profile what its device has)
 *   profile=NAME          of the machine whose times are modelled: ferry_sim_now_ps (none)
 *   data=real|none        none: copies are checked and counted, but move no bytes (real)
 *   kernels=known|skipped a kernel without a function of the host (below) cannot be launched
 *                         (CUDA_ERROR_NOT_SUPPORTED), or does nothing; memory that nothing has
 *                         written then reads as zeros (known)
 *
 * Order:
 *   schedule=eager|lazy|random   queued work runs at once, only when something waits for it, or in
 *                         an order that is drawn (eager)
 *   seed=N                of what is drawn: the random schedule and faults with p0.25 (0)
 *   hazards=off|report|abort     ferry_sim_take_hazards; abort: at the first (report)
 *   threads=free|turns    ferry_sim_thread_begin (free)
 *
 * Limits of other machines ("none" takes away one that is a SIZE):
 *   vmm=on|off            off: no virtual memory management: CUDA_ERROR_NOT_SUPPORTED (on)
 *   granularity=SIZE      of cuMemCreate and mappings, a power of two from 64KiB to 1GiB (2MiB)
 *   rdma=off|on|refused   memory with gpuDirectRDMACapable: denied, granted, or granted and
 *                         useless: cuMemSetAccess then answers CUDA_ERROR_UNKNOWN (off)
 *   taken=SIZE            of each device's memory is in use by other processes (none)
 *   largest_piece=SIZE    memory is fragmented: larger requests find none, however much is free
 *                         (none)
 *   reserve_total=SIZE    of address reservations, all together (none)
 *   register_call=SIZE    of one registration of host memory (none)
 *   register_total=SIZE   of all of them together (none)
 *   reuse=late|immediate  when freed addresses, streams' and events' handles are given out again
 *                         (late)
 *
 * Faults (none). All keys but at_exit may be given several times:
 *   fault=FUNCTION@WHICH:RESULT      calls of a function (base name) fail; RESULT is a number or a
 *                                    name of cuda.h. With ",sticky" after it the current context is
 *                                    poisoned too, as by a fault of the device
 *   stall=FUNCTION@WHICH:MILLISECONDS  calls stand still in real time; other threads go on
 *     WHICH: 3 the third call from now; 3-5 the third to the fifth; 3- all from the third on;
 *     every4 each fourth; p0.25 each with this probability (drawn from seed; p0.25/7 from the seed
 *     7); after1GiB those that ask for more than is left of so many bytes, for functions that
 *     allocate, reserve or register
 *   lost=DEVICE@N:RESULT             at the Nth call from now, of whichever function, the device is
 *                                    lost: its contexts, later ones too, answer RESULT to
 *                                    everything. Without @N it is lost at the next call, without
 *                                    :RESULT the answer is CUDA_ERROR_DEVICE_UNAVAILABLE. Device 0
 *                                    at the hundredth: lost=0@100:CUDA_ERROR_ECC_UNCORRECTABLE
 *   slow=ENGINE:FACTOR@FROM-UNTIL    so many times slower between two moments of virtual time
 *   stuck=ENGINE@FROM-UNTIL          no progress between the two; both need a profile
 *     ENGINE: to_device, to_host, peer, compute, of all devices, or 1/to_device of device 1.
 *     FROM, UNTIL: 10us, 2ms, counted as ferry_sim_now_ps counts
 *   at_exit=usable|deinitialized     deinitialized: calls made after the driver's own exit handler,
 *                                    which cuInit sets up, answer CUDA_ERROR_DEINITIALIZED (usable)
 *
 * Functions that return int: 0 on success, -1 for a bad argument.
 */
#ifndef FERRY_SIM_H
#define FERRY_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Applies settings in the syntax of FERRY_SIM. They act at once, faults besides those that are
 * there, and the random sequence starts anew; devices, capacity, profile, threads, data, vmm,
 * granularity and rdma can only change before cuInit or right after ferry_sim_reset (-1
 * otherwise). */
typedef int (*ferry_sim_configure_fn)(const char* settings);

/* What cannot be understood in FERRY_SIM, "" when all can: then cuInit fails, and would print it.
 */
typedef const char* (*ferry_sim_settings_error_fn)(void);

/* Forgets everything (contexts, memory, streams, faults, counts) and starts anew with `settings`
 * over the defaults; FERRY_SIM no longer counts. A process that had called cuInit need not call it
 * again. Queued work does not run; a host function that the stand-in runs by itself comes to its
 * end first. -1 inside a host function. Requires: no other thread is inside the library. */
typedef int (*ferry_sim_reset_fn)(const char* settings);

/* The nth call from now on (1 = the next) of the named function fails with `result`, a CUresult. */
typedef int (*ferry_sim_fail_nth_fn)(const char* function, uint64_t nth, int result);

/* How often the named function has been called since the last reset (base name: "cuMemCreate"). */
typedef uint64_t (*ferry_sim_calls_fn)(const char* function);

/* What those calls cost the threads that made them, in picoseconds of virtual time, waits for
 * queued work apart: 0 without a profile. */
typedef uint64_t (*ferry_sim_call_cost_ps_fn)(const char* function);

/* Physical device memory in use on a device, in bytes. */
typedef uint64_t (*ferry_sim_memory_in_use_fn)(int device);

/* Runs queued work of all streams to the end, whatever the schedule. The host has seen it complete.
 * No effect inside a host function. */
typedef void (*ferry_sim_drain_fn)(void);

/* Copies device memory to the host at once, without order or timing: what a debugger would see.
 * -1 where the range is not mapped. Works before queued writes have run. */
typedef int (*ferry_sim_peek_fn)(uint64_t address, void* out, size_t bytes);

/* How many hazards (accesses to the same bytes that nothing orders) were found since the last take.
 * Each was printed to stderr as "ferry-sim: hazard: ...", with both operations and where in the
 * program they were asked for; those that came again between the same two calls were only counted,
 * which the take, or the end of the process, says. Those taken no longer count: a process with
 * others would end with status 66 where it ends with 0, unless it ends by _exit or quick_exit. A
 * forked child counts its own alone. Setting: hazards=off|report|abort.
 *
 * Never named, and seen by wrong bytes alone: conflicts of host functions with copies, and races
 * between processes. A thread that hands a buffer to another one without waiting for the work on it
 * is missed where, as it happens in this run, it synchronises before the other one's call: what a
 * thread has waited for counts for all. With threads=turns, threads that take part make their calls
 * in the same order in every run. */
typedef uint64_t (*ferry_sim_take_hazards_fn)(void);

/* Kernels. The code in a module's image cannot run here; a function of the host does its work,
 * known by the kernel's name. cuModuleGetFunction finds a name where it stands in the image,
 * whether or not something is registered for it, so that a name which the two sides spell
 * differently is found out; launching one that nothing is registered for answers
 * CUDA_ERROR_NOT_SUPPORTED and says so. */
typedef struct {
  uint32_t grid[3];
  uint32_t block[3];
  size_t dynamic_shared_bytes;
} ferry_sim_launch;

/* Memory that a launch touches: device memory, or pinned memory of the host. */
typedef struct {
  uint64_t address;
  size_t bytes;
  int writes; /* 0: it only reads there */
} ferry_sim_range;

typedef struct {
  const char* name;
  size_t argument_count;
  const size_t* argument_bytes; /* one for each argument; null where there is none */
  /* Called when the kernel is launched: which memory it will touch. Writes at most `room` ranges
   * and returns how many there are; called again with more room where there were too many. May not
   * call the driver, and reads nothing but the arguments. */
  size_t (*ranges)(const ferry_sim_launch* launch, const void* const* arguments,
                   ferry_sim_range* out, size_t room);
  /* Called when the launch runs, on whichever thread made that necessary; not with data=none.
   * memory[i] is a copy of range i, and goes back afterwards where the range says that it writes.
   * May not call the driver. */
  void (*run)(const ferry_sim_launch* launch, const void* const* arguments, void* const* memory);
  /* May be null. Called when the kernel is launched: how long it takes beyond what moving its bytes
   * takes, on the virtual clock of a profile. */
  uint64_t (*nanoseconds)(const ferry_sim_launch* launch, const void* const* arguments);
} ferry_sim_kernel;

/* Copies what it is given; lives until the process ends, a reset too. A name again replaces it. */
typedef int (*ferry_sim_register_kernel_fn)(const ferry_sim_kernel* kernel);

/* Operators of a framework, for whoever brings one to the stand-in: `ferry sim run` does so for
 * PyTorch. The hazard checker then knows what an operator touches though its kernels are skipped
 * (kernels=skipped), and its reports name the operator and the line of the program. */

/* The calling thread begins an operator: everything that it submits until the end is a part of it.
 * name: "aten::add"; place: "train.py:31", "" where it is not known. inputs: the memory that is
 * given to it; with kernels=skipped, what it copies to the host from elsewhere is taken for the
 * result of a kernel and reads as zeros. Operators within another one are parts of that. -1 inside
 * a host function. */
typedef int (*ferry_sim_operator_begin_fn)(const char* name, const char* place,
                                           const ferry_sim_range* inputs, size_t count);

/* Of `writes`, for ferry_sim_operator_touches: the operator writes the whole range, which was
 * new to it. With kernels=skipped it reads as zeros, save for what the operator's own copies and
 * fills put there. */
#define FERRY_SIM_WRITES_NEW 2

/* What the operator's kernels read and write: queued on `stream`, a CUstream of the device's
 * primary context, after what the operator has submitted; in a capture an empty node that every
 * launch takes up. All of the bytes must be device memory. -1 outside an operator, and where there
 * is no such stream. */
typedef int (*ferry_sim_operator_touches_fn)(int device, void* stream,
                                             const ferry_sim_range* ranges, size_t count);

/* -1 where none has begun. */
typedef int (*ferry_sim_operator_end_fn)(void);

/* A framework's allocator takes back the memory of a tensor, for reuse by work of `stream`, the one
 * that it was allocated for, and by that of others once what is queued now on `users` (CUstreams)
 * has ended. It is a hazard where another stream still uses it that neither comes after. Nothing is
 * looked at where `stream` is in a capture. place: the line of the program, "" where it is not
 * known. -1 where there is no such stream. */
typedef int (*ferry_sim_storage_end_fn)(const char* place, int device, void* stream,
                                        uint64_t address, size_t bytes, void* const* users,
                                        size_t count);

/* Runs what is queued, whatever the schedule, as far as nothing keeps it from running. Unlike
 * ferry_sim_drain nobody has waited: no hazard is hidden by it, and no clock moves. -1 inside a
 * host function. */
typedef int (*ferry_sim_settle_fn)(void);

/* An address of the host at which the same bytes lie as at a device address, for reading and
 * writing them without the driver, order or checks. Good until that memory is freed or unmapped;
 * for all device memory at the same distance. NULL where a part is not mapped, for memory that
 * other processes share, for some memory of pools, and with data=none. */
typedef void* (*ferry_sim_host_view_fn)(uint64_t address, size_t bytes);

/* Marks a moment in the record of the program's copies and waits, one line of JSON each
 * (src/sim/traffic/traffic_log.hpp). It is kept where the environment has FERRY_SIM_TRAFFIC, a
 * folder in which each process that copies has a file PID.jsonl: `ferry sim run --traffic` sets it
 * and adds up what is there. The kinds that it knows:
 *   "phase"       a part of the program begins; value: which step of a training it belongs to
 *   "range"       the outermost range of NVTX begins, or has ended (name "")
 *   "micro_step"  the same parameters are used again before the optimizer has run; value: how often
 *   "parameters"  value: how many the trained model has
 *   "allocated"   value: bytes in tensors
 * 0 also where no record is kept; -1 for another kind. Any other way to learn of phases is the
 * program's own: nothing is derived from calls of the driver. */
typedef int (*ferry_sim_traffic_mark_fn)(const char* kind, const char* name, uint64_t value);

/* Time is modelled, never measured: a clock in whole picoseconds that follows from the order of the
 * program's calls alone. Setting profile=NAME (ferry sim list) or profile=/path.json says what
 * calls and operations cost; without one every operation takes a microsecond and calls take no
 * time. Each host thread has a clock of its own. A call of the driver moves it by its cost, a call
 * that waits also to the end of what it waits for; events take their times from it. With a profile
 * a query says what has ended by the caller's clock, so a loop that polls comes to an end as
 * queries cost time. With one driving thread two runs give the same figures to the bit, whatever
 * the schedule; where several call freely, engines are queued for in the order of their calls,
 * which is the system's choice. With threads=turns it is not (ferry_sim_thread_begin).
 *
 * Host functions (cuLaunchHostFunc, cuStreamAddCallback) run within calls of the program's own
 * threads: of the driver, of ferry_sim_host_work and ferry_sim_host_copy. With a profile none runs
 * before its moment on the clock of the thread that calls, and under schedule=eager they run in the
 * order of those moments. Where a program waits for what one does without calling the driver, a
 * thread of the stand-in runs it, some 70 ms after the last call if all threads of the program wait
 * in the system; after 2 s without a call, because a program spins on a flag, any queued work goes
 * on there. To let modelled time pass in such a loop instead, call ferry_sim_host_work(100) in it.
 * With threads=turns that thread waits until nobody has a turn: a thread that has stepped out of a
 * round runs no host function, but another one, or this.
 *
 * The calling thread's clock, in picoseconds; 0 before cuInit. */
typedef uint64_t (*ferry_sim_now_ps_fn)(void);

/* The calling thread works for that long without the driver: host code between calls takes no time
 * unless it says so. No effect inside a host function. */
typedef void (*ferry_sim_host_work_fn)(uint64_t nanoseconds);

/* The same for copying so many bytes in host memory, at the profile's rate of one thread. No effect
 * without a profile. */
typedef void (*ferry_sim_host_copy_fn)(uint64_t bytes);

/* On which node of the modelled host memory lies. Profiles of machines with several (host.nodes)
 * move memory of another node than the device's more slowly; CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID is
 * the device's own. Where pages really lie is not asked: the machine underneath has other nodes,
 * and figures are the same everywhere. Pinned memory lies near the device of the context in which
 * it was allocated or registered, unless one of these says otherwise; both return -1 for a node
 * that the profile has not (without one there is node 0), and before cuInit.
 *
 * The calling thread allocates and registers memory on this node from now on; -1: near the device
 * again. */
typedef int (*ferry_sim_set_thread_node_fn)(int node);

/* This memory lies there, whether it is pinned, will be, or never is (then it counts for nothing).
 * Holds until it is freed or unregistered. */
typedef int (*ferry_sim_place_host_fn)(const void* memory, size_t bytes, int node);

/* Taking turns. With threads=turns (which needs a profile) threads that take part go on one at a
 * time: the one whose clock is the smallest, by number where two are alike. A turn lasts while the
 * thread's clock stands still, its own code between calls included. So threads do everything in the
 * order of virtual time, and every run gives the same figures and the same order to the bit,
 * however the system schedules them.
 *
 * Announce a thread before it is started, all of a round before the first of them; then it begins
 * and ends by itself:
 *   ferry_sim_thread_expect(1); ferry_sim_thread_expect(2);
 *   std::thread first([] { ferry_sim_thread_begin(1); ...; ferry_sim_thread_end(); }); ...
 * While any thread is expected or takes part, calls of others are refused with
 * CUDA_ERROR_NOT_PERMITTED, the first of them with a word on standard error. While none does,
 * threads call as they like, and go on from the time at which the last round ended.
 *
 * A thread that waits outside the driver (for a mutex, a condition, another thread's end) keeps its
 * turn and with it all others, so it must let time pass, or step out:
 *   while (!mutex.try_lock()) ferry_sim_host_work(100);     it looks every 100 ns
 *   if (!ready) { ferry_sim_thread_pause(); wait(); ferry_sim_thread_resume(); }
 * Who makes it ready says so with ferry_sim_thread_wake before it really does: so the woken
 * thread's place does not depend on how soon the system lets it run. Without that it goes on where
 * the round happens to be, which repeats only where nobody else takes part at that moment. A round
 * that stands still for five seconds of real time is reported on standard error.
 *
 * All return -1 where threads do not take turns, before cuInit, and where the state of the thread
 * does not fit; inside a host function all but ferry_sim_thread_wake. */

/* A thread of this number will begin where the caller's clock is now. -1 where the number takes
 * part already, or the caller does not and some thread has begun. */
typedef int (*ferry_sim_thread_expect_fn)(uint64_t number);

/* The calling thread takes part under this number, which was expected. Returns when its turn has
 * come. */
typedef int (*ferry_sim_thread_begin_fn)(uint64_t number);

/* The calling thread takes part no longer. Needed before it ends. */
typedef int (*ferry_sim_thread_end_fn)(void);

/* The calling thread steps out of the round. */
typedef int (*ferry_sim_thread_pause_fn)(void);

/* The thread of this number, if it has stepped out, has its place again, not before the caller's
 * clock, and keeps the others waiting until it resumes. Requires: the caller takes part. */
typedef int (*ferry_sim_thread_wake_fn)(uint64_t number);

/* The calling thread comes back after a pause. Returns when its turn has come. */
typedef int (*ferry_sim_thread_resume_fn)(void);

#define FERRY_SIM_CONFIGURE "ferry_sim_configure"
#define FERRY_SIM_SETTINGS_ERROR "ferry_sim_settings_error"
#define FERRY_SIM_RESET "ferry_sim_reset"
#define FERRY_SIM_FAIL_NTH "ferry_sim_fail_nth"
#define FERRY_SIM_CALLS "ferry_sim_calls"
#define FERRY_SIM_CALL_COST_PS "ferry_sim_call_cost_ps"
#define FERRY_SIM_MEMORY_IN_USE "ferry_sim_memory_in_use"
#define FERRY_SIM_DRAIN "ferry_sim_drain"
#define FERRY_SIM_PEEK "ferry_sim_peek"
#define FERRY_SIM_TAKE_HAZARDS "ferry_sim_take_hazards"
#define FERRY_SIM_REGISTER_KERNEL "ferry_sim_register_kernel"
#define FERRY_SIM_OPERATOR_BEGIN "ferry_sim_operator_begin"
#define FERRY_SIM_OPERATOR_TOUCHES "ferry_sim_operator_touches"
#define FERRY_SIM_OPERATOR_END "ferry_sim_operator_end"
#define FERRY_SIM_STORAGE_END "ferry_sim_storage_end"
#define FERRY_SIM_SETTLE "ferry_sim_settle"
#define FERRY_SIM_HOST_VIEW "ferry_sim_host_view"
#define FERRY_SIM_TRAFFIC_MARK "ferry_sim_traffic_mark"
#define FERRY_SIM_NOW_PS "ferry_sim_now_ps"
#define FERRY_SIM_HOST_WORK "ferry_sim_host_work"
#define FERRY_SIM_HOST_COPY "ferry_sim_host_copy"
#define FERRY_SIM_SET_THREAD_NODE "ferry_sim_set_thread_node"
#define FERRY_SIM_PLACE_HOST "ferry_sim_place_host"
#define FERRY_SIM_THREAD_EXPECT "ferry_sim_thread_expect"
#define FERRY_SIM_THREAD_BEGIN "ferry_sim_thread_begin"
#define FERRY_SIM_THREAD_END "ferry_sim_thread_end"
#define FERRY_SIM_THREAD_PAUSE "ferry_sim_thread_pause"
#define FERRY_SIM_THREAD_WAKE "ferry_sim_thread_wake"
#define FERRY_SIM_THREAD_RESUME "ferry_sim_thread_resume"

#ifdef __cplusplus
}
#endif
#endif /* FERRY_SIM_H */
