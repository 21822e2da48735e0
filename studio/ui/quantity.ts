/** A count with its noun: "1 viewer", "1,234 viewers". */
export function quantity(count: number, noun: string): string {
  return `${count.toLocaleString()} ${count === 1 ? noun : `${noun}s`}`;
}
