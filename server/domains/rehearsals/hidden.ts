/**
 * A condition on streams: they may be listed, and others may be told of them. Nobody notices a
 * rehearsal who does not make its show (SPEC Y-2).
 */
export const NO_REHEARSAL = 'rehearsal_of is null';
