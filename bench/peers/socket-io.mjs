// A show's broadcast with Socket.IO, set up as its page on performance says: WebSocket alone, and the
// request that opened a connection is let go.
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { eachInterval } from './each-interval.mjs';

const ROOM = 'show';

const http = createServer();
const io = new Server(http, { transports: ['websocket'], serveClient: false });
io.engine.on('connection', (socket) => {
  socket.request = null;
});
io.on('connection', (socket) => socket.join(ROOM));

eachInterval((body) => io.to(ROOM).emit('interval', JSON.parse(body)));

http.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  console.log(`listening on http://127.0.0.1:${http.address().port}`),
);
