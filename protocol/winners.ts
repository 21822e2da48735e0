import { z } from 'zod';

/** A winner as the producer and the audience know it. */
export const roundWinnerSchema = z
  .object({
    code: z
      .string()
      .describe('Code of the viewer in this stream, which its own page shows when it wins'),
    name: z.string().nullable().describe('What the viewer called itself last in the chat'),
  })
  .meta({ id: 'RoundWinner', examples: [{ code: 'KOTA-4729', name: 'Ada' }] });
export type RoundWinner = z.infer<typeof roundWinnerSchema>;
