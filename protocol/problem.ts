import { z } from 'zod';
import { unixMs, uuid } from './text.ts';

/** Body of every error response (RFC 9457); `application/problem+json` if `Accept` names it. */
export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: 'A URI reference that identifies the kind of problem' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().meta({ description: 'What is wrong and what to change' }),
    interval: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'The current interval, if the requested interval is invalid' }),
    order: z.array(uuid).optional().meta({
      description: 'The current order of the drafts, if the rundown was changed by another request',
    }),
    errors: z
      .array(z.string())
      .optional()
      .meta({ description: 'The errors in an imported file, one per entry' }),
    banned: z
      .literal(true)
      .optional()
      .meta({ description: 'The viewer is banned from this show; a new token does not help' }),
    muted: z.literal(true).optional().meta({ description: 'The viewer is muted' }),
    until: unixMs
      .nullable()
      .optional()
      .meta({ description: 'With `muted`: the end of the mute; null: the whole show' }),
    paused: z.literal(true).optional().meta({ description: 'The chat is paused for all viewers' }),
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemSchema>;
