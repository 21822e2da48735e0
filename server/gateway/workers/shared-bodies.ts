/** The same bodies in one piece of memory that threads share: none of them copies it. */
export function sharedCopy(
  bodies: ReadonlyMap<string, Uint8Array>,
): ReadonlyMap<string, Uint8Array> {
  let bytes = 0;
  for (const body of bodies.values()) bytes += body.length;
  const memory = new SharedArrayBuffer(bytes);
  const copies = new Map<string, Uint8Array>();
  let at = 0;
  for (const [streamId, body] of bodies) {
    const copy = new Uint8Array(memory, at, body.length);
    copy.set(body);
    copies.set(streamId, copy);
    at += body.length;
  }
  return copies;
}
