import { useState } from 'react';
import type { ChatMode } from '../../../protocol/moderation.ts';
import { useApiMutation } from '../../api/use-api-mutation.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { showError } from '../../ui/toasts.tsx';
import { slowModeLabel } from './slow-mode-label.ts';

const SLOW_MODE_OPTIONS_MS = [0, 3, 5, 10, 30, 60, 300].map((seconds) => seconds * 1_000);

/** Slow mode and pause of the chat. */
export function ChatControls({ streamId, mode }: { streamId: string; mode: ChatMode }) {
  const { slowModeMs, paused, change, isPending } = useChatMode(streamId, mode);
  const optionsMs = [...new Set([...SLOW_MODE_OPTIONS_MS, slowModeMs])];
  return (
    <>
      <Select
        label="Slow mode"
        isLabelHidden
        value={String(slowModeMs)}
        options={optionsMs.map((ms) => ({ value: String(ms), text: slowModeLabel(ms) }))}
        onChange={(ms) => change({ slowModeMs: Number(ms) })}
        isDisabled={isPending}
      />
      <Switch
        label="Pause chat"
        isSelected={paused}
        onChange={(isPaused) => change({ paused: isPaused })}
        isDisabled={isPending}
      />
    </>
  );
}

/** Shows a requested mode until the server state changes or the request fails. */
function useChatMode(streamId: string, mode: ChatMode) {
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
