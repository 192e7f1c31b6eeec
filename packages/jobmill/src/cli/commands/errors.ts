/** `jobmill errors`: lists dead and retrying jobs, grouped by error, as Mission Control does. */
import { checkOneOf } from '../../job/numbers.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { ErrorGroup, ErrorReport, ErrorSort } from '../../runtime/operate/errors.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { fromNow, number } from '../output/wording.ts'
import type { Command } from '../program/command.ts'
import { fieldsOf } from '../program/own-words.ts'
import { answerWith } from '../with-mill.ts'

const SORTS = { jobs: 'jobs', 'last-seen': 'lastAt', 'first-seen': 'firstAt' } as const satisfies Readonly<
  Record<string, ErrorSort>
>
const SORT_NAMES = Object.keys(SORTS) as (keyof typeof SORTS)[]

const OPTIONS = {
  queue: { takes: 'NAME', says: 'only jobs of this queue' },
  kind: { takes: 'NAME', says: 'only jobs of this kind' },
  text: { takes: 'TEXT', says: 'only groups with an error that contains this text, in any case' },
  sort: {
    takes: SORT_NAMES.join('|'),
    says: 'most jobs (default), or latest failure, or latest first failure',
  },
  fingerprint: { takes: 'FINGERPRINT', says: 'list the groups in a folded group one by one' },
} as const

export const errors: Command = {
  words: 'errors',
  says: 'list dead and retrying jobs, grouped by error',
  options: OPTIONS,
  fields: fieldsOf('query', OPTIONS),
  examples: [
    'jobmill errors',
    'jobmill errors --kind payments.charge --sort last-seen',
    `jobmill errors --json | jq -r '.groups[0].fingerprint'`,
  ],
  run(parsed, terminal) {
    const sort = parsed.text('sort')
    const query = omitUndefined({
      queue: parsed.text('queue'),
      kind: parsed.text('kind'),
      text: parsed.text('text'),
      sort: sort === undefined ? undefined : SORTS[checkOneOf(sort, '--sort', SORT_NAMES)],
      fingerprint: parsed.text('fingerprint'),
    })
    return answerWith(parsed, terminal, async (mill) => {
      const report = await mill.errors(query)
      const columns = columnsAt(systemPlatform.now())
      return {
        json: report,
        text: [tableOf(report.groups, columns, 'no errors', terminal), ...notes(report)],
      }
    })
  },
}

function columnsAt(now: number): Columns<ErrorGroup> {
  return {
    dead: ({ dead }) => dead,
    retrying: ({ failing }) => failing,
    'first seen': ({ firstAt }) => fromNow(firstAt, now),
    'last seen': ({ lastAt }) => fromNow(lastAt, now),
    kind: ({ kind }) => kind,
    fingerprint: ({ fingerprint }) => fingerprint,
    error: ({ shape, folded }) => (folded === 0 ? shape : `${shape} (${number(folded)} similar errors)`),
  }
}

function notes({ groups, total, looked, complete }: ErrorReport): string[] {
  return [
    ...(total > groups.length ? [`\nthe first ${groups.length} of ${number(total)} groups`] : []),
    ...(complete ? [] : [`\nbased on ${number(looked)} jobs; totals may be higher`]),
  ]
}
