/** For who may not be there any more, in plain words: nothing is tried again behind it. */
export function SentOutPage() {
  return (
    <main className="sent-out">
      <h1>You cannot watch this show any more</h1>
      <p>Those who run it have sent you out of it.</p>
    </main>
  );
}
