/**
 * Tells the data of each message of an event stream as soon as it is whole.
 *
 * Fulfilled when the stream ends, or the signal ends it.
 * @throws what breaks the stream, or what `onData` throws
 */
export async function readEventStream(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onData: (data: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  const decoder = new TextDecoder();
  let rest = '';
  let data = '';
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        // The service's messages have their data in one line, whose id says nothing that it does not.
        if (line.startsWith('data:')) data = line.slice(5);
        if (line.trim() || !data || signal.aborted) continue;
        onData(data);
        data = '';
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    cancel();
  }
}
