import { z } from 'zod';
import { SHOW_DESCRIPTION_CHARS } from './limits.ts';
import { httpUrl, text, unixMs } from './text.ts';

/** What the viewer page says about a show, besides its title. Members are null while they are not set. */
export const showPageFields = {
  description: text(SHOW_DESCRIPTION_CHARS)
    .nullable()
    .describe('Text about the show on the viewer page and in link previews'),
  poster_url: httpUrl
    .nullable()
    .describe('Picture in place of the video before the show, and in link previews'),
  logo_url: httpUrl.nullable().describe('Logo on the viewer page'),
  color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #2f6fed')
    .nullable()
    .describe('Color of the viewer page, such as #2f6fed'),
  startsAt: unixMs
    .nullable()
    .describe('Announced start, to which the viewer page counts down. It starts nothing'),
};

/** The fields of a new stream: null by default. */
export const newShowPageFields = {
  description: showPageFields.description.default(null),
  poster_url: showPageFields.poster_url.default(null),
  logo_url: showPageFields.logo_url.default(null),
  color: showPageFields.color.default(null),
  startsAt: showPageFields.startsAt.default(null),
};

const showPageSchema = z.object(showPageFields);
export type ShowPage = z.infer<typeof showPageSchema>;

/** A show as its viewer page has it in `data-show`. */
export interface ShownShow extends ShowPage {
  readonly title: string;
  /** Whether only people with the link find it. */
  readonly unlisted: boolean;
}
