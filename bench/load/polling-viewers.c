/*
 * Polling viewers in one thread with one epoll. polling-viewers.ts compiles this file with the compiler of
 * Bun, which has no system headers. In JavaScript a request took 12 µs of the load's core, 5 of them
 * outside the kernel, so that the load was saturated before the server.
 */
typedef unsigned long size_t;
typedef long ssize_t;
typedef long long int64;

struct timespec { int64 s; long ns; };
struct epoll_event { unsigned events; unsigned data, unused; } __attribute__((packed));
struct address { unsigned short family, port; unsigned ip; char zero[8]; };

int clock_gettime(int, struct timespec *);
int nanosleep(struct timespec *, struct timespec *);
int epoll_create1(int);
int epoll_ctl(int, int, int, struct epoll_event *);
int epoll_wait(int, struct epoll_event *, int, int);
int socket(int, int, int);
int connect(int, const void *, unsigned);
int setsockopt(int, int, int, const void *, unsigned);
ssize_t send(int, const void *, size_t, int);
ssize_t recv(int, void *, size_t, int);
int close(int);
void *calloc(size_t, size_t);
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
void *memmem(const void *, size_t, const void *, size_t);

enum { REALTIME = 0, MONOTONIC = 1 };
enum { EPOLLIN = 1, EPOLL_ADD = 1, INET = 2, STREAM = 1, TCP = 6, NODELAY = 1 };
enum { DONTWAIT = 0x40, NOSIGNAL = 0x4000 };
/* Edge-triggered: each event is read completely, which saves the kernel a second check of each socket. */
static const unsigned WATCHED = EPOLLIN | 1u << 31;
enum { HEARTBEAT = 1, FEED = 2, DIGITS = 10 };
enum { WAITING_MAX = 20, KEPT = 16, BYTES_MAX = 65536, EVENTS = 512, SENT_AT_ONCE = 256 };
enum { INTERVAL_US = 250000, SEALED_AFTER_US = 50000 };
/* With so little to do it sleeps, so that what comes meanwhile is taken together. */
enum { FEW = 16, NAP_NS = 200000 };

struct asked { int64 at; int viewer; int interval_place; int64 interval; char kind, measured; };
struct connection { int fd, first, waiting, have; char *part; struct asked asked[WAITING_MAX]; };
struct body { int64 interval; int length; char bytes[BYTES_MAX]; };

/* What the caller gave: requests of each viewer, and the moments of a period. */
static char *bytes;
static unsigned *heartbeat_at, *feed_at;
static int digits_at, viewers, moments;
static double *moment_us;
static unsigned *moment_viewer;
static unsigned char *moment_kind;
static int64 period_us;
/* What the caller reads. */
static float *latency, *lateness;
static int64 *found;
static char *bodies, *trouble;
enum { ANSWERED, SENT, FAILED, WRONG, BODY_BYTES, TROUBLE_BYTES };
enum { BODIES_MAX = 1 << 20, TROUBLE_MAX = 1000 };

static int poll_fd, connections;
static struct connection *all;
static struct body kept[KEPT];
static char incoming[2 * BYTES_MAX];
static int next;
static int64 period_start, real_offset;
static int is_measuring;

static int64 us(int clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.s * 1000000 + now.ns / 1000;
}

static void fail(int kind, const char *text, int length) {
  found[kind] += 1;
  if (found[TROUBLE_BYTES] > 0) return;
  if (length > TROUBLE_MAX) length = TROUBLE_MAX;
  memcpy(trouble, text, length);
  found[TROUBLE_BYTES] = length;
}

void load_requests(char *all_bytes, unsigned *heartbeats, unsigned *feeds, int digits, int count) {
  bytes = all_bytes; heartbeat_at = heartbeats; feed_at = feeds; digits_at = digits; viewers = count;
}

void load_schedule(double *at, unsigned *viewer, unsigned char *kind, int length, double period) {
  moment_us = at; moment_viewer = viewer; moment_kind = kind; moments = length; period_us = period;
}

void load_results(float *latencies, float *latenesses, int64 *numbers, char *told, char *text) {
  latency = latencies; lateness = latenesses; found = numbers; bodies = told; trouble = text;
}

/* Opens so many more. Returns how many there are now; fewer than before and asked when one is refused. */
int load_open(unsigned ip, int port, int count, int most) {
  struct address to = { INET, (port >> 8) | ((port & 255) << 8), ip };
  if (!all) {
    all = calloc(most, sizeof *all);
    poll_fd = epoll_create1(0);
  }
  for (; count > 0; count--) {
    int on = 1, fd = socket(INET, STREAM, TCP);
    struct epoll_event event = { WATCHED, connections, 0 };
    if (fd < 0 || connect(fd, &to, sizeof to) < 0) break;
    setsockopt(fd, TCP, NODELAY, &on, sizeof on);
    epoll_ctl(poll_fd, EPOLL_ADD, fd, &event);
    all[connections++].fd = fd;
  }
  return connections;
}

static void put_digits(char *at, int64 number) {
  for (int place = DIGITS - 1; place >= 0; place--, number /= 10) at[place] = '0' + number % 10;
}

static void send_first(struct connection *one) {
  struct asked *first = &one->asked[one->first];
  unsigned *offsets = first->kind == FEED ? feed_at : heartbeat_at;
  char *request = bytes + offsets[first->viewer];
  int length = offsets[first->viewer + 1] - offsets[first->viewer];
  if (first->kind == FEED) {
    first->interval = (first->at + real_offset - SEALED_AFTER_US) / INTERVAL_US - 1;
    put_digits(request + digits_at, first->interval);
  }
  if (send(one->fd, request, length, DONTWAIT | NOSIGNAL) != length) fail(FAILED, "a request was not taken", 23);
}

static void ask(int64 now, int64 at) {
  int viewer = moment_viewer[next];
  struct connection *one = &all[viewer % connections];
  struct asked *last = &one->asked[(one->first + one->waiting) % WAITING_MAX];
  if (is_measuring) lateness[found[SENT]++] = now - at;
  if (one->fd < 0) { fail(FAILED, "a connection is closed", 22); return; }
  if (one->waiting == WAITING_MAX) { fail(FAILED, "a viewer waits for 20 answers", 29); return; }
  last->at = at;
  last->viewer = viewer;
  last->kind = moment_kind[next];
  last->measured = is_measuring;
  if (++one->waiting == 1) send_first(one);
}

/* Sends what is due. Returns how much that was. */
static int send_due(void) {
  int64 now = us(MONOTONIC);
  int sent = 0;
  for (; sent < SENT_AT_ONCE; sent++) {
    int64 at = period_start + (int64)moment_us[next];
    if (at > now) break;
    ask(now, at);
    if (++next == moments) { next = 0; period_start += period_us; }
  }
  return sent;
}

/* Everybody must get the same bytes of an interval; the first are kept for who looks into them. */
static void check_body(int64 interval, const char *body, int length) {
  struct body *known = &kept[interval % KEPT];
  if (known->interval == interval) {
    if (known->length != length || memcmp(known->bytes, body, length)) fail(WRONG, body, length);
    return;
  }
  known->interval = interval;
  known->length = length;
  memcpy(known->bytes, body, length);
  if (found[BODY_BYTES] + length + 1 + DIGITS > BODIES_MAX) return;
  put_digits(bodies + found[BODY_BYTES], interval);
  memcpy(bodies + found[BODY_BYTES] + DIGITS, body, length);
  bodies[found[BODY_BYTES] + DIGITS + length] = '\n';
  found[BODY_BYTES] += DIGITS + length + 1;
}

/* Where the body begins when the answer is whole; 0 when it is not. */
static int whole(const char *answer, int length, int *status, int *body_length) {
  char *end = memmem(answer, length, "\r\n\r\n", 4);
  if (!end) return 0;
  int head = end - answer + 4;
  char *told = memmem(answer, head, "\r\nContent-Length: ", 18);
  int value = 0;
  if (told) for (told += 18; *told >= '0' && *told <= '9'; told++) value = value * 10 + *told - '0';
  *status = (answer[9] - '0') * 100 + (answer[10] - '0') * 10 + answer[11] - '0';
  *body_length = value;
  return head + value <= length ? head : 0;
}

static void take(struct connection *one, int64 now) {
  int status, body_length;
  int length = recv(one->fd, incoming + one->have, BYTES_MAX, DONTWAIT);
  if (length <= 0) {
    if (length < 0) return;
    fail(FAILED, "a connection was closed", 23);
    close(one->fd);
    one->fd = -1;
    return;
  }
  if (one->have) memcpy(incoming, one->part, one->have);
  length += one->have;
  int body = whole(incoming, length, &status, &body_length);
  one->have = 0;
  if (!body) {
    if (!one->part) one->part = calloc(1, BYTES_MAX);
    if (length > BYTES_MAX) { fail(WRONG, incoming, length); return; }
    memcpy(one->part, incoming, length);
    one->have = length;
    return;
  }
  struct asked *first = &one->asked[one->first];
  if (!one->waiting || body + body_length != length) { fail(WRONG, incoming, length); return; }
  if (first->measured) latency[found[ANSWERED]++] = now - first->at;
  if (status != (first->kind == FEED ? 200 : 204)) fail(FAILED, incoming, length);
  else if (first->kind == FEED) check_body(first->interval, incoming + body, body_length);
  one->first = (one->first + 1) % WAITING_MAX;
  if (--one->waiting) send_first(one);
}

static int take_all(void) {
  struct epoll_event events[EVENTS];
  int ready = epoll_wait(poll_fd, events, EVENTS, 0);
  int64 now = us(MONOTONIC);
  for (int at = 0; at < ready; at++) take(&all[events[at].data], now);
  return ready;
}

/* Goes on for so long. What is asked meanwhile is measured, or not. */
void load_run(double for_us, int measures) {
  struct timespec nap = { 0, NAP_NS };
  int64 end = us(MONOTONIC) + (int64)for_us;
  is_measuring = measures;
  real_offset = us(REALTIME) - us(MONOTONIC);
  if (!period_start) period_start = us(MONOTONIC);
  while (us(MONOTONIC) < end) if (send_due() + take_all() < FEW) nanosleep(&nap, 0);
}

static int waiting(void) {
  int sum = 0;
  for (int at = 0; at < connections; at++)
    for (int n = 0; n < all[at].waiting; n++)
      sum += all[at].asked[(all[at].first + n) % WAITING_MAX].measured;
  return sum;
}

/* Asks no more. Returns how many answers never came. */
int load_end(double for_us) {
  struct timespec nap = { 0, NAP_NS * 5 };
  int64 end = us(MONOTONIC) + (int64)for_us;
  while (waiting() > 0 && us(MONOTONIC) < end) if (take_all() == 0) nanosleep(&nap, 0);
  int left = waiting();
  for (int at = 0; at < connections; at++) close(all[at].fd);
  return left;
}
