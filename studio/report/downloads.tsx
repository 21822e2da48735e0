import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { EXPORTS, exportUrl, FORMATS } from './exports.ts';
import { texts } from './texts.ts';

export function Downloads({ streamId }: { readonly streamId: string }) {
  return (
    <div className="print:hidden">
      <Panel title={texts.files.title}>
        <ul className="grid gap-1">
          {EXPORTS.map((name) => (
            <li key={name} className="flex items-center justify-between gap-x-3">
              <span className="grid min-w-0">
                <span className="font-semibold">{texts.files[name].title}</span>
                <span className="text-sm text-quiet">{texts.files[name].description}</span>
              </span>
              <span className="flex shrink-0">
                {FORMATS.map((format) => (
                  <a
                    key={format}
                    href={exportUrl(name, streamId, format)}
                    download
                    aria-label={texts.files.download(texts.files[name].title, format.toUpperCase())}
                    className={`inline-flex min-h-11 items-center px-2 underline ${FOCUS_RING}`}
                  >
                    {format.toUpperCase()}
                  </a>
                ))}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}
