// The HTTP server of Node without any work, the upper bound of every service on Node. It responds with
// the BODY of the environment, or with an empty body.
import { createServer } from 'node:http';

const body = Buffer.from(process.env.BODY ?? '');
const head = { 'Content-Type': 'application/json', 'Content-Length': body.length };

const server = createServer((_request, response) => {
  if (body.length === 0) response.writeHead(204).end();
  else response.writeHead(200, head).end(body);
});
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
