import 'media-chrome/dist/media-control-bar.js';
import 'media-chrome/dist/media-controller.js';
import 'media-chrome/dist/media-fullscreen-button.js';
import 'media-chrome/dist/media-live-button.js';
import 'media-chrome/dist/media-loading-indicator.js';
import 'media-chrome/dist/media-mute-button.js';
import 'media-chrome/dist/media-pip-button.js';
import 'media-chrome/dist/media-play-button.js';
import 'media-chrome/dist/media-time-display.js';
import 'media-chrome/dist/media-time-range.js';
import 'media-chrome/dist/media-volume-range.js';
import 'media-chrome/dist/menu/media-chrome-menu-item.js';
import 'media-chrome/dist/menu/media-rendition-menu-button.js';
import 'media-chrome/dist/menu/media-rendition-menu.js';
import { En } from 'media-chrome/dist/lang/en.js';
import { addTranslation } from 'media-chrome/dist/utils/i18n.js';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

// The elements of media-chrome that the page has, one by one: all of them would be twice as heavy.

// Who says what is to be seen on the button means the button.
addTranslation('en', { ...En, 'seek to live': 'go to live' });

type Plain = DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement>;
/** What an element takes besides. */
type Taking<Name extends string> = Plain & { readonly [Key in Name]?: string | undefined };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'media-controller': Taking<'autohide' | 'nosubtitleslangpref' | 'seektoliveoffset'>;
      'media-control-bar': Plain;
      'media-fullscreen-button': Plain;
      'media-live-button': Plain;
      'media-loading-indicator': Taking<'noautohide' | 'loadingdelay'>;
      'media-mute-button': Plain;
      'media-pip-button': Plain;
      'media-play-button': Plain;
      'media-time-display': Taking<'showduration'>;
      'media-time-range': Plain;
      'media-volume-range': Plain;
      'media-rendition-menu': Taking<'anchor'>;
      'media-rendition-menu-button': Plain;
    }
  }
}
