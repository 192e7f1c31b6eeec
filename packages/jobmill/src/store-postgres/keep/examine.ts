/** Everything that is looked at in a database on a server. Nothing is written, and no lock is taken that a writer could wait for. */
import { type Check, examining } from '../../store/examining.ts'
import { broken, type ExamineOptions, type Finding, OPEN_FOR_MS } from '../../store/keeping.ts'
import { schemaFinding } from '../../store/schema-status.ts'
import { wasAnswered } from '../errors.ts'
import { appliedTo } from '../migrate.ts'
import { MIGRATIONS } from '../migrations.ts'
import { bloat } from './examine-bloat.ts'
import { doorbell } from './examine-doorbell.ts'
import { horizon } from './examine-horizon.ts'
import { drift } from './examine-schema.ts'
import { clock, connections, encoding, version } from './examine-server.ts'
import { autovacuum, durability } from './examine-settings.ts'
import { newClient } from '../server-address.ts'
import { connectedIfThere, type Look, type Site } from './reach.ts'

export async function examine(
  site: Site,
  { openForMs = OPEN_FOR_MS }: ExamineOptions = {},
): Promise<Finding[]> {
  const { settings } = site
  const findings = await connectedIfThere(settings, async ({ query }) => {
    const look: Look = { ...site, query }
    const applied = await appliedTo(query, site)
    const schema = schemaFinding(applied, MIGRATIONS)
    // What has to be there is known of this release only.
    const tables: Check[] = schema.level === 'ok' ? [['drift', () => drift(look)]] : []
    return examining(
      [
        ['schema', () => [schema]],
        ...tables,
        ['durability', () => durability(look)],
        ['autovacuum', () => autovacuum(look)],
        ['horizon', () => horizon(look, openForMs)],
        ['bloat', () => bloat(look)],
        ['doorbell', () => doorbell(look)],
        ['encoding', () => encoding(look)],
        ['clock', () => clock(look)],
        ['connections', () => connections(look)],
        ['server', () => version(look)],
      ],
      wasAnswered,
    )
  })
  if (findings !== null) return findings
  const { database } = newClient(settings.url)
  return [broken('schema', `there is no database ${database ?? ''}`, 'Make it: jobmill db create')]
}
