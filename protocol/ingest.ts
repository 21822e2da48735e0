import { z } from 'zod';

/** Ways by which a source's video comes. */
export const SOURCE_KINDS = ['rtmp', 'srt', 'websocket'] as const;

const measured = (description: string) => z.number().min(0).nullable().meta({ description });

/** How a source and its encoder are doing; null is what is not known. */
export const sourceHealthSchema = z
  .object({
    bitrate: measured('What the source sends, bit/s'),
    fps: measured('Frames encoded a second'),
    speed: measured('Of the encoder; 1 is real time, and less falls behind'),
    dropped: measured('Frames that were left out for an even rate'),
    width: measured('Of the picture as it is shown'),
    height: measured('Of the picture as it is shown'),
  })
  .meta({
    id: 'SourceHealth',
    examples: [
      {
        bitrate: 4_500_000,
        fps: 30,
        speed: 1,
        dropped: 0,
        width: 1280,
        height: 720,
      },
    ],
  });
export type SourceHealth = z.infer<typeof sourceHealthSchema>;

const EXAMPLE_KEY = 'sk_V1StGXR8Z5jdHi6BmyT0qkPw3Lc9NeFu';

/** Where a stream's video is sent, with the key that opens it, and what is sent there. */
export const ingestSchema = z
  .object({
    key: z.string().meta({ description: 'The stream key: whoever has it may be the source' }),
    rtmp: z
      .object({ url: z.string(), key: z.string() })
      .nullable()
      .meta({ description: 'Server and stream key, as OBS asks for them; null: not taken here' }),
    srt: z
      .object({ url: z.string() })
      .nullable()
      .meta({ description: 'With the key in it; null: not taken here' }),
    websocket: z.object({ url: z.string() }).meta({ description: 'For browsers' }),
    source: z
      .object({ kind: z.enum(SOURCE_KINDS), health: sourceHealthSchema.nullable() })
      .nullable()
      .meta({ description: 'The source that is there now' }),
  })
  .meta({
    id: 'Ingest',
    examples: [
      {
        key: EXAMPLE_KEY,
        rtmp: { url: 'rtmp://localhost:1935/live', key: EXAMPLE_KEY },
        srt: { url: `srt://localhost:10080?streamid=publish:${EXAMPLE_KEY}` },
        websocket: { url: 'ws://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/ingest' },
        source: null,
      },
    ],
  });
export type Ingest = z.infer<typeof ingestSchema>;
