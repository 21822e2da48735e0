/** A dialog that is open; what is said at the edge of the page is none. */
export const OPEN_DIALOG = '[role=dialog], [role=alertdialog]:not([aria-modal=false])';
