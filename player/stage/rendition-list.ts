/** A resolution and bitrate of the video. */
export interface Rendition {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** bit/s */
  readonly bitrate: number;
}

/**
 * The renditions of a `<video>`, with the interface that media-chrome expects (`videoRenditions` of
 * the media tracks proposal). `selectedIndex` -1 selects by bandwidth.
 */
export class RenditionList extends EventTarget {
  [index: number]: Rendition;
  private list: readonly Rendition[] = [];
  private selected = -1;

  get length(): number {
    return this.list.length;
  }

  get selectedIndex(): number {
    return this.selected;
  }

  set selectedIndex(index: number) {
    if (index === this.selected) return;
    this.selected = index;
    this.dispatchEvent(new Event('change'));
  }

  /** Replaces all renditions. The selected index stays if it still exists. */
  replace(renditions: readonly Rendition[]): void {
    for (let index = 0; index < this.list.length; index++) delete this[index];
    this.list = [...renditions];
    Object.assign(this, this.list);
    if (this.selected >= this.list.length) this.selected = -1;
    this.dispatchEvent(new Event('addrendition'));
  }

  [Symbol.iterator](): Iterator<Rendition> {
    return this.list[Symbol.iterator]();
  }
}
