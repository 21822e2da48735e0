import { z } from 'zod';
import {
  CONTACT_CHARS,
  CONTACT_NAME_CHARS,
  CONTACT_NOTE_CHARS,
  CONTACT_ROUNDS_SEARCHED,
} from './limits.ts';
import { text, unixMs, uuid } from './text.ts';

export const contactRequestSchema = z
  .strictObject({
    note: text(CONTACT_NOTE_CHARS).describe('What winners read above the form'),
  })
  .meta({ id: 'ContactRequest', examples: [{ note: 'Where may we send your prize?' }] });
export type ContactRequest = z.infer<typeof contactRequestSchema>;

const details = {
  name: text(CONTACT_NAME_CHARS),
  contact: text(CONTACT_CHARS).describe('An email address, a phone number or another way'),
};

/** The contact details of a winner, as its viewer sends them. */
export const contactPostSchema = z
  .object({ roundId: uuid, ...details })
  .meta({ id: 'ContactPost' });
export type ContactPost = z.infer<typeof contactPostSchema>;

/** The request for contact details of a viewer who won, and whether details of the viewer are stored. */
export const ownContactSchema = z
  .object({
    request: z
      .object({
        roundId: uuid,
        note: z.string(),
        details: z.object(details).nullable().describe('What the viewer sent; null: nothing yet'),
      })
      .nullable()
      .describe('The newest round that this viewer won and whose winners are asked; null: none'),
    hasDetails: z
      .boolean()
      .describe(
        `Whether contact details of this viewer are stored for one of the newest ${CONTACT_ROUNDS_SEARCHED} rounds, asked or not`,
      ),
  })
  .meta({ id: 'OwnContact' });
export type OwnContact = z.infer<typeof ownContactSchema>;

/** The contact details of a winner, as the producer reads them. */
export const winnerContactSchema = z
  .object({
    viewer: z.string(),
    code: z.string().describe('The code of the winner'),
    ...details,
    at: unixMs.describe('When they were sent'),
  })
  .meta({ id: 'WinnerContact' });
export type WinnerContact = z.infer<typeof winnerContactSchema>;

export const winnerContactEventSchema = z
  .object({ roundId: uuid })
  .meta({ id: 'WinnerContactAsked' });
