/**
 * Validation props of a field with an external error. Without one the property is absent:
 * `isInvalid: false` would hide the browser's own validation messages.
 */
export function invalidWith(error: string | undefined): { isInvalid?: true } {
  return error === undefined ? {} : { isInvalid: true };
}
