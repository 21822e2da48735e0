/** How the presenter view of a show is to look. */
export interface PresenterLook {
  /** It lies over a picture, as in OBS. */
  readonly isOverlay: boolean;
  /** How viewers answer is shown before the results. */
  readonly hasLiveBars: boolean;
}

/** The address of a presenter view that looks so. @param url as the service made it, with its key */
export function presenterAddress(url: string, { isOverlay, hasLiveBars }: PresenterLook): string {
  const address = new URL(url);
  if (isOverlay) address.searchParams.set('background', 'transparent');
  if (hasLiveBars) address.searchParams.set('bars', 'live');
  return address.href;
}
