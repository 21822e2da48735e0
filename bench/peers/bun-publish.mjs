// The broadcast with the WebSockets of Bun, without a library.
import { sendEachInterval } from './each-interval.mjs';

const TOPIC = 'show';

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, self) => (self.upgrade(request) ? undefined : new Response('a WebSocket')),
  websocket: {
    open: (socket) => socket.subscribe(TOPIC),
    message: () => {},
  },
});

sendEachInterval((body) => server.publish(TOPIC, body));

console.log(`listening on ${server.url}`);
