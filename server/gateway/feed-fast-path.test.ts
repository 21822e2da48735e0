import { expect, test } from 'bun:test';
import type { ViewerWithToken } from '../auth/viewer-tokens/checked-viewers.ts';
import type { Connection } from './connection.ts';
import type { ErrorResponses } from './error-responses.ts';
import { FeedFastPath } from './feed-fast-path.ts';
import type { FeedOperation } from './gateway-backend.ts';
import type { ResponseBytes } from './response-bytes.ts';
import { parseViewerRequest } from './viewer-request.ts';

const STREAM_ID = '0a4cb5b8-7d21-4b8e-9d47-0b8e5d2f6a11';

/** The client of an event stream on the fast path. */
function clientOf(trustProxy: boolean, ...lines: string[]): string | null | undefined {
  const head = [
    `GET /api/v1/events-streams/${STREAM_ID}?interval=7 HTTP/1.1`,
    ...['Host: h', 'Accept: text/event-stream', 'Authorization: Bearer a.b.c', ...lines],
  ];
  const request = parseViewerRequest(Buffer.from(`${head.join('\r\n')}\r\n\r\n`), 0);
  if (typeof request === 'number') throw new Error('the request has no fast path');
  let opened: string | null | undefined;
  const streams = {
    open: (_: ViewerWithToken, client: string | null) => {
      opened = client;
    },
  };
  const counter = { countImmediate: () => {} };
  const feed = { streams, counter, trustProxy } as unknown as FeedOperation;
  const path = new FeedFastPath(feed, {} as ResponseBytes, {} as ErrorResponses);
  const connection = { address: '192.0.2.9' } as Connection;
  path.openStream(connection, request.template, { streamId: STREAM_ID } as ViewerWithToken, 7);
  return opened;
}

/** The client of a read of one interval on the fast path. */
function readClientOf(trustProxy: boolean, ...lines: string[]): string | null | undefined {
  const head = [
    `GET /api/v1/events-streams/${STREAM_ID}?interval=7 HTTP/1.1`,
    ...['Host: h', 'Authorization: Bearer a.b.c', ...lines],
  ];
  const request = parseViewerRequest(Buffer.from(`${head.join('\r\n')}\r\n\r\n`), 0);
  if (typeof request === 'number') throw new Error('the request has no fast path');
  let reader: string | null | undefined;
  const log = {
    watermark: () => 7,
    read: (_streamId: string, _interval: number, client?: () => string | null) => {
      reader = client?.();
      return new Promise(() => {});
    },
  };
  const feed = { log, trustProxy } as unknown as FeedOperation;
  const path = new FeedFastPath(feed, {} as ResponseBytes, {} as ErrorResponses);
  const connection = { address: '192.0.2.9', setPending: () => {} } as unknown as Connection;
  path.readInterval(connection, request.template, { streamId: STREAM_ID } as ViewerWithToken, 7);
  return reader;
}

test('[F-3] [L-11] a read of an old interval counts for its client', () => {
  expect(readClientOf(false)).toBe('192.0.2.9');
  expect(readClientOf(true, 'X-Forwarded-For: 2001:db8:1:2::3')).toBe('2001:db8:1:2::/64');
});

test.each([
  [['X-Forwarded-For: 203.0.113.1, 198.51.100.7:5678'], '198.51.100.7'],
  [['x-forwarded-for:[2001:db8:1:2::3]:443'], '2001:db8:1:2::/64'],
  [['X-Forwarded-For: 203.0.113.1', 'X-Forwarded-For: 198.51.100.7'], '198.51.100.7'],
  [['X-Forwarded: 203.0.113.1', 'A: X-Forwarded-For: 203.0.113.1'], null],
])('[F-25] [L-11] behind a trusted proxy an event stream with %j counts for %p', (lines, key) => {
  expect(clientOf(true, ...lines)).toBe(key);
});

test('[F-25] [L-11] without a trusted proxy an event stream counts for the address of its connection', () => {
  expect(clientOf(false)).toBe('192.0.2.9');
  expect(clientOf(false, 'X-Forwarded-For: 203.0.113.1')).toBe('192.0.2.9');
});
