/*
 * Sends the requests of polling viewers, in one thread with one epoll. polling-viewers.ts compiles this file
 * with the compiler of Bun, which has no system headers; hence the declarations. In JavaScript a request took
 * 12 µs of the load's core, 5 of them outside the kernel, so that the load was saturated before the server.
 * Names that end in _us are times in µs.
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
/* Edge-triggered (1u << 31), which saves the kernel a second check of each socket. One recv empties a socket,
   since a response is smaller than BYTES_MAX. */
static const unsigned WATCHED = EPOLLIN | 1u << 31;
enum { HEARTBEAT = 1, FEED = 2, DIGITS = 10 };
enum { PENDING_MAX = 20, KNOWN_BODIES = 16, BYTES_MAX = 65536, EVENTS_MAX = 512, SEND_BATCH_MAX = 256 };
/* An interval counts as sealed 50 ms after its end. */
enum { INTERVAL_US = 250000, SEALED_AFTER_US = 50000 };
/* After a pass with fewer requests and responses it sleeps, so that the next pass processes more at once. */
enum { BUSY_MIN = 16, SLEEP_NS = 200000 };

/* A request without a response yet. The interval is that of a feed request. */
struct pending { int64 planned_us; int viewer; int64 interval; char kind, is_measured; };
/*
 * Pending requests are a ring buffer; only the first has been sent, the others wait for its response.
 * `part` has the first part_length bytes of an incomplete response.
 */
struct connection { int fd, first, pending_count, part_length; char *part; struct pending pending[PENDING_MAX]; };
struct body { int64 interval; int length; char bytes[BYTES_MAX]; };

/* Input: the requests of each viewer as bytes with their offsets, and the schedule of a period. */
static char *bytes;
static unsigned *heartbeat_at, *feed_at;
static int digits_at, schedule_length;
static double *schedule_us;
static unsigned *schedule_viewer;
static unsigned char *schedule_kind;
static int64 period_us;
/* Output. `results` has the numbers of this enum; polling-viewers.ts has the same indexes and sizes. */
static float *latency_us, *send_delay_us;
static int64 *results;
static char *bodies, *failure_text;
enum { RESPONSES, SENT, FAILED, INCORRECT, BODIES_LENGTH, FAILURE_TEXT_LENGTH };
enum { BODIES_MAX = 1 << 20, FAILURE_TEXT_MAX = 1000 };

static int poll_fd, connection_count;
static struct connection *connections;
static struct body known_bodies[KNOWN_BODIES];
static char incoming[2 * BYTES_MAX];
/* Index in the schedule of the next request. */
static int next_index;
/* realtime_offset_us: add it to a monotonic time to get Unix time. */
static int64 period_start_us, realtime_offset_us;
static int is_measuring;

static int64 now_us(int clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.s * 1000000 + now.ns / 1000;
}

/* Counts a failure (FAILED or INCORRECT), and stores the text of the first one. */
static void fail(int kind, const char *text, int length) {
  results[kind] += 1;
  if (results[FAILURE_TEXT_LENGTH] > 0) return;
  if (length > FAILURE_TEXT_MAX) length = FAILURE_TEXT_MAX;
  memcpy(failure_text, text, length);
  results[FAILURE_TEXT_LENGTH] = length;
}

void load_requests(char *all_bytes, unsigned *heartbeats, unsigned *feeds, int digits) {
  bytes = all_bytes; heartbeat_at = heartbeats; feed_at = feeds; digits_at = digits;
}

void load_schedule(double *at_us, unsigned *viewer, unsigned char *kind, int length, double period) {
  schedule_us = at_us; schedule_viewer = viewer; schedule_kind = kind; schedule_length = length; period_us = period;
}

void load_results(float *latencies, float *send_delays, int64 *numbers, char *all_bodies, char *text) {
  latency_us = latencies; send_delay_us = send_delays; results = numbers; bodies = all_bodies; failure_text = text;
}

/* Opens `count` more connections. Returns how many are open in total; fewer than requested when one is refused. */
int load_open(unsigned ip, int port, int count, int total_max) {
  struct address to = { INET, (port >> 8) | ((port & 255) << 8), ip };
  if (!connections) {
    connections = calloc(total_max, sizeof *connections);
    poll_fd = epoll_create1(0);
  }
  for (; count > 0; count--) {
    int on = 1, fd = socket(INET, STREAM, TCP);
    struct epoll_event event = { WATCHED, connection_count, 0 };
    if (fd < 0 || connect(fd, &to, sizeof to) < 0) break;
    setsockopt(fd, TCP, NODELAY, &on, sizeof on);
    epoll_ctl(poll_fd, EPOLL_ADD, fd, &event);
    connections[connection_count++].fd = fd;
  }
  return connection_count;
}

static void put_digits(char *at, int64 number) {
  for (int place = DIGITS - 1; place >= 0; place--, number /= 10) at[place] = '0' + number % 10;
}

static void send_first(struct connection *one) {
  struct pending *first = &one->pending[one->first];
  unsigned *offsets = first->kind == FEED ? feed_at : heartbeat_at;
  char *request = bytes + offsets[first->viewer];
  int length = offsets[first->viewer + 1] - offsets[first->viewer];
  if (first->kind == FEED) {
    first->interval = (first->planned_us + realtime_offset_us - SEALED_AFTER_US) / INTERVAL_US - 1;
    put_digits(request + digits_at, first->interval);
  }
  if (send(one->fd, request, length, DONTWAIT | NOSIGNAL) != length) fail(FAILED, "a socket did not accept a request", 33);
}

/* Sends the next request of the schedule, or queues it when its connection has a pending one. */
static void send_or_queue(int64 now, int64 planned_us) {
  int viewer = schedule_viewer[next_index];
  struct connection *one = &connections[viewer % connection_count];
  struct pending *last = &one->pending[(one->first + one->pending_count) % PENDING_MAX];
  if (is_measuring) send_delay_us[results[SENT]++] = now - planned_us;
  if (one->fd < 0) { fail(FAILED, "a connection is closed", 22); return; }
  if (one->pending_count == PENDING_MAX) { fail(FAILED, "a connection has 20 pending requests", 36); return; }
  last->planned_us = planned_us;
  last->viewer = viewer;
  last->kind = schedule_kind[next_index];
  last->is_measured = is_measuring;
  if (++one->pending_count == 1) send_first(one);
}

/* Sends or queues the requests that are due. Returns their number. */
static int send_due(void) {
  int64 now = now_us(MONOTONIC);
  int count = 0;
  for (; count < SEND_BATCH_MAX; count++) {
    int64 planned_us = period_start_us + (int64)schedule_us[next_index];
    if (planned_us > now) break;
    send_or_queue(now, planned_us);
    if (++next_index == schedule_length) { next_index = 0; period_start_us += period_us; }
  }
  return count;
}

/*
 * All viewers must receive the same bytes of an interval. The first body of each interval is stored in
 * `bodies` for polling-viewers.ts, as ten digits, the body and a line feed, while there is room.
 */
static void check_body(int64 interval, const char *body, int length) {
  struct body *known = &known_bodies[interval % KNOWN_BODIES];
  if (known->interval == interval) {
    if (known->length != length || memcmp(known->bytes, body, length)) fail(INCORRECT, body, length);
    return;
  }
  known->interval = interval;
  known->length = length;
  memcpy(known->bytes, body, length);
  if (results[BODIES_LENGTH] + length + 1 + DIGITS > BODIES_MAX) return;
  put_digits(bodies + results[BODIES_LENGTH], interval);
  memcpy(bodies + results[BODIES_LENGTH] + DIGITS, body, length);
  bodies[results[BODIES_LENGTH] + DIGITS + length] = '\n';
  results[BODIES_LENGTH] += DIGITS + length + 1;
}

/* Returns the offset of the body; 0 for an incomplete response. */
static int parse_response(const char *response, int length, int *status, int *body_length) {
  char *end = memmem(response, length, "\r\n\r\n", 4);
  if (!end) return 0;
  int head_length = end - response + 4;
  char *digit = memmem(response, head_length, "\r\nContent-Length: ", 18);
  int value = 0;
  if (digit) for (digit += 18; *digit >= '0' && *digit <= '9'; digit++) value = value * 10 + *digit - '0';
  *status = (response[9] - '0') * 100 + (response[10] - '0') * 10 + response[11] - '0';
  *body_length = value;
  return head_length + value <= length ? head_length : 0;
}

static void receive(struct connection *one, int64 now) {
  int status, body_length;
  int length = recv(one->fd, incoming + one->part_length, BYTES_MAX, DONTWAIT);
  if (length <= 0) {
    if (length < 0) return;
    fail(FAILED, "a connection was closed", 23);
    close(one->fd);
    one->fd = -1;
    return;
  }
  if (one->part_length) memcpy(incoming, one->part, one->part_length);
  length += one->part_length;
  int body = parse_response(incoming, length, &status, &body_length);
  one->part_length = 0;
  if (!body) {
    if (!one->part) one->part = calloc(1, BYTES_MAX);
    if (length > BYTES_MAX) { fail(INCORRECT, incoming, length); return; }
    memcpy(one->part, incoming, length);
    one->part_length = length;
    return;
  }
  struct pending *first = &one->pending[one->first];
  if (!one->pending_count || body + body_length != length) { fail(INCORRECT, incoming, length); return; }
  if (first->is_measured) latency_us[results[RESPONSES]++] = now - first->planned_us;
  if (status != (first->kind == FEED ? 200 : 204)) fail(FAILED, incoming, length);
  else if (first->kind == FEED) check_body(first->interval, incoming + body, body_length);
  one->first = (one->first + 1) % PENDING_MAX;
  if (--one->pending_count) send_first(one);
}

/* Receives from all readable connections. Returns their number. */
static int receive_all(void) {
  struct epoll_event events[EVENTS_MAX];
  int ready = epoll_wait(poll_fd, events, EVENTS_MAX, 0);
  int64 now = now_us(MONOTONIC);
  for (int at = 0; at < ready; at++) receive(&connections[events[at].data], now);
  return ready;
}

/* Sends and receives for for_us. Requests that are due in that time are measured if `measures` is not 0. */
void load_run(double for_us, int measures) {
  struct timespec pause = { 0, SLEEP_NS };
  int64 end_us = now_us(MONOTONIC) + (int64)for_us;
  is_measuring = measures;
  realtime_offset_us = now_us(REALTIME) - now_us(MONOTONIC);
  if (!period_start_us) period_start_us = now_us(MONOTONIC);
  while (now_us(MONOTONIC) < end_us) if (send_due() + receive_all() < BUSY_MIN) nanosleep(&pause, 0);
}

static int count_measured_pending(void) {
  int sum = 0;
  for (struct connection *one = connections; one < connections + connection_count; one++)
    for (int n = 0; n < one->pending_count; n++)
      sum += one->pending[(one->first + n) % PENDING_MAX].is_measured;
  return sum;
}

/*
 * Plans no more requests, and waits at most for_us for the responses to measured ones; then closes all
 * connections. Returns the number of missing responses.
 */
int load_end(double for_us) {
  struct timespec pause = { 0, SLEEP_NS * 5 };
  int64 end_us = now_us(MONOTONIC) + (int64)for_us;
  while (count_measured_pending() > 0 && now_us(MONOTONIC) < end_us) if (receive_all() == 0) nanosleep(&pause, 0);
  int missing = count_measured_pending();
  for (int at = 0; at < connection_count; at++) close(connections[at].fd);
  return missing;
}
