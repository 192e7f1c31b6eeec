// The PostgreSQL store against the contract, through PgBouncer in transaction mode; only the notifier
// connects directly.
import { afterAll, describe, inject, test } from 'vitest'
import { startPgbouncer } from '../../../../test/support/postgres/pgbouncer.ts'
import { storeConformance } from '../../../conformance/src/index.ts'
import { someCases } from './some-cases.ts'
import { postgresSubject } from './postgres-subject.ts'

const direct = inject('postgresUrl')
const pooler = await startPgbouncer({ url: direct })
afterAll(() => pooler?.stop())

if (pooler === null)
  console.warn('\n*** PgBouncer is not installed: the suite behind a pooler is SKIPPED ***\n')

describe.skipIf(pooler === null)('store conformance: postgres behind PgBouncer', () => {
  if (pooler !== null) storeConformance(postgresSubject(pooler.url, { direct }), someCases(4, test))
})
