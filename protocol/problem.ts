import { z } from 'zod';
import { unixMs, uuid } from './text.ts';

/** Body of every error (RFC 9457); `application/problem+json` when `Accept` asks for it. */
export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: 'A URI reference that names the kind of problem' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().meta({ description: 'What to change' }),
    interval: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'The current interval, when the one that was asked for is wrong' }),
    order: z
      .array(uuid)
      .optional()
      .meta({ description: 'The drafts as they are, when they were to be ordered as others' }),
    errors: z
      .array(z.string())
      .optional()
      .meta({ description: 'What is wrong with a text that was to be imported, one thing each' }),
    banned: z
      .literal(true)
      .optional()
      .meta({ description: 'The viewer was sent out of this show; no token helps' }),
    muted: z.literal(true).optional().meta({ description: 'The viewer may not write here' }),
    until: unixMs
      .nullable()
      .optional()
      .meta({ description: 'Beside `muted`: until when; null: for the whole show' }),
    paused: z.literal(true).optional().meta({ description: 'The chat is paused for everybody' }),
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemSchema>;
