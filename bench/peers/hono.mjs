// The heartbeats and feed of fastify.mjs with Hono on Bun, with HS256 instead of EdDSA. Its JWT
// middleware has no cache, so it verifies each token.
import { Hono } from 'hono';
import { jwt, sign } from 'hono/jwt';
import { seatOf, streamOf, viewCount } from './streams.mjs';

const SECRET = crypto.randomUUID();
const ALGORITHM = 'HS256';

const app = new Hono();
/** The stream of the path, if the token is valid for it; else null. */
function authorizedStream(context) {
  const streamId = context.req.param('stream_id');
  return context.get('jwtPayload').stream_id === streamId ? streamOf(streamId) : null;
}

app.post('/api/v1/token', async (context) => {
  const { stream_id, unique_user_identifier: identifier } = await context.req.json();
  const seat = seatOf(stream_id, identifier);
  const exp = Math.floor(Date.now() / 1000) + 600;
  return context.json({ token: await sign({ stream_id, seat, exp }, SECRET, ALGORITHM) });
});

app.put('/intervals/:stream_id/:interval', async (context) => {
  const body = JSON.stringify(await context.req.json());
  streamOf(context.req.param('stream_id')).intervals.set(context.req.param('interval'), body);
  return context.body(null, 204);
});

const requireToken = jwt({ secret: SECRET, alg: ALGORITHM });

app.post('/api/v1/view-counts/:stream_id', requireToken, (context) => {
  const stream = authorizedStream(context);
  if (!stream) return context.body(null, 401);
  stream.seen.set(context.get('jwtPayload').seat, Date.now());
  return context.body(null, 204);
});

app.get('/api/v1/view-counts/:stream_id', requireToken, (context) => {
  const stream = authorizedStream(context);
  return stream ? context.json(viewCount(stream)) : context.body(null, 401);
});

app.get('/api/v1/events-streams/:stream_id', requireToken, (context) => {
  const stream = authorizedStream(context);
  if (!stream) return context.body(null, 401);
  const body = stream.intervals.get(context.req.query('interval'));
  if (!body) return context.body(null, 404);
  return context.body(body, 200, { 'Content-Type': 'application/json' });
});

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch });
console.log(`listening on http://127.0.0.1:${server.port}`);
