import { createContext, useContext, useEffect, useState } from 'react';

/** The form of a dialog reports to it whether it has changes. */
export const UnsavedChangesContext = createContext<(hasChanges: boolean) => void>(() => {});

/**
 * Makes the dialog ask before it discards the changes of its form.
 * @param fields the values of the form, as JSON can express them
 */
export function useUnsavedChanges(fields: unknown): void {
  const report = useContext(UnsavedChangesContext);
  const [initial] = useState(fields);
  const isChanged = hasChanges(initial, fields);
  useEffect(() => {
    report(isChanged);
    return () => report(false);
  }, [report, isChanged]);
}

/** Whether the values of a form differ from the initial ones. Changes that were undone do not count. */
export function hasChanges(initial: unknown, fields: unknown): boolean {
  return JSON.stringify(initial) !== JSON.stringify(fields);
}
