import { z } from 'zod';

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
  })
  .meta({ id: 'Problem' });

export type ProblemBody = z.infer<typeof problemSchema>;
