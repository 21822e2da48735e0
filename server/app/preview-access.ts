import { memberRead } from '../../protocol/studio-operation.ts';
import type { Credentials } from '../auth/credentials.ts';
import { Route, type RouteOptions } from '../http/route.ts';
import { PREVIEW_PATH } from '../media/media.ts';
import type { Store } from './procedures.ts';

export interface PreviewAccessDeps {
  readonly credentials: Credentials;
  readonly store: Pick<Store, 'findOwnStream'>;
  readonly routeOptions: RouteOptions;
}

/**
 * Admits the members of an account and its service tokens to the previews of its streams (SPEC M-34).
 * Requests do not count toward the limit of the account: a player sends several a second.
 * @returns throws DomainError `unauthorized` or `not-found`
 */
export function createPreviewAccess({ credentials, store, routeOptions }: PreviewAccessDeps) {
  const operation = {
    ...memberRead,
    method: 'GET',
    path: PREVIEW_PATH,
    summary: 'Read the preview of a stream',
    responses: { 200: { description: 'A playlist or a segment' } },
  } as const;
  const route = new Route(operation, 'GET, HEAD, OPTIONS', routeOptions);
  return async (request: Request, streamId: string): Promise<void> => {
    const { user } = await credentials.studio(request, route);
    await store.findOwnStream({ id: streamId, producer: user.uuid });
  };
}
