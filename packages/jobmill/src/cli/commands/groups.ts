/** `jobmill groups list`, `set`, `pause` and `resume`. */
import type { Mill } from '../../runtime/mill.ts'
import type { GroupChange } from '../../runtime/operate/groups.ts'
import type { GroupRecord } from '../../store/types/group.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { checkOneOf } from '../../job/numbers.ts'
import type { Answer } from '../output/print.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { countText, lasting, optionText, remainingText } from '../output/wording.ts'
import type { Command, ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { lengthOf, numberOf } from '../program/typed-values.ts'
import { answerWith, BY_CLI } from '../with-mill.ts'

const SORTS = ['waiting', 'oldest', 'name'] as const

const list: Command = {
  words: 'groups list',
  takes: 'QUEUE',
  arguments: [1, 1],
  says: 'list the groups of a queue that have jobs to run or settings of their own',
  options: {
    sort: { takes: 'HOW', says: `order: ${SORTS.join(', ')} (default waiting)` },
    limit: { takes: 'N', says: 'at most so many groups (default 100)' },
  },
  fields: { queue: 'QUEUE', 'options.limit': '--limit', 'options.sort': '--sort' },
  examples: ['jobmill groups list render', `jobmill groups list render --json | jq '.groups[].waiting'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [queue = ''] = parsed.words
      const sort = parsed.text('sort')
      const options = omitUndefined({
        sort: sort === undefined ? undefined : checkOneOf(sort, '--sort', SORTS),
        limit: numberOf(parsed, 'limit'),
      })
      const groups = await mill.groups.list(queue, options)
      const none = `no group of ${queue} has jobs to run or settings of its own`
      return { json: { groups }, text: tableOf(groups, COLUMNS, none, terminal) }
    }),
}

const COLUMNS: Columns<GroupRecord> = {
  group: ({ name }) => name,
  waiting: ({ waiting }) => waiting,
  running: ({ running, concurrency }) => (concurrency === null ? running : `${running} of ${concurrency}`),
  oldest: ({ oldestMs }) => (oldestMs === null ? null : lasting(oldestMs)),
  weight: ({ weight }) => weight,
  rate: ({ rate, ratePerMs }) => (rate === null ? null : `${rate} per ${optionText(ratePerMs)}`),
  'next token': ({ nextTokenMs }) => (nextTokenMs === null ? null : remainingText(nextTokenMs)),
  state: ({ paused }) => (paused ? { text: 'paused', style: 'yellow' } : null),
  'changed by': ({ overrides }) => overrides?.by ?? null,
}

const ONE_GROUP = {
  takes: 'QUEUE GROUP',
  arguments: [2, 2],
  fields: {
    queue: 'QUEUE',
    group: 'GROUP',
    'group.weight': '--weight',
    'group.concurrency': '--concurrency',
    'group.rate': '--rate',
    'group.per': '--per',
  },
} as const

const set: Command = {
  words: 'groups set',
  ...ONE_GROUP,
  says: 'change one group of a queue; omitted options keep their values',
  options: {
    weight: { takes: 'N', says: 'share compared with other groups: 2 for twice, 0.5 for half, or default' },
    concurrency: { takes: 'N', says: 'at most N running jobs, or default for the setting of the queue' },
    rate: { takes: 'N', says: 'at most N started jobs per --per, or default for the setting of the queue' },
    per: { takes: 'DURATION', says: 'period of --rate (default 1s)' },
  },
  examples: [
    'jobmill groups set render acme --weight 4',
    'jobmill groups set crawl example.com --concurrency 1 --rate 10 --per 1m',
    'jobmill groups set render acme --weight default',
  ],
  async run(parsed, terminal) {
    const change = changeOf(parsed)
    return answerWith(parsed, terminal, async (mill) => update(mill, parsed, change))
  },
}

async function update(mill: Mill, { words }: ParsedArguments, change: GroupChange): Promise<Answer> {
  const [queue = '', name = ''] = words
  const group = await mill.groups.update(queue, name, change, BY_CLI)
  return { json: group, text: groupText(group) }
}

function groupText({
  name,
  weight,
  concurrency,
  rate,
  ratePerMs,
  paused,
  waiting,
  running,
}: GroupRecord): string {
  const settings = [
    `weight ${weight}`,
    `concurrency ${concurrency ?? 'none'}`,
    `rate ${rate === null ? 'none' : `${rate} per ${optionText(ratePerMs)}`}`,
    ...(paused ? ['paused'] : []),
  ]
  return `${name}: ${settings.join(', ')}; ${countText(waiting, 'waiting job')}, ${running} running`
}

function changeOf(parsed: ParsedArguments): GroupChange {
  const value = (option: string): number | null | undefined =>
    parsed.text(option) === 'default' ? null : numberOf(parsed, option)
  const change = omitUndefined({
    weight: value('weight'),
    concurrency: value('concurrency'),
    rate: value('rate'),
    per: lengthOf(parsed, 'per'),
  })
  if (Object.keys(change).length > 0) return change
  throw invalid('groups set', 'no setting passed', 'Pass a setting such as --weight 2; --help lists all')
}

const pause: Command = {
  words: 'groups pause',
  ...ONE_GROUP,
  says: 'start no more jobs of a group; running ones continue',
  examples: ['jobmill groups pause render acme'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => update(mill, parsed, { paused: true })),
}

const resume: Command = {
  words: 'groups resume',
  ...ONE_GROUP,
  says: 'start jobs of a paused group again',
  examples: ['jobmill groups resume render acme'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => update(mill, parsed, { paused: false })),
}

export const groups: readonly Command[] = [list, set, pause, resume]
