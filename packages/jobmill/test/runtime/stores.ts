/** The runtime on each store, on a clock that the test moves. */
import { inject, onTestFinished } from 'vitest'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import type { FullStore } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { type TestMill, testMill, type TestMillOptions } from '../../src/testing/index.ts'

type Options = Omit<TestMillOptions<FullStore>, 'store'>

export interface Subject {
  readonly name: 'sqlite' | 'postgres'
  /** A mill on a new database; stopped at the end of the test. `around` can wrap the store of the mill. */
  readonly mill: (options?: Options, around?: (store: FullStore) => FullStore) => Promise<TestMill>
}

async function stopped(mill: TestMill): Promise<TestMill> {
  onTestFinished(async () => void (await mill.stop({ grace: 0 })))
  return mill
}

export const subjects: readonly Subject[] = [
  {
    name: 'sqlite',
    mill: async (options = {}, around = (store) => store) =>
      stopped(
        await testMill<FullStore>({
          ...options,
          store: (platform) => around(sqlite(':memory:', { clock: platform.now })),
        }),
      ),
  },
  {
    name: 'postgres',
    async mill(options = {}, around = (store) => store) {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'runtime')
      return stopped(
        await testMill<FullStore>({
          ...options,
          store: (platform) => around(postgres(url, { schema, clock: platform.now })),
        }),
      )
    },
  },
]

/** The store of this mill for a second mill, which must not close it. */
export function lent({ store }: TestMill): FullStore {
  return { ...store, close: () => Promise.resolve() }
}

/** The types of the lifecycle events of one job, in order. */
export function happened(mill: TestMill, id: string): string[] {
  return mill.events.flatMap((event) => ('id' in event && event.id === id ? [event.type] : []))
}

/** How the attempts of a job ended, in order: outcome and error. */
export async function attempts(mill: TestMill, id: string): Promise<(readonly [string, string | null])[]> {
  return (await mill.history(id)).map(({ outcome, error }) => [outcome, error] as const)
}
