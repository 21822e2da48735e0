/** Why it did not work, where it is read out. */
export function EntryFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  return (
    <p role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
      {error instanceof Error ? error.message : 'It did not work.'}
    </p>
  );
}
