/**
 * The index of the first element that meets a condition, by binary search; the length if there is none.
 * @param isMet false for a number of elements, then true for all others
 */
export function firstIndex<Element>(
  elements: readonly Element[],
  isMet: (element: Element) => boolean,
): number {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isMet(elements[middle] as Element)) high = middle;
    else low = middle + 1;
  }
  return low;
}
