import { SHOW_DESCRIPTION_CHARS } from '../../protocol/limits.ts';
import type { ShowPage } from '../../protocol/show-page.ts';
import { showPageOf } from '../../protocol/show-page-values.ts';
import { FormSection } from '../ui/form-section.tsx';
import { TextField } from '../ui/text-field.tsx';
import { localTimeOf, localTimeText } from './local-time.ts';

interface ShowPageFieldsProps {
  readonly page: ShowPage;
  readonly onChange: (part: Partial<ShowPage>) => void;
}

const textOrNull = (text: string) => (text.trim() === '' ? null : text);

/** The fields of a show that appear on its viewer page and in link previews. */
export function ShowPageFields({ page, onChange }: ShowPageFieldsProps) {
  const isEmpty = Object.values(showPageOf(page)).every((value) => value === null);
  return (
    <FormSection title="Viewer page" isOpenAtFirst={!isEmpty}>
      <TextField
        label="Start time"
        help="Viewers see a countdown to it. It does not start the show."
        type="datetime-local"
        value={localTimeText(page.startsAt)}
        onChange={(text) => onChange({ startsAt: localTimeOf(text) })}
      />
      <TextField
        label="Description"
        rows={3}
        value={page.description ?? ''}
        onChange={(text) => onChange({ description: textOrNull(text.replace(/\s*\n\s*/g, ' ')) })}
        maxLength={SHOW_DESCRIPTION_CHARS}
      />
      <TextField
        label="Poster URL"
        help="A wide picture, shown before the show and when the link is shared."
        type="url"
        value={page.poster_url ?? ''}
        onChange={(url) => onChange({ poster_url: textOrNull(url) })}
      />
      <TextField
        label="Logo URL"
        type="url"
        value={page.logo_url ?? ''}
        onChange={(url) => onChange({ logo_url: textOrNull(url) })}
      />
      <TextField
        label="Color"
        help="Of buttons and highlights on the viewer page, such as #2f6fed."
        pattern="#[0-9a-fA-F]{6}"
        placeholder="#2f6fed"
        value={page.color ?? ''}
        onChange={(color) => onChange({ color: textOrNull(color) })}
      />
    </FormSection>
  );
}
