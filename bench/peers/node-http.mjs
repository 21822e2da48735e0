// Node's own server, which looks at nothing: what any service on Node begins with.
import { createServer } from 'node:http';

const server = createServer((_request, response) => {
  response.writeHead(204);
  response.end();
});
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
