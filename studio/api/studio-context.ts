import { createContext, use } from 'react';
import type { StudioClient } from './studio-client.ts';

export const StudioContext = createContext<StudioClient | null>(null);

/** The way to the service. */
export function useStudio(): StudioClient {
  const client = use(StudioContext);
  if (!client) throw new Error('there is no client around this');
  return client;
}
