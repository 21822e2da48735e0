/** Where what is dragged was let go: before or after another quiz. */
export interface Drop {
  readonly key: string;
  readonly isAfter: boolean;
}

/**
 * The drafts in their new order. What is dropped beside a quiz that was sent goes to the drafts that
 * are nearest: those that were sent keep their places.
 * @param all ids of all quizzes, in their order
 * @param drafts which of them can be moved
 * @param moved ids of those that are moved; their order among themselves stays
 */
export function reordered(
  all: readonly string[],
  drafts: ReadonlySet<string>,
  moved: ReadonlySet<string>,
  { key, isAfter }: Drop,
): string[] {
  const before = all.slice(0, all.indexOf(key) + Number(isAfter));
  const stays = (id: string) => drafts.has(id) && !moved.has(id);
  const place = before.filter(stays).length;
  const staying = all.filter(stays);
  const going = all.filter((id) => drafts.has(id) && moved.has(id));
  return staying.toSpliced(place, 0, ...going);
}

/** All quizzes with the drafts in another order, each in a place where a draft was. */
export function withOrder<Quiz extends { readonly id: string; readonly state: string }>(
  all: readonly Quiz[],
  order: readonly string[],
): Quiz[] {
  const byId = new Map(all.map((quiz) => [quiz.id, quiz]));
  const next = order[Symbol.iterator]();
  return all.map((quiz) => {
    if (quiz.state !== 'draft') return quiz;
    const { value } = next.next();
    return (value === undefined ? undefined : byId.get(value)) ?? quiz;
  });
}
