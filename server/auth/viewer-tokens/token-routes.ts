import type { User } from '../../../protocol/accounts.ts';
import { tokenRequestSchema } from '../../../protocol/tokens.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import { readBody } from '../../http/body.ts';
import type { Handlers, Route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import type { Credentials } from '../credentials.ts';
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
  const { store, credentials, viewerTokens, keyring, clock, rate, access } = routes;

  /** The account that must own the stream. */
  async function requiredProducer(request: Request, route: Route): Promise<User> {
    const caller = await credentials.identifyCaller(request, route);
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
      // Open access ignores the credential, so that a client can renew an expired token it still sends.
      const producer = access === 'producer' ? await requiredProducer(request, route) : null;
      rate.take(producer?.uuid ?? route.clientRateKey(request));
      const { bodyBytes } = route.operation;
      const body = await readBody(request, tokenRequestSchema, bodyBytes);
      if (producer) {
        // The service token may have been revoked while the body was on its way.
        await requiredProducer(request, route);
        await checkOwner(producer, body.stream_id);
      }
      return route.ok({
        token: await viewerTokens.issue(body.stream_id, body.unique_user_identifier),
      });
    },

    readJwks: (_request, route) =>
      route.respond(200, keyring.jwks(clock.nowMs()), { 'Cache-Control': 'public, max-age=300' }),
  };
}
