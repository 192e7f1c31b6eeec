/**
 * Applies an action to every job that matches a filter: counts them, asks for confirmation, then runs
 * until done or interrupted.
 */
import type { BulkAct, BulkFilter, BulkPreview, BulkReport } from '../../runtime/operate/bulk/bulk.ts'
import type { Mill } from '../../runtime/mill.ts'
import { EXIT, type ParsedArguments } from '../program/command.ts'
import { confirm } from '../output/confirm.ts'
import { interruptible } from '../program/interrupt.ts'
import { withProgress } from '../output/progress.ts'
import { noteUnknownQueues } from '../queues/unknown.ts'
import type { Terminal } from '../output/terminal.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { countText, number } from '../output/wording.ts'

export interface ManyJobs {
  readonly act: BulkAct
  readonly filter: BulkFilter
  /** Used by cancel only. */
  readonly reason: string | undefined
}

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
      mill.bulk.preview(many.act, many.filter, { signal, progress: (looked) => at(looked, null) }),
    )
    const isJson = parsed.has('json')
    const isLast = parsed.has('dry-run') || preview.jobs === 0
    if (!isJson) terminal.out(previewText(many.act, preview))
    if (isLast && isJson) terminal.out(JSON.stringify({ act: many.act, ...preview }))
    if (preview.jobs === 0) await noteUnknownQueues(mill, [many.filter.queue ?? []].flat(), terminal)
    if (isLast) return EXIT.done
    const look = 'Check with --dry-run, then pass --yes'
    if (!(await confirm('continue?', UNCHANGED, parsed, terminal, look))) return EXIT.refused
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
  { act, filter, reason }: ManyJobs,
  { total, signal }: { readonly total: number; readonly signal: AbortSignal },
  terminal: Terminal,
): Promise<{ looked: number; report: BulkReport | null }> {
  let looked = 0
  try {
    const report = await withProgress(act, terminal, (at) => {
      const progress = (n: number): void => at((looked = n), total)
      return mill.bulk.run(act, filter, { ...omitUndefined({ reason }), signal, progress })
    })
    return { looked, report }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    return { looked, report: null }
  }
}

/** `703 jobs to retry: 700 dead, 3 cancelled` */
function previewText(act: BulkAct, { jobs, byState }: BulkPreview): string {
  const states = Object.entries(byState).flatMap(([state, n]) => (n === 0 ? [] : [`${number(n)} ${state}`]))
  return `${countText(jobs, 'job')} to ${act}${states.length === 0 ? '' : `: ${states.join(', ')}`}`
}

function doneText(act: BulkAct, { changed, refused }: BulkReport): string {
  const but = refused === 0 ? '' : `; ${number(refused)} refused: state changed, or dedupe key in use`
  return `${act} done: ${countText(changed, 'job')}${but}`
}

function stoppedText(looked: number, total: number): string {
  return `stopped after ${number(looked)} of ${countText(total, 'job')}. Run the same command to continue`
}
