// Databases to transfer between, each on its own fake clock, and a function that transfers everything.
import { inject, onTestFinished } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import { findPlace, transferAll, type Way } from '../../src/cli/transfer/transfer-parts.ts'
import { verify, type Verified } from '../../src/cli/transfer/verify.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { ToolStore } from '../../src/store/store.ts'
import { type TestClock, testClock } from '../../src/testing/test-clock.ts'

export type Sort = 'sqlite' | 'postgres'

export interface Place {
  readonly store: ToolStore<never>
  readonly clock: TestClock
}

/** `now` is the initial time of its clock. */
export async function freshPlace(sort: Sort, now?: number): Promise<Place> {
  const clock = testClock(now)
  const store =
    sort === 'sqlite' ? sqlite(freshFile(), { clock: clock.now, durability: 'relaxed' }) : onServer(clock)
  onTestFinished(() => store.close())
  await store.open()
  return { store, clock }
}

function onServer({ now }: TestClock): ToolStore<never> {
  const url = inject('keptPostgresUrl')
  return postgres(url, { schema: recycledSchema(url, 'carry'), clock: now, notifier: false })
}

/** Small, so that a few jobs make many pages. */
export const WAY: Way = { limit: 7, signal: new AbortController().signal, passed: () => {} }

/** Transfers everything, like the command. */
export async function transferTo(source: ToolStore<never>, target: ToolStore<never>): Promise<Verified> {
  const { after } = await findPlace({ source, target })
  await transferAll({ source, target }, after, WAY)
  return verify({ source, target }, WAY)
}

/** The same into a new database with the same time. */
export async function transferredTo(sort: Sort, { store, clock }: Place): Promise<Place> {
  const target = await freshPlace(sort, clock.now())
  await transferTo(store, target.store)
  return target
}
