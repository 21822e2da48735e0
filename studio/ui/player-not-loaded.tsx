import { Button } from './button.tsx';
import { texts } from './texts.ts';

/**
 * In place of a video whose player could not be loaded. It loads the page again, because browsers cache the
 * failure of a module until then.
 */
export function PlayerNotLoaded() {
  return (
    <div
      role="alert"
      className="grid size-full content-center justify-items-center gap-2 overflow-y-auto p-2 text-center print:hidden"
    >
      <p>{texts.playerNotLoaded}</p>
      <Button onPress={() => location.reload()}>{texts.reload}</Button>
    </div>
  );
}
