import type { User } from '../../../protocol/accounts.ts';
import { tokenRequestSchema } from '../../../protocol/tokens.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { streamProcedures } from '../../domains/streams/streams-sql.ts';
import { readBody } from '../../http/body.ts';
import { Problem, unauthorized } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RateLimiter } from '../../platform/rate-limit/rate-limiter.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { Caller, Credentials } from '../credentials.ts';
import type { Keyring } from './keyring.ts';
import type { ViewerTokens } from './viewer-tokens.ts';

export interface TokenRouteDeps {
  readonly store: Pick<Calls<typeof streamProcedures>, 'findStream'>;
  readonly credentials: Credentials;
  readonly viewerTokens: ViewerTokens;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Tokens for each address; for each account that vouches for its viewers (L-4). */
  readonly rate: RateLimiter;
  /** `producer`: only the stream's owner gets tokens for it, and vouches for its users. */
  readonly access: 'open' | 'producer';
}

/** Viewer tokens and the keys they are checked with (SPEC T). */
export function tokenHandlers(
  routes: TokenRouteDeps,
): Handlers<Pick<typeof viewerApi, 'createToken' | 'readJwks'>> {
  const { store, credentials, viewerTokens, keyring, clock, rate } = routes;

  /** The account that vouches for its viewers; null where nobody has to. */
  function requiredProducer(caller: Caller): User | null {
    if (routes.access === 'open') return null;
    if (caller.kind === 'service') return caller.owner.user;
    throw unauthorized('Token', "Send the service token of the stream's owner.");
  }

  async function checkOwner(voucher: User, streamId: string): Promise<void> {
    const stream = await store.findStream({ id: streamId });
    if (!stream) throw new Problem(404, 'There is no stream with this stream_id.');
    if (stream.producer !== voucher.uuid) {
      throw unauthorized('Token', 'The stream is of another account.');
    }
  }

  return {
    createToken: async (request, route) => {
      if (routes.access === 'open') rate.take(route.clientRateKey(request));
      const voucher = requiredProducer(await credentials.optional(request, route));
      if (voucher) rate.take(voucher.uuid);
      const { bodyBytes } = route.operation;
      const body = await readBody(request, tokenRequestSchema, bodyBytes);
      if (voucher) await checkOwner(voucher, body.stream_id);
      return route.ok({
        token: await viewerTokens.issue(body.stream_id, body.unique_user_identifier),
      });
    },

    readJwks: (_request, route) =>
      route.respond(200, keyring.jwks(clock.nowMs()), { 'Cache-Control': 'public, max-age=300' }),
  };
}
