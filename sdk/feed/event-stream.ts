// Far above the largest interval: a body without line ends must not fill the memory.
const LINE_CHARS_MAX = 20_000_000;

/**
 * Reads an event stream, and passes on the data of each complete message.
 *
 * Resolves when the stream ends, has an endless line, or the signal aborts it.
 * @throws the error that broke the stream, or that `onData` throws
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
  let partialLine = '';
  let data = '';
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done || partialLine.length > LINE_CHARS_MAX) return;
      // Split before joining: a long line arrives in many pieces, and is searched once.
      const lines = decoder.decode(value, { stream: true }).split('\n');
      lines[0] = partialLine + lines[0];
      partialLine = lines.pop() as string;
      for (const line of lines) {
        // The service sends the data of a message in one line; the id repeats the interval in it.
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
