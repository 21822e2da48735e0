// A broadcast with Socket.IO, configured as its performance documentation recommends: only WebSocket, and
// the opening request is released.
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { sendEachInterval } from './each-interval.mjs';

const ROOM = 'show';

const http = createServer();
const io = new Server(http, { transports: ['websocket'], serveClient: false });
io.engine.on('connection', (socket) => {
  socket.request = null;
});
io.on('connection', (socket) => socket.join(ROOM));

sendEachInterval((body) => io.to(ROOM).emit('interval', JSON.parse(body)));

http.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  console.log(`listening on http://127.0.0.1:${http.address().port}`),
);
