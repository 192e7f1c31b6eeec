/**
 * `jobmill work`: runs workers and duties until SIGINT, SIGTERM or SIGHUP. Serves no API, but probes and
 * metrics with `--port`.
 */
import type { ProbeOptions } from '../../probes/probes.ts'
import type { Command, ParsedArguments } from '../program/command.ts'
import { LOG_OPTIONS } from '../output/mill-log.ts'
import { runMill } from '../run-mill.ts'
import { BIND, millOptions, portOf, QUEUES, tokensFrom } from './start.ts'
import { conflict } from '../program/invalid.ts'

export const work: Command = {
  words: 'work',
  takes: '[config]',
  arguments: [0, 1],
  says: 'run the jobs of a config until SIGINT, SIGTERM or SIGHUP; a second signal skips the grace period',
  options: {
    queues: QUEUES,
    port: { takes: 'N', says: 'serve /healthz, /readyz and /metrics on this port (default: off)' },
    bind: BIND,
    'tokens-file': {
      takes: 'FILE',
      says: 'tokens that may read /metrics, one "name role token" per line (or JOBMILL_TOKENS; default: public)',
    },
    ...LOG_OPTIONS,
  },
  examples: [
    'jobmill work ./jobs.config.ts',
    'jobmill work --queues mail,reports',
    'jobmill work --port 9464 --bind 0.0.0.0',
  ],
  async run(parsed, terminal) {
    const probes = await probeOptions(parsed)
    return runMill({ options: await millOptions(parsed, true), works: true, api: null, probes, terminal })
  },
}

async function probeOptions(parsed: ParsedArguments): Promise<ProbeOptions | null> {
  const port = parsed.text('port')
  const bind = parsed.text('bind')
  if (port !== undefined)
    return {
      port: portOf(port),
      bind: bind ?? '127.0.0.1',
      tokens: await tokensFrom(parsed, process.env),
    }
  if (bind === undefined) return null
  throw conflict('--bind', 'has no effect without --port', 'Pass --port too, or omit --bind', bind)
}
