import { runtime } from '../platform/runtime.ts';

export interface PageStreamOptions {
  /** Called with the error of a page that cannot be read. */
  readonly onFailure: (error: unknown) => void;
  /** Called when the body is sent, broken off or cancelled. */
  readonly onEnd: () => void;
}

/**
 * A response body that makes the next text only when the client has taken the previous one, and lets
 * other requests run before it. When a page cannot be read, the transfer breaks off without its final
 * chunk, which a client detects.
 */
export function pageStream(
  texts: AsyncGenerator<string> | Generator<string>,
  { onFailure, onEnd }: PageStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await new Promise<void>((resolve) => runtime.setImmediate(resolve));
          const { done, value } = await texts.next();
          if (isCancelled) return;
          if (!done) return controller.enqueue(encoder.encode(value));
          controller.close();
          onEnd();
        } catch (error) {
          onFailure(error);
          // No reason: the runtime would print it to standard error, beside the log.
          controller.error();
          onEnd();
        }
      },
      async cancel() {
        isCancelled = true;
        onEnd();
        await texts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
