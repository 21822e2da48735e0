import { hasChanges } from './unsaved-changes.ts';

/**
 * The fields that a form changed. A save sends only these: the others may have changed on the server
 * since the form opened, and a save of their first values would revert that.
 * @param initial the values when the form opened, normalized as `fields` are
 * @returns null: none
 */
export function changedFields<Fields extends object>(
  initial: NoInfer<Fields>,
  fields: Fields,
): Partial<Fields> | null {
  const changed = Object.entries(fields).filter(([name, value]) =>
    hasChanges(initial[name as keyof Fields], value),
  );
  return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<Fields>);
}
