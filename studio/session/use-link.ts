import { useQuery } from '@tanstack/react-query';
import type { RequestOf } from '../api/studio-client.ts';
import { useStudio } from '../api/studio-context.ts';

/** Looks at a link once: a later failure must not replace a form that the user fills. */
export function useLink<Name extends 'lookAtLink' | 'lookAtSetupLink'>(name: Name, token: string) {
  const studio = useStudio();
  return useQuery({
    queryKey: [name, token],
    queryFn: () => studio.call(name, { body: { token } as RequestOf<Name> }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
