import { createContext, use } from 'react';
import type { StudioClient } from './studio-client.ts';

export const StudioContext = createContext<StudioClient | null>(null);

export function useStudio(): StudioClient {
  const client = use(StudioContext);
  if (!client) throw new Error('useStudio needs a StudioContext provider');
  return client;
}
