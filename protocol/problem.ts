import { z } from 'zod';
import { unixMs, uuid, wholeNumber } from './text.ts';

/** Body of every error response (RFC 9457); `application/problem+json` if `Accept` names it. */
export const problemSchema = z
  .looseObject({
    type: z.string().describe('A URI reference that identifies the kind of problem'),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What is wrong and what to change'),
    interval: wholeNumber
      .optional()
      .describe('The current interval, if the requested interval is invalid'),
    order: z
      .array(uuid)
      .optional()
      .describe('The current order of the drafts, if the rundown was changed by another request'),
    errors: z
      .array(z.string())
      .optional()
      .describe('The errors in an imported file, one per entry'),
    banned: z
      .literal(true)
      .optional()
      .describe('The viewer is banned from this show; a new token does not help'),
    muted: z.literal(true).optional().describe('The viewer is muted'),
    until: unixMs
      .nullable()
      .optional()
      .describe('With `muted`: the end of the mute; null: the whole show'),
    paused: z.literal(true).optional().describe('The chat is paused for all viewers'),
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemSchema>;
