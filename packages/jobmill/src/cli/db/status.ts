/** `jobmill db status`: which migrations a database has. For scripts, the exit code says whether it is current. */
import type { SchemaStatus } from '../../store/admin.ts'
import { isCurrent } from '../../store/schema-status.ts'
import { type Command, EXIT } from '../command.ts'
import { table } from '../table.ts'
import { optionsFor } from '../with-mill.ts'
import { toolsOf } from './tools-of.ts'

export const dbStatus: Command = {
  words: 'db status',
  says: 'show which migrations the database has; never changes it (ends with 3 when one is missing)',
  examples: ['jobmill db status', 'jobmill db status --json || jobmill db migrate'],
  async run(given, terminal) {
    const { store } = await optionsFor(given, { mayCreate: true, mayCreateNamed: true })
    const status = await toolsOf(store).schema()
    if (given.has('json')) terminal.out(JSON.stringify({ store: store.name, ...status }))
    else {
      terminal.out(`${store.name}: ${inWords(status)}`)
      if (status.isThere) terminal.out(listed(status))
    }
    return isCurrent(status) ? EXIT.done : EXIT.refused
  },
}

function inWords({ isThere, pending, refused }: SchemaStatus): string {
  if (!isThere) return 'there is nothing of jobmill here yet. Run jobmill db migrate'
  if (refused !== null) return refused
  return pending.length === 0 ? 'current' : `${pending.length} to apply. Run jobmill db migrate`
}

function listed({ applied, pending }: SchemaStatus): string {
  const rows = [
    ...applied.map(({ number, name }) => [number, name, 'applied'] as const),
    ...pending.map(({ number, name }) => [number, name, 'to apply'] as const),
  ]
  return table(
    ['migration', 'name', ''],
    rows.toSorted(([a], [b]) => a - b),
    '',
  )
}
