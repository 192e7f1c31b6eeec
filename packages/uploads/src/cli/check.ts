/** `check`: whether the config can be used, and what it comes to. */
import { EXIT, typed } from 'jobmill/cli'
import { sizeText } from '../config/sizes.ts'
import { durationMs, resolveLimits } from '../options.ts'
import type { Command } from './command.ts'
import { look } from './look.ts'
import { DEFAULT_BLOBS, DEFAULT_DATABASE, optionsOf } from './open-inbox.ts'

export const check: Command = {
  words: 'check',
  says: 'read the config, look at the database and the place for files, and say what counts; makes nothing',
  async run({ config, out, has }) {
    const settings = config()
    const limits = {
      ...resolveLimits(optionsOf(settings)),
      sweepEveryMs: durationMs(settings.sweepEvery ?? '5m', 'sweepEvery'),
    }
    const looked = await look(settings)
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

function later(is: 'made' | 'missing'): string {
  return is === 'made' ? '' : ' (made at the start)'
}

/** As it would be written in the config. */
function shown(name: string, value: number | null): string {
  if (value === null) return 'none'
  if (name.endsWith('Ms')) return typed(value)
  return name.endsWith('Bytes') ? sizeText(value) : String(value)
}
