/** `jobmill db reset`: everything that jobmill has made is deleted, and made anew. Never under processes that work. */
import { JobmillError } from '../../job/errors.ts'
import { type Command, EXIT, type Given } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { optionsFor } from '../with-mill.ts'
import { migrate } from './migrate.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../waiting.ts'

export const dbReset: Command = {
  words: 'db reset',
  says: 'delete all jobs, settings and figures, and make the tables anew; refused while a process works',
  options: {
    force: { type: 'boolean', says: 'do not ask (it is refused all the same while a process works)' },
    remove: { type: 'boolean', says: 'do not make the tables anew: leave nothing of jobmill' },
  },
  examples: ['jobmill db reset', 'jobmill db reset --force --db sqlite:test.db'],
  async run(given, terminal) {
    const { store } = await optionsFor(given)
    if (!(await isMeant(given, store.name, terminal))) return EXIT.refused
    const { alive } = await waitingFor('the database', toolsOf(store).drop(), terminal)
    if (alive.length > 0) {
      terminal.err(
        `error   nothing was deleted: ${alive.join(', ')} ${alive.length === 1 ? 'works' : 'work'} on ${store.name}. ` +
          'Stop that first; what was killed is forgotten once its lease has run out (10 s).',
      )
      return EXIT.refused
    }
    const isKept = !given.has('remove')
    if (isKept) await migrate(store, terminal)
    if (given.has('json')) terminal.out(JSON.stringify({ store: store.name, made: isKept }))
    else terminal.out(`${store.name}: ${isKept ? 'all was deleted, and made anew' : 'all was deleted'}`)
    return EXIT.done
  },
}

/** By the name of the store, which nobody types by mistake. */
async function isMeant(given: Given, name: string, terminal: Terminal): Promise<boolean> {
  if (given.has('force')) return true
  if (!terminal.isInteractive) {
    throw new JobmillError('OPTION_INVALID', `this deletes everything in ${name}, and nobody can be asked`, {
      field: '--force',
      fix: 'Say --force when that is meant',
    })
  }
  const typed = await terminal.ask(`This deletes everything in ${name}. Type its name to go on: `)
  if (typed.trim() === name) return true
  terminal.err('error   that is not its name: nothing was deleted.')
  return false
}
