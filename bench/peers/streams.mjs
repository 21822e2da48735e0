// The state of a service in memory, for fastify.mjs and hono.mjs.

/** By stream: seats by viewer, time of the last heartbeat of each seat (ms), and intervals as JSON. */
const streams = new Map();
const REGISTRATION_MS = 1_000;

export function streamOf(id) {
  let stream = streams.get(id);
  if (!stream) {
    stream = { seats: new Map(), seen: new Map(), intervals: new Map() };
    streams.set(id, stream);
  }
  return stream;
}

/** The seat of a viewer, given at the first token. */
export function seatOf(streamId, identifier) {
  const { seats } = streamOf(streamId);
  if (!seats.has(identifier)) seats.set(identifier, seats.size);
  return seats.get(identifier);
}

/** The viewers who sent a heartbeat in the last second, as the service responds. */
export function viewCount({ seen }) {
  const sinceMs = Date.now() - REGISTRATION_MS;
  const value = [...seen.values()].filter((seenMs) => seenMs > sinceMs).length;
  return { value, formatted: String(value) };
}
