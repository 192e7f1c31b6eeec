/** The inner screens: the jobs of a queue, one job, and the keys. */
import { jobText } from '../jobs/job-text.ts'
import { jobRow } from '../jobs/rows.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { alignLeft, type Line, shares, type Size, visiblePart } from './pieces.ts'
import type { OneJob, QueueJobs } from './read.ts'
import { chosenOf } from './state.ts'

const PARTS = ['ready', 'running', 'dead'] as const
const TITLES = { ready: 'ready, next to run', running: 'running', dead: 'latest dead' }

/** The ids of the shown jobs, in selection order. */
export function jobsIn(view: QueueJobs): string[] {
  return PARTS.flatMap((part) => view[part].map(({ id }) => id))
}

export function queueFrame(view: QueueJobs, chosen: string | null, size: Size): Line[] {
  const ids = jobsIn(view)
  const id = ids[chosenOf(chosen, ids)]
  // Reserves a title and a blank row for each part, the heading, and the last row of the screen.
  const rows = shares(
    size.rows - 2 * PARTS.length - 2,
    PARTS.map((part) => Math.max(1, view[part].length)),
  )
  return [
    [{ text: `queue ${view.queue}`, style: 'bold' }],
    ...PARTS.flatMap((part, at) => [
      [],
      [{ text: `  ${alignLeft(TITLES[part], 36)} attempt  when`, style: 'bold' }] as Line,
      ...jobLines(view[part], id, rows[at] ?? 0, view.at, size.columns),
    ]),
  ]
}

function jobLines(
  jobs: readonly JobSummary[],
  chosen: string | undefined,
  rows: number,
  now: number,
  columns: number,
): Line[] {
  if (jobs.length === 0) return rows > 0 ? [[{ text: '  none', style: 'dim' }]] : []
  const at = jobs.findIndex(({ id }) => id === chosen)
  return visiblePart(jobs, Math.max(0, at), rows).shown.map((job) => {
    const [id, kind, , , attempt, , when] = jobRow(job, now).map(String)
    const text = `${job.id === chosen ? '> ' : '  '}${id} ${alignLeft(attempt ?? '', 8)} ${alignLeft(when ?? '', 16)} ${kind}`
    return job.id === chosen ? [{ text: alignLeft(text, columns), style: 'inverse' }] : [text]
  })
}

/** The lines of a job, without styles, because any line may be cut. */
export function jobLinesOf({ job, history, why, policy, at }: OneJob): string[] {
  if (job === null || policy === null) return ['this job no longer exists']
  const bare = { paint: (_: unknown, text: string) => text }
  return jobText({ job, history, why, policy, now: at }, bare).split('\n')
}

export function jobFrame(view: OneJob, scrolled: number, size: Size): Line[] {
  const lines = jobLinesOf(view)
  const rows = jobRows(size)
  const shown = lines.slice(scrolled, scrolled + rows)
  const part =
    shown.length < lines.length
      ? `, lines ${scrolled + 1} to ${scrolled + shown.length} of ${lines.length}`
      : ''
  return [[{ text: `job ${view.id}${part}`, style: 'bold' }], [], ...shown.map((line): Line => [line])]
}

/** How many lines of a job fit on the screen. */
export function jobRows({ rows }: Size): number {
  return Math.max(1, rows - 3)
}

const HELP = `arrows, j, k      select a queue or a job; scroll the text of a job
page keys, space  scroll by a page
g, G              jump to the first or the last item
enter             open the queue or the job
escape, left      back
p                 pause or resume the queue; running jobs continue
?                 this help
q, Ctrl+C         quit

Marks before a queue: = paused, ~ cooling down, ! jobs are ready but no worker serves it.
Rates and times cover the last minute, across all processes:
waited is the time from ready to started, ran for is the time of one attempt.
old: age of the oldest ready job.`

export function helpFrame(): Line[] {
  return [[{ text: 'keys', style: 'bold' }], [], ...HELP.split('\n').map((line): Line => [`  ${line}`])]
}
