import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { ingestUrls } from './ingest-addresses.ts';
import { newStreamKey } from './stream-key.ts';

describe('stream keys', () => {
  test('[M-1] stream keys are sk_ and 32 base62 characters, and unique', () => {
    const keys = Array.from({ length: 100 }, () => newStreamKey(randomBytes));
    for (const key of keys) expect(key).toMatch(/^sk_[0-9A-Za-z]{32}$/);
    expect(new Set(keys).size).toBe(100);
  });
});

describe('ingest URLs of a stream', () => {
  const stream = { id: 'the-id', key: 'sk_key' };
  const ports = { rtmpPort: 1935, srtPort: 10080 };

  test('[M-2] [M-3] [M-4] ingest URLs of a stream have the host of the service and the port of each protocol', () => {
    expect(ingestUrls(stream, 'https://live.example.org', ports)).toEqual({
      rtmp: { url: 'rtmp://live.example.org:1935/live', key: 'sk_key' },
      srt: { url: 'srt://live.example.org:10080?streamid=publish:sk_key' },
      websocket: { url: 'wss://live.example.org/media/the-id/ingest' },
    });
    expect(ingestUrls(stream, 'http://[::1]:4250/base', ports)).toEqual({
      rtmp: { url: 'rtmp://[::1]:1935/live', key: 'sk_key' },
      srt: { url: 'srt://[::1]:10080?streamid=publish:sk_key' },
      websocket: { url: 'ws://[::1]:4250/base/media/the-id/ingest' },
    });
  });

  test('[M-1] ingest URLs of a stream leave out protocols that are off', () => {
    expect(ingestUrls(stream, 'http://a.example', { rtmpPort: null, srtPort: null })).toEqual({
      rtmp: null,
      srt: null,
      websocket: { url: 'ws://a.example/media/the-id/ingest' },
    });
  });
});
