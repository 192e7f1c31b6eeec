/**
 * `jobmill db status`: lists applied and pending migrations. The exit code shows whether the schema is up to
 * date.
 */
import type { SchemaStatus } from '../../store/admin/admin.ts'
import { isCurrent } from '../../store/admin/schema-status.ts'
import { type Command, EXIT } from '../program/command.ts'
import { table } from '../output/table.ts'
import { optionsFor } from '../with-mill.ts'
import { toolsOf } from './tools-of.ts'

export const dbStatus: Command = {
  words: 'db status',
  says: 'show applied and pending migrations; read-only (exits with 3 when one is pending)',
  examples: ['jobmill db status', 'jobmill db status --json || jobmill db migrate'],
  async run(parsed, terminal) {
    const { store } = await optionsFor(parsed, { mayCreate: true, mayCreateNamed: true })
    const status = await toolsOf(store).schema()
    if (parsed.has('json')) terminal.out(JSON.stringify({ store: store.name, ...status }))
    else {
      terminal.out(`${store.name}: ${statusText(status)}`)
      if (status.isThere) terminal.out(listed(status))
    }
    return isCurrent(status) ? EXIT.done : EXIT.refused
  },
}

function statusText({ isThere, pending, refused }: SchemaStatus): string {
  if (!isThere) return 'no Jobmill tables yet. Run jobmill db migrate'
  if (refused !== null) return refused
  return pending.length === 0 ? 'up to date' : `${pending.length} pending. Run jobmill db migrate`
}

function listed({ applied, pending }: SchemaStatus): string {
  const rows = [
    ...applied.map(({ number, name }) => [number, name, 'applied'] as const),
    ...pending.map(({ number, name }) => [number, name, 'pending'] as const),
  ]
  return table(
    ['migration', 'name', 'state'],
    rows.toSorted(([a], [b]) => a - b),
    '',
  )
}
