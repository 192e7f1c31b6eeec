/** Several mills on one database, each with its own handle, on a fake clock. */
import { inject, onTestFinished } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import type { FullStore } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import {
  type Faults,
  faultyStore,
  type TestMill,
  testMill,
  type TestMillOptions,
  type TestPlatform,
  testPlatform,
} from '../../src/testing/index.ts'

export interface Cluster {
  readonly platform: TestPlatform
  /** One more mill, stopped at the end of the test. `around` may wrap its handle. */
  readonly mill: (
    options?: Omit<TestMillOptions<FullStore>, 'store' | 'platform'>,
    around?: (store: FullStore) => FullStore,
  ) => Promise<TestMill>
  /** The same, with a store that can be made to fail. */
  readonly faultyMill: (
    options?: Omit<TestMillOptions<FullStore>, 'store' | 'platform'>,
  ) => Promise<readonly [TestMill, Faults]>
}

type Open = (platform: TestPlatform) => FullStore

function clusterOn(open: Open): Cluster {
  const platform = testPlatform({ startAt: Date.parse('2026-06-01T00:00:00Z') })
  const create: Cluster['mill'] = async (options = {}, around = (store) => store) => {
    const mill = await testMill<FullStore>({ ...options, platform, store: () => around(open(platform)) })
    onTestFinished(async () => void (await mill.stop({ grace: 0 })))
    return mill
  }
  return {
    platform,
    mill: create,
    async faultyMill(options) {
      const made: Faults[] = []
      const mill = await create(options, (store) => {
        const faults = faultyStore(store)
        made.push(faults)
        return faults
      })
      const [faults] = made
      if (faults === undefined) throw new Error('the store was never asked for')
      // Runs before it is stopped, so that pauses after errors end.
      onTestFinished(async () => {
        faults.clear()
        await platform.advance('10s')
      })
      return [mill, faults]
    },
  }
}

export const places: readonly (readonly [string, () => Cluster])[] = [
  [
    'sqlite',
    () => {
      const path = freshFile()
      return clusterOn((platform) => sqlite(path, { clock: platform.now }))
    },
  ],
  [
    'postgres',
    () => {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'cluster')
      return clusterOn((platform) => postgres(url, { schema, clock: platform.now }))
    },
  ],
]

export const NAMES: readonly string[] = places.map(([name]) => name)
