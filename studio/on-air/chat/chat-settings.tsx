import { Settings2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { LIVE_STATE_MS } from '../../../protocol/live.ts';
import type { ChatMode, RestrictedViewer } from '../../../protocol/moderation.ts';
import { useApiMutation } from '../../api/use-api-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog.tsx';
import { DialogActions } from '../../ui/dialog-actions.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { showError } from '../../ui/toasts.tsx';
import { RestrictedViewers } from './restricted-viewers.tsx';
import { slowModeLabel } from './slow-mode-label.ts';
import { texts } from './texts.ts';
import type { LoadedList } from './use-chat-state.ts';
import type { Moderation } from './use-moderation.ts';

const SLOW_MODE_OPTIONS_MS = [0, 3, 5, 10, 30, 60, 300].map((seconds) => seconds * 1_000);

/** Pauses the chat. */
export function PauseSwitch({ chatMode }: { readonly chatMode: ReturnType<typeof useChatMode> }) {
  const { paused, change, isPending } = chatMode;
  return (
    <Switch
      label={texts.pause}
      isSelected={paused}
      onChange={(isPaused) => change({ paused: isPaused })}
      isDisabled={isPending}
    />
  );
}

interface ChatSettingsProps {
  readonly chatMode: ReturnType<typeof useChatMode>;
  readonly restricted: LoadedList<RestrictedViewer>;
  readonly moderation: Moderation;
}

/** A button for a dialog with pause, slow mode, and the muted and banned viewers. */
export function ChatSettings({ chatMode, restricted, moderation }: ChatSettingsProps) {
  const { slowModeMs, change, isPending } = chatMode;
  const optionsMs = [...new Set([...SLOW_MODE_OPTIONS_MS, slowModeMs])];
  const content = (close: () => void) => (
    <>
      <PauseSwitch chatMode={chatMode} />
      <Select
        label={texts.settings.slowMode}
        value={String(slowModeMs)}
        options={optionsMs.map((ms) => ({ value: String(ms), text: slowModeLabel(ms) }))}
        onChange={(ms) => change({ slowModeMs: Number(ms) })}
        isDisabled={isPending}
      />
      <h3 className="font-semibold">{texts.restricted.title}</h3>
      <RestrictedViewers viewers={restricted} moderation={moderation} />
      <DialogActions>
        <Button onPress={close}>{texts.settings.close}</Button>
      </DialogActions>
    </>
  );
  return (
    <DialogButton
      variant="quiet"
      icon={<Settings2 />}
      aria-label={texts.settings.title}
      title={texts.settings.title}
      dialog={content}
    />
  );
}

/** The state of the show has the effect of a request within this time. */
const EFFECT_MS = 2 * LIVE_STATE_MS;

/** Shows a requested mode until the request fails, or until `EFFECT_MS` after its response. */
export function useChatMode(streamId: string, mode: ChatMode) {
  const [requested, setRequested] = useState<ChatMode | null>(null);
  const { mutate, isPending } = useApiMutation('patchChatMode', {
    onError: (error) => {
      setRequested(null);
      showError(error);
    },
  });
  useEffect(() => {
    if (isPending || !requested) return;
    const timer = setTimeout(() => setRequested(null), EFFECT_MS);
    return () => clearTimeout(timer);
  }, [isPending, requested]);
  const shown = requested ?? mode;
  const change = (part: Partial<ChatMode>) => {
    setRequested({ ...shown, ...part });
    mutate({ params: { stream_id: streamId }, body: part });
  };
  return { ...shown, change, isPending };
}
