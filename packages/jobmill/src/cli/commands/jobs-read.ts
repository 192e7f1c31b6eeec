/** `jobmill jobs list`: lists the jobs that match a filter. `jobmill jobs show`: all details of one job. */
import { checkOneOf, checkWhole } from '../../job/numbers.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { INCLUDABLE, type Includable } from '../../runtime/operate/list-jobs.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { FILTERS, filterOf, JOB_FIELDS } from '../jobs/filter.ts'
import { jobText } from '../jobs/job-text.ts'
import { type FoundPage, pagesOf } from '../jobs/pages.ts'
import { JOB_HEADS, jobRow } from '../jobs/rows.ts'
import { progressOf } from '../output/progress.ts'
import { noteUnknownQueues } from '../queues/unknown.ts'
import { table } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { numberOf } from '../program/typed-values.ts'
import { answerWith, withMill } from '../with-mill.ts'

const DEFAULT_LIMIT = 50

export const jobsList: Command = {
  words: 'jobs list',
  says: 'list jobs, newest first; with --state, one state after the other, each in its own order',
  options: {
    ...FILTERS,
    limit: { takes: 'N', says: `maximum number of jobs (default ${DEFAULT_LIMIT})` },
    cursor: { takes: 'TEXT', says: 'continue after an earlier page' },
    all: { says: 'list all matching jobs' },
    include: { takes: 'PARTS', says: `extra fields with --json: ${INCLUDABLE.join(', ')}`, multiple: true },
  },
  fields: JOB_FIELDS,
  examples: [
    'jobmill jobs list --state dead --queue mail',
    'jobmill jobs list --kind email.send --from 2h --text ada@example.com',
    'jobmill jobs list --state dead --error ECONNREFUSED --payload user.id:42',
    'jobmill jobs list --state dead,retrying --queue mail,reports',
    'jobmill jobs list --state dead --failed-from 02:13',
    'jobmill jobs list --state dead --all --json --include payload | jq .jobs[].payload',
  ],
  run: (parsed, terminal) =>
    withMill(parsed, async (mill) => {
      const progress = progressOf('scanning', terminal)
      const filter = filterOf(parsed)
      const pages = pagesOf(mill, {
        filter,
        most: mostOf(parsed),
        cursor: parsed.text('cursor'),
        include: includedIn(parsed),
        looked: (rows) => progress.at(rows, null),
      })
      const print = parsed.has('json') ? asJson(terminal) : asTables(terminal)
      let last: FoundPage | null = null
      let found = 0
      for await (const page of pages) {
        progress.end()
        print.page(page)
        found += page.jobs.length
        last = page
      }
      print.end(last)
      if (found === 0) await noteUnknownQueues(mill, [filter.queue ?? []].flat(), terminal)
      return EXIT.done
    }),
}

function includedIn(parsed: ParsedArguments): readonly Includable[] {
  const parts = parsed.texts('include').flatMap((text) => text.split(','))
  return parts.map((part) => checkOneOf(part.trim(), '--include', INCLUDABLE))
}

function mostOf(parsed: ParsedArguments): number {
  if (parsed.has('all')) return Number.POSITIVE_INFINITY
  return checkWhole(numberOf(parsed, 'limit') ?? DEFAULT_LIMIT, '--limit', { least: 1, most: 1_000_000 })
}

interface Printing {
  page(page: FoundPage): void
  end(last: FoundPage | null): void
}

/** Streams one JSON document, because all jobs together may not fit into memory. */
function asJson(terminal: Terminal): Printing {
  let comma = ''
  terminal.out('{"jobs":[')
  return {
    page({ jobs }) {
      if (jobs.length === 0) return
      terminal.out(comma + jobs.map((job) => JSON.stringify(job)).join(',\n'))
      comma = ','
    },
    end: (last) =>
      terminal.out(
        `],"next":${JSON.stringify(last?.next ?? null)},"scanned":${last?.scanned ?? 0},"complete":true}`,
      ),
  }
}

function asTables(terminal: Terminal): Printing {
  let found = 0
  return {
    page({ jobs }) {
      found += jobs.length
      const now = systemPlatform.now()
      const rows = jobs.map((job) => jobRow(job, now))
      if (rows.length > 0) terminal.out(table(JOB_HEADS, rows, '', terminal))
    },
    end(last) {
      if (found === 0) terminal.out('no jobs')
      // Printed to standard error, because a program may read the rows.
      const next = last?.next ?? null
      if (next !== null) terminal.err(`more jobs match: continue with --cursor ${next}, or use --all`)
    },
  }
}

export const jobsShow: Command = {
  words: 'jobs show',
  takes: 'ID',
  arguments: [1, 1],
  says: 'show a job: why it is not running, payload, attempts, errors, log lines, progress and result',
  fields: JOB_FIELDS,
  examples: [
    'jobmill jobs show 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e',
    'jobmill jobs show 0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e --json | jq .payload',
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [id = ''] = parsed.words
      const job = await mill.get(id)
      if (job === null) {
        const fix = 'Check the id and the database; the job may have been deleted'
        throw invalid('ID', 'job not found', fix, id, 'JOB_UNKNOWN')
      }
      const [history, why, policy] = await Promise.all([
        mill.history(job.id),
        mill.why(job.id),
        mill.policy(job),
      ])
      const text = jobText({ job, history, why, policy, now: systemPlatform.now() }, terminal)
      return { json: { ...job, history, why, policy }, text }
    }),
}
