import { z } from 'zod';
import { wholeNumber } from './text.ts';

/** The number of distinct viewers present (interface, View count). */
export const viewCountSchema = z
  .object({
    value: wholeNumber,
    formatted: z.string().describe('Abbreviated for display: 999, 1.2K, 3.4M'),
  })
  .meta({ id: 'ViewCount', examples: [{ value: 1234, formatted: '1.2K' }] });
export type ViewCount = z.infer<typeof viewCountSchema>;
