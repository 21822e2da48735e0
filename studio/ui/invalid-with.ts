/**
 * What a field is given for an error from outside of it. Without one the property is left out: a field
 * that is told that it is valid says nothing of what the browser finds wrong with it.
 */
export function invalidWith(error: string | undefined): { isInvalid?: true } {
  return error === undefined ? {} : { isInvalid: true };
}
