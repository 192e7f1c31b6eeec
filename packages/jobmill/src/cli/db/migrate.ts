/** `jobmill db migrate`: applies pending migrations, as the first start of a new release would. */
import { isCurrent } from '../../store/admin/schema-status.ts'
import type { Store } from '../../store/store.ts'
import { type Command, EXIT } from '../program/command.ts'
import type { Terminal } from '../output/terminal.ts'
import { optionsFor } from '../with-mill.ts'
import { toolsOf } from './tools-of.ts'
import { waitingFor } from '../output/waiting.ts'

export const dbMigrate: Command = {
  words: 'db migrate',
  says: 'apply pending migrations; running processes may continue',
  examples: ['jobmill db migrate', 'jobmill db migrate --db sqlite:jobs.db'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, { mayCreate: true, mayCreateNamed: true })
    const before = await toolsOf(store).schema()
    if (before.refused !== null) {
      terminal.err(`error   ${before.refused}`)
      return EXIT.refused
    }
    if (!isCurrent(before)) await migrate(store, terminal)
    if (parsed.has('json')) terminal.out(JSON.stringify({ store: store.name, applied: before.pending }))
    else {
      for (const { number, name } of before.pending) terminal.out(`applied  ${number} ${name}`)
      terminal.out(`${store.name}: up to date`)
    }
    return EXIT.done
  },
}

/** Opening a store applies all pending migrations in one transaction. */
export async function migrate(store: Store<never>, terminal: Terminal): Promise<void> {
  try {
    await waitingFor('the database', store.open(), terminal)
  } finally {
    await store.close()
  }
}
