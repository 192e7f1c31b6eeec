/** `jobmill jobs retry`, `cancel`, `run-now` and `delete`: on jobs that are named, or on all that a filter finds. */
import { JobmillError } from '../../job/errors.ts'
import type { BulkAct } from '../../runtime/bulk.ts'
import type { Command, Given, Option } from '../command.ts'
import { YES } from '../confirm.ts'
import { actOnIds } from '../jobs/act-on-ids.ts'
import { actOnMany } from '../jobs/act-on-many.ts'
import { JOB_FIELDS } from '../jobs/fields.ts'
import { FILTERS, filterOf } from '../jobs/filter.ts'
import { withMill } from '../with-mill.ts'

const MOST_IDS = 1_000

interface Act {
  readonly act: BulkAct
  readonly says: string
  readonly options?: Readonly<Record<string, Option>>
  readonly examples: readonly string[]
}

function command({ act, says, options = {}, examples }: Act): Command {
  return {
    words: `jobs ${act}`,
    takes: '[ID …]',
    arguments: [0, MOST_IDS],
    says,
    options: {
      ...FILTERS,
      all: { type: 'boolean', says: 'every job that this can be done to' },
      ...options,
      'dry-run': { type: 'boolean', says: 'only count what a filter finds' },
      yes: YES,
    },
    fields: JOB_FIELDS,
    examples,
    async run(given, terminal) {
      checkWhich(given, act)
      const reason = given.text('reason')
      const asJson = given.has('json')
      return withMill(given, (mill) =>
        given.words.length > 0
          ? actOnIds(mill, { act, ids: given.words, reason, asJson }, terminal)
          : actOnMany(mill, { act, filter: filterOf(given), reason }, given, terminal),
      )
    },
  }
}

/** By name or by filter; and never all of them because a filter was forgotten. */
function checkWhich(given: Given, act: BulkAct): void {
  const filters = Object.keys(FILTERS).filter((name) => given.texts(name).length > 0)
  if (given.has('all')) filters.push('all')
  const named = given.words.length > 0
  if (named && (filters.length > 0 || given.has('dry-run'))) {
    const [one = 'dry-run'] = filters
    throw new JobmillError('OPTION_CONFLICT', 'stands beside the ids of jobs', {
      field: `--${one}`,
      fix: 'Name the jobs or give filters, not both',
    })
  }
  if (named || filters.length > 0) return
  throw new JobmillError('OPTION_INVALID', 'nothing says which jobs', {
    field: `jobs ${act}`,
    fix: 'Give their ids, or filters such as --queue mail, or --all',
  })
}

const ID = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'

export const jobsRetry = command({
  act: 'retry',
  says: 'begin dead and cancelled jobs again: attempts at 0, history kept',
  examples: [
    `jobmill jobs retry ${ID}`,
    'jobmill jobs retry --state dead --queue mail --from 2h --dry-run',
    'jobmill jobs retry --state dead --queue mail --from 2h --yes',
  ],
})

export const jobsCancel = command({
  act: 'cancel',
  says: 'cancel jobs; the signal of one that runs fires within a second',
  options: { reason: { type: 'string', takes: 'TEXT', says: 'kept with the job, and told to its handler' } },
  examples: [
    `jobmill jobs cancel ${ID} --reason "not wanted any more"`,
    'jobmill jobs cancel --kind report.build --state scheduled --yes',
  ],
})

export const jobsRunNow = command({
  act: 'run-now',
  says: 'make scheduled jobs ready at once',
  examples: [`jobmill jobs run-now ${ID}`, 'jobmill jobs run-now --tag customer:42 --yes'],
})

export const jobsDelete = command({
  act: 'delete',
  says: 'delete jobs with their history; one that runs has to be cancelled first',
  examples: [`jobmill jobs delete ${ID}`, 'jobmill jobs delete --state done --before 30d --yes'],
})
