export type MediaKind = 'video' | 'audio';

/** What a container reader has received; announced tracks without data do not count. */
export class ReceivedMedia {
  /** Frames or packets of audio and video. */
  count = 0;
  private readonly kinds = new Set<MediaKind>();

  add(kind: MediaKind): void {
    this.kinds.add(kind);
    this.count++;
  }

  has(kind: MediaKind): boolean {
    return this.kinds.has(kind);
  }

  /** Audio counts as received only when it arrives again. */
  forgetAudio(): void {
    this.kinds.delete('audio');
  }
}
