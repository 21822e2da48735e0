/** The error of a form, announced by screen readers. */
export function EntryFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  return (
    <p role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
      {error instanceof Error ? error.message : 'Something went wrong. Try again.'}
    </p>
  );
}
