const INTERVAL_MS = 250;

/** Calls `send` at the end of each interval with `BODY`, in which the word INTERVAL becomes its number. */
export function sendEachInterval(send) {
  const template = process.env.BODY;
  let interval = Math.floor(Date.now() / INTERVAL_MS);
  function schedule() {
    setTimeout(
      () => {
        send(template.replace('INTERVAL', interval));
        interval += 1;
        schedule();
      },
      Math.max(0, (interval + 1) * INTERVAL_MS - Date.now()),
    );
  }
  schedule();
}
