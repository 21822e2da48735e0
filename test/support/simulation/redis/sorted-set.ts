export interface ScoredMember {
  readonly member: string;
  readonly score: number;
}

/** A bound of scores; `isExclusive` bounds are written as `(1`. */
export interface ScoreBound {
  readonly score: number;
  readonly isExclusive: boolean;
}

/** A sorted set: members by score, and members of one score in the order of their bytes. */
export class SortedSet {
  private readonly scores = new Map<string, number>();
  private readonly sorted: ScoredMember[] = [];

  get size(): number {
    return this.sorted.length;
  }

  scoreOf(member: string): number | undefined {
    return this.scores.get(member);
  }

  set(member: string, score: number): void {
    const current = this.scores.get(member);
    if (current !== undefined) this.sorted.splice(this.placeOf({ member, score: current }), 1);
    const entry = { member, score };
    this.scores.set(member, score);
    this.sorted.splice(this.placeOf(entry), 0, entry);
  }

  /** The members from one place to another, which is not included. */
  slice(from: number, to: number): readonly ScoredMember[] {
    return this.sorted.slice(from, to);
  }

  removeSlice(from: number, to: number): void {
    for (const { member } of this.sorted.splice(from, Math.max(0, to - from))) {
      this.scores.delete(member);
    }
  }

  /** The places of the members between two bounds; the second is not included. */
  placesBetween(minimum: ScoreBound, maximum: ScoreBound): [from: number, to: number] {
    return [
      this.firstPlace(({ score }) =>
        minimum.isExclusive ? score > minimum.score : score >= minimum.score,
      ),
      this.firstPlace(({ score }) =>
        maximum.isExclusive ? score >= maximum.score : score > maximum.score,
      ),
    ];
  }

  clone(): SortedSet {
    const copy = new SortedSet();
    for (const entry of this.sorted) {
      copy.sorted.push(entry);
      copy.scores.set(entry.member, entry.score);
    }
    return copy;
  }

  private placeOf({ member, score }: ScoredMember): number {
    return this.firstPlace(
      (other) => other.score > score || (other.score === score && other.member >= member),
    );
  }

  /** The first place from which on a condition holds. */
  private firstPlace(holds: (entry: ScoredMember) => boolean): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(this.sorted[middle] as ScoredMember)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
