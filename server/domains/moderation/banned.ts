/** What viewers are told who were sent out of a show (SPEC C-19). */
export const BANNED = {
  detail: 'You were sent out of this show, and cannot come back to it.',
  members: { banned: true },
} as const;
