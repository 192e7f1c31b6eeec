/** A working mill on a new database of each store, with the API on a real socket. */
import { inject, onTestFinished } from 'vitest'
import { freshFile } from '../../../test/support/databases.ts'
import { recycledSchema } from '../../../test/support/postgres/recycled-schemas.ts'
import { serve, type Served, type ServeOptions } from '../src/index.ts'
import {
  bulkJob,
  Dead,
  defineJob,
  type JobContext,
  jobmill,
  type Mill,
  type MillOptions,
  type FullStore,
} from '../../jobmill/src/index.ts'
import { postgres } from '../../jobmill/src/postgres.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'

const echo = defineJob({
  kind: 'echo',
  run: ({ payload, log }: JobContext) => (log('seen', { apiKey: 'k' }), payload),
})
const counts = defineJob({ kind: 'counts', run: ({ step }) => step.run('count', () => 1) })
const dies = defineJob({
  kind: 'dies',
  run() {
    throw new Dead('no')
  },
})
const holds = defineJob({
  kind: 'holds',
  run: ({ signal, progress }: JobContext) =>
    new Promise((_, reject) => {
      progress({ half: true })
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    }),
})

export interface Subject {
  readonly name: 'sqlite' | 'postgres'
  readonly store: () => FullStore<never>
}

export const subjects: readonly Subject[] = [
  { name: 'sqlite', store: () => sqlite(freshFile()) },
  {
    name: 'postgres',
    store() {
      const url = inject('keptPostgresUrl')
      return postgres(url, { schema: recycledSchema(url, 'http') })
    },
  },
]

export interface Bench extends Served {
  readonly mill: Mill<never>
}

export async function bench(
  store: FullStore<never>,
  {
    work = true,
    mill: more,
    ...options
  }: ServeOptions & { work?: boolean; mill?: Partial<MillOptions> } = {},
): Promise<Bench> {
  const mill: Mill<never> = jobmill({
    store,
    jobs: [echo, counts, dies, holds, bulkJob(() => mill)],
    queues: { default: {} },
    limits: { smtp: { rate: 5, per: '1h' } },
    // This schedule never fires during the tests.
    schedules: [{ name: 'nightly', job: 'echo', when: '0 3 29 2 *', payload: { password: 'p', who: 'ada' } }],
    log: 'silent',
    grace: 0,
    instance: { version: '2.15.0' },
    ...more,
  })
  await (work ? mill.start() : mill.open())
  const served = await serve(mill, { port: 0, requestsPerSecond: 100_000, ...options })
  onTestFinished(async () => {
    await served.close()
    await mill.stop()
  })
  return { mill, ...served }
}

export const TOKENS = `# who may come in
pia producer producer-token-0123456789
vera viewer viewer-token-0123456789
olga operator operator-token-0123456789
adam admin admin-token-0123456789`

export const tokenOf = (role: string): string => `${role}-token-0123456789`
