/** An error reply of the model; the first word is its code. */
export class RedisError extends Error {
  override readonly name = 'RedisError';
}

export const wrongType = () =>
  new RedisError('WRONGTYPE Operation against a key holding the wrong kind of value');

export const syntaxError = () => new RedisError('ERR syntax error');
