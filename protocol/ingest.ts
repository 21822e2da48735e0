import { z } from 'zod';
import { unixMs } from './text.ts';

/** The protocol of a source; `fourbeat media play`, which sends over WebSocket, is a kind of its own. */
export const SOURCE_KINDS = ['rtmp', 'srt', 'websocket', 'media-play'] as const;

const measured = (description: string) => z.number().min(0).nullable().describe(description);

/** Measurements of a source and its encoder; null: unknown. */
export const sourceHealthSchema = z
  .object({
    bitrate: measured('Bit rate of the source, bit/s'),
    fps: measured('Encoded frames per second'),
    speed: measured('Speed of the encoder; 1 is real time, below 1 it falls behind'),
    dropped: measured('Frames dropped to keep an even rate'),
    width: measured('Display width of the video, pixels'),
    height: measured('Display height of the video, pixels'),
    hasAudio: z.boolean().nullable().describe('Whether the source sends audio'),
    keyFrameIntervalMs: measured('Time between key frames, or since the last one if longer, ms'),
  })
  .meta({
    id: 'SourceHealth',
    examples: [
      {
        ...{ bitrate: 4_500_000, fps: 30, speed: 1, dropped: 0, width: 1280, height: 720 },
        ...{ hasAudio: true, keyFrameIntervalMs: 2_000 },
      },
    ],
  });
export type SourceHealth = z.infer<typeof sourceHealthSchema>;

/** The connected source of a stream, or null. */
export const connectedSourceSchema = z
  .object({ kind: z.enum(SOURCE_KINDS), health: sourceHealthSchema.nullable() })
  .nullable();

/** When a show ends because of its source. */
export const sourceEndsAtSchema = unixMs
  .nullable()
  .describe(
    'When the show ends automatically because its video source disconnected; null: it does not',
  );

const EXAMPLE_KEY = 'sk_V1StGXR8Z5jdHi6BmyT0qkPw3Lc9NeFu';

const EXAMPLE_INGEST = {
  key: EXAMPLE_KEY,
  rtmp: { url: 'rtmp://localhost:1935/live', key: EXAMPLE_KEY },
  srt: { url: `srt://localhost:10080?streamid=publish:${EXAMPLE_KEY}` },
  websocket: { url: 'ws://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/ingest' },
  source: null,
  sourceEndsAt: null,
};

/** Where to send the video of a stream, the stream key, and the current source. */
export const ingestSchema = z
  .object({
    key: z.string().describe('The stream key. Anyone who has it can send video to this stream'),
    rtmp: z
      .object({ url: z.string(), key: z.string() })
      .nullable()
      .describe('Server URL and stream key for OBS; null: RTMP is disabled'),
    srt: z
      .object({ url: z.string() })
      .nullable()
      .describe('The URL contains the stream key; null: SRT is disabled'),
    websocket: z.object({ url: z.string() }).describe('For browsers'),
    source: connectedSourceSchema.describe('The connected source; null: none'),
    sourceEndsAt: sourceEndsAtSchema,
  })
  .meta({ id: 'Ingest', examples: [EXAMPLE_INGEST] });
export type Ingest = z.infer<typeof ingestSchema>;
