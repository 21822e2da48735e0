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
import { texts } from '../texts.ts';

// Imports only the media-chrome elements that the page uses: all of them are twice as large.

// Voice control needs a label that contains the visible text of the button.
addTranslation('en', { ...En, 'seek to live': texts.stage.goToLiveLabel });

type ElementProps = DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement>;
/** An element with further attributes. */
type ElementWith<Name extends string> = ElementProps & {
  readonly [Key in Name]?: string | undefined;
};

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'media-controller': ElementWith<'autohide' | 'nosubtitleslangpref' | 'seektoliveoffset'>;
      'media-control-bar': ElementProps;
      'media-fullscreen-button': ElementProps;
      'media-live-button': ElementProps;
      'media-loading-indicator': ElementWith<'noautohide' | 'loadingdelay'>;
      'media-mute-button': ElementProps;
      'media-pip-button': ElementProps;
      'media-play-button': ElementProps;
      'media-time-display': ElementWith<'showduration'>;
      'media-time-range': ElementProps;
      'media-volume-range': ElementProps;
      'media-rendition-menu': ElementWith<'anchor'>;
      'media-rendition-menu-button': ElementProps;
    }
  }
}
