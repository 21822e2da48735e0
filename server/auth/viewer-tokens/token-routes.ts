import type { User } from '../../../protocol/accounts.ts';
import { tokenRequestSchema } from '../../../protocol/tokens.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import { readBody } from '../../http/body.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import type { Caller, Credentials } from '../credentials.ts';
import type { Keyring } from './keyring.ts';

export interface TokenRouteDeps {
  readonly store: {
    /** The account that owns a stream; null for an unknown stream. */
    findStream(input: { id: string }): Promise<{ readonly producer: string } | null>;
  };
  readonly credentials: Credentials;
  readonly viewerTokens: {
    /** Issues a token to the viewer of a stream whom the identifier names. */
    issue(streamId: string, identifier: string): Promise<string>;
  };
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Limits tokens per address or, with access `producer`, per account (L-4). */
  readonly rate: RateLimiter;
  /** `producer`: only the owner of a stream gets viewer tokens for it. */
  readonly access: 'open' | 'producer';
}

/** Issues viewer tokens and publishes their public keys (SPEC T). */
export function tokenHandlers(
  routes: TokenRouteDeps,
): Handlers<Pick<typeof viewerApi, 'createToken' | 'readJwks'>> {
  const { store, credentials, viewerTokens, keyring, clock, rate } = routes;

  /** The account that must own the stream; null with open access. */
  function requiredProducer(caller: Caller): User | null {
    if (routes.access === 'open') return null;
    if (caller.kind === 'service') return caller.owner.user;
    throw new DomainError('unauthorized', "Send the service token of the stream's owner.");
  }

  async function checkOwner(producer: User, streamId: string): Promise<void> {
    const stream = await store.findStream({ id: streamId });
    if (!stream) throw new DomainError('not-found', 'There is no stream with this stream_id.');
    if (stream.producer !== producer.uuid) {
      throw new DomainError('unauthorized', 'The stream belongs to another account.');
    }
  }

  return {
    createToken: async (request, route) => {
      if (routes.access === 'open') rate.take(route.clientRateKey(request));
      const producer = requiredProducer(await credentials.identifyCaller(request, route));
      if (producer) rate.take(producer.uuid);
      const { bodyBytes } = route.operation;
      const body = await readBody(request, tokenRequestSchema, bodyBytes);
      if (producer) await checkOwner(producer, body.stream_id);
      return route.ok({
        token: await viewerTokens.issue(body.stream_id, body.unique_user_identifier),
      });
    },

    readJwks: (_request, route) =>
      route.respond(200, keyring.jwks(clock.nowMs()), { 'Cache-Control': 'public, max-age=300' }),
  };
}
