import { studioApi } from '../../../protocol/studio-api.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import { contactPostSchema } from '../../../protocol/winner-contacts.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { LargeOperations } from '../../auth/large-operations.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import { readBody } from '../../http/body.ts';
import { NetworkLimiter } from '../../http/network-limiter.ts';
import type { Handler, Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls, Idempotency } from '../../storage/sql/procedure.ts';
import type { AnswerService } from './answer-service.ts';
import type { WinnerCode } from './winner-code.ts';
import type { winnerContactProcedures } from './winner-contacts-sql.ts';

/**
 * Erasures at once. Each searches all rounds of the stream, up to 2,000: 1,250 a second took the writer of SQLite
 * from the answers of all accounts.
 */
const ERASURES_MAX = 1;
const ERASURES_QUEUED_MAX = 32;

export interface WinnerContactDeps {
  readonly store: Calls<typeof winnerContactProcedures>;
  readonly answers: Pick<AnswerService, 'take'>;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly winnerCode: WinnerCode;
  readonly largeOperations: Pick<LargeOperations, 'run'>;
}

type ViewerOperations = Pick<
  typeof viewerApi,
  'readOwnContact' | 'saveOwnContact' | 'eraseOwnContact'
>;

/** The routes on which winners give their contact details (SPEC W-14), limited like answers. */
export function ownContactHandlers(deps: WinnerContactDeps): Handlers<ViewerOperations> {
  const { store, answers, credentials, clock } = deps;
  const viewerOf = async (request: Parameters<Handler>[0], route: Parameters<Handler>[1]) => {
    const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
    answers.take(viewer);
    return viewer;
  };
  const erasures = new NetworkLimiter(
    ERASURES_MAX,
    ERASURES_QUEUED_MAX,
    'Too many contact details are being erased at once.',
  );
  return {
    readOwnContact: async (request, route) => {
      const { streamId, seat } = await viewerOf(request, route);
      return route.ok(await store.readOwnContact({ streamId, seat }));
    },

    saveOwnContact: async (request, route) => {
      const viewer = await viewerOf(request, route);
      const body = await readBody(request, contactPostSchema, route.operation.bodyBytes);
      credentials.requireNotBanned(viewer);
      const { streamId, seat } = viewer;
      const contact = { streamId, seat, ...body, nowMs: clock.nowMs() };
      if (!(await store.saveOwnContact(contact))) {
        throw new DomainError('conflict', 'The host does not ask you for contact details.');
      }
      return route.noContent();
    },

    eraseOwnContact: async (request, route) => {
      const { streamId, seat } = await viewerOf(request, route);
      const client = route.clientRateKey(request);
      await erasures.run(client, () => store.eraseOwnContact({ streamId, seat }));
      return route.noContent();
    },
  };
}

/** The studio operations on the contact details of winners (SPEC W-14). */
export function winnerContactHandlers(
  studio: StudioHandlerFactory,
  {
    store,
    winnerCode,
    largeOperations,
  }: Pick<WinnerContactDeps, 'store' | 'winnerCode' | 'largeOperations'>,
) {
  return {
    requestContacts: studio(studioApi.requestContacts, (call, { note }) =>
      store.requestContacts({ ...roundOf(call), note }, call.idempotency),
    ),
    endContactRequest: studio(studioApi.endContactRequest, async (call) => {
      await store.endContactRequest(roundOf(call), call.idempotency);
      return null;
    }),
    listContacts: studio(
      studioApi.listContacts,
      async (call) => {
        const round = roundOf(call);
        const contacts = await store.listContacts(round);
        return {
          results: contacts.map(({ seat, ...contact }) => ({
            ...contact,
            code: winnerCode(round.streamId, seat),
          })),
        };
      },
      { isLarge: true },
    ),
    eraseContacts: studio(studioApi.eraseContacts, (call) =>
      largeOperations.run(call, async (step) => {
        const round = roundOf(call);
        for (let batch = 0; ; batch++) {
          const idempotency = call.idempotency && keyOfBatch(call.idempotency, batch);
          if (!(await step(() => store.eraseContacts(round, idempotency)))) return null;
        }
      }),
    ),
    eraseContact: studio(studioApi.eraseContact, async (call) => {
      const viewer = call.params.viewer ?? '';
      await store.eraseContact({ ...roundOf(call), viewer }, call.idempotency);
      return null;
    }),
  };
}

/**
 * Each batch has a key of its own: a repeat of an erasure that broke off continues it, and a repeat of a complete
 * one erases nothing that was sent since. Keys of clients have no spaces.
 */
const keyOfBatch = (idempotency: Idempotency, batch: number): Idempotency =>
  batch === 0 ? idempotency : { ...idempotency, key: `${idempotency.key} ${batch}` };

const roundOf = (call: StudioCall) => ({
  ...ownStreamInput(call),
  roundId: call.params.round_id ?? '',
});
