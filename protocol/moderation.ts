import { z } from 'zod';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  HIDDEN_AT_ONCE,
  MUTE_MAX_MINUTES,
  SLOW_MODE_MAX_MS,
} from './limits.ts';
import { text, unixMs } from './text.ts';

/** What a line of the chat is. */
export const LINE_KINDS = ['message', 'question', 'greeting', 'cheer', 'purchase'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** The id of a line: a uuid of a viewer's, "p" and a number of a purchase. */
export const lineId = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the id of a line of the chat');

/** The opaque id of a viewer in a stream, as lines of the chat have it. */
export const viewerId = z.string().regex(/^[A-Za-z0-9_-]{22}$/, 'must be the id of a viewer');

/** How the chat of a stream goes; the data of an event `chat-mode`. */
export const chatModeSchema = z
  .object({
    slowModeMs: z
      .int()
      .min(0)
      .max(SLOW_MODE_MAX_MS)
      .meta({ description: 'A viewer writes one line in so many ms; 0: as many as they like' }),
    paused: z.boolean().meta({ description: 'Nobody can write' }),
  })
  .meta({ id: 'ChatMode', examples: [{ slowModeMs: 10_000, paused: false }] });
export type ChatMode = z.infer<typeof chatModeSchema>;

export const chatModePatchSchema = z
  .strictObject(chatModeSchema.shape)
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'name at least one field to change')
  .meta({ id: 'ChatModePatch', minProperties: 1, examples: [{ slowModeMs: 10_000 }] });
export type ChatModePatch = z.infer<typeof chatModePatchSchema>;

/** Lines that are shown no longer; the data of an event `chat-hidden`. */
export const hiddenLinesSchema = z
  .object({
    ids: z
      .array(lineId)
      .min(1, 'must name a line')
      .max(HIDDEN_AT_ONCE)
      .refine((ids) => new Set(ids).size === ids.length, 'must be distinct')
      .meta({ description: 'Of the lines, as the chat has them' }),
  })
  .meta({ id: 'HiddenLines', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });
export type HiddenLines = z.infer<typeof hiddenLinesSchema>;

export const hideLinesSchema = z
  .strictObject(hiddenLinesSchema.shape)
  .meta({ id: 'HideLines', examples: [{ ids: ['1b4e28ba-2fa1-4d3b-883f-0016d3cca427'] }] });

/** The last moment that a date can be. */
const DATE_MAX_MS = 8_640_000_000_000_000;

/** A line of the chat that is set apart from the others; a purchase is of no viewer. */
export const keptLineSchema = z
  .object({
    id: lineId,
    viewer: z.union([viewerId, z.literal('')], 'must be the id of a viewer, or empty'),
    name: z.union([text(CHAT_NAME_CHARS), z.literal('')]).meta({ description: 'May be empty' }),
    text: text(CHAT_TEXT_CHARS),
    kind: z.enum(LINE_KINDS),
    at: unixMs.max(DATE_MAX_MS),
  })
  .meta({
    id: 'KeptLine',
    examples: [
      {
        id: '1b4e28ba-2fa1-4d3b-883f-0016d3cca427',
        viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
        name: 'Ada',
        text: 'Good evening!',
        kind: 'message',
        at: 1_760_000_000_000,
      },
    ],
  });
export type KeptLine = z.infer<typeof keptLineSchema>;

/** The line that is shown above the chat; the data of an event `chat-pinned`. */
export const chatPinSchema = z
  .object({ line: keptLineSchema.nullable().meta({ description: 'null: none' }) })
  .meta({ id: 'ChatPin' });
export type ChatPin = z.infer<typeof chatPinSchema>;

/** A line as a request names it. */
const namedLine = z.strictObject(keptLineSchema.shape).meta({ id: 'NamedLine' });

export const pinLineSchema = z
  .strictObject({ line: namedLine.nullable().meta({ description: 'null: none' }) })
  .meta({ id: 'PinLine' });

/** How the chat goes, for those who run the show. */
export const chatStateSchema = chatModeSchema
  .extend({ pinned: keptLineSchema.nullable().meta({ description: 'null: none is' }) })
  .meta({ id: 'ChatState', examples: [{ slowModeMs: 10_000, paused: false, pinned: null }] });
export type ChatState = z.infer<typeof chatStateSchema>;

/** How the chat goes, for a viewer who comes late: what events told before. */
export const viewersChatSchema = z
  .object({
    slow_mode_ms: chatModeSchema.shape.slowModeMs,
    paused: chatModeSchema.shape.paused,
    pinned: chatStateSchema.shape.pinned,
    hidden: z
      .array(lineId)
      .meta({ description: 'The ids of the lines that were hidden last, the newest first' }),
  })
  .meta({ id: 'ViewersChat' });
export type ViewersChat = z.infer<typeof viewersChatSchema>;

const shownName = text(CHAT_NAME_CHARS)
  .optional()
  .meta({ description: 'What they called themselves, for the list' });

export const muteSchema = z
  .strictObject({
    minutes: z
      .int()
      .min(1)
      .max(MUTE_MAX_MINUTES)
      .optional()
      .meta({ description: 'For the whole show when it is left out' }),
    name: shownName,
  })
  .meta({ id: 'Mute', examples: [{ minutes: 10, name: 'Ada' }] });

export const banSchema = z
  .strictObject({ name: shownName })
  .meta({ id: 'Ban', examples: [{ name: 'Ada' }] });

export const RESTRICTIONS = ['muted', 'banned'] as const;
export type Restriction = (typeof RESTRICTIONS)[number];

/** A viewer who may not write, or may not be there. */
export const restrictedViewerSchema = z
  .object({
    viewer: z.string(),
    name: z.string().meta({ description: 'As it was given; may be empty' }),
    kind: z.enum(RESTRICTIONS),
    until: unixMs.nullable().meta({ description: 'null: for the whole show' }),
    by: z
      .string()
      .nullable()
      .meta({ description: 'The name of the member; null: a service token' }),
    at: unixMs.meta({ description: 'Since when' }),
  })
  .meta({
    id: 'RestrictedViewer',
    examples: [
      {
        viewer: 'dGhpcyBpcyBhIHZpZXdlcg',
        name: 'Ada',
        kind: 'muted',
        until: 1_760_000_600_000,
        by: 'Grace',
        at: 1_760_000_000_000,
      },
    ],
  });
export type RestrictedViewer = z.infer<typeof restrictedViewerSchema>;

export const QUESTION_STATES = ['open', 'answered', 'dismissed'] as const;
export type QuestionState = (typeof QUESTION_STATES)[number];

const questionState = z.enum(QUESTION_STATES);

export const questionPostSchema = z
  .strictObject({
    state: questionState,
    line: namedLine,
  })
  .meta({ id: 'QuestionPost' });

/** A line of the chat in the queue of questions. */
export const queuedQuestionSchema = z
  .object({
    state: questionState,
    line: keptLineSchema,
    by: z
      .string()
      .nullable()
      .meta({ description: 'Who gave it this state; null: a service token' }),
    at: unixMs.meta({ description: 'When it got this state' }),
  })
  .meta({ id: 'QueuedQuestion' });
export type QueuedQuestion = z.infer<typeof queuedQuestionSchema>;

export const questionsQuerySchema = z.object({
  state: questionState.optional().meta({ description: 'Those in this state alone' }),
});
