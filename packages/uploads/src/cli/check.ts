/** `check`: validates the config and shows the effective settings. */
import { EXIT, typed } from 'jobmill/cli'
import { ConfigInvalid } from '../config/read-config.ts'
import type { ConfigProblem, ReadConfig } from '../config/shape.ts'
import type { Config } from '../config/shape.ts'
import { sizeText } from '../config/sizes.ts'
import { durationMs, resolveLimits } from '../options.ts'
import type { Command, CommandInput } from './command.ts'
import { look, type Looked } from './look.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE, optionsOf } from './open-inbox.ts'

export const check: Command = {
  words: 'check',
  says: 'check the config, the database and the blob store, and show the effective settings; creates nothing',
  async run(given) {
    const { out, has } = given
    const { looked, settings } = await lookAtAll(given)
    const limits = {
      ...resolveLimits(optionsOf(settings)),
      sweepEveryMs: durationMs(settings.sweepEvery ?? '5m', 'sweepEvery'),
    }
    const database = (settings.database ?? DEFAULT_DATABASE).replace(/\/\/[^@/]*@/, '//…@')
    const { blobs = DEFAULT_BLOBS } = settings
    if (has('json')) {
      out(JSON.stringify({ database, blobs, ...limits }))
      return EXIT.done
    }
    const rows: readonly (readonly [string, string])[] = [
      ['database', `${database}${later(looked.database)}`],
      ['blobs', blobs === 'postgres' ? 'in the database' : `${blobs}${later(looked.blobs)}`],
      ...Object.entries(limits).map(
        ([name, value]) => [name.replace(/Ms$/, ''), shown(name, value)] as const,
      ),
    ]
    for (const [name, value] of rows) out(`${name.padEnd(17)} ${value}`)
    out('ok')
    return EXIT.done
  },
}

/** Reports all problems at once, of the settings and of the environment. */
async function lookAtAll({ config }: CommandInput): Promise<{ looked: Looked; settings: Config }> {
  const said: ConfigProblem[] = []
  const read = usableOf(config, said)
  const looked = await look(read)
  // If it is the only problem, a database error has its own exit code.
  if (said.length === 0 && looked.problems.length === 1 && looked.away !== null) throw looked.away
  const problems = [...said, ...looked.problems]
  if (problems.length > 0) throw new ConfigInvalid(problems)
  return { looked, settings: read.config }
}

function usableOf(config: CommandInput['config'], said: ConfigProblem[]): ReadConfig {
  try {
    return config()
  } catch (error) {
    if (!(error instanceof ConfigInvalid) || error.usable === null) throw error
    said.push(...error.problems)
    return error.usable
  }
}

function later(is: 'made' | 'missing'): string {
  return is === 'made' ? '' : ' (created at the start)'
}

/** Formats a value as it would be written in the config. */
function shown(name: string, value: number | null): string {
  if (value === null) return 'none'
  if (name.endsWith('Ms')) return typed(value)
  return name.endsWith('Bytes') ? sizeText(value) : String(value)
}
