/** `jobmill jobs retry`, `cancel`, `run-now` and `delete`: change jobs by id or by filter. */
import { DEFAULTS } from '../../job/defaults.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { checkPatch } from '../../job/payload/merge-patch.ts'
import type { BulkAct, BulkFilter } from '../../runtime/operate/bulk/bulk.ts'
import type { Command, ParsedArguments, Option } from '../program/command.ts'
import { YES } from '../output/confirm.ts'
import type { Answer } from '../output/print.ts'
import { actOnIds } from '../jobs/act-on-ids.ts'
import { actOnMany } from '../jobs/act-on-many.ts'
import { FILTERS, filterOf, JOB_FIELDS } from '../jobs/filter.ts'
import { conflict, invalid } from '../program/invalid.ts'
import { jsonOf } from '../program/typed-values.ts'
import { answerWith } from '../with-mill.ts'

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
      fingerprint: {
        takes: 'FINGERPRINT',
        says: 'jobs whose last attempt failed with this error (fingerprint from "jobmill errors")',
      },
      all: { says: 'every job that the command applies to' },
      ...options,
      'dry-run': { says: 'only count the matching jobs' },
      yes: YES,
    },
    fields: { ...JOB_FIELDS, 'filter.fingerprint': '--fingerprint' },
    examples,
    async run(parsed, terminal) {
      checkWhich(parsed, act)
      const reason = parsed.text('reason')
      const patch = patchOf(parsed)
      return answerWith(parsed, terminal, (mill): Promise<Answer | number> =>
        parsed.words.length > 0 && patch === undefined
          ? actOnIds(mill, { act, ids: parsed.words, reason }, terminal)
          : actOnMany(mill, { act, filter: bulkFilterOf(parsed), reason, patch }, parsed, terminal),
      )
    },
  }
}

function bulkFilterOf(parsed: ParsedArguments): BulkFilter {
  if (parsed.words.length > 0) return { ids: parsed.words }
  return omitUndefined({ ...filterOf(parsed), fingerprint: parsed.text('fingerprint') })
}

function patchOf(parsed: ParsedArguments): Readonly<Record<string, unknown>> | undefined {
  const text = parsed.text('patch')
  return text === undefined
    ? undefined
    : checkPatch(jsonOf(text, '--patch'), '--patch', DEFAULTS.payloadLimitBytes)
}

/** Requires ids or filters, so that a forgotten filter never selects every job. */
function checkWhich(parsed: ParsedArguments, act: BulkAct): void {
  const filters = [...Object.keys(FILTERS), 'fingerprint'].filter((name) => parsed.texts(name).length > 0)
  if (parsed.has('all')) filters.push('all')
  const named = parsed.words.length > 0
  const isUseless = parsed.has('dry-run') && parsed.text('patch') === undefined
  if (named && (filters.length > 0 || isUseless)) {
    const [one = 'dry-run'] = filters
    throw conflict(`--${one}`, 'cannot be combined with job ids', 'Omit it, or pass filters instead of ids')
  }
  if (named || filters.length > 0) return
  throw invalid(`jobs ${act}`, 'no jobs selected', 'Pass ids, filters such as --queue mail, or --all')
}

const ID = '0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e'

/** In the order of the help. */
export const jobActs: readonly Command[] = [
  command({
    act: 'retry',
    says: 'retry dead and cancelled jobs with a full set of attempts; their history is kept',
    options: {
      patch: {
        takes: 'JSON',
        says: 'JSON merge patch of each payload: {"currency":"EUR"}; null removes a member; jobs with an invalid payload are skipped',
      },
    },
    examples: [
      `jobmill jobs retry ${ID}`,
      'jobmill jobs retry --state dead --queue mail --from 2h --dry-run',
      'jobmill jobs retry --state dead --queue mail --from 2h --yes',
      'jobmill jobs retry --fingerprint 3f9a1c07b2d4e586 --yes',
      `jobmill jobs retry --kind payments.charge --failed-from 2h --patch '{"currency":"EUR"}' --dry-run`,
    ],
  }),
  command({
    act: 'cancel',
    says: 'cancel jobs; running handlers are aborted within a second',
    options: {
      reason: { takes: 'TEXT', says: 'reason to store with the job and pass to its handler' },
    },
    examples: [
      `jobmill jobs cancel ${ID} --reason "no longer needed"`,
      'jobmill jobs cancel --kind report.build --state scheduled --yes',
    ],
  }),
  command({
    act: 'run-now',
    says: 'run scheduled jobs now',
    examples: [`jobmill jobs run-now ${ID}`, 'jobmill jobs run-now --tag customer:42 --yes'],
  }),
  command({
    act: 'delete',
    says: 'delete jobs and their history; running jobs must be cancelled first',
    examples: [`jobmill jobs delete ${ID}`, 'jobmill jobs delete --state done --before 30d --yes'],
  }),
]
