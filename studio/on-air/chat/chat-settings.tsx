import { Settings2 } from 'lucide-react';
import { useState } from 'react';
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

/** Shows a requested mode until the server state changes or the request fails. */
export function useChatMode(streamId: string, mode: ChatMode) {
  const [requested, setRequested] = useState<{
    readonly mode: ChatMode;
    readonly previous: ChatMode;
  } | null>(null);
  const { mutate, isPending } = useApiMutation('patchChatMode', {
    onError: (error) => {
      setRequested(null);
      showError(error);
    },
  });
  const shown = requested && isEqualMode(requested.previous, mode) ? requested.mode : mode;
  const change = (part: Partial<ChatMode>) => {
    setRequested({ mode: { ...shown, ...part }, previous: mode });
    mutate({ params: { stream_id: streamId }, body: part });
  };
  return { ...shown, change, isPending };
}

function isEqualMode(a: ChatMode, b: ChatMode): boolean {
  return a.slowModeMs === b.slowModeMs && a.paused === b.paused;
}
