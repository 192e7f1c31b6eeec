/** `jobmill versions`: the versions of the application that ran in the last 90 days. */
import { systemPlatform } from '../../platform/platform.ts'
import type { VersionRecord } from '../../store/types/instance.ts'
import type { Command } from '../program/command.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { fromNow } from '../output/wording.ts'
import { answerWith } from '../with-mill.ts'

export const versions: Command = {
  words: 'versions',
  says: 'list the versions of your application, latest first: when they ran, and in how many processes',
  examples: ['jobmill versions', 'jobmill versions --json | jq ".versions[0].version"'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const found = await mill.versions()
      const none = 'no versions: set instance.version or JOBMILL_WORKER_VERSION'
      return {
        json: { versions: found },
        text: [tableOf(found, columnsAt(systemPlatform.now()), none, terminal)],
      }
    }),
}

function columnsAt(now: number): Columns<VersionRecord> {
  return {
    version: ({ version }) => version,
    'first seen': ({ firstAt }) => fromNow(firstAt, now),
    'last seen': ({ lastAt, alive }) => (alive > 0 ? 'now' : fromNow(lastAt, now)),
    processes: ({ instances }) => instances,
    alive: ({ alive }) => alive,
  }
}
