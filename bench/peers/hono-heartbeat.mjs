// The same with Hono on Bun. Its middleware for JWT keeps no token that was checked, so it checks each.
import { Hono } from 'hono';
import { jwt, sign } from 'hono/jwt';

const SECRET = crypto.randomUUID();
const ALGORITHM = 'HS256';

const app = new Hono();
/** When each viewer of a stream was last heard of, ms. */
const streams = new Map();

app.use('/api/*', jwt({ secret: SECRET, alg: ALGORITHM }));

app.post('/api/v1/view-counts/:stream_id', (context) => {
  const { stream_id: streamId, seat } = context.get('jwtPayload');
  if (streamId !== context.req.param('stream_id')) return context.body(null, 401);
  let viewers = streams.get(streamId);
  if (!viewers) {
    viewers = new Map();
    streams.set(streamId, viewers);
  }
  viewers.set(seat, Date.now());
  return context.body(null, 204);
});

app.post('/token', async (context) => {
  const claims = { ...(await context.req.json()), exp: Math.floor(Date.now() / 1000) + 600 };
  return context.json({ token: await sign(claims, SECRET, ALGORITHM) });
});

app.get('/count/:stream_id', (context) => {
  const sinceMs = Date.now() - 1_000;
  const viewers = [...(streams.get(context.req.param('stream_id'))?.values() ?? [])];
  return context.json({ value: viewers.filter((seenMs) => seenMs > sinceMs).length });
});

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch });
console.log(`listening on http://127.0.0.1:${server.port}`);
