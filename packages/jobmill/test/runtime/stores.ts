/** The runtime on each store, on a clock that the test moves. */
import { inject, onTestFinished } from 'vitest'
import { recycledSchema } from '../../../../test/support/recycled-schemas.ts'
import type { Store } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { type TestMill, testMill, type TestMillOptions } from '../../src/testing/index.ts'

type Options = Omit<TestMillOptions<Store>, 'store'>

export interface Subject {
  readonly name: 'sqlite' | 'postgres'
  /** A mill on a new database; stopped when the test is over. `around` may stand between the mill and its store. */
  readonly mill: (options?: Options, around?: (store: Store) => Store) => Promise<TestMill>
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
        await testMill<Store>({
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
        await testMill<Store>({
          ...options,
          store: (platform) => around(postgres(url, { schema, clock: platform.now })),
        }),
      )
    },
  },
]

/** Its store for a mill beside it, which must not close it. */
export function lent({ store }: TestMill): Store {
  return { ...store, close: () => Promise.resolve() }
}

/** The types of what happened to one job, in order. */
export function happened(mill: TestMill, id: string): string[] {
  return mill.events.flatMap((event) => ('id' in event && event.id === id ? [event.type] : []))
}

/** How its attempts ended, in order: outcome and error. */
export async function attempts(mill: TestMill, id: string): Promise<(readonly [string, string | null])[]> {
  return (await mill.history(id)).map(({ outcome, error }) => [outcome, error] as const)
}
