import { z } from 'zod';
import { uuid } from './text.ts';

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
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemSchema>;
