import { describe, expect, test } from 'bun:test';
import { studioStreamSchema } from '../../../protocol/studio.ts';
import { studioStreamOf } from './stream-wire.ts';
import type { StreamRow } from './streams-sql.ts';

const STREAM: StreamRow = {
  id: '11111111-2222-4333-8444-555555555555',
  producer: '99999999-2222-4333-8444-555555555555',
  title: 'Quiz night',
  dashUrl: null,
  hlsUrl: 'https://cdn.example/live.m3u8',
  unlisted: true,
  latencyAllowanceMs: 1500,
  recording: true,
  status: 'STREAMING',
  created: 1,
  started: 2,
  ended: null,
  endsAt: 4,
  rundownRevision: 5,
  rehearsalOf: null,
};

describe('studioStreamOf', () => {
  test('[P-9] studioStreamOf has exactly the fields of a StudioStream', () => {
    expect(studioStreamOf(STREAM, 'http://localhost:4250')).toEqual({
      id: STREAM.id,
      producer: STREAM.producer,
      dash_url: `http://localhost:4250/media/${STREAM.id}/manifest.mpd`,
      hls_url: 'https://cdn.example/live.m3u8',
      status: 'STREAMING',
      title: 'Quiz night',
      unlisted: true,
      latencyAllowance: 1500,
      recording: true,
      created: 1,
      started: 2,
      ended: null,
      endsAt: 4,
      rehearsalOf: null,
    });
    expect(studioStreamSchema.strict().safeParse(studioStreamOf(STREAM, 'http://h')).success).toBe(
      true,
    );
  });
});
