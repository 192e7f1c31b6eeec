/**
 * `jobmill db reset`: deletes everything that Jobmill created, and creates the tables again. Refused while
 * instances are alive.
 */
import { JobmillError } from '../../job/errors.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import type { Terminal } from '../output/terminal.ts'
import { optionsFor } from '../with-mill.ts'
import { migrate } from './migrate.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../output/waiting.ts'

export const dbReset: Command = {
  words: 'db reset',
  says: 'delete all jobs, settings and metrics, and recreate the tables; refused while an instance runs',
  options: {
    force: { says: 'skip the confirmation prompt (still refused while an instance runs)' },
    remove: { says: 'drop the tables without recreating them' },
  },
  examples: ['jobmill db reset', 'jobmill db reset --force --db sqlite:test.db'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed)
    if (!(await isConfirmed(parsed, store.name, terminal))) return EXIT.refused
    const { alive } = await waitingFor('the database', toolsOf(store).drop(), terminal)
    if (alive.length > 0) {
      terminal.err(
        `error   nothing was deleted: ${alive.join(', ')} ${alive.length === 1 ? 'is' : 'are'} running on ${store.name}. ` +
          'Stop all instances first. A killed instance counts until its lease expires (10 s).',
      )
      return EXIT.refused
    }
    const isKept = !parsed.has('remove')
    if (isKept) await migrate(store, terminal)
    if (parsed.has('json')) terminal.out(JSON.stringify({ store: store.name, made: isKept }))
    else terminal.out(`${store.name}: ${isKept ? 'all data deleted, tables recreated' : 'all data deleted'}`)
    return EXIT.done
  },
}

/** Requires the name of the store, which cannot be typed by accident. */
async function isConfirmed(parsed: ParsedArguments, name: string, terminal: Terminal): Promise<boolean> {
  if (parsed.has('force')) return true
  if (!terminal.isInteractive) {
    throw new JobmillError(
      'OPTION_INVALID',
      `is required without an interactive terminal: this deletes all Jobmill data in ${name}`,
      {
        field: '--force',
        fix: 'Pass --force to confirm',
      },
    )
  }
  const typed = await terminal.ask(`This deletes all Jobmill data in ${name}. Type that name to continue: `)
  if (typed.trim() === name) return true
  terminal.err('error   the name does not match; nothing was deleted.')
  return false
}
