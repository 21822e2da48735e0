import { useState } from 'react';
import type { ChatMode } from '../../../protocol/moderation.ts';
import { useWrite } from '../../api/use-write.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { tellFailure } from '../../ui/toasts.tsx';
import { slowWords } from './slow-words.ts';

const S = 1_000;
const SLOW_MS = [0, 3 * S, 5 * S, 10 * S, 30 * S, 60 * S, 300 * S];

interface ChatControlsProps {
  readonly streamId: string;
  readonly mode: ChatMode;
}

/** How fast viewers may write, and whether at all. */
export function ChatControls({ streamId, mode }: ChatControlsProps) {
  const { slowModeMs, paused, change, isPending } = useMode(streamId, mode);
  const all = SLOW_MS.includes(slowModeMs) ? SLOW_MS : [...SLOW_MS, slowModeMs];
  return (
    <>
      <Select
        label="Slow mode"
        isLabelUnseen
        value={String(slowModeMs)}
        options={all.map((ms) => ({ value: String(ms), text: slowWords(ms) }))}
        onChange={(ms) => change({ slowModeMs: Number(ms) })}
        isDisabled={isPending}
      />
      <Switch
        label="Pause"
        isSelected={paused}
        onChange={(isPaused) => change({ paused: isPaused })}
        isDisabled={isPending}
      />
    </>
  );
}

/** What was asked for is shown until the state says it, or something else. */
function useMode(streamId: string, mode: ChatMode) {
  const [asked, setAsked] = useState<{ readonly mode: ChatMode; readonly was: ChatMode } | null>(
    null,
  );
  const { write, isPending } = useWrite('patchChatMode', {
    onFailure: (error) => {
      setAsked(null);
      tellFailure(error);
    },
  });
  const shown = asked && isSame(asked.was, mode) ? asked.mode : mode;
  const change = (part: Partial<ChatMode>) => {
    setAsked({ mode: { ...shown, ...part }, was: mode });
    write({ params: { stream_id: streamId }, body: part });
  };
  return { ...shown, change, isPending };
}

function isSame(one: ChatMode, other: ChatMode): boolean {
  return one.slowModeMs === other.slowModeMs && one.paused === other.paused;
}
