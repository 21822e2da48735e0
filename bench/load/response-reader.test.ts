import { expect, test } from 'bun:test';
import { readResponse } from './response-reader.ts';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n';
const FOUND = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nETag: "7"\r\n\r\nhello there';

test('readResponse returns the end of the first response, without the next one', () => {
  const found = readResponse(Buffer.from(FOUND + NO_CONTENT));
  expect(found).toEqual({ status: 200, bodyStart: FOUND.length - 11, end: FOUND.length });
  const { length } = NO_CONTENT;
  const noContent = readResponse(Buffer.from(NO_CONTENT + FOUND));
  expect(noContent).toEqual({ status: 204, bodyStart: length, end: length });
});

test('readResponse returns null for an incomplete response', () => {
  for (let bytes = 0; bytes < FOUND.length; bytes++) {
    expect(readResponse(Buffer.from(FOUND.slice(0, bytes)))).toBeNull();
  }
});
