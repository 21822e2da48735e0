/** A drop position: before or after another quiz. */
export interface Drop {
  readonly key: string;
  readonly isAfter: boolean;
}

/**
 * The drafts in their new order. Sent quizzes keep their positions, so a drop beside one moves to
 * the nearest drafts.
 * @param all ids of all quizzes, in order
 * @param drafts ids of the quizzes that can move
 * @param moved ids of the moved drafts, which keep their relative order
 */
export function reorderDrafts(
  all: readonly string[],
  drafts: ReadonlySet<string>,
  moved: ReadonlySet<string>,
  { key, isAfter }: Drop,
): string[] {
  const before = all.slice(0, all.indexOf(key) + Number(isAfter));
  const stays = (id: string) => drafts.has(id) && !moved.has(id);
  const index = before.filter(stays).length;
  const staying = all.filter(stays);
  const moving = all.filter((id) => drafts.has(id) && moved.has(id));
  return staying.toSpliced(index, 0, ...moving);
}

/** Puts drafts into another order, in the positions of drafts. */
export function applyOrder<Quiz extends { readonly id: string; readonly state: string }>(
  all: readonly Quiz[],
  order: readonly string[],
): Quiz[] {
  const byId = new Map(all.map((quiz) => [quiz.id, quiz]));
  const draftIds = order[Symbol.iterator]();
  return all.map((quiz) => {
    if (quiz.state !== 'draft') return quiz;
    const { value: id } = draftIds.next();
    return (id === undefined ? undefined : byId.get(id)) ?? quiz;
  });
}
