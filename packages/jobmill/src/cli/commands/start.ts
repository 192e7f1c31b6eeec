/** `jobmill start`: runs workers, duties and the API in one process until SIGINT, SIGTERM or SIGHUP. */
import { readFile } from 'node:fs/promises'
import { JobmillError, quote } from '../../job/errors.ts'
import type { MillOptions } from '../../runtime/options/options.ts'
import { storeAt } from '../config/choose-store.ts'
import type { Command, Option, ParsedArguments } from '../program/command.ts'
import { loadConfig } from '../config/load-config.ts'
import type { ApiOptions } from '../config/load-server.ts'
import { LOG_OPTIONS, logFor } from '../output/mill-log.ts'
import { runMill } from '../run-mill.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { optionsFor } from '../with-mill.ts'
import { conflict, invalid } from '../program/invalid.ts'

export const QUEUES: Option = {
  takes: 'A,B',
  says: 'queues to serve (default: serve of the config, then JOBMILL_QUEUES, then the queues of the jobs)',
}
export const BIND: Option = { takes: 'ADDRESS', says: 'address to listen on (default 127.0.0.1)' }

export const start: Command = {
  words: 'start',
  takes: '[config]',
  arguments: [0, 1],
  says: 'run workers, background duties (such as schedules and retention) and the API until SIGINT, SIGTERM or SIGHUP',
  options: {
    queues: QUEUES,
    port: { takes: 'N', says: 'port of the API (default 8787)' },
    bind: BIND,
    'tokens-file': {
      takes: 'FILE',
      says: 'access tokens, one "name role token" per line (or JOBMILL_TOKENS)',
    },
    'requests-per-second': {
      takes: 'N',
      says: 'maximum requests per second for each token name (default 1000)',
    },
    'base-path': { takes: 'PATH', says: 'path prefix of the API and Mission Control, such as /ops/mill' },
    insecure: {
      says: 'run without authentication on any address: every caller that can reach it is an admin',
    },
    'no-api': { says: 'run workers only' },
    'no-work': { says: 'run the API and Mission Control only, without workers; requires no config' },
    ...LOG_OPTIONS,
  },
  examples: [
    'jobmill start',
    'jobmill start ./jobs.config.ts --queues mail --port 9000',
    'DATABASE_URL=postgres://app@db/app jobmill start --bind 0.0.0.0 --tokens-file tokens.txt',
    'jobmill start --no-work --db sqlite:jobs.db',
  ],
  async run(parsed, terminal) {
    const works = !parsed.has('no-work')
    const options = await millOptions(parsed, works, NO_CONFIG)
    const api = parsed.has('no-api') ? null : await apiOptions(parsed, process.env)
    if (!works && api === null) {
      const what = 'cannot be combined with --no-work: nothing would run'
      throw conflict('--no-api', what, 'Omit --no-api or --no-work')
    }
    return runMill({ options, works, api, terminal })
  },
}

const NO_CONFIG = 'Pass the path of a config, or --no-work to run the API and Mission Control without workers'

/** Returns the options of the mill. Without workers, no config is needed. */
export async function millOptions(
  parsed: ParsedArguments,
  works: boolean,
  noConfig?: string,
): Promise<MillOptions> {
  const [path] = parsed.words
  const db = parsed.text('db')
  const config =
    works || path !== undefined
      ? await loadConfig(path ?? parsed.text('config'), process.cwd(), noConfig)
      : await optionsFor(parsed, { mayCreate: true, mayCreateNamed: true })
  const serve = parsed.texts('queues').flatMap(queuesIn)
  return {
    ...config,
    ...(db !== undefined && { store: await storeAt(db) }),
    ...(serve.length > 0 && { serve: [...new Set(serve)] }),
    log: await logFor(parsed, config),
  }
}

/** An empty name would be ignored, and the process would serve other queues than the caller expects. */
function queuesIn(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  if (!names.includes('')) return names
  const fix = 'Pass names separated by commas, such as mail,reports, or omit it'
  throw invalid('--queues', 'has an empty queue name', fix, text)
}

async function apiOptions(parsed: ParsedArguments, env: NodeJS.ProcessEnv): Promise<ApiOptions> {
  const tokens = await tokensFrom(parsed, env)
  const pace = parsed.text('requests-per-second')
  return {
    port: portOf(parsed.text('port') ?? '8787'),
    insecure: parsed.has('insecure'),
    ...omitUndefined({
      bind: parsed.text('bind'),
      tokens,
      basePath: parsed.text('base-path'),
      requestsPerSecond: pace === undefined ? undefined : paceOf(pace),
    }),
  }
}

export function portOf(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw invalid('--port', 'is not a port number', 'Use a number up to 65535, or 0 for any free port', text)
}

function paceOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw invalid('--requests-per-second', 'must be a whole number above 0', 'Use a number such as 1000', text)
}

/** A blank environment variable counts as unset. */
export async function tokensFrom(
  parsed: ParsedArguments,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const typed = parsed.text('tokens-file')
  const file = typed ?? set(env['JOBMILL_TOKENS_FILE'])
  const tokens = set(env['JOBMILL_TOKENS'])
  if (file === undefined) return tokens
  const field = typed === undefined ? 'JOBMILL_TOKENS_FILE' : '--tokens-file'
  if (tokens !== undefined)
    throw conflict(field, 'must not be set together with JOBMILL_TOKENS', 'Unset one of the two')
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new JobmillError('OPTION_INVALID', 'cannot be read', {
      field,
      value: quote(file),
      fix: 'Use a readable file with one "name role token" per line',
      cause: error,
    })
  }
}

function set(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text
}
