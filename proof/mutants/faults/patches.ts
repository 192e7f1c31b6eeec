/** Faults in retries with a patched payload: a job runs with a payload that it should not have. */
import type { TestedMutant } from '../mutant.ts'

const RETRIED_SINCE = 'was retried since its payload was read'

export const PATCHES: readonly TestedMutant[] = [
  {
    name: 'sqlite: a patch overwrites the payload of a job that was retried since',
    file: 'store-sqlite/operate/actions.ts',
    find: "  if (row.ended_at !== endedAt) return left('refused', job)\n",
    replace: '',
    test: { file: 'packages/jobmill/test/conformance/sqlite.test.ts', name: RETRIED_SINCE },
  },
  {
    name: 'postgres: a patch overwrites the payload of a job that was retried since',
    file: 'store-postgres/operate/retry.ts',
    find: 'boolean => (payloads.get(id)?.endedAt ?? at) !== at\n',
    replace: 'boolean => at === 0 && payloads.has(id)\n',
    test: { file: 'packages/jobmill/test/conformance/postgres.test.ts', name: RETRIED_SINCE },
  },
  {
    name: 'postgres: a patched payload keeps its old index entries',
    file: 'store-postgres/operate/retry.ts',
    find: 'tags = ${NEW_TAGS}',
    replace: 'tags = j.tags',
    test: {
      file: 'packages/jobmill/test/conformance/postgres.test.ts',
      name: 'the index entries follow the new payload',
    },
  },
  {
    name: 'a patched payload that its schema refuses is retried',
    file: 'runtime/operate/bulk/patch-payloads.ts',
    find: 'changes.filter(({ problem }) => problem === null)',
    replace: 'changes',
    test: {
      file: 'packages/jobmill/test/runtime/bulk-patch.test.ts',
      name: 'jobs whose patched payload is invalid stay as they are',
    },
  },
]
