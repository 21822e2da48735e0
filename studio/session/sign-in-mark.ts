// The entry of the browser's history at which the user signed in has a mark, so that the page behind
// it can open what a user wants first, once.

/** Marks the current entry of the history. @param path of the entry */
export function markSignIn(path: string): void {
  history.replaceState({ isSignIn: true }, '', path);
}

/** Whether the user just signed in at this entry; removes the mark. */
export function takeSignInMark(): boolean {
  if (history.state?.isSignIn !== true) return false;
  history.replaceState(null, '');
  return true;
}
