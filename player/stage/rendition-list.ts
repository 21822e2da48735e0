/** A size and rate in which the picture can be had. */
export interface Rendition {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** bit/s */
  readonly bitrate: number;
}

/**
 * The renditions of a `<video>`, in the shape that the controls look for (`videoRenditions` of the
 * proposal for media tracks). The one that is chosen has `selectedIndex`; -1: by the network.
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

  /** What there is now. What was chosen stays chosen while it is there. */
  replace(renditions: readonly Rendition[]): void {
    for (let at = 0; at < this.list.length; at++) delete this[at];
    this.list = [...renditions];
    Object.assign(this, this.list);
    if (this.selected >= this.list.length) this.selected = -1;
    this.dispatchEvent(new Event('addrendition'));
  }

  [Symbol.iterator](): Iterator<Rendition> {
    return this.list[Symbol.iterator]();
  }
}
