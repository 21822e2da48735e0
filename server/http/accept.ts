/**
 * Whether `Accept` names this media type, in any case and with any parameters, and does not refuse
 * it (`q=0`); RFC 9110, section 12.5.1. Weights are not compared and ranges such as `text/*` name
 * nothing: the types that are asked about are for clients that want just them.
 * @param type in lower case
 */
export function accepts(request: Request, type: string): boolean {
  const header = request.headers.get('accept');
  if (header === null) return false;
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part.toLowerCase().split(';');
    if (name.trim() !== type) return false;
    return !parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(parameter));
  });
}
