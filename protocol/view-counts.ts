import { z } from 'zod';

/** The number of distinct viewers present (interface, View count). */
export const viewCountSchema = z
  .object({
    value: z.int().min(0),
    formatted: z.string().meta({ description: 'Abbreviated for display: 999, 1.2K, 3.4M' }),
  })
  .meta({ id: 'ViewCount', examples: [{ value: 1234, formatted: '1.2K' }] });
export type ViewCount = z.infer<typeof viewCountSchema>;
