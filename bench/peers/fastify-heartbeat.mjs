// A heartbeat as one would write it with Fastify: the token is checked, the viewer is counted.
// @fastify/jwt keeps tokens that were checked, when it is told to: it is.
import jwt from '@fastify/jwt';
import fastify from 'fastify';

const CACHED_TOKENS = 100_000;

const app = fastify({ logger: false });
await app.register(jwt, {
  secret: { private: process.env.PRIVATE_KEY, public: process.env.PUBLIC_KEY },
  sign: { algorithm: 'EdDSA', expiresIn: '10m' },
  verify: { algorithms: ['EdDSA'], cache: CACHED_TOKENS },
});

/** When each viewer of a stream was last heard of, ms. */
const streams = new Map();

app.post('/api/v1/view-counts/:stream_id', async (request, reply) => {
  await request.jwtVerify();
  const { stream_id: streamId, seat } = request.user;
  if (streamId !== request.params.stream_id) return reply.code(401).send();
  let viewers = streams.get(streamId);
  if (!viewers) {
    viewers = new Map();
    streams.set(streamId, viewers);
  }
  viewers.set(seat, Date.now());
  return reply.code(204).send();
});

app.post('/token', async (request) => ({ token: app.jwt.sign(request.body) }));

app.get('/count/:stream_id', async (request) => {
  const sinceMs = Date.now() - 1_000;
  const viewers = [...(streams.get(request.params.stream_id)?.values() ?? [])];
  return { value: viewers.filter((seenMs) => seenMs > sinceMs).length };
});

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
