/**
 * Keeps every iterator of a set or map while `work` runs. The garbage collector also finds iterators on the
 * stack that nothing will use again, and one that is not finished keeps all that its set or map has later.
 */
export async function keepingIterators<T>(work: () => Promise<T>): Promise<T> {
  const kept: unknown[] = [];
  const restore = [Set.prototype, Map.prototype].flatMap((prototype) =>
    ([Symbol.iterator, 'keys', 'values', 'entries'] as const).map((name) => {
      const original = Reflect.get(prototype, name);
      Object.assign(prototype, {
        [name](this: unknown) {
          const iterator = original.call(this);
          kept.push(iterator);
          return iterator;
        },
      });
      return () => Object.assign(prototype, { [name]: original });
    }),
  );
  try {
    return await work();
  } finally {
    for (const undo of restore) undo();
    kept.length = 0;
  }
}
