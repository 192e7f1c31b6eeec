/** `jobmill errors`: dead and retrying jobs, grouped by error, as Mission Control shows them. */
import { FILTERS } from '../jobs/filter.ts'
import { momentOf } from '../program/typed-values.ts'
import { checkOneOf } from '../../job/numbers.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { ErrorGroup, ErrorReport, ErrorSort } from '../../runtime/operate/errors/errors.ts'
import type { Command, ParsedArguments } from '../program/command.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { fromNow, number } from '../output/wording.ts'
import { answerWith } from '../with-mill.ts'

const SORTS = { jobs: 'jobs', 'last-seen': 'lastAt', 'first-seen': 'firstAt' } as const satisfies Readonly<
  Record<string, ErrorSort>
>
const SORT_NAMES = Object.keys(SORTS) as (keyof typeof SORTS)[]

export const errors: Command = {
  words: 'errors',
  says: 'group dead and retrying jobs by their error, with the versions that failed',
  options: {
    queue: { takes: 'NAMES', says: 'jobs of these queues: mail,reports', multiple: true },
    kind: { takes: 'NAMES', says: 'jobs of these kinds: a.send,b.send', multiple: true },
    'failed-from': FILTERS['failed-from'],
    'failed-before': FILTERS['failed-before'],
    text: { takes: 'TEXT', says: 'groups with an error that contains this text (case-insensitive)' },
    sort: {
      takes: SORT_NAMES.join('|'),
      says: 'most jobs (default), last seen most recently, or first seen most recently',
    },
    fingerprint: { takes: 'FINGERPRINT', says: 'list the groups that a folded group combines' },
  },
  fields: {
    'query.queue': '--queue',
    'filter.queue': '--queue',
    'filter.kind': '--kind',
    'query.failedFrom': '--failed-from',
    'query.failedBefore': '--failed-before',
    'filter.failedFrom': '--failed-from',
    'filter.failedBefore': '--failed-before',
    'query.text': '--text',
    'query.fingerprint': '--fingerprint',
  },
  examples: [
    'jobmill errors',
    'jobmill errors --queue payments --sort last-seen',
    'jobmill errors --failed-from 02:13',
    `jobmill errors --json | jq -r '.groups[0].fingerprint'`,
  ],
  run: (parsed, terminal) => {
    const query = queryOf(parsed, systemPlatform.now())
    return answerWith(parsed, terminal, async (mill) => {
      const report = await mill.errors(query)
      const columns = columnsAt(systemPlatform.now())
      const text = [tableOf(report.groups, columns, 'no dead or retrying jobs', terminal), ...notes(report)]
      return { json: report, text }
    })
  },
}

function queryOf(parsed: ParsedArguments, now: number) {
  const [queue, kind] = ['queue', 'kind'].map((option) =>
    parsed.texts(option).flatMap((text) => text.split(',').map((name) => name.trim())),
  )
  const sort = parsed.text('sort')
  return omitUndefined({
    queue: queue?.length === 0 ? undefined : queue,
    kind: kind?.length === 0 ? undefined : kind,
    failedFrom: momentOf(parsed, 'failed-from', now),
    failedBefore: momentOf(parsed, 'failed-before', now),
    text: parsed.text('text'),
    sort: sort === undefined ? undefined : SORTS[checkOneOf(sort, '--sort', SORT_NAMES)],
    fingerprint: parsed.text('fingerprint'),
  })
}

function columnsAt(now: number): Columns<ErrorGroup> {
  return {
    dead: ({ dead }) => dead,
    retrying: ({ failing }) => failing,
    kind: ({ kind }) => kind,
    first: ({ firstAt }) => fromNow(firstAt, now),
    last: ({ lastAt }) => fromNow(lastAt, now),
    versions: versionsText,
    fingerprint: ({ fingerprint }) => fingerprint,
    error: ({ shape, folded }) => (folded === 0 ? shape : `${shape} (${number(folded)} similar errors)`),
  }
}

function notes({ groups, total, looked, complete }: ErrorReport): string[] {
  return [
    ...(total > groups.length ? [`the first ${groups.length} of ${number(total)} groups`] : []),
    ...(complete ? [] : [`based on the latest ${number(looked)} jobs; totals may be higher`]),
  ]
}

/** `2.15.0: 1,973, 2.14.0: 0 (new in 2.15.0)` */
function versionsText({ versions, newIn }: ErrorGroup): string | null {
  const known = versions.filter(({ version }) => version !== null)
  if (known.length === 0) return null
  const counts = versions.map(({ version, jobs }) => `${version ?? 'unknown'}: ${number(jobs)}`).join(', ')
  return newIn === null ? counts : `${counts} (new in ${newIn})`
}
