import { runCommandLine } from './cli/program.ts';

// The database holds keys and hashes of tokens: its files are for its owner only (O-20).
process.umask(0o077);

process.exit(
  await runCommandLine(process.argv.slice(2), {
    print: (text) => console.log(text),
    complain: (text) => console.error(text),
    env: process.env,
  }),
);
