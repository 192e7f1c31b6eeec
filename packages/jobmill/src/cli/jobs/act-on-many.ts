/**
 * Applies an action to every job that matches a filter: counts them, asks for confirmation, then runs
 * until done or interrupted.
 */
import type { BulkAct, BulkFilter, BulkPreview, BulkReport } from '../../runtime/operate/bulk/bulk.ts'
import type { PatchedJob, PayloadProblem } from '../../runtime/operate/bulk/patch-payloads.ts'
import type { Mill } from '../../runtime/mill.ts'
import { EXIT, type ParsedArguments } from '../program/command.ts'
import { confirm } from '../output/confirm.ts'
import { interruptible } from '../program/interrupt.ts'
import { withProgress } from '../output/progress.ts'
import { noteUnknownQueues } from '../queues/unknown.ts'
import type { Terminal } from '../output/terminal.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { countText, number } from '../output/wording.ts'
import { BY_CLI } from '../with-mill.ts'
import { cut } from '../../job/text/error-text.ts'
import { safeLines } from '../../job/text/safe-text.ts'

export interface ManyJobs {
  readonly act: BulkAct
  readonly filter: BulkFilter
  /** Used by cancel only. */
  readonly reason: string | undefined
  /** Used by retry only. */
  readonly patch: Readonly<Record<string, unknown>> | undefined
}

/** The maximum number of characters of a payload in a preview. */
const MOST_SHOWN = 2_000

const UNCHANGED = 'nothing was changed'

export async function actOnMany(
  mill: Mill,
  many: ManyJobs,
  parsed: ParsedArguments,
  terminal: Terminal,
): Promise<number> {
  const { signal, end } = interruptible(() => terminal.err('stopping after this batch'))
  try {
    const preview = await withProgress('counting', terminal, (at) =>
      mill.bulk.preview(many.act, many.filter, {
        signal,
        progress: (looked) => at(looked, null),
        ...omitUndefined({ patch: many.patch }),
      }),
    )
    const isJson = parsed.has('json')
    const isLast = parsed.has('dry-run') || preview.jobs === 0
    if (!isJson) terminal.out(previewText(many.act, preview))
    if (isLast && isJson) terminal.out(JSON.stringify({ act: many.act, ...preview }))
    if (preview.jobs === 0) await noteUnknownQueues(mill, [many.filter.queue ?? []].flat(), terminal)
    if (isLast) return EXIT.done
    const look = 'Check with --dry-run, then pass --yes'
    // Ids need no confirmation: the user chose each job.
    const isChosen = many.filter.ids !== undefined
    if (!isChosen && !(await confirm('continue?', UNCHANGED, parsed, terminal, look))) return EXIT.refused
    const { looked, report } = await runUntilStopped(mill, many, { total: preview.jobs, signal }, terminal)
    const isStopped = report === null
    if (isJson)
      terminal.out(JSON.stringify({ act: many.act, ...preview, ...(report ?? { looked, isStopped }) }))
    else terminal.out(isStopped ? stoppedText(looked, preview.jobs) : doneText(many.act, report))
    return isStopped ? EXIT.failed : EXIT.done
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    terminal.err(UNCHANGED)
    return EXIT.failed
  } finally {
    end()
  }
}

/** `report` is null when the run was interrupted. */
async function runUntilStopped(
  mill: Mill,
  { act, filter, reason, patch }: ManyJobs,
  { total, signal }: { readonly total: number; readonly signal: AbortSignal },
  terminal: Terminal,
): Promise<{ looked: number; report: BulkReport | null }> {
  let looked = 0
  try {
    const report = await withProgress(act, terminal, (at) => {
      const progress = (n: number): void => at((looked = n), total)
      return mill.bulk.run(act, filter, { ...BY_CLI, ...omitUndefined({ reason, patch }), signal, progress })
    })
    return { looked, report }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    return { looked, report: null }
  }
}

/** `703 jobs to retry: 700 dead, 3 cancelled` */
function previewText(act: BulkAct, { jobs, byState, first }: BulkPreview): string {
  const states = Object.entries(byState).flatMap(([state, n]) => (n === 0 ? [] : [`${number(n)} ${state}`]))
  const counted = `${countText(jobs, 'job')} to ${act}${states.length === 0 ? '' : `: ${states.join(', ')}`}`
  return [counted, ...(first === undefined || first === null ? [] : firstLines(first))].join('\n')
}

/** The effect of the patch on the first job. */
function firstLines({ id, kind, before, after, problem }: PatchedJob): string[] {
  const lines = [`first: ${kind} ${id}`, `  before ${shownJson(before)}`, `  after  ${shownJson(after)}`]
  if (problem !== null) lines.push(`  skipped: payload invalid${placeText(problem)}`)
  return lines
}

function shownJson(value: unknown): string {
  return safeLines(cut(JSON.stringify(value), MOST_SHOWN))
}

/** ` at /amount: Invalid input` */
function placeText({ at, message }: PayloadProblem): string {
  return `${at === '' ? '' : ` at ${safeLines(at)}`}: ${safeLines(message)}`
}

function doneText(act: BulkAct, { changed, refused, invalid = [] }: BulkReport): string {
  const but = refused === 0 ? '' : `; ${number(refused)} refused: state changed, or dedupe key in use`
  const skips = invalid.map(
    ({ jobs, ...problem }) => `skipped: ${number(jobs)}, payload invalid${placeText(problem)}`,
  )
  return [`${act} done: ${countText(changed, 'job')}${but}`, ...skips].join('\n')
}

function stoppedText(looked: number, total: number): string {
  return `stopped after ${number(looked)} of ${countText(total, 'job')}. Run the same command to continue`
}
