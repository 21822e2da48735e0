const INTERVAL_MS = 250;

/** Calls a function at the end of each interval with `BODY`, which contains its number. */
export function eachInterval(send) {
  const template = process.env.BODY;
  let next = Math.floor(Date.now() / INTERVAL_MS);
  function wait() {
    setTimeout(
      () => {
        send(template.replace('INTERVAL', next));
        next += 1;
        wait();
      },
      Math.max(0, (next + 1) * INTERVAL_MS - Date.now()),
    );
  }
  wait();
}
