import { CONTACTS_SENT_MAX } from './limits.ts';
import type { Operation } from './operation.ts';
import { listOf, winnersRoundSchema } from './studio.ts';
import { producerRead, producerWrite } from './studio-operation.ts';
import { contactRequestSchema, winnerContactSchema } from './winner-contacts.ts';

const ROUND = '/studio/v1/streams/{stream_id}/winners-rounds/{round_id}';
const CONTACTS = `${ROUND}/contacts` as const;

/** Contact details of winners, for their producer only (SPEC W-14). */
export const winnerContactsApi = {
  requestContacts: {
    ...producerWrite,
    method: 'POST',
    path: `${ROUND}/contact-request`,
    summary: 'Ask the winners of a closed round for contact details, or change the note',
    description:
      'Viewers receive a `winner-contact` event; only winners of the round see the note.',
    body: contactRequestSchema,
    responses: { 200: { description: 'The round', schema: winnersRoundSchema } },
  },
  endContactRequest: {
    ...producerWrite,
    method: 'DELETE',
    path: `${ROUND}/contact-request`,
    summary: 'Stop asking for contact details; those that were sent stay',
    responses: { 204: { description: 'Winners are no longer asked' } },
  },
  listContacts: {
    ...producerRead,
    method: 'GET',
    path: CONTACTS,
    summary: 'List the contact details of the winners of a round, newest first',
    description: `The list has at most ${CONTACTS_SENT_MAX} rows; the export has all.`,
    responses: { 200: { description: 'The contact details', schema: listOf(winnerContactSchema) } },
  },
  eraseContacts: {
    ...producerWrite,
    method: 'DELETE',
    path: CONTACTS,
    summary: 'Erase all contact details of a round, and stop asking for them',
    responses: { 204: { description: 'Erased' } },
  },
  eraseContact: {
    ...producerWrite,
    method: 'DELETE',
    path: `${CONTACTS}/{viewer}`,
    summary: 'Erase the contact details of a winner',
    responses: { 204: { description: 'Erased' } },
  },
} as const satisfies Record<string, Operation>;
