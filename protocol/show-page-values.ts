// Without schemas: the database threads and the viewer page do not load zod.

import type { ShowPage } from './show-page.ts';

/** The page of a show that has only a title. */
export const NO_SHOW_PAGE: ShowPage = {
  description: null,
  poster_url: null,
  logo_url: null,
  color: null,
  startsAt: null,
};

/** The members of a show page among others. */
export function showPageOf(fields: ShowPage): ShowPage {
  const { description, poster_url, logo_url, color, startsAt } = fields;
  return { description, poster_url, logo_url, color, startsAt };
}
