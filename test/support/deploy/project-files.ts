import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The folder of package.json. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The parts of a Compose service that tests read. */
export interface ComposeService {
  readonly image?: string;
  readonly command?: string[];
  readonly healthcheck?: { readonly test?: string[] };
  readonly environment?: Record<string, string>;
  readonly volumes?: string[];
  readonly ports?: string[];
  readonly networks?: string[] | Record<string, { ipv4_address?: string }>;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
}

export interface ComposeFile {
  readonly services: Record<string, ComposeService>;
  readonly networks: Record<string, { internal?: boolean }>;
  readonly volumes: Record<string, unknown>;
}

/** The Compose file of `deploy/`. */
export function readComposeFile(): ComposeFile {
  return parse(textOf('deploy/compose/compose.yaml'), { merge: true });
}
