import { SHOW_DESCRIPTION_CHARS } from '../../protocol/limits.ts';
import type { ShowPage } from '../../protocol/show-page.ts';
import { showPageOf } from '../../protocol/show-page-values.ts';
import { FormSection } from '../ui/form-section.tsx';
import { TextField } from '../ui/text-field.tsx';
import { localTimeOf, localTimeText } from './local-time.ts';
import { texts } from './texts.ts';

interface ShowPageFieldsProps {
  readonly page: ShowPage;
  readonly onChange: (part: Partial<ShowPage>) => void;
}

const COLOR_EXAMPLE = '#2f6fed';

const textOrNull = (text: string) => (text.trim() === '' ? null : text);

/** The fields of a show that appear on its viewer page and in link previews. */
export function ShowPageFields({ page, onChange }: ShowPageFieldsProps) {
  const isEmpty = Object.values(showPageOf(page)).every((value) => value === null);
  return (
    <FormSection title={texts.viewerPage.title} isOpenAtFirst={!isEmpty}>
      <TextField
        label={texts.viewerPage.startTime}
        help={texts.viewerPage.startTimeHelp}
        type="datetime-local"
        value={localTimeText(page.startsAt)}
        onChange={(text) => onChange({ startsAt: localTimeOf(text) })}
      />
      <TextField
        label={texts.viewerPage.description}
        rows={3}
        value={page.description ?? ''}
        onChange={(text) => onChange({ description: textOrNull(text.replace(/\s*\n\s*/g, ' ')) })}
        maxLength={SHOW_DESCRIPTION_CHARS}
      />
      <TextField
        label={texts.viewerPage.posterUrl}
        help={texts.viewerPage.posterHelp}
        type="url"
        value={page.poster_url ?? ''}
        onChange={(url) => onChange({ poster_url: textOrNull(url) })}
      />
      <TextField
        label={texts.viewerPage.logoUrl}
        type="url"
        value={page.logo_url ?? ''}
        onChange={(url) => onChange({ logo_url: textOrNull(url) })}
      />
      <TextField
        label={texts.viewerPage.color}
        help={texts.viewerPage.colorHelp(COLOR_EXAMPLE)}
        pattern="#[0-9a-fA-F]{6}"
        placeholder={COLOR_EXAMPLE}
        value={page.color ?? ''}
        onChange={(color) => onChange({ color: textOrNull(color) })}
      />
    </FormSection>
  );
}
