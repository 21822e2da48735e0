// biome-ignore-all lint/performance/noBarrelFile: the entry of a package is what it offers.
export type { Environment, Storage, Visibility } from './environment.ts';
export { FourbeatError, type TroubleKind } from './errors.ts';
export { join } from './join.ts';
export type { JoinOptions, Urls } from './join-options.ts';
export type * from './types.ts';
export type * from './viewer.ts';
