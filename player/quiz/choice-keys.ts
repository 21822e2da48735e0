/** @returns the choice that a key stands for: 1 to 9 are the first nine, 0 the tenth; null: none */
export function choiceOfKey(
  { key, altKey, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey'>,
  order: readonly string[],
): string | null {
  if (altKey || ctrlKey || metaKey || !/^\d$/.test(key)) return null;
  return order[key === '0' ? 9 : Number(key) - 1] ?? null;
}
